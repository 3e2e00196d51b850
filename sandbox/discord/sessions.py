"""Gateway sessions: what each one is told, in which order, and what can be replayed to it."""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from aiohttp import WSMsgType, web

from .events import Dispatch, Intent, Payload, encode
from .faults import Faults, GatewayFault, later

LOG_LENGTH: Final = 20_000
"""Dispatches kept for a RESUME; a client further behind has to identify anew."""


class Connection:
    """One websocket with a writer task, so that telling a session never waits for the network."""

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport | None, *, compress: bool) -> None:
        self._socket = socket
        self._transport = transport
        self._deflate = zlib.compressobj() if compress else None
        self._outgoing: deque[bytes | tuple[int, str] | None] = deque()
        self._wake = asyncio.Event()
        self.closing = False

    def push(self, frame: bytes) -> None:
        if not self.closing:
            self._outgoing.append(frame)
            self._wake.set()

    def close(self, code: int, reason: str = "") -> None:
        """Close after what was pushed before."""
        if not self.closing:
            self.closing = True
            self._outgoing.append((code, reason))
            self._wake.set()

    def abort(self) -> None:
        """Cut the line at once, without a close frame."""
        self.closing = True
        self._outgoing.clear()
        self._outgoing.append(None)
        self._wake.set()
        if self._transport is not None:
            self._transport.abort()

    async def write(self) -> None:
        """Runs for as long as the connection; ends after a close."""
        while True:
            while self._outgoing:
                item = self._outgoing.popleft()
                if item is None:
                    return
                if isinstance(item, tuple):
                    await self._socket.close(code=item[0], message=item[1].encode())
                    return
                if self._deflate is None:
                    await self._socket.send_frame(item, WSMsgType.TEXT)
                else:
                    packed = self._deflate.compress(item) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
                    await self._socket.send_frame(packed, WSMsgType.BINARY)
            self._wake.clear()
            await self._wake.wait()


@dataclass(slots=True)
class _Held:
    countdown: int
    send: Callable[[], None]


@dataclass(slots=True, eq=False)
class Session:
    """One identified session. It outlives its connection, and logs on while it has none, until invalidated."""

    id: str
    shard: tuple[int, int]
    intents: Intent
    faults: Faults = field(repr=False)
    seq: int = 0
    connection: Connection | None = field(default=None, repr=False)
    ready: bool = False
    log: deque[tuple[int, bytes]] = field(
        default_factory=lambda: deque[tuple[int, bytes]](maxlen=LOG_LENGTH), repr=False
    )
    _held: list[_Held] = field(default_factory=list[_Held], repr=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]], repr=False)

    def wants(self, dispatch: Dispatch) -> bool:
        """By shard (guild id >> 22 modulo shards; DMs go to shard 0) and intents."""
        number, count = self.shard
        home = 0 if dispatch.guild_id is None else (dispatch.guild_id >> 22) % count
        return home == number and dispatch.allowed_by(self.intents)

    def tell(self, dispatch: Dispatch) -> None:
        """Deliver a dispatch, through the fault script while a connection is there to spoil."""
        if self.connection is None or not self.faults.any_gateway:
            self._emit(dispatch.name, dispatch.body(self.intents))
            return
        face = dispatch.face(self.intents)
        fault = self.faults.on_dispatch(dispatch.name, face)
        if fault is None:
            self._emit(dispatch.name, dispatch.body(self.intents))
        else:
            self._spoil(fault, dispatch.name, face)

    def say(self, name: str, payload: Payload) -> None:
        """READY, RESUMED, GUILD_MEMBERS_CHUNK: for this session alone."""
        fault = self.faults.on_dispatch(name, payload) if self.faults.any_gateway else None
        if fault is None:
            self._emit(name, encode(payload))
        else:
            self._spoil(fault, name, payload)

    def replay(self, after: int) -> None:
        """Send again everything that came after sequence number ``after``."""
        if self.connection is None:
            return
        for seq, frame in self.log:
            if seq > after:
                self.connection.push(frame)

    def can_replay(self, after: int) -> bool:
        oldest = self.log[0][0] if self.log else 1
        return oldest - 1 <= after <= self.seq

    def forget_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _emit(self, name: str, body: bytes, *, send: bool = True, seq: int | None = None) -> None:
        if seq is None:
            self.seq += 1
            seq = self.seq
        frame = b'{"t":"%s","s":%d,"op":0,"d":%s}' % (name.encode(), seq, body)
        self.log.append((seq, frame))
        if send and self.connection is not None:
            self.connection.push(frame)
        if self._held:
            self._count_down()

    def _count_down(self) -> None:
        due: list[_Held] = []
        for held in self._held:
            held.countdown -= 1
            if held.countdown <= 0:
                due.append(held)
        self._held = [held for held in self._held if held not in due]
        for held in due:
            held.send()

    def _spoil(self, fault: GatewayFault, name: str, payload: Payload) -> None:
        body = encode(payload)
        match fault.action:
            case "drop":
                self._emit(name, body, send=False)
            case "duplicate":
                self._emit(name, body)
                for _ in range(fault.copies):
                    if fault.new_seq:
                        self._emit(name, body)
                    elif self.connection is not None:
                        self.connection.push(self.log[-1][1])
            case "reorder":
                self._held.append(_Held(fault.behind, lambda: self._emit(name, body)))
            case "delay" | "hold":
                self._spawn(fault, lambda: self._emit(name, body))
            case "malform":
                self._emit(name, encode(fault.replacement(dict(payload))))
            case "close":
                self._emit(name, body, send=fault.after)
                self._cut(fault)
            case "none":
                self._emit(name, body)

    def _spawn(self, fault: GatewayFault, act: Callable[[], None]) -> None:
        task = asyncio.get_running_loop().create_task(later(fault, act))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cut(self, fault: GatewayFault) -> None:
        connection, self.connection, self.ready = self.connection, None, False
        if connection is None:
            return
        if fault.code is None:
            connection.abort()
        else:
            connection.close(fault.code)


class Sessions:
    """All sessions of the one token. Several at once are allowed, and each gets every event."""

    def __init__(self) -> None:
        self.by_id: dict[str, Session] = {}

    def tell(self, dispatch: Dispatch) -> None:
        for session in self.by_id.values():
            if session.wants(dispatch):
                session.tell(dispatch)

    def connected(self) -> Sequence[Session]:
        """Those that have been told READY (or RESUMED) on a connection that is still there."""
        return [s for s in self.by_id.values() if s.ready and s.connection is not None]

    def forget(self, session: Session) -> None:
        """After this a RESUME is answered with op 9 false."""
        session.forget_tasks()
        self.by_id.pop(session.id, None)
