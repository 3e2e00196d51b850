"""Seeing what happened in the sandbox, and waiting for it without polling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from sandbox.patience import WITHIN_S

from . import transcript
from .faults import path_matches
from .messages import Message, Ping
from .people import Member, User
from .places import Place
from .world import Typing, World

if TYPE_CHECKING:
    from .gateway import Gateway
    from .requests import Request
    from .rest.pipeline import Pipeline
    from .sessions import Session

T = TypeVar("T")
Who = User | Member


class Watcher:
    """The part of Discord that a test asks. All times that it takes are seconds of real time."""

    def __init__(self, world: World, gateway: Gateway, pipeline: Pipeline) -> None:
        self.world = world
        self._gateway = gateway
        self._pipeline = pipeline

    @property
    def bot(self) -> User:
        """The bot's own account."""
        return self.world.bot

    # what happened

    def messages_in(self, place: Place) -> list[Message]:
        """The messages that are still there, oldest first."""
        return place.as_channel().shelf.live()

    def bot_messages(self, place: Place | None = None) -> list[Message]:
        """The bot's messages that are still there, in one place or in all, oldest first."""
        places = self.world.channels.values() if place is None else [place.as_channel()]
        return sorted((m for p in places for m in p.shelf.live() if m.author is self.bot), key=lambda m: m.id)

    def replies_to(self, message: Message, *, by: Who | None = None) -> list[Message]:
        """The replies to a message that are still there, oldest first; of the bot alone unless ``by`` is given."""
        author = self.bot if by is None else _user(by)
        return [m for m in message.channel.shelf.live() if m.reply_to is message and m.author is author]

    @property
    def pings(self) -> list[Ping]:
        """Everything by which the bot notified somebody, by message or edit."""
        return [ping for ping in self.world.pings if ping.message.author is self.bot]

    @property
    def all_pings(self) -> list[Ping]:
        return self.world.pings

    @property
    def requests(self) -> list[Request]:
        """Each REST request in the order of arrival."""
        return self._pipeline.log

    def requests_to(self, method: str, path: str) -> list[Request]:
        """Those of a method to a path like ``/channels/*/messages``."""
        return [r for r in self.requests if r.method == method and path_matches(path, r.path)]

    @property
    def typing_log(self) -> list[Typing]:
        return self.world.typing_log

    def is_typing(self, place: Place, who: Who | None = None) -> bool:
        """Whether people see the indicator: for ten seconds, or until the next message of that user there."""
        channel, user, now = place.as_channel(), self.bot if who is None else _user(who), self.world.clock.now()
        starts = [t for t in self.typing_log if t.place is channel and t.by is user]
        said = [m.id for m in channel.shelf.everything() if m.author is user]
        return bool(starts) and now < starts[-1].at + 10 and (not said or said[-1] < starts[-1].id)

    def reactions_on(self, message: Message) -> dict[str, list[User]]:
        """Emoji to the users who reacted with it."""
        return {key: list(reaction.users.values()) for key, reaction in message.reactions.items()}

    @property
    def sessions(self) -> Sequence[Session]:
        """The gateway sessions that are connected and ready."""
        return self._gateway.sessions.connected()

    @property
    def identifies(self) -> int:
        """How many times a session was begun; a RESUME is not counted."""
        return self._gateway.identifies

    def transcript(self, *places: Place) -> str:
        """The given places, or all in which something was said, and the last REST requests, to be read."""
        chosen = [p.as_channel() for p in places]
        if not chosen:
            chosen = [c for c in self.world.channels.values() if c.shelf.last_id is not None]
        return "\n".join([*(transcript.of_place(place) for place in chosen), transcript.of_requests(self.requests)])

    # waiting

    async def wait_until(self, true: Callable[[], bool], *, within: float = WITHIN_S, what: str = "that") -> None:
        """Wait for a condition of the world. It is looked at after each change, never by polling."""
        await self._await(lambda: True if true() else None, within, what)

    async def wait_for_session(self, n: int = 1, *, within: float = WITHIN_S) -> None:
        """Until at least ``n`` sessions are connected and were told READY (or RESUMED)."""
        await self._await(lambda: True if len(self.sessions) >= n else None, within, f"{n} gateway session(s)")

    async def wait_for_message(
        self,
        *,
        by: Who | None = None,
        in_: Place | None = None,
        reply_to: Message | None = None,
        containing: str | None = None,
        after: Message | None = None,
        where: Callable[[Message], bool] | None = None,
        within: float = WITHIN_S,
    ) -> Message:
        """The earliest message that fits and is not deleted, whether it is there already or comes ``within`` seconds.

        ``by`` is the bot when it is not given. Asking twice gives the same message twice: use ``reply_to`` or
        ``after`` to name the one that is meant. Raises AssertionError with a transcript when there is none.
        """
        author = self.bot if by is None else _user(by)
        place = in_ if in_ is not None or reply_to is None else reply_to.channel
        since = max(message.id for message in (after, reply_to) if message is not None) if after or reply_to else 0

        def fits(message: Message) -> bool:
            return (
                message.author is author
                and (reply_to is None or message.reply_to is reply_to)
                and (containing is None or containing in message.content)
                and (where is None or where(message))
            )

        what = f"a message by {author}" + (f" in {place.as_channel()}" if place is not None else "")
        what += f" that replies to {str(reply_to)!r}" if reply_to is not None else ""
        what += f" that contains {containing!r}" if containing is not None else ""
        return await self._await(lambda: next(filter(fits, self._said(place, since)), None), within, what, place)

    async def wait_for_messages(
        self, n: int, *, in_: Place, by: Who | None = None, after: Message | None = None, within: float = WITHIN_S
    ) -> list[Message]:
        """Until somebody (the bot) has ``n`` messages in a place; all that there are then, oldest first."""
        author = self.bot if by is None else _user(by)

        since = 0 if after is None else after.id

        def look() -> list[Message] | None:
            found = [message for message in self._said(in_, since) if message.author is author]
            return found if len(found) >= n else None

        return await self._await(look, within, f"{n} messages by {author} in {in_.as_channel()}", in_)

    async def wait_for_reaction(
        self, message: Message, emoji: str | None = None, *, by: Who | None = None, within: float = WITHIN_S
    ) -> str:
        """Until somebody (the bot) reacts to a message, with any emoji or that one; the emoji."""
        user = self.bot if by is None else _user(by)

        def look() -> str | None:
            found = (key for key, reaction in message.reactions.items() if user.id in reaction.users)
            return next((key for key in found if emoji in (None, key)), None)

        return await self._await(
            look, within, f"a reaction {emoji or ''} by {user} on {str(message)!r}", message.channel
        )

    async def wait_for_edit(self, message: Message, *, containing: str = "", within: float = WITHIN_S) -> Message:
        """Until a message was edited and contains that text."""
        return await self._await(
            lambda: message if message.past and containing in message.content else None,
            within,
            f"an edit of {str(message)!r}",
            message.channel,
        )

    async def wait_for_deletion(self, message: Message, *, within: float = WITHIN_S) -> None:
        look = f"the deletion of {str(message)!r}"
        await self._await(lambda: True if message.deleted else None, within, look, message.channel)

    async def wait_for_typing(
        self, in_: Place, *, by: Who | None = None, n: int = 1, within: float = WITHIN_S
    ) -> Typing:
        """The ``n``-th start of the typing indicator in a place, of the bot or somebody."""
        channel, user = in_.as_channel(), self.bot if by is None else _user(by)

        def look() -> Typing | None:
            found = [t for t in self.typing_log if t.place is channel and t.by is user]
            return found[n - 1] if len(found) >= n else None

        return await self._await(look, within, f"{user} typing in {channel}", in_)

    async def wait_for_request(
        self, method: str, path: str, *, n: int = 1, answered: bool = True, within: float = WITHIN_S
    ) -> Request:
        """The ``n``-th request of a method to a path pattern, answered (or reset) unless ``answered`` is false."""

        def look() -> Request | None:
            found = [r for r in self.requests_to(method, path) if r.status or not answered]
            return found[n - 1] if len(found) >= n else None

        return await self._await(look, within, f"request {n} of {method} {path}")

    async def expect_silence(self, in_: Place, *, by: Who | None = None, for_: float = 0.5) -> None:
        """Somebody (the bot) says nothing in a place for so many seconds. Fails as soon as they speak."""
        author, before = self.bot if by is None else _user(by), in_.as_channel().shelf.last_id or 0

        def look() -> Message | None:
            return next((message for message in self._said(in_, before) if message.author is author), None)

        broken = await self.world.changes.until(look, for_)
        if broken is not None:
            raise AssertionError(f"{author} was to be silent, but said {broken.content!r}\n{self.transcript(in_)}")

    def _said(self, place: Place | None, since: int) -> Iterator[Message]:
        """What is said after an id and not deleted, in a place or in all of them."""
        places = list(self.world.channels.values()) if place is None else [place.as_channel()]
        for channel in places:
            yield from channel.shelf.live_after(since)

    async def _await(self, look: Callable[[], T | None], within: float, what: str, *places: Place | None) -> T:
        found = await self.world.changes.until(look, within)
        if found is None:
            shown = [place for place in places if place is not None]
            raise AssertionError(f"waited {within} s in vain for {what}\n{self.transcript(*shown)}")
        return found


def _user(who: Who) -> User:
    return who.user if isinstance(who, Member) else who
