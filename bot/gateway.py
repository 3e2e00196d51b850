"""The gateway: discord.py's connection, with every dispatch put to ingress in frame order before the library sees it.

The entries of `ConnectionState.parsers` are wrapped (a contract test fails when the library changes there): the wrapper
puts the dispatch to ingress, synchronously and never raising, then runs the library's own handler in a guard, so that
a malformed dispatch is logged and survived. Interactions go on after their commit, or after 1.5 s as degraded: Discord
gives three seconds for a first answer.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, cast

import aiohttp
import discord
import discord.client
import discord.utils
import structlog
import yarl
from discord.backoff import ExponentialBackoff
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.addressing import Identity
from bot.errors import DiscordRefused
from bot.events import Dispatch
from bot.metrics import GATEWAY_UP
from bot.payloads import session_key
from memory.incoming import Ack

log = structlog.get_logger(__name__)

Parser = Callable[[Any], None]
Accept = Callable[[Dispatch], "asyncio.Future[Ack] | None"]

Membership = Callable[[str, Mapping[str, Any], "asyncio.Future[Ack] | None"], None]

MEMBERSHIP_KINDS: Final = frozenset({"READY", "GUILD_CREATE", "GUILD_DELETE"})
INTERACTION_WAIT_S: Final = 1.5
IDENTIFY_EVERY_S: Final = 5.0
"""Discord lets a shard's bucket identify once in five seconds."""

RECONNECT_MOST_S: Final = 30.0

# Gateway close codes that mean that trying again is useless, in the operator's words.
FATAL_CLOSES: Final[Mapping[int, str]] = {
    4004: "Discord does not accept the token. Set MUNINN_DISCORD_TOKEN to the bot's current token and start again.",
    4010: "Discord does not accept the shard. Correct MUNINN_SHARD_ID and MUNINN_SHARD_COUNT and start again.",
    4011: "Discord wants this bot sharded. Raise MUNINN_SHARD_COUNT and start again.",
    4012: "Discord no longer serves this gateway version. Update Muninn and start again.",
    4013: "Discord does not know the intents that Muninn asks for. Update Muninn and start again.",
    4014: (
        "Discord refuses the Message Content intent. Turn it on under Bot, Privileged Gateway Intents, in the "
        "developer portal and start again, or set MUNINN_MESSAGE_CONTENT=false; nothing was read or written."
    ),
}


def intents(*, message_content: bool = True) -> discord.Intents:
    """What Muninn asks Discord for, and uses: guilds and DMs, their messages, and reactions. Of these only
    `message_content` has to be switched on for the application."""
    return discord.Intents(
        guilds=True,
        guild_messages=True,
        guild_reactions=True,
        dm_messages=True,
        dm_reactions=True,
        message_content=message_content,
    )


def point_at(api_url: str, gateway_url: str) -> None:
    """Use these addresses, in this process, from now on. discord.py reads both from class attributes."""
    Route.BASE = api_url.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url)
    discord.utils._from_json = _tolerant_json  # type: ignore[assignment] # pyright: ignore[reportPrivateUsage]


_strict_json = cast("Callable[[str], Any]", discord.utils._from_json)  # pyright: ignore[reportPrivateUsage]


def _tolerant_json(text: str) -> Any:
    """JSON as Discord sends it. The quick reader refuses lone surrogates, which ingress replaces; the slow one reads
    them."""
    try:
        return _strict_json(text)
    except ValueError:
        return json.loads(text)


class Backoff(ExponentialBackoff[Literal[False]]):
    """The library's pauses between attempts to connect, which it lets grow to seventeen minutes, bounded."""

    def delay(self) -> float:
        """Seconds until the next attempt."""
        return min(super().delay(), RECONNECT_MOST_S)


class Gateway(discord.Client):
    """One shard's connection. `login` first, then `serve` until cancelled."""

    def __init__(self, *, shard: tuple[int, int], message_content: bool = True) -> None:
        super().__init__(
            intents=intents(message_content=message_content),
            shard_id=shard[0],
            shard_count=shard[1],
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=100,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        # connect() takes it from its module.
        discord.client.ExponentialBackoff = Backoff  # type: ignore[misc] # pyright: ignore[reportPrivateImportUsage]
        self._accept: Accept | None = None
        self._on_guild: Callable[[Mapping[str, Any]], None] | None = None
        self._on_membership: Membership | None = None
        self._on_interaction: Callable[[object], None] | None = None
        self._identified_at = -IDENTIFY_EVERY_S
        # Waits until this shard may identify, where others do beside it.
        self.turn_to_identify: Callable[[], Awaitable[None]] | None = None
        self._waiting: set[asyncio.Task[None]] = set()
        self._leaving = False
        # Whether the session lives.
        self.connected = False
        self._connection_task: asyncio.Task[None] | None = None
        # Set when the first READY of this gateway is committed.
        self.journalled = asyncio.Event()
        self._wrap_parsers()

    async def sign_in(self, token: str) -> Identity:
        """Log in over REST and say who the bot is. Raises DiscordRefused if the token is not accepted."""
        try:
            await self.login(token)
        except discord.LoginFailure as error:
            raise DiscordRefused(FATAL_CLOSES[4004]) from error
        assert self.user is not None and self.application_id is not None  # noqa: S101, PT018 - login sets both
        return Identity(application_id=self.application_id, user_id=self.user.id)

    async def serve(
        self,
        accept: Accept,
        on_guild: Callable[[Mapping[str, Any]], None],
        on_membership: Membership | None = None,
        on_interaction: Callable[[object], None] | None = None,
    ) -> None:
        """Stay connected, for ever. Whatever breaks the connection, a new one is made, with growing pauses.

        `on_guild` sees each GUILD_CREATE that is no outage, `on_membership` what tells which guilds the bot is in, with
        the future of its commit, `on_interaction` each interaction, once, after its commit. Raises DiscordRefused where
        trying again is useless.
        """
        self._accept, self._on_guild, self._on_membership = accept, on_guild, on_membership
        self._on_interaction = on_interaction
        pause_s = 1.0
        while True:
            started = time.monotonic()
            try:
                await self._connected()
            except discord.PrivilegedIntentsRequired as error:
                raise DiscordRefused(FATAL_CLOSES[4014]) from error
            except discord.ConnectionClosed as error:
                raise DiscordRefused(
                    FATAL_CLOSES.get(error.code, f"Discord closed the connection for good (code {error.code}).")
                ) from error
            except Exception as error:
                # connect() lets everything else out: a frame that is no JSON, a refused first connection, a bug.
                log.exception("gateway.broken", error=type(error).__name__, retry_in_s=pause_s)
            finally:
                self._note_connected(False)
            if self._leaving or self.is_closed():
                return
            await self._drop_socket()
            await asyncio.sleep(pause_s)
            pause_s = 1.0 if time.monotonic() - started > RECONNECT_MOST_S else min(pause_s * 2, RECONNECT_MOST_S)

    async def _connected(self) -> None:
        """The library's connection, in a task of its own that `leave` can end."""
        self._connection_task = asyncio.create_task(self.connect(reconnect=True), name="connection")
        try:
            await asyncio.wait([self._connection_task])
            if not (self._leaving and self._connection_task.cancelled()):
                self._connection_task.result()
        finally:
            self._connection_task.cancel()

    async def leave(self) -> None:
        """Close the socket for good; requests can still be made."""
        self._leaving = True
        if self._connection_task is not None:
            self._connection_task.cancel()
        await self._drop_socket()

    async def stop(self) -> None:
        """Close the socket and the HTTP session, and give up interactions that wait for their commit."""
        for task in self._waiting:
            task.cancel()
        await self.close()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait only as long as Discord's limit asks; the library would always wait five seconds."""
        wait_s = self._identified_at + IDENTIFY_EVERY_S - time.monotonic()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        if self.turn_to_identify is not None:
            await self.turn_to_identify()
        self._identified_at = time.monotonic()

    async def on_disconnect(self) -> None:
        """The library lost its connection, and makes a new one by itself."""
        self._note_connected(False)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """A handler of a library event failed; said in the log, and the bot goes on."""
        log.exception("gateway.handler_failed", handler=event_method)

    async def _drop_socket(self) -> None:
        socket = cast("DiscordWebSocket | None", self.ws)
        if socket is not None:
            try:
                async with asyncio.timeout(5):
                    await socket.close(code=4000)
            except (OSError, TimeoutError, aiohttp.ClientError) as error:
                log.warning("gateway.close_failed", error=type(error).__name__)

    def _note_connected(self, connected: bool) -> None:
        self.connected = connected
        GATEWAY_UP.set(int(connected))

    def _wrap_parsers(self) -> None:
        parsers = self._connection.parsers
        wrapped = _Parsers(self._unknown)
        for kind, parser in parsers.items():
            wrapped[kind] = self._wrapped(kind, parser)
        # The websocket is handed this very mapping; unknown kinds come to us too.
        self._connection.parsers = wrapped

    def _wrapped(self, kind: str, parser: Parser) -> Parser:
        def handle(data: Any) -> None:
            committed = self._put(kind, data)
            if kind == "INTERACTION_CREATE" and committed is not None:
                task = asyncio.get_running_loop().create_task(self._after_commit(data, committed))
                self._waiting.add(task)
                task.add_done_callback(self._waiting.discard)
                return
            self._guarded(kind, parser, data)

        return handle

    def _unknown(self, kind: str) -> Parser:
        """Kinds that the library does not know are journalled all the same."""
        return lambda data: self._put(str(kind), data) and None

    def _put(self, kind: str, data: Any) -> "asyncio.Future[Ack] | None":
        try:
            if kind in ("READY", "RESUMED"):
                self._note_connected(True)
                log.info("gateway.connected", kind=kind)
            session = session_key(self.ws.session_id or "")
            assert self._accept is not None  # noqa: S101 - serve sets it before it connects
            committed = self._accept(Dispatch(kind, data, session, self.ws.sequence or 0))
            if kind == "READY" and committed is not None:
                committed.add_done_callback(lambda _: self.journalled.set())
            if kind == "GUILD_CREATE" and self._on_guild is not None and not data.get("unavailable"):
                self._on_guild(data)
            if kind in MEMBERSHIP_KINDS and self._on_membership is not None:
                self._on_membership(kind, data, committed)
        except Exception:
            log.exception("gateway.put_failed", kind=kind)
            return None
        return committed

    def _guarded(self, kind: str, parser: Parser, data: Any) -> None:
        try:
            parser(data)
        except Exception as error:
            log.warning("gateway.malformed", kind=kind, error=f"{type(error).__name__}: {error}"[:200])

    async def _after_commit(self, data: Any, committed: "asyncio.Future[Ack]") -> None:
        """Hand an interaction on, which the library's own handlers do not see: nothing of ours waits in its memory."""
        done, _ = await asyncio.wait([committed], timeout=INTERACTION_WAIT_S)
        if not done or committed.exception() is not None:
            known = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
            log.warning("gateway.interaction_degraded", interaction=known.get("id"))
        elif committed.result() == "duplicate":
            # The gateway sent it again after a RESUME.
            return
        if self._on_interaction is not None:
            self._on_interaction(cast("object", data))


class _Parsers(dict[str, Parser]):
    """The library's table of handlers, with one for the kinds that it lacks."""

    def __init__(self, unknown: Callable[[str], Parser]) -> None:
        super().__init__()
        self._for_unknown = unknown

    def __missing__(self, kind: str) -> Parser:
        return self._for_unknown(kind)


# TODO
