"""The handle by which a test or a person drives the sandbox: Discord.start, what happened, and waiting for it."""

from __future__ import annotations

import base64
import secrets
from types import TracebackType
from typing import Literal

from .clock import Clock
from .events import PRIVILEGED, Intent, Payload
from .faults import Faults
from .gateway import Gateway, invalid_session, reconnect
from .messages import Message
from .people import Member, User
from .permissions import NOTHING, Permission
from .places import Guild
from .rates import Rates
from .rest.pipeline import PREFIX, Pipeline
from .server import Server
from .watching import Watcher
from .workshop import Workshop, workshop
from .world import World


class Discord(Watcher):
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
        made = World(self.clock, bot_name=bot_name, nonce_window=nonce_window)
        made.application.privileged = privileged
        self.token = token or _make_token(made.bot)
        self.faults = Faults(made.changes)
        self.rates = Rates(self.clock)
        gateway = Gateway(made, self.faults, self.token)
        super().__init__(made, gateway, Pipeline(made, gateway, self.faults, self.rates, self.token))
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
    def cdn_url(self) -> str:
        """For ``MUNINN_DISCORD_CDN_URLS``: where files are."""
        return self.world.cdn.base_url

    @property
    def api_url(self) -> str:
        """For ``MUNINN_DISCORD_API_URL``."""
        return f"http://{self._host}:{self._port}{PREFIX}"

    @property
    def gateway_url(self) -> str:
        """For ``MUNINN_DISCORD_GATEWAY_URL``."""
        return f"ws://{self._host}:{self._port}/gateway/"

    # the world

    def create_guild(
        self,
        name: str,
        *,
        owner: str | Member | User = "Olive",
        bot_permissions: Permission = NOTHING,
        aged: bool = False,
    ) -> Guild:
        """A new guild with the bot in it. ``bot_permissions`` is what its own role grants beyond @everyone.

        ``aged``: one from before August 2017, whose first channel, #general, has the guild's own id.
        """
        keeper = owner.user if isinstance(owner, Member) else owner
        return self.world.rooms.create_guild(name, owner=keeper, bot_permissions=bot_permissions, aged=aged)

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

    async def redelivers(self, message: Message) -> None:
        """MESSAGE_CREATE of an old message once more, under a new sequence number, as after a careless RESUME."""
        self.world.speech.announce(message)
        await self.world.breathe()

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


def _make_token(bot: User) -> str:
    """In the shape of Discord's: the id, a time, a signature."""
    first = base64.urlsafe_b64encode(str(bot.id).encode()).decode().rstrip("=")
    return f"{first}.{secrets.token_urlsafe(4)}.{secrets.token_urlsafe(28)}"
