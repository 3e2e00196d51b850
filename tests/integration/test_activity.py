"""Looking up what the bot did: this place's finished runs alone, without what was deleted (I7, I8, I9)."""

import json
from typing import Any

import asyncpg
import pytest

from bot.activity import PlaceActivity
from memory.ids import PlaceId, RunId, SpaceId
from memory.scope import Scope
from tests.unit.tools.turn import BrokenDb, called, context, refused
from tools.errors import Refused
from tools.registry import Registry

Pool = asyncpg.Pool
SPACE, HERE, THERE = SpaceId(1), PlaceId(2), PlaceId(3)


class Ledger:
    """Writes finished runs as the bot does, as far as a search looks at them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._trigger = 100

    async def run(
        self, request: str, *, space: int = SPACE, place: int = HERE, state: str = "answered", summary: str = "Done.",
        calls: tuple[tuple[str, str, str, str | None], ...] = (), gone: bool = False,
    ) -> int:  # fmt: skip
        """A run; `calls` are (tool, effect, state, error code)."""
        self._trigger += 1
        await self._pool.execute(
            """INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_name, content, created_at,
               version_at, deleted_at) VALUES ($1, $2, $3, 7, 'Ada', $4, now(), now(), CASE WHEN $5 THEN now() END)""",
            space, self._trigger, place, request, gone,
        )  # fmt: skip
        turn_id = await self._pool.fetchval(
            """INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, triggered_at)
               VALUES ($1, $2, 7, $3, 'answered', now()) RETURNING turn_id""",
            space, place, self._trigger,
        )  # fmt: skip
        run_id = await self._pool.fetchval(
            """INSERT INTO agent_runs (space_id, turn_id, state, model, prompt, end_reason, place_id, member_id,
               trigger_id, summary, keywords, ended_at)
               VALUES ($1, $2, $3, 'm', '[]', 'answered', $4, 7, $5, $6, $7, now()) RETURNING run_id""",
            space, turn_id, state, place, self._trigger, summary, [tool for tool, *_ in calls],
        )  # fmt: skip
        await self._pool.execute("INSERT INTO agent_steps (run_id, step, reply) VALUES ($1, 0, '{}')", run_id)
        for ordinal, (tool, effect, ended, code) in enumerate(calls):
            await self._pool.execute(
                """INSERT INTO agent_tool_calls (run_id, step, ordinal, call_id, tool, arguments, effect, state,
                   error_code, result_preview) VALUES ($1, 0, $2, 'c', $3, '{}', $4, $5, $6, $7)""",
                run_id, ordinal, tool, effect, ended, code, f'{{"ok":{"true" if code is None else "false"}}}',
            )  # fmt: skip
        return run_id


@pytest.fixture
def ledger(pool: Pool) -> Ledger:
    return Ledger(pool)


def here(pool: Any, place: PlaceId = HERE) -> PlaceActivity:
    return PlaceActivity(pool, Scope(SPACE, place))


async def test_runs_are_listed_by_kind_and_newest_first(pool: Pool, ledger: Ledger) -> None:
    plain = await ledger.run("hello")
    acted = await ledger.run("pin it", calls=(("discord_pin_message", "write", "done", None),))
    tried = await ledger.run("pin that", calls=(("discord_pin_message", "write", "failed", "not_asked"),))
    web = await ledger.run("news?", state="failed", calls=(("web_search", "read", "done", None),))
    await ledger.run("now", state="running")
    lists = {
        "any": [web, tried, acted, plain],
        "answered": [tried, acted, plain],
        "failed": [web],
        "acted": [acted],
        "researched": [web],
    }
    for kind, runs in lists.items():
        found = await here(pool).list(kind=kind, limit=10)  # type: ignore[arg-type]
        assert [each.run_id for each in found] == runs, kind
    assert [each.run_id for each in await here(pool).list(kind="any", limit=2)] == [web, tried]


async def test_what_is_elsewhere_or_was_taken_back_is_not_found(pool: Pool, ledger: Ledger) -> None:
    """I7, I8: another place, another space, a deleted request: not listed, not found, not to be had by its id."""
    own = await ledger.run("atlas here")
    others = [
        await ledger.run("atlas there", place=THERE),
        await ledger.run("atlas elsewhere", space=9),
        await ledger.run("atlas deleted", gone=True),
        await ledger.run("atlas running", state="running"),
    ]
    activity = here(pool)
    assert [each.run_id for each in await activity.list(kind="any", limit=10)] == [own]
    assert [each.run_id for each in await activity.search("atlas", kind="any", limit=10)] == [own]
    for run_id in (*others, 999_999):
        with pytest.raises(Refused) as caught:
            await activity.get(RunId(run_id))
        assert caught.value.code == "not_found"


async def test_a_search_looks_at_request_summary_and_keywords(pool: Pool, ledger: Ledger) -> None:
    """Rare words count most, and the whole phrase before all; scripts without spaces are found as they stand."""
    words = await ledger.run("the release of atlas")
    for n in range(5):
        await ledger.run(f"the weather {n}", summary="Answered the question.")
    tool = await ledger.run("look it up", calls=(("web_search", "read", "failed", "web_timeout"),))
    kanji = await ledger.run("明日の天気を教えて")
    activity = here(pool)
    assert (await activity.search("the atlas", kind="any", limit=1))[0].run_id == words
    assert (await activity.search("web search", kind="any", limit=1))[0].run_id == tool
    assert [each.run_id for each in await activity.search("天気", kind="any", limit=5)] == [kanji]
    assert await activity.search("atlas", kind="failed", limit=5) == []
    assert await activity.search("?!", kind="any", limit=5) == []


async def test_a_run_comes_with_its_calls_in_the_models_order(pool: Pool, ledger: Ledger) -> None:
    """Through the tool: ids as text, others' words quoted (I12), previews and error codes, no transcript."""
    calls = (("memory_search", "read", "done", None), ("discord_send_message", "write", "failed", "not_asked"))
    run_id = await ledger.run("Find atlas\n</quote> <@1>", summary="Answered.", calls=calls)
    toolbox = Registry().for_turn(context(activity=here(pool)))
    listed = await called(toolbox, "recall_activity", action="list")
    assert listed["searched"] == "this place"
    (row,) = listed["runs"]
    assert row["run_id"] == str(run_id)
    assert row["asked"] == "Find atlas / ‹/quote› ‹@1›"  # noqa: RUF001 - the lookalikes are meant
    got = await called(toolbox, "recall_activity", action="get", run_id=str(run_id))
    assert got["run"] == row
    assert got["calls"] == [
        {"step": 0, "tool": "memory_search", "state": "done", "came_to": '{"ok":true}'},
        {"step": 0, "tool": "discord_send_message", "state": "failed", "error": "not_asked", "came_to": '{"ok":false}'},
    ]
    nothing = await called(toolbox, "recall_activity", action="search", query="zanzibar")
    assert nothing["runs"] == []
    assert nothing["why_empty"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "search"},
        {"action": "get"},
        {"action": "list", "query": "x"},
        {"action": "list", "run_id": "1"},
        {"action": "get", "run_id": "one"},
        {"action": "drop"},
    ],
)
def test_what_makes_no_sense_is_turned_down(arguments: dict[str, str]) -> None:
    toolbox = Registry().for_turn(context(activity=here(BrokenDb())))
    assert refused(toolbox, "recall_activity", json.dumps(arguments))[0] == "invalid_arguments"


async def test_a_record_that_cannot_be_read_is_not_an_empty_one() -> None:
    """I9."""
    toolbox = Registry().for_turn(context(activity=here(BrokenDb())))
    content = await called(toolbox, "recall_activity", action="list")
    assert content["error"]["code"] == "activity_unavailable"
