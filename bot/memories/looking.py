"""Looking through memories: lists in pages, one memory with its evidence, its history, and a file of all."""

import gzip
from collections.abc import Sequence
from typing import Final

from bot.bodies import Attached
from bot.errors import CommandRefused
from bot.interactions import Command, Interaction, Interactions, Reply, Typing
from bot.memories.declarations import (
    EPISODES,
    EXPORT,
    HISTORY,
    QUERY,
    SEARCH,
    SHOW,
    WHICH,
    WHOSE,
    WHY_MEMORY,
)
from bot.memories.eyes import NAMES, Eyes, scope_named
from bot.memories.wording import as_file, day, line_of, one_line, standing_line, suggestion_of, version_line, why
from bot.pages import Page, Pages, pages_of
from memory.database import BORROW_S, Pool
from memory.episode_inventory import list_episodes
from memory.inventory import evidence_of, history_of, list_memories
from memory.kinds import SCOPES, MemoryScope

PAGE_SIZE: Final = 8
EXPORT_MOST: Final = 20_000
FILE_BYTES: Final = 8_000_000
"""What Discord takes of a bot everywhere; more is sent compressed."""

_LISTS: Final[dict[MemoryScope, str]] = {"user": "mine", "channel": "here", "guild": "all"}


class Looking:
    """Answers the commands that change nothing."""

    def __init__(self, pool: Pool, eyes: Eyes, pages: Pages) -> None:
        self._pool = pool
        self._eyes = eyes
        self._pages = pages

    def register(self, interactions: Interactions) -> None:
        """Offer the commands."""
        interactions.on_command(SHOW, self.show)
        interactions.on_command(SEARCH, self.search)
        interactions.on_command(WHY_MEMORY, self.why, suggester=self.suggest)
        interactions.on_command(HISTORY, self.history, suggester=self.suggest)
        interactions.on_command(EXPORT, self.export)
        interactions.on_command(EPISODES, self.episodes)
        self._pages.on_list("mine", lambda who, words, at: self._page(who, "user", words, at))
        self._pages.on_list("here", lambda who, words, at: self._page(who, "channel", words, at))
        self._pages.on_list("all", lambda who, words, at: self._page(who, "guild", words, at))
        self._pages.on_list("past", self._past)
        self._pages.on_list("episodes", self._episodes)

    async def show(self, command: Command, reply: Reply) -> None:
        """A list, the newest first."""
        await self._pages.show(command, reply, _LISTS[whose_of(command)])

    async def search(self, command: Command, reply: Reply) -> None:
        """The same, of those that hold all the words."""
        await self._pages.show(command, reply, _LISTS[whose_of(command)], command.need(QUERY))

    async def why(self, command: Command, reply: Reply) -> None:
        """What a memory rests on."""
        item, viewer = await self._eyes.named(command, command.need(WHICH))
        if item.state != "active":
            raise CommandRefused("That memory was forgotten; see /memory history, or /memory restore.")
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            evidence = await evidence_of(conn, viewer, item)
            former = await history_of(conn, viewer, item)
        await reply.say(why(item, evidence, len(former), None if command.is_direct else command.scope.space_id))

    async def history(self, command: Command, reply: Reply) -> None:
        """How it came to be, the newest version first."""
        item, _ = await self._eyes.named(command, command.need(WHICH))
        await self._pages.show(command, reply, "past", str(item.memory_id))

    async def export(self, command: Command, reply: Reply) -> None:
        """A file of everything, to the person alone."""
        await reply.defer()
        whose = whose_of(command)
        viewer = await self._eyes.viewer(command, whose)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await list_memories(conn, viewer, whose, size=EXPORT_MOST)
        content, name, kind = as_file(found.entries), f"memories-{_LISTS[whose]}.json", "application/json"
        if len(content) > FILE_BYTES:
            content, name, kind = gzip.compress(content), f"{name}.gz", "application/gzip"
        text = f"Here {'is' if found.total == 1 else 'are'} {_counted(found.total)}, {NAMES[whose]}."
        if found.total > len(found.entries):
            text += f" The file holds the newest {len(found.entries)}."
        if not await reply.say(text, attached=Attached(name, content, kind)):
            raise CommandRefused("Discord did not take the file; please try again in a minute.")

    async def episodes(self, command: Command, reply: Reply) -> None:
        """What one asked, and what was answered."""
        await self._pages.show(command, reply, "episodes")

    async def suggest(self, typing: Typing) -> Sequence[tuple[str, str]]:
        """Memories that hold what was typed, one's own first."""
        viewer, found = await self._eyes.viewer(typing, "user"), list[tuple[str, str]]()
        try:
            viewer = await self._eyes.viewer(typing)
            scopes: Sequence[MemoryScope] = ("user", "channel") if typing.is_direct else SCOPES
        except CommandRefused:
            scopes = ("user",)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            for scope in scopes:
                page = await list_memories(conn, viewer, scope, words=typing.text.lstrip("#"), size=25 - len(found))
                found.extend(map(suggestion_of, page.entries))
                if len(found) >= 25:
                    break
        return found

    async def _page(self, who: Interaction, whose: MemoryScope, words: str, at: int) -> Page:
        viewer = await self._eyes.viewer(who, whose)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await list_memories(conn, viewer, whose, words=words, size=PAGE_SIZE, start=at * PAGE_SIZE)
        about = f" with “{one_line(words, 60)}”" if words else ""
        title = f"**I remember {_counted(found.total)}{about}, {NAMES[whose]}.**"
        if not found.total:
            title = f"I remember nothing{about} that is {NAMES[whose]}."
        return Page(
            title, [line_of(e) for e in found.entries], found.start // PAGE_SIZE, pages_of(found.total, PAGE_SIZE)
        )

    async def _past(self, who: Interaction, which: str, at: int) -> Page:
        item, viewer = await self._eyes.named(who, which)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            former = await history_of(conn, viewer, item)
        pages = pages_of(len(former), PAGE_SIZE)
        at = min(at, pages - 1)
        lines = [version_line(each) for each in former[at * PAGE_SIZE : (at + 1) * PAGE_SIZE]]
        return Page(standing_line(item), lines or ["It was never anything else."], at, pages)

    async def _episodes(self, who: Interaction, _: str, at: int) -> Page:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await list_episodes(conn, who.scope, who.user_id, size=PAGE_SIZE, start=at * PAGE_SIZE)
        lines = [
            f"`{each.episode_id}` {day(each.said_at)} **{one_line(each.question, 90)}** {one_line(each.answer, 90)}"
            for each in found.episodes
        ]
        title = f"**I keep {found.total} of our exchanges for a while.** `/memory drop-episode` deletes one for good."
        if not found.total:
            title = "I keep none of our exchanges."
        return Page(title, lines, found.start // PAGE_SIZE, pages_of(found.total, PAGE_SIZE))


def whose_of(command: Command) -> MemoryScope:
    """Whose memories a command is about."""
    return scope_named(command.get(WHOSE)) or "user"


def _counted(total: int) -> str:
    return f"{total} thing" if total == 1 else f"{total} things"
