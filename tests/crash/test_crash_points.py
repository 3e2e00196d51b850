"""Muninn is killed at each named point, started again, and has lost, forgotten and repeated nothing."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from bot.crash import DRAFT_POINTS, ERASURE_POINTS, MEMORY_POINTS, MODERATION_POINTS, POINTS
from tests.crash.company import Company, Wish
from tests.crash.verdict import Verdict, Words, journalled
from tests.harness.process import Process, Processes, open_processes
from tests.harness.stage import Stage

SETTINGS: Final[dict[str, Any]] = {
    "poll_s": 0.2,
    "turn_lease_s": 2.0,
    "turn_heartbeat_s": 0.4,
    "reconcile_s": 2.0,
    # Nobody is to be held back here.
    "member_turns": 1000,
    "place_turns": 1000,
    "space_turns": 1000,
}
"""A turn whose worker died is taken over within about two seconds; the rest is as an operator gets it."""

WINDOW_S: Final = 200.0
"""Longer than Discord remembers a nonce (180 s in the sandbox) and than Muninn trusts it to (120 s)."""

MOST_SAID: Final = 60
SETTLE_S: Final = 45.0

# How often a point is passed at least, while people talk: the time at which to die is drawn from so many.
PASSED: Final = {"after_gap": 1, "before_gap_closed": 1, "after_page": 2}
OFTEN: Final = 3
TOOL_POINTS: Final = ("after_intended", "after_effect", "after_receipt")
LOOP_POINTS: Final = ("after_step_saved", "before_reads_settled", "before_write_settled", "after_calls_settled")
CARD_POINTS: Final = ("after_card", "after_press")
MOST_CARDS: Final = 12
MOST_PRESSED: Final = 50

# Said of something that broke, which a crash elsewhere is no excuse for.
BROKEN: Final = frozenset(
    {"turn.broken", "task.broken", "tool_failed", "gateway.broken", "gateway.put_failed", "gateway.handler_failed"}
)

# Whether nothing of a dead process is still at work in the database.
ALONE_SQL: Final = """
SELECT 1 WHERE NOT EXISTS (
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'muninn')
"""


def _cases() -> list[Any]:
    """One seed a point always, twenty in the long run; odd seeds start again only after the nonce window, so every
    second point has an odd one."""
    return [
        pytest.param(point, seed, id=f"{point}-{seed}", marks=[] if seed == number % 2 else [pytest.mark.long])
        for number, point in enumerate(POINTS)
        for seed in range(20)
    ]


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("point", "seed"), _cases())
async def test_killed_at(point: str, seed: int, stage: Stage, tmp_path: Path) -> None:
    """I1, I2, I3, I4: each message is journalled once and as it stands, each question has one turn that ended once,
    each answer arrived whole, in order and once, and no receipt is left open."""
    async with open_processes(stage, tmp_path) as processes:
        scenario = Scenario(stage, processes, Random(f"{point}:{seed}"))  # noqa: S311 - chosen by a seed, on purpose
        try:
            await scenario.play(scenario.deaths(point, seed), after_window=seed % 2 == 1)
        except Exception as error:
            error.add_note(await scenario.report())
            raise


class Scenario:
    """A life that ends anywhere, one (or, beyond the first seeds, two) that end at a point, and one that settles."""

    def __init__(self, stage: Stage, processes: Processes, rng: Random) -> None:
        self.stage = stage
        self.processes = processes
        self.rng = rng
        self.company = Company(stage, rng)
        self.verdict = Verdict(stage, self.company)

    def deaths(self, point: str, seed: int) -> list[str]:
        """Where to die, in order."""
        points = [point]
        if seed >= 2 and self.rng.random() < 0.5:
            points.append(self.rng.choice(POINTS))
        return [f"{name}:{self.rng.randint(1, PASSED.get(name, OFTEN))}" for name in points]

    async def play(self, deaths: Sequence[str], *, after_window: bool) -> None:
        """All of it. Raises AssertionError for what does not hold."""
        first = self._start()
        await self._begin(first, {})
        await self.company.introduce()
        await self.stage.until("SELECT 1 FROM chat_messages WHERE place_id = $1", self.company.people[2].dm().id)
        first.kill()
        before = await self._end(first)
        for death in deaths:
            await self.company.while_down()
            living = self._start(crash_at=death)
            await self._live_until_dead(living, before, death)
            before = await self._end(living)
            if after_window:
                await self._let_window_pass()
        await self.company.while_down()
        last = self._start()
        await self._begin(last, before)
        await self.company.chat()
        await self.company.ask("short")
        await self._settle(last)

    def _start(self, **given: Any) -> Process:
        return self.processes.start(**SETTINGS, **given)

    async def _begin(self, process: Process, before: dict[int, Words]) -> bool:
        """Wait for its session, and take note of what that will not be told; False if it died before."""
        dead = asyncio.create_task(process.died(within=30))
        connected = asyncio.create_task(self.stage.discord.wait_for_session(within=30))
        try:
            await asyncio.wait([dead, connected], return_when=asyncio.FIRST_COMPLETED)
            if not connected.done():
                return False
            connected.result()
            self.verdict.note_start(before)
            return True
        finally:
            for task in (dead, connected):
                task.cancel()
            await asyncio.wait([dead, connected])

    async def _live_until_dead(self, process: Process, before: dict[int, Words], death: str) -> None:
        """People talk until it dies; first they ask for all that has to be done for any point to be passed."""
        if not await self._begin(process, before):
            return
        wishes: list[Wish] = ["short", "long", "react", "work", "card"]
        self.rng.shuffle(wishes)
        for said in range(MOST_SAID):
            if await process.died(within=self.rng.choice((0.0, 0.02, 0.1))):
                return
            if wishes:
                await self.company.ask(wishes.pop())
            elif death.startswith(CARD_POINTS) and said % 2 == 0:
                if not await self.company.press() and said < MOST_CARDS:
                    await self.company.ask("card")
            elif death.startswith(TOOL_POINTS) and said % 3 == 0:
                await self.company.ask("react")
            elif death.startswith(LOOP_POINTS) and said in (4, 8, 16, 32):
                await self.company.ask("work")
            else:
                await self.company.chat()
        for _ in range(MOST_PRESSED):
            # A card comes some time after it was asked for, or never, where the question was taken back.
            if not death.startswith(CARD_POINTS) or await process.died(within=0.2):
                break
            if not await self.company.press():
                await self.company.ask("card")
        await process.killed()

    async def _end(self, process: Process) -> dict[int, Words]:
        """Wait until it is dead and PostgreSQL has noticed; gives what the journal then says."""
        await process.killed()
        await self.stage.until(ALONE_SQL)
        return await journalled(self.stage.pool)

    async def _let_window_pass(self) -> None:
        """Later: Discord has forgotten the nonces, and Muninn's receipts are older than it trusts them to be known."""
        self.stage.discord.clock.advance(WINDOW_S)
        await self.stage.pool.execute(
            "UPDATE action_receipts SET intended_at = intended_at - make_interval(secs => $1)", WINDOW_S
        )

    async def _settle(self, last: Process) -> None:
        """Wait until nothing is wrong any more; it must stay so through a drain."""
        deadline = asyncio.get_running_loop().time() + SETTLE_S
        while problems := await self.verdict.problems():
            assert asyncio.get_running_loop().time() < deadline, "\n".join(problems)
            assert not last.is_gone, "the last one died"
            await asyncio.sleep(0.05)  # PostgreSQL has no other way to tell a stranger that something changed
        await last.stop()
        assert await self.verdict.problems() == []
        broken = [line for process in self.processes.all for line in process.events() if line.get("event") in BROKEN]
        assert broken == []

    async def report(self) -> str:
        """What happened, for whoever reads the failure."""
        pool = self.stage.pool
        tables = [
            "SELECT * FROM turns ORDER BY turn_id",
            "SELECT receipt_id, trigger_id, action, state, external_id, failure, turn_id FROM action_receipts",
            "SELECT * FROM gateway_gaps ORDER BY gap_id",
            "SELECT * FROM place_cursors",
        ]
        shown = [statement + "\n" + "\n".join(map(repr, await pool.fetch(statement))) for statement in tables]
        return "\n".join([self.stage.discord.transcript(), *shown, self.processes.report()])


def test_each_point_is_passed_by_some_code_and_each_is_named() -> None:
    """A point that is named but nowhere passed would make its test wait in vain, and one that is passed but not named
    would never be tried."""
    bot = Path(__file__).parents[2] / "bot"
    passed = [name for path in bot.rglob("*.py") for name in re.findall(r'crash_point\("(\w+)"\)', path.read_text())]
    assert sorted(set(passed)) == sorted(POINTS + DRAFT_POINTS + MODERATION_POINTS + ERASURE_POINTS + MEMORY_POINTS)
