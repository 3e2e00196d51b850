"""What a member sees of the loopback Discord: new messages, edits, deletions, reactions, and the bot typing.

`Scene.look()` compares what is there with what it has shown before, so nothing is missed and nothing is shown twice,
whatever woke the caller. Each message that is shown gets a short number by which it can be named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.discord.messages import CHAT_COMMANDS, THREAD_CREATED, Message
from sandbox.discord.people import Member, User
from sandbox.discord.places import Channel, Guild
from sandbox.discord.uses import Use
from sandbox.discord.world import World
from sandbox.terminal.parts import offered

TYPING_SECONDS = 10.0  # Discord shows the indicator for so long
_NEWEST = 50  # messages looked back on for new ones; more at once are not shown one by one
_TRACKED = 500  # messages whose later changes are shown
_MENTION = re.compile(r"<(?:@[!&]?|#)(\d{1,20})>|<a?(:\w{1,32}:)\d{1,20}>")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(slots=True)
class _Shown:
    """A message as it was last shown."""

    number: int
    message: Message
    face: tuple[str, ...]
    reactions: frozenset[tuple[str, int]]


class Scene:
    """The world as one member sees it from one place; both may change. Lines come ready to print."""

    def __init__(self, world: World, guild: Guild, viewer: Member, place: Channel) -> None:
        self.viewer = viewer
        self.place = place
        self.activity = 0
        """Rises whenever the bot says, edits or reacts somewhere the viewer sees."""
        self._world = world
        self._guild = guild
        self._shown: dict[int, _Shown] = {}
        self._count = 0
        self._typing_seen = len(world.typing_log)
        self._typing_until: dict[int, float] = {}
        self._newest = {place.id: place.shelf.last_id or 0 for place in world.channels.values()}

    # --- what is there -----------------------------------------------------------------------------------------------

    def places(self) -> list[Channel]:
        """Where the viewer can read, the own direct message last."""
        own = [place for place in self._guild.places() if place.visible_to(self.viewer)]
        return [*own, self.viewer.dm()]

    def message(self, number: int) -> Message | None:
        """The message that was shown under that number, deleted or not."""
        return next((shown.message for shown in self._shown.values() if shown.number == number), None)

    def name(self, user: User) -> str:
        member = self._guild.members.get(user.id)
        return clean(user.display_name if member is None else member.name)

    def title(self, place: Channel) -> str:
        return f"your DM with {self.name(self._world.bot)}" if place.is_dm else f"#{clean(place.name)}"

    def answered(self, message: Message | Use) -> bool | None:
        """True once the bot has said something after `message` in its place or reacted to it, else None.

        Of a command, a button or a form: once it was answered, and no longer by *is thinking…*.
        """
        bot = self._world.bot
        if isinstance(message, Use):
            original = message.interaction.original
            return True if message.answered and not (original is not None and original.loading) else None
        if any(bot.id in reaction.users for reaction in message.reactions.values()):
            return True
        newer = message.channel.shelf.before(None, _NEWEST)
        return True if any(other.author is bot and other.id > message.id for other in newer) else None

    # --- what to print -----------------------------------------------------------------------------------------------

    def look(self) -> list[str]:
        """Lines for everything that has happened where the viewer can read since the last look."""
        lines: list[str] = []
        for place in self.places():
            last = self._newest.get(place.id, 0)
            fresh = [message for message in self._said(place, _NEWEST) if message.id > last]
            for message in fresh:
                self._newest[place.id] = message.id
                lines.extend(self._announce(message))
        return [*lines, *self._changes(), *self._typing()]

    def history(self, limit: int) -> list[str]:
        """The last messages of the place, oldest first, numbered."""
        lines: list[str] = []
        for message in self._said(self.place, limit):
            self._newest[self.place.id] = max(self._newest.get(self.place.id, 0), message.id)
            lines.extend(self._lines(message))
        return lines

    def _said(self, place: Channel, limit: int) -> list[Message]:
        """The last messages of a place, oldest first, with the ephemeral ones that are the viewer's."""
        hidden = self._world.interactions.hidden(place, self.viewer.user)
        return sorted([*place.shelf.before(None, limit), *hidden], key=lambda message: message.id)[-limit:]

    def _announce(self, message: Message) -> list[str]:
        if message.author is self._world.bot:
            self.activity += 1
            self._typing_until.pop(message.channel.id, None)
        return self._lines(message)

    def _lines(self, message: Message) -> list[str]:
        where = "" if message.channel is self.place else f"({self.title(message.channel)}) "
        if message.kind not in CHAT_COMMANDS:
            if message.kind == THREAD_CREATED:
                return [f"{where}-- {self.name(message.author)} started the thread “{clean(message.content)}”"]
            return []
        shown = self._track(message)
        reply = f" (to {self._reference(message.reply_to)})" if message.reply_to is not None else ""
        hidden = " (only you see this)" if message.ephemeral else ""
        lines = self._body(f"{where}[{shown.number}] {self.name(message.author)}{reply}{hidden}: ", message)
        lines += [
            f"    + {clean(attached.file.filename)} ({len(attached.file.content)} bytes)"
            for attached in message.attachments
        ]
        for reaction in message.reactions.values():
            names = ", ".join(self.name(user) for user in reaction.users.values())
            lines.append(f"    {clean(reaction.emoji.name)} by {names}")
        return lines

    def _body(self, head: str, message: Message) -> list[str]:
        """What a message says and offers, its first line after `head`."""
        text = "is thinking …" if message.loading else message.displayed
        first, *rest = self.plain(text).split("\n")
        return [head + first, *(f"    {line}" for line in (*rest, *map(self.plain, offered(message))))]

    def _reference(self, message: Message) -> str:
        known = self._shown.get(message.id)
        return f"[{known.number}]" if known is not None else f"a message of {self.name(message.author)}"

    def _track(self, message: Message) -> _Shown:
        shown = self._shown.get(message.id)
        if shown is None:
            self._count += 1
            shown = _Shown(self._count, message, _face(message), _reactions(message))
            self._shown[message.id] = shown
            if len(self._shown) > _TRACKED:
                del self._shown[next(iter(self._shown))]
        shown.face, shown.reactions = _face(message), _reactions(message)
        return shown

    def _changes(self) -> Iterator[str]:
        for shown in list(self._shown.values()):
            message = shown.message
            if message.deleted:
                del self._shown[message.id]
                yield f"[{shown.number}] {self.name(message.author)}: the message is deleted"
                continue
            if _face(message) != shown.face:
                shown.face = _face(message)
                self.activity += message.author is self._world.bot
                edited = " edited" if message.past else ""
                yield from self._body(f"[{shown.number}] {self.name(message.author)}{edited}: ", message)
            now = _reactions(message)
            for emoji, user_id in sorted(now - shown.reactions):
                self.activity += user_id == self._world.bot.id
                yield f"[{shown.number}] {emoji} by {self._name_of(user_id)}"
            for emoji, user_id in sorted(shown.reactions - now):
                yield f"[{shown.number}] {emoji} taken back from {self._name_of(user_id)}"
            shown.reactions = now

    def _typing(self) -> Iterator[str]:
        """One line when the bot begins; none while the indicator is only renewed, or when it has spoken since."""
        fresh, self._typing_seen = self._world.typing_log[self._typing_seen :], len(self._world.typing_log)
        for typing in fresh:
            place = typing.place
            if typing.by is not self._world.bot or place.id not in {visible.id for visible in self.places()}:
                continue
            newest = next(iter(place.shelf.before(None, 1)), None)
            if newest is not None and newest.author is typing.by and typing.id < newest.id:
                continue
            if self._typing_until.get(place.id, 0.0) < typing.at:
                where = "" if place is self.place else f"({self.title(place)}) "
                yield f"{where}… {self.name(typing.by)} is typing"
            self._typing_until[place.id] = typing.at + TYPING_SECONDS

    def _name_of(self, user_id: int) -> str:
        user = self._world.users.get(user_id)
        return "somebody" if user is None else self.name(user)

    def plain(self, text: str) -> str:
        """The text with names for mentions, and nothing in it that would steer a terminal."""
        return clean(_MENTION.sub(self._named, text))

    def _named(self, found: re.Match[str]) -> str:
        if found[2] is not None:
            return found[2]
        known = int(found[1])
        if found[0].startswith("<#"):
            place = self._world.channels.get(known)
            return found[0] if place is None else f"#{place.name}"
        role = self._guild.roles.get(known)
        if found[0].startswith("<@&"):
            return found[0] if role is None else f"@{role.name}"
        user = self._world.users.get(known)
        return found[0] if user is None else f"@{self.name(user)}"


def clean(text: str) -> str:
    """`text` without control characters other than line feeds and tabs, and without marks that reorder it."""
    return _CONTROL.sub("\ufffd", text)


def _face(message: Message) -> tuple[str, ...]:
    return (str(message.loading), message.displayed, *offered(message))


def _reactions(message: Message) -> frozenset[tuple[str, int]]:
    return frozenset(
        (clean(reaction.emoji.name), user_id) for reaction in message.reactions.values() for user_id in reaction.users
    )
