"""The handle by which a test or a person drives the sandbox: Discord.start, what happened, and waiting for it."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TypeVar

from . import transcript
from .clock import Clock
from .events import PRIVILEGED, Intent, Payload
from .faults import Faults, path_matches
from .gateway import Gateway, invalid_session, reconnect
from .messages import REPLY, Message, Ping
from .people import Member, User
from .permissions import NOTHING, Permission
from .places import Guild, Place
from .rates import Rates
from .requests import Request
from .rest.pipeline import PREFIX, Pipeline
from .server import Server
from .workshop import Workshop, workshop
from .world import Typing, World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .sessions import Session

T = TypeVar("T")
Who = User | Member


class Discord:
    """A Discord on one port of loopback, for one bot.

    Use it as ``async with Discord.start() as discord:``; or ``await Discord.serve(host, port)`` and ``await close()``.
    All times that it takes are seconds. Everything that happened stays readable after it was closed.
    """

    def __init__(
        self,
        *,
        host: str,
        port: int,
        token: str | None,
        bot_name: str,
        privileged: Intent,
        nonce_window: float,
        world: Literal["workshop"] | None,
        clock: Clock | None,
    ) -> None:
        self.clock = clock or Clock()
        self.world = World(self.clock, bot_name=bot_name, nonce_window=nonce_window)
        self.world.application.privileged = privileged
        self.token = token or _make_token(self.world.bot)
        self.faults = Faults(self.world.changes)
        self.rates = Rates(self.clock)
        self._gateway = Gateway(self.world, self.faults, self.token)
        self._pipeline = Pipeline(self.world, self._gateway, self.faults, self.rates, self.token)
        self._server = Server(self._pipeline, self._gateway, self.world.cdn)
        self._host, self._port = host, port
        self.workshop: Workshop | None = workshop(self) if world == "workshop" else None

    @classmethod
    def start(
        cls,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        bot_name: str = "Muninn",
        privileged: Intent = PRIVILEGED,
        nonce_window: float = 180.0,
        world: Literal["workshop"] | None = None,
        clock: Clock | None = None,
    ) -> Discord:
        """A Discord to enter with ``async with``.

        ``port`` 0 takes a free one, ``privileged`` are the intents switched on in the application's settings,
        ``nonce_window`` the seconds (on the sandbox's clock) in which a nonce holds, ``world="workshop"`` fills it
        with a ready-made guild.
        """
        return cls(
            host=host,
            port=port,
            token=token,
            bot_name=bot_name,
            privileged=privileged,
            nonce_window=nonce_window,
            world=world,
            clock=clock,
        )

    @classmethod
    async def serve(
        cls,
        host: str = "127.0.0.1",
        port: int = 8020,
        *,
        token: str | None = None,
        bot_name: str = "Muninn",
        world: Literal["workshop"] | None = "workshop",
    ) -> Discord:
        """Start on a fixed port and hand back the running Discord; the caller awaits ``close()``.

        Raises OSError when the port is taken.
        """
        discord = cls.start(host=host, port=port, token=token, bot_name=bot_name, world=world)
        await discord.open()
        return discord

    async def open(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        await self._server.start(self._host, self._port)
        self._port = self._server.port
        self._gateway.url = self.gateway_url
        self.world.cdn.base_url = f"http://{self._host}:{self._port}"

    async def close(self) -> None:
        """Stop listening, cut what is connected, let go of what faults hold."""
        self.faults.clear()
        for session in list(self._gateway.sessions.by_id.values()):
            session.forget_tasks()
        for connection in list(self._gateway.connections):
            connection.abort()
        await self._server.stop()

    async def __aenter__(self) -> Discord:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # where it is

    @property
    def port(self) -> int:
        return self._port

    @property
    def api_url(self) -> str:
        """For ``MUNINN_DISCORD_API_URL``."""
        return f"http://{self._host}:{self._port}{PREFIX}"

    @property
    def gateway_url(self) -> str:
        """For ``MUNINN_DISCORD_GATEWAY_URL``."""
        return f"ws://{self._host}:{self._port}/gateway/"

    # the world

    @property
    def bot(self) -> User:
        """The bot's own account."""
        return self.world.bot

    def create_guild(
        self, name: str, *, owner: str | Member | User = "Olive", bot_permissions: Permission = NOTHING
    ) -> Guild:
        """A new guild with the bot in it. ``bot_permissions`` is what its own role grants beyond @everyone."""
        keeper = owner.user if isinstance(owner, Member) else owner
        return self.world.rooms.create_guild(name, owner=keeper, bot_permissions=bot_permissions)

    def create_user(self, name: str) -> User:
        """Somebody who is in no guild yet; they can write a DM."""
        return self.world.create_user(name)

    @property
    def guilds(self) -> list[Guild]:
        return list(self.world.guilds.values())

    async def unfurls(self, message: Message, *embeds: Payload) -> None:
        """Discord adds link previews after the fact: MESSAGE_UPDATE that is no edit."""
        message.embeds.extend(embeds)
        self.world.speech.changed(message)
        await self.world.breathe()

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
        channel, user, now = place.as_channel(), self.bot if who is None else _user(who), self.clock.now()
        starts = [t.at for t in self.typing_log if t.place is channel and t.by is user]
        said = [m.created_at for m in channel.shelf.everything() if m.author is user]
        return bool(starts) and now < starts[-1] + 10 and (not said or said[-1] < starts[-1])

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

    # the connection

    async def disconnect_bots(self, code: int = 4000, *, abort: bool = False, resumable: bool = True) -> None:
        """Close every gateway connection with ``code``, or ``abort`` them without a close frame.

        With ``resumable=False`` the sessions are forgotten too, so that a RESUME gets op 9.
        """
        self._gateway.cut(None if abort else code, resumable=resumable)
        await self.world.breathe()

    async def request_reconnect(self) -> None:
        """Op 7: each client is asked to reconnect and resume."""
        await self._push(reconnect())

    async def invalidate_sessions(self, *, resumable: bool = False) -> None:
        """Op 9: with ``resumable`` the client may resume, without it must identify anew."""
        if not resumable:
            for session in list(self._gateway.sessions.by_id.values()):
                self._gateway.sessions.forget(session)
        await self._push(invalid_session(resumable=resumable))

    async def _push(self, frame: bytes) -> None:
        for connection in list(self._gateway.connections):
            connection.push(frame)
        await self.world.breathe()

    def gateway_offline(self, *, resumable: bool = True) -> Offline:
        """``async with discord.gateway_offline():`` cuts the gateway and refuses it while people talk on."""
        return Offline(self._gateway, resumable)

    def heartbeat_every(self, seconds: float) -> None:
        """What HELLO asks of connections from now on (41.25 by default)."""
        self._gateway.heartbeat_interval = seconds

    # waiting

    async def wait_until(self, true: Callable[[], bool], *, within: float = 5.0, what: str = "that") -> None:
        """Wait for a condition of the world. It is looked at after each change, never by polling."""
        await self._await(lambda: True if true() else None, within, what)

    async def wait_for_session(self, n: int = 1, *, within: float = 10.0) -> None:
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
        within: float = 5.0,
    ) -> Message:
        """The earliest message that fits and is not deleted, whether it is there already or comes ``within`` seconds.

        ``by`` is the bot when it is not given. Asking twice gives the same message twice: use ``reply_to`` or
        ``after`` to name the one that is meant. Raises AssertionError with a transcript when there is none.
        """
        author = self.bot if by is None else _user(by)

        def look() -> Message | None:
            for message in self._candidates(in_ if in_ is not None or reply_to is None else reply_to.channel):
                if message.author is not author or (after is not None and message.id <= after.id):
                    continue
                if reply_to is not None and not (message.kind == REPLY and message.referenced is reply_to):
                    continue
                if containing is not None and containing not in message.content:
                    continue
                if where is None or where(message):
                    return message
            return None

        what = f"a message by {author}" + (f" in {in_.as_channel()}" if in_ is not None else "")
        what += f" that replies to {str(reply_to)!r}" if reply_to is not None else ""
        what += f" that contains {containing!r}" if containing is not None else ""
        return await self._await(look, within, what, in_ if in_ is not None or reply_to is None else reply_to.channel)

    async def wait_for_messages(
        self, n: int, *, in_: Place, by: Who | None = None, after: Message | None = None, within: float = 5.0
    ) -> list[Message]:
        """Until somebody (the bot) has ``n`` messages in a place; all that there are then, oldest first."""
        author = self.bot if by is None else _user(by)

        def look() -> list[Message] | None:
            found = [m for m in self._candidates(in_) if m.author is author and (after is None or m.id > after.id)]
            return found if len(found) >= n else None

        return await self._await(look, within, f"{n} messages by {author} in {in_.as_channel()}", in_)

    async def wait_for_reaction(
        self, message: Message, emoji: str | None = None, *, by: Who | None = None, within: float = 5.0
    ) -> str:
        """Until somebody (the bot) reacts to a message, with any emoji or that one; the emoji."""
        user = self.bot if by is None else _user(by)

        def look() -> str | None:
            found = (key for key, reaction in message.reactions.items() if user.id in reaction.users)
            return next((key for key in found if emoji in (None, key)), None)

        return await self._await(
            look, within, f"a reaction {emoji or ''} by {user} on {str(message)!r}", message.channel
        )

    async def wait_for_edit(self, message: Message, *, containing: str = "", within: float = 5.0) -> Message:
        """Until a message was edited and contains that text."""
        return await self._await(
            lambda: message if message.past and containing in message.content else None,
            within,
            f"an edit of {str(message)!r}",
            message.channel,
        )

    async def wait_for_deletion(self, message: Message, *, within: float = 5.0) -> None:
        look = f"the deletion of {str(message)!r}"
        await self._await(lambda: True if message.deleted else None, within, look, message.channel)

    async def wait_for_typing(self, in_: Place, *, by: Who | None = None, n: int = 1, within: float = 5.0) -> Typing:
        """The ``n``-th start of the typing indicator in a place, of the bot or somebody."""
        channel, user = in_.as_channel(), self.bot if by is None else _user(by)

        def look() -> Typing | None:
            found = [t for t in self.typing_log if t.place is channel and t.by is user]
            return found[n - 1] if len(found) >= n else None

        return await self._await(look, within, f"{user} typing in {channel}", in_)

    async def wait_for_request(
        self, method: str, path: str, *, n: int = 1, answered: bool = True, within: float = 5.0
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
            return next((m for m in self._candidates(in_) if m.author is author and m.id > before), None)

        broken = await self.world.changes.until(look, for_)
        if broken is not None:
            raise AssertionError(f"{author} was to be silent, but said {broken.content!r}\n{self.transcript(in_)}")

    def _candidates(self, place: Place | None) -> Iterator[Message]:
        places = self.world.channels.values() if place is None else [place.as_channel()]
        for channel in list(places):
            yield from channel.shelf.live()

    async def _await(self, look: Callable[[], T | None], within: float, what: str, *places: Place | None) -> T:
        found = await self.world.changes.until(look, within)
        if found is None:
            shown = [place for place in places if place is not None]
            raise AssertionError(f"waited {within} s in vain for {what}\n{self.transcript(*shown)}")
        return found


class Offline:
    """An outage of the gateway, as ``with`` or ``async with``."""

    def __init__(self, gateway: Gateway, resumable: bool) -> None:
        self._gateway = gateway
        self._resumable = resumable

    def __enter__(self) -> None:
        self._gateway.offline = True
        self._gateway.cut(resumable=self._resumable)

    def __exit__(self, *_: object) -> None:
        self._gateway.offline = False

    async def __aenter__(self) -> None:
        self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()


def _user(who: Who) -> User:
    return who.user if isinstance(who, Member) else who


def _make_token(bot: User) -> str:
    """In the shape of Discord's: the id, a time, a signature."""
    first = base64.urlsafe_b64encode(str(bot.id).encode()).decode().rstrip("=")
    return f"{first}.{secrets.token_urlsafe(4)}.{secrets.token_urlsafe(28)}"
