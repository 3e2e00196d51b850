"""Changing memories by command: adding, editing, forgetting, pinning, restoring, each with a button that undoes it.

A button says what it undoes and which version it was made for: where the memory changed since, nothing is undone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from bot.bodies import Component, Field, button, row
from bot.errors import CommandRefused
from bot.interactions import EXPIRED_BUTTON, Command, Interaction, Interactions, Press, Reply, Submission, Typing
from bot.memories.declarations import (
    ADD,
    CONTENT,
    DROP_EPISODE,
    EDIT,
    EPISODE,
    FORGET,
    IMPORTANCE,
    KEY,
    KIND,
    LOST,
    NEW_CONTENT,
    PIN,
    PINNED,
    RESTORE,
    VERSION,
    WHICH,
)
from bot.memories.eyes import NAMES, Eyes, scope_named
from bot.memories.ledger import MemoryLedger
from bot.memories.looking import Looking, whose_of
from bot.memories.wording import one_line, suggestion_of, within
from memory.database import BORROW_S, Borrowed, Pool
from memory.editing import Changed, Edit, edit, pin, restore
from memory.episode_inventory import delete_episode
from memory.inventory import Item, Viewer, forgotten
from memory.items import CONTENT_CHARS, Author, Draft, Forgotten, Remembered, Target, forget, remember
from memory.kinds import KINDS
from memory.owners import Caps

T = TypeVar("T")

UNDO: Final = "memundo"
EDIT_FORM: Final = "memedit"

_SHOWN_CHARS: Final = 300
_CHANGED: Final = "This memory changed since, so nothing was undone; /memory history shows how."
_MEANWHILE: Final = "This memory changed meanwhile, so your change was not made; please look at it again."
_LATE: Final = "That took too long; please use the command again, or give it the new words at once."


@dataclass(frozen=True, slots=True)
class Undoing:
    """What a button does: `deed` is forget, restore, pin, unpin, or v with a version that comes back."""

    memory_id: int
    version: int
    deed: str

    def button(self) -> Sequence[Component]:
        """The button's row."""
        return [row(button("Undo", f"{UNDO}:{self.memory_id}:{self.version}:{self.deed}"))]


class Changing:
    """Answers the commands that change something."""

    def __init__(self, pool: Pool, eyes: Eyes, looking: Looking, caps: Caps) -> None:
        self._pool = pool
        self._eyes = eyes
        self._looking = looking
        self._ledger = MemoryLedger(pool)
        self._caps = caps

    def register(self, interactions: Interactions) -> None:
        """Offer the commands, and heed their buttons and forms."""
        interactions.on_command(ADD, self.add)
        interactions.on_command(EDIT, self.edit, suggester=self._looking.suggest)
        interactions.on_command(FORGET, self.forget, suggester=self._looking.suggest)
        interactions.on_command(PIN, self.pin, suggester=self._looking.suggest)
        interactions.on_command(RESTORE, self.restore, suggester=self.suggest_forgotten)
        interactions.on_command(DROP_EPISODE, self.drop_episode)
        interactions.on_press(UNDO, self.undo)
        interactions.on_submit(EDIT_FORM, self.edited)

    async def add(self, command: Command, reply: Reply) -> None:
        """Remember what was given."""
        scope = whose_of(command)
        draft = Draft(
            command.need(CONTENT),
            command.get(KIND) or "fact",
            command.get(KEY),
            scope,
            command.get(IMPORTANCE),
        )
        author = await self._eyes.author(command, scope)
        await self.keep(command, reply, author, draft)

    async def keep(self, who: Interaction, reply: Reply, author: Author, draft: Draft) -> None:
        """Remember a draft for an author, and say what became of it."""

        async def change(conn: Borrowed) -> tuple[Remembered, int]:
            kept = await remember(conn, author, draft, caps=self._caps)
            return kept, kept.memory_id

        kept = await self._ledger.run(who, "memory_add", {"whose": draft.scope, "kind": draft.kind}, change)
        name = f"`#{kept.memory_id}` ({NAMES[scope_named(draft.scope) or 'user']})"
        match kept.outcome:
            case "created":
                undoing = Undoing(kept.memory_id, kept.version, "forget")
                await self._told(reply, f"Remembered as {name}", kept.content, undoing)
            case "revised":
                undoing = Undoing(kept.memory_id, kept.version, f"v{kept.version - 1}")
                await self._told(reply, f"{name} stood under that key, and now says", kept.content, undoing)
            case "confirmed" | "unchanged":
                await self._told(reply, f"I knew that already, as {name}", kept.content, None)

    async def edit(self, command: Command, reply: Reply) -> None:
        """Change what was given; where nothing was, ask for it in a form."""
        item, _ = await self._standing(command, command.need(WHICH))
        change = Edit(command.get(NEW_CONTENT), command.get(KIND), command.get(KEY), command.get(IMPORTANCE))
        if change != Edit():
            await self._edit(command, reply, item, change, item.version)
            return
        fields = [
            Field("content", "What it says", item.content, long=True, most=CONTENT_CHARS),
            Field("kind", "Kind", item.kind, choices=[(kind, kind) for kind in KINDS]),
            Field("key", "Key", item.key or "", "A stable name such as preference.editor", required=False, most=128),
            Field("importance", "Importance", f"{item.importance:.2f}", "From 0 to 1", most=10),
        ]
        if not await reply.ask(f"{EDIT_FORM}:{item.memory_id}:{item.version}", "Change a memory", fields):
            raise CommandRefused(_LATE)

    async def edited(self, submission: Submission, reply: Reply) -> None:
        """The form was sent: what differs is changed."""
        memory_id, version = _numbers(submission.custom_id, 2)
        item, _ = await self._standing(submission, str(memory_id))
        importance = _importance(submission.written("importance"))
        shown = f"{item.importance:.2f}" == f"{importance:.2f}"
        change = Edit(
            submission.written("content"),
            submission.written("kind") or None,
            submission.written("key").strip() or None,
            None if shown else importance,
        )
        await self._edit(submission, reply, item, change, version)

    async def _edit(self, who: Interaction, reply: Reply, item: Item, change: Edit, version: int) -> None:
        author = await self._eyes.author(who, item.scope)

        async def run(conn: Borrowed) -> tuple[Changed, int]:
            done = await edit(conn, author, item.memory_id, change, caps=self._caps)
            return _expected(done, version, _MEANWHILE), done.memory_id

        done = await self._ledger.run(who, "memory_edit", {"memory": item.memory_id}, run)
        undoing = Undoing(done.memory_id, done.version, f"v{done.before}")
        await self._told(reply, f"Changed. `#{done.memory_id}` now says", done.content, undoing)

    async def forget(self, command: Command, reply: Reply) -> None:
        """Forget one."""
        item, _ = await self._standing(command, command.need(WHICH))
        gone = await self._forget(command, item, item.version)
        undoing = Undoing(gone.memory_id, gone.version, "restore")
        await self._told(reply, f"Forgotten: `#{gone.memory_id}`", gone.content, undoing)

    async def _forget(self, who: Interaction, item: Item, version: int) -> Forgotten:
        author = await self._eyes.author(who, item.scope, keeps=False)

        async def run(conn: Borrowed) -> tuple[Forgotten, int]:
            gone = await forget(conn, author, Target(item.memory_id, scope=item.scope), caps=self._caps)
            if gone.version != version:
                raise CommandRefused(_CHANGED)
            return gone, gone.memory_id

        return await self._ledger.run(who, "memory_forget", {"memory": item.memory_id}, run)

    async def pin(self, command: Command, reply: Reply) -> None:
        """Pin one, or take the pin away."""
        item, _ = await self._standing(command, command.need(WHICH))
        pinned = command.get(PINNED) is not False
        done = await self._pin(command, item, pinned=pinned)
        undoing = Undoing(done.memory_id, done.version, "unpin" if pinned else "pin")
        await self._told(
            reply, f"{'Pinned' if pinned else 'No longer pinned'}: `#{done.memory_id}`", done.content, undoing
        )

    async def _pin(self, who: Interaction, item: Item, *, pinned: bool) -> Changed:
        author = await self._eyes.author(who, item.scope, keeps=False)

        async def run(conn: Borrowed) -> tuple[Changed, int]:
            done = await pin(conn, author, item.memory_id, pinned=pinned, caps=self._caps)
            return done, done.memory_id

        return await self._ledger.run(who, "memory_pin", {"memory": item.memory_id, "pinned": pinned}, run)

    async def restore(self, command: Command, reply: Reply) -> None:
        """Bring back a forgotten one, or a former version."""
        item, _ = await self._eyes.named(command, command.need(LOST))
        done = await self._restore(command, item, command.get(VERSION), item.version)
        deed = f"v{done.before}" if done.was_active else "forget"
        undoing = Undoing(done.memory_id, done.version, deed)
        await self._told(reply, f"Restored. `#{done.memory_id}` says", done.content, undoing)

    async def _restore(self, who: Interaction, item: Item, version: int | None, expected: int) -> Changed:
        author = await self._eyes.author(who, item.scope)

        async def run(conn: Borrowed) -> tuple[Changed, int]:
            done = await restore(conn, author, item.memory_id, version=version, caps=self._caps)
            return _expected(done, expected, _CHANGED), done.memory_id

        return await self._ledger.run(who, "memory_restore", {"memory": item.memory_id, "version": version}, run)

    async def undo(self, press: Press, reply: Reply) -> None:
        """Undo what a button stands below."""
        memory_id, version, deed = _undoing(press.custom_id)
        item, _ = await self._eyes.named(press, str(memory_id))
        match deed:
            case "forget":
                await self._forget(press, item, version)
            case "pin" | "unpin":
                await self._pin(press, item, pinned=deed == "pin")
            case _:
                await self._restore(press, item, int(deed[1:]) if deed != "restore" else None, version)
        await reply.update(f"Undone: `#{memory_id}` is as it was before.")

    async def drop_episode(self, command: Command, reply: Reply) -> None:
        """Delete an exchange for good."""
        author = await self._eyes.author(command, "channel", keeps=False)
        number = command.need(EPISODE)

        async def run(conn: Borrowed) -> tuple[int, int]:
            if not await delete_episode(conn, command.scope, number, command.user_id, governs=author.governs):
                raise CommandRefused("There is no such exchange of yours; nothing was changed.")
            return number, number

        await self._ledger.run(command, "episode_delete", {"episode": number}, run)
        await reply.say(f"Deleted for good: exchange `{number}`.")

    async def suggest_forgotten(self, typing: Typing) -> Sequence[tuple[str, str]]:
        """What could be restored; what stands is suggested after it, for its former versions."""
        author = await self._eyes.author(typing, "channel", keeps=False)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            viewer = Viewer(typing.scope, typing.user_id)
            lost = await forgotten(conn, viewer, governs=author.governs, most=100)
        wanted = typing.text.lstrip("#").lower()
        found = [suggestion_of(each) for each in lost if wanted in f"{each.memory_id} {each.content}".lower()]
        return [*found, *await self._looking.suggest(typing)]

    async def _standing(self, who: Interaction, which: str) -> tuple[Item, Viewer]:
        item, viewer = await self._eyes.named(who, which)
        if item.state != "active":
            raise CommandRefused("That memory was forgotten already; /memory restore brings it back.")
        return item, viewer

    async def _told(self, reply: Reply, what: str, content: str, undoing: Undoing | None) -> None:
        text = within(f"{what}:\n> {one_line(content, _SHOWN_CHARS)}")
        await reply.say(text, components=() if undoing is None else undoing.button())


def _expected(done: Changed, version: int, otherwise: str) -> Changed:
    """The change, if it was made to that version; the caller's transaction takes it back if not."""
    if done.before != version:
        raise CommandRefused(otherwise)
    return done


def _undoing(custom_id: str) -> tuple[int, int, str]:
    """What an undo button says. Raises CommandRefused for one that an older version made."""
    memory_id, version = _numbers(custom_id.rsplit(":", 1)[0], 2)
    deed = custom_id.rsplit(":", 1)[1]
    if deed not in ("forget", "restore", "pin", "unpin") and not (deed[:1] == "v" and deed[1:].isdecimal()):
        raise CommandRefused(EXPIRED_BUTTON)
    return memory_id, version, deed


def _numbers(custom_id: str, many: int) -> list[int]:
    parts = custom_id.split(":")[1:]
    if len(parts) != many or not all(part.isascii() and part.isdecimal() and len(part) <= 18 for part in parts):
        raise CommandRefused(EXPIRED_BUTTON)
    return [int(part) for part in parts]


def _importance(written: str) -> float:
    try:
        return float(written.strip().replace(",", "."))
    except ValueError as error:
        raise CommandRefused("Importance is a number from 0 to 1; nothing was changed.") from error
