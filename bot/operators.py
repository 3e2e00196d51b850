"""What owners of the bot, whom the operator's settings name, do in any server: see and delete memories, look into runs.

Neither what a server set nor whether memory or actions are on there matters to them; each look and each deletion leaves
a row of audit. Whoever else uses these commands is confined to what is their own, in the place where they are (I6).
"""

from collections.abc import Collection
from typing import Final

import discord
import structlog

from bot.commands.declaration import Declaration, Family, Slash
from bot.commands.options import text, whole
from bot.errors import CommandRefused
from bot.inspect import RunSummary, run_in_words, run_report
from bot.interactions import Command, Interaction, Interactions, Reply
from bot.memories.changing import Undoing
from bot.memories.ledger import MemoryLedger
from bot.memories.wording import line_of, one_line, within
from bot.pages import Page, Pages, pages_of
from memory import oversight
from memory.database import BORROW_S, Borrowed, Pool
from memory.ids import RunId, SpaceId
from memory.inventory import Viewer, list_memories
from memory.items import Author, Forgotten, Target, forget
from memory.owners import Caps

log = structlog.get_logger(__name__)

OPERATOR: Final = Family("operator", "For the people who run me.", offered_to=discord.Permissions.none())
SERVER: Final = text("server", "The number of a server, or of a direct conversation; this one if left out.", most=20)
WORDS: Final = text("words", "Words that it holds, or the number of the member whose it is.", most=35)
MEMORY: Final = whole("memory", "Its number.", required=True, least=1, most=2**53)
RUN: Final = whole("run", "Its number.", required=True, least=1, most=2**53)

MEMORIES: Final = Slash("memories", "List what is remembered in a server, whoever's it is.", (SERVER, WORDS), OPERATOR)
DELETE: Final = Slash("delete", "Delete a memory for good, in any server.", (MEMORY, SERVER), OPERATOR)
RUNS: Final = Slash("runs", "List the newest runs of my language model in a server.", (SERVER,), OPERATOR)
SHOW_RUN: Final = Slash("run", "Look into a run.", (RUN, SERVER), OPERATOR)
OPERATOR_COMMANDS: Final[tuple[Declaration, ...]] = (MEMORIES, DELETE, RUNS, SHOW_RUN)

PAGE_SIZE: Final = 8
_CONFINED: Final = "You are not named as an owner of mine, so this is confined to your own, here."
_NOT_YOURS: Final = "Runs are looked into by the people who run me; /why shows what your own answers were made from."

# The newest runs of a space.
SPACE_RUNS_SQL: Final = """
SELECT r.run_id, t.place_id, t.author_id, r.state, r.model, r.end_reason, r.steps, r.calls,
       r.prompt_tokens + r.completion_tokens AS tokens, r.started_at
FROM agent_runs r JOIN turns t ON t.turn_id = r.turn_id
WHERE r.space_id = $1 ORDER BY r.run_id DESC LIMIT 15
"""


class Operators:
    """Answers the commands. `owners`: Discord's ids of the owners."""

    def __init__(self, pool: Pool, pages: Pages, owners: Collection[int], caps: Caps) -> None:
        self._pool = pool
        self._pages = pages
        self._owners = owners
        self._caps = caps
        self._ledger = MemoryLedger(pool)

    def register(self, interactions: Interactions) -> None:
        """Offer the commands."""
        interactions.on_command(MEMORIES, self.memories)
        interactions.on_command(DELETE, self.delete)
        interactions.on_command(RUNS, self.runs)
        interactions.on_command(SHOW_RUN, self.run)
        self._pages.on_list("every", self._page)

    async def memories(self, command: Command, reply: Reply) -> None:
        """All memories of a space, in pages."""
        space_id = _space(command)
        await self._pages.show(command, reply, "every", f"{space_id}:{command.get(WORDS) or ''}")

    async def delete(self, command: Command, reply: Reply) -> None:
        """Delete one for good; of who is no owner, forget one of their own."""
        memory_id, space_id = command.need(MEMORY), _space(command)
        if command.user_id not in self._owners:
            author = Author(command.scope, command.user_id, command.user_name)

            async def own(conn: Borrowed) -> tuple[Forgotten, int]:
                gone = await forget(conn, author, Target(memory_id), caps=self._caps)
                return gone, memory_id

            gone = await self._ledger.run(command, "memory_forget", {"memory": memory_id}, own)
            undoing = Undoing(gone.memory_id, gone.version, "restore")
            await reply.say(f"{_CONFINED}\nForgotten: `#{memory_id}`.", components=undoing.button())
            return

        async def wiped(conn: Borrowed) -> tuple[None, int]:
            await oversight.delete_memory(conn, command.user_id, space_id, memory_id)
            return None, memory_id

        await self._ledger.run(command, "memory_delete", {"memory": memory_id, "server": str(space_id)}, wiped)
        await reply.say(f"Deleted for good, and put on record: `#{memory_id}` of `{space_id}`.")

    async def runs(self, command: Command, reply: Reply) -> None:
        """The newest runs of a space."""
        self._require(command)
        space_id = _space(command)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            rows = await conn.fetch(SPACE_RUNS_SQL, space_id)
            await oversight.note(conn, command.user_id, space_id, "list_runs")
        lines = [
            f"`{row['run_id']}` <t:{int(row['started_at'].timestamp())}:R> <#{row['place_id']}> <@{row['author_id']}> "
            f"{run_in_words(row['state'], row['end_reason'], row['steps'], row['calls'])}, {row['tokens']:,} tokens"
            for row in rows
        ]
        await reply.say(within("\n".join([f"**The newest runs of `{space_id}`**", *(lines or ["None."])])))

    async def run(self, command: Command, reply: Reply) -> None:
        """One run, step by step."""
        self._require(command)
        space_id, run_id = _space(command), RunId(command.need(RUN))
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            report = await run_report(conn, space_id, run_id)
            await oversight.note(conn, command.user_id, space_id, "show_run", run_id)
        if report is None:
            raise CommandRefused("There is no such run in that server.")
        lines = [_summary(report.run)]
        for step in report.steps:
            lines.append(f"**Step {step.step + 1}**")
            lines.extend(
                f"- `{call.tool}` {call.state}{' (' + call.error_code + ')' if call.error_code else ''}"
                for call in step.calls
            )
        done = ", ".join(f"{each.action} {each.state}" for each in report.receipts)
        lines.append(f"**Receipts**: {one_line(done, 600) or 'none'}")
        await reply.say(within("\n".join(lines)))

    async def _page(self, who: Interaction, argument: str, at: int) -> Page:
        named, _, words = argument.partition(":")
        start = at * PAGE_SIZE
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            if who.user_id in self._owners:
                space_id = SpaceId(int(named))
                found = await oversight.list_all(conn, space_id, words=words, size=PAGE_SIZE, start=start)
                await oversight.note(conn, who.user_id, space_id, "list_memories")
                title = f"**`{space_id}` has {found.total} memories.**"
            else:
                viewer = Viewer(who.scope, who.user_id)
                found = await list_memories(conn, viewer, "user", words=words, size=PAGE_SIZE, start=start)
                title = f"{_CONFINED} There are {found.total}."
        lines = [f"{line_of(each)} [{each.scope}]" for each in found.entries]
        return Page(title, lines, found.start // PAGE_SIZE, pages_of(found.total, PAGE_SIZE))

    def _require(self, command: Command) -> None:
        if command.user_id not in self._owners:
            log.info("operators.refused", user_id=command.user_id)
            raise CommandRefused(_NOT_YOURS)


def _space(command: Command) -> SpaceId:
    """The space that was named. It counts for owners alone."""
    named = command.get(SERVER)
    if named is None:
        return command.scope.space_id
    if not (named.isascii() and named.isdecimal() and int(named) < 2**63):
        raise CommandRefused("A server is named by its number (Copy Server ID); nothing was done.")
    return SpaceId(int(named))


def _summary(run: RunSummary) -> str:
    took = f"{(run.ended_at - run.started_at).total_seconds():.1f} s" if run.ended_at else "still running"
    return (
        f"**Run `{run.run_id}`** for <@{run.author_id}> in <#{run.place_id}>: {run.model}, {run.how}, "
        f"{run.prompt_tokens:,} + {run.completion_tokens:,} tokens, {took}"
    )
