"""The gateway's side of a websocket: hello, identify or resume, heartbeats, requests for members.

Source: https://discord.com/developers/docs/events/gateway and the lists of opcodes and close codes.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Final, cast

import orjson
from aiohttp import WSMsgType, web

from . import payloads
from .errors import GatewayClose
from .events import ALL_INTENTS, PRIVILEGED, Dispatch, Intent, Payload
from .faults import Faults
from .people import Member
from .sessions import Connection, Session, Sessions

if TYPE_CHECKING:
    from .world import World

HEARTBEAT, IDENTIFY, PRESENCE, VOICE, RESUME, REQUEST_MEMBERS = 1, 2, 3, 4, 6, 8
RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK = 7, 9, 10, 11
MAX_PAYLOAD: Final = 4096
MAX_SENT_PER_MINUTE: Final = 120
_CHUNK: Final = 1000
_COMPRESSIONS: Final = (None, "", "zlib-stream", "zstd-stream")
"""zstd-stream is answered by plain text frames, which the clients that ask for it accept."""
_ACK: Final = b'{"t":null,"s":null,"op":11,"d":null}'


class Gateway:
    """Accepts connections and owns the sessions. ``offline`` refuses every connection."""

    def __init__(self, world: World, faults: Faults, token: str) -> None:
        self._world = world
        self.faults = faults
        self._token = token
        self.sessions = Sessions()
        self.connections: set[Connection] = set()
        self.heartbeat_interval = 41.25
        self.offline = False
        self.url = ""
        self.identifies = 0
        world.on_event = self.sessions.tell

    async def handle(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        if self.offline:
            if transport is not None:
                transport.abort()
            return web.Response(status=503)
        socket = web.WebSocketResponse(max_msg_size=1 << 20, compress=False)
        await socket.prepare(request)
        compress = request.query.get("compress")
        connection = Connection(socket, transport, compress=compress == "zlib-stream")
        self.connections.add(connection)
        writer = asyncio.get_running_loop().create_task(connection.write())
        try:
            await self._converse(request, socket, connection, compress)
        finally:
            self.connections.discard(connection)
            await _finish(connection, writer)
        return socket

    async def _converse(
        self, request: web.Request, socket: web.WebSocketResponse, connection: Connection, compress: str | None
    ) -> None:
        talk = _Talk(self, self._world, connection)
        try:
            if request.query.get("v") not in ("9", "10"):
                raise GatewayClose(4012, "Invalid API version")
            if request.query.get("encoding", "json") != "json" or compress not in _COMPRESSIONS:
                raise GatewayClose(4002, "The sandbox speaks JSON, plain or as zlib-stream")
            talk.hello()
            while True:
                message = await socket.receive(timeout=self.heartbeat_interval * 1.5)
                if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    break
                raw = cast("str | bytes", message.data)
                talk.hear(raw.encode() if isinstance(raw, str) else raw)
        except GatewayClose as refused:
            connection.close(refused.code, refused.reason)
        except TimeoutError:
            connection.close(4009, "Session timed out")
        finally:
            talk.ended(socket.close_code)

    def cut(self, code: int | None = None, *, resumable: bool = True) -> None:
        """End every connection, with a close code or (None) without a word; the sessions live on if ``resumable``."""
        for session in list(self.sessions.by_id.values()):
            session.connection, session.ready = None, False
            if not resumable:
                self.sessions.forget(session)
        for connection in list(self.connections):
            if code is None:
                connection.abort()
            else:
                connection.close(code)
        self._world.changes.happened()

    def allows(self, token: object) -> bool:
        return isinstance(token, str) and token.removeprefix("Bot ") == self._token


async def _finish(connection: Connection, writer: asyncio.Task[None]) -> None:
    """Give a pending close frame a second to get out, then stop writing."""
    if connection.closing:
        await asyncio.wait((writer,), timeout=1.0)
    writer.cancel()
    (ended,) = await asyncio.gather(writer, return_exceptions=True)
    if isinstance(ended, Exception) and not isinstance(ended, ConnectionError):
        raise ended  # a client that went away is no news, anything else is a fault of the sandbox


class _Talk:
    """One connection's state: before identify, then its session."""

    def __init__(self, gateway: Gateway, world: World, connection: Connection) -> None:
        self._gateway = gateway
        self._world = world
        self._connection = connection
        self._session: Session | None = None
        self._sent: list[float] = []

    def hello(self) -> None:
        body: Payload = {"heartbeat_interval": int(self._gateway.heartbeat_interval * 1000), "_trace": ["sandbox"]}
        fault = self._gateway.faults.on_dispatch("HELLO", body)
        if fault is None or fault.action != "drop":
            self._connection.push(orjson.dumps({"t": None, "s": None, "op": HELLO, "d": body}))

    def hear(self, raw: bytes) -> None:
        op, data = self._parse(raw)
        self._count()
        if op == HEARTBEAT:
            self._beat()
        elif op == IDENTIFY:
            self._identify(data)
        elif op == RESUME:
            self._resume(data)
        elif op not in (PRESENCE, VOICE, REQUEST_MEMBERS):
            raise GatewayClose(4001, "Unknown opcode")
        elif self._session is None:
            raise GatewayClose(4003, "Not authenticated")
        elif op == REQUEST_MEMBERS:
            self._send_members(self._session, data)

    def ended(self, code: int | None) -> None:
        """A client that closes with 1000 or 1001 gives its session up; anything else can be resumed."""
        session = self._session
        if session is not None and session.connection is self._connection:
            session.connection = None
            session.ready = False
            if code in (1000, 1001):
                self._gateway.sessions.forget(session)
        self._world.changes.happened()

    def _parse(self, raw: bytes) -> tuple[int, Payload]:
        if len(raw) > MAX_PAYLOAD:
            raise GatewayClose(4002, "Payload too large")
        try:
            parsed = cast("object", orjson.loads(raw))
        except orjson.JSONDecodeError as broken:
            raise GatewayClose(4002, "Error while decoding payload") from broken
        if not isinstance(parsed, dict):
            raise GatewayClose(4002, "Error while decoding payload")
        envelope = cast("Payload", parsed)
        op, data = envelope.get("op"), envelope.get("d")
        if not isinstance(op, int):
            raise GatewayClose(4001, "Unknown opcode")
        if op != HEARTBEAT and not isinstance(data, dict):
            raise GatewayClose(4002, "Error while decoding payload")
        return op, cast("Payload", data if isinstance(data, dict) else {})

    def _count(self) -> None:
        now = asyncio.get_running_loop().time()
        self._sent = [at for at in self._sent if at > now - 60.0]
        self._sent.append(now)
        if len(self._sent) > MAX_SENT_PER_MINUTE:
            raise GatewayClose(4008, "You are being rate limited")

    def _beat(self) -> None:
        fault = self._gateway.faults.on_dispatch("HEARTBEAT_ACK", {})
        if fault is None or fault.action != "drop":
            self._connection.push(_ACK)

    def _identify(self, data: Payload) -> None:
        if self._session is not None:
            raise GatewayClose(4005, "Already authenticated")
        if not isinstance(data.get("token"), str) or not isinstance(data.get("properties"), dict):
            raise GatewayClose(4002, "Error while decoding payload")
        if not self._gateway.allows(data["token"]):
            raise GatewayClose(4004, "Authentication failed")
        session = Session(secrets.token_hex(16), _shard(data), self._intents(data), self._gateway.faults)
        session.connection = self._connection
        self._session = session
        self._gateway.identifies += 1
        self._say_ready(session)
        self._gateway.sessions.by_id[session.id] = session
        session.ready = True
        self._world.changes.happened()

    def _intents(self, data: Payload) -> Intent:
        asked = data.get("intents")
        if not isinstance(asked, int) or isinstance(asked, bool) or asked < 0 or asked & ~ALL_INTENTS.value:
            raise GatewayClose(4013, "Invalid intent(s)")
        if asked & PRIVILEGED.value & ~self._world.application.privileged.value:
            raise GatewayClose(4014, "Disallowed intent(s)")
        return Intent(asked)

    def _say_ready(self, session: Session) -> None:
        number, count = session.shard
        world = self._world
        mine = [g for g in world.guilds.values() if world.bot.id in g.members and (g.id >> 22) % count == number]
        session.say(
            "READY",
            {
                "v": 10,
                "user_settings": {},
                "user": payloads.own_user(world.bot),
                "session_type": "normal",
                "session_id": session.id,
                "resume_gateway_url": self._gateway.url,
                "relationships": [],
                "private_channels": [],
                "presences": [],
                "guilds": [{"id": str(guild.id), "unavailable": True} for guild in mine],
                "guild_join_requests": [],
                "geo_ordered_rtc_regions": ["rotterdam"],
                "game_relationships": [],
                "auth": {},
                "application": {"id": str(world.application.id), "flags": world.application.flags},
                "shard": [number, count],
                "_trace": ["sandbox"],
            },
        )
        for guild in mine:
            if not guild.unavailable:
                event = Dispatch("GUILD_CREATE", payloads.guild_create(guild), guild_id=guild.id, bot_id=world.bot.id)
                if event.allowed_by(session.intents):
                    session.tell(event)

    def _resume(self, data: Payload) -> None:
        if self._session is not None:
            raise GatewayClose(4005, "Already authenticated")
        seq, session_id = data.get("seq"), data.get("session_id")
        if not isinstance(data.get("token"), str) or not isinstance(session_id, str):
            raise GatewayClose(4002, "Error while decoding payload")
        if not self._gateway.allows(data["token"]):
            raise GatewayClose(4004, "Authentication failed")
        session = self._gateway.sessions.by_id.get(session_id)
        if session is None or not isinstance(seq, int):
            self._connection.push(invalid_session(resumable=False))
            return
        if seq > session.seq:
            raise GatewayClose(4007, "Invalid seq")
        if not session.can_replay(seq):
            self._gateway.sessions.forget(session)
            self._connection.push(invalid_session(resumable=False))
            return
        if session.connection is not None:
            session.connection.close(4000, "Resumed elsewhere")
        session.connection = self._connection
        self._session = session
        session.replay(seq)
        session.say("RESUMED", {"_trace": ["sandbox"]})
        session.ready = True
        self._world.changes.happened()

    def _send_members(self, session: Session, data: Payload) -> None:
        """Op 8. The whole list (an empty query without limit) needs the members intent; without it, no answer."""
        guild_id = str(data.get("guild_id"))
        guild = self._world.guilds.get(int(guild_id)) if guild_id.isdigit() else None
        if guild is None or self._world.bot.id not in guild.members:
            return
        query, limit, ids = data.get("query"), data.get("limit"), data.get("user_ids")
        found = list(guild.members.values())
        missing: list[str] = []
        if ids is not None:
            wanted = [str(i) for i in (cast("list[object]", ids) if isinstance(ids, list) else [ids])][:100]
            found = [m for m in found if str(m.id) in wanted]
            missing = [i for i in wanted if i not in {str(m.id) for m in found}]
        elif query or limit:
            most = limit if isinstance(limit, int) and 0 < limit <= 100 else 100
            found = [m for m in found if _name_starts(m, str(query or ""))][:most]
        elif Intent.GUILD_MEMBERS not in session.intents:
            return
        chunks = [found[i : i + _CHUNK] for i in range(0, len(found), _CHUNK)] or [[]]
        for index, chunk in enumerate(chunks):
            body: Payload = {
                "guild_id": str(guild.id),
                "members": [payloads.member(m) for m in chunk],
                "chunk_index": index,
                "chunk_count": len(chunks),
                "not_found": missing,
            }
            if data.get("presences") is True:
                body["presences"] = [payloads.presence(m) for m in chunk]
            if data.get("nonce") is not None:
                body["nonce"] = data["nonce"]
            session.say("GUILD_MEMBERS_CHUNK", body)


def _name_starts(member: Member, prefix: str) -> bool:
    return any(name.lower().startswith(prefix.lower()) for name in (member.user.name, member.name))


def _shard(data: Payload) -> tuple[int, int]:
    shard = data.get("shard", [0, 1])
    if not isinstance(shard, list):
        raise GatewayClose(4010, "Invalid shard")
    match cast("list[object]", shard):
        case [int(number), int(count)] if 0 <= number < count:
            return number, count
        case _:
            raise GatewayClose(4010, "Invalid shard")


def invalid_session(*, resumable: bool) -> bytes:
    return orjson.dumps({"t": None, "s": None, "op": INVALID_SESSION, "d": resumable})


def reconnect() -> bytes:
    return orjson.dumps({"t": None, "s": None, "op": RECONNECT, "d": None})
