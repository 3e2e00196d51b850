"""A script of what goes wrong, for the gateway and for REST.

``discord.faults.gateway("MESSAGE_CREATE").duplicate()`` and ``discord.faults.rest("POST", "/channels/*/messages")
.accept_then_reset()`` add a fault; it fires on what matches next and is used up (``times``), after ``skip`` matches
were let through. Each fault counts its hits and can be waited for.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from sandbox.patience import WITHIN_S

from .errors import Misuse
from .events import Payload
from .waiting import Changes

GatewayAction = Literal["none", "drop", "duplicate", "reorder", "delay", "hold", "malform", "close"]
RestAction = Literal["none", "answer", "reset", "stall", "hold", "slow_body"]
_UNSET: Final = object()


@dataclass(slots=True, eq=False)
class _Fault:
    changes: Changes = field(repr=False)
    times: int | None
    skip: int
    hits: int = 0
    released: bool = False

    def take(self) -> bool:
        """Count a match; True when the fault acts on it."""
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.spent:
            return False
        self.hits += 1
        self.changes.happened()
        return True

    @property
    def spent(self) -> bool:
        return self.times is not None and self.hits >= self.times

    async def hit(self, n: int = 1, *, within: float = WITHIN_S) -> None:
        """Wait until the fault has acted ``n`` times. Raises AssertionError after ``within`` seconds."""
        if await self.changes.until(lambda: True if self.hits >= n else None, within) is None:
            raise AssertionError(f"{self} acted {self.hits} times in {within} s, {n} were awaited")

    def release(self) -> None:
        """Let go of what ``hold`` (or a stall) keeps back."""
        self.released = True
        self.changes.happened()


@dataclass(slots=True, eq=False)
class GatewayFault(_Fault):
    """One fault on dispatches by name (``*`` is any; HELLO, HEARTBEAT_ACK, READY and RESUMED are names too).

    It counts each delivery to each session. Choose exactly one action.
    """

    name: str = "*"
    where: Callable[[Payload], bool] | None = field(default=None, repr=False)
    action: GatewayAction = "none"
    seconds: float = 0.0
    copies: int = 1
    new_seq: bool = True
    behind: int = 1
    code: int | None = None
    after: bool = False
    replacement: Callable[[Payload], object] = field(default=lambda d: d, repr=False)

    def drop(self) -> GatewayFault:
        """Never send it. It keeps its place in the session's log, so a RESUME from before it replays it."""
        return self._be("drop")

    def duplicate(self, copies: int = 1, *, new_seq: bool = True) -> GatewayFault:
        """Send it again at once, with a sequence number of its own or with the same one."""
        self.copies, self.new_seq = copies, new_seq
        return self._be("duplicate")

    def reorder(self, behind: int = 1) -> GatewayFault:
        """Send it only after the next ``behind`` dispatches of that session."""
        self.behind = behind
        return self._be("reorder")

    def delay(self, seconds: float) -> GatewayFault:
        """Send it ``seconds`` of real time later; what comes after passes it."""
        self.seconds = seconds
        return self._be("delay")

    def hold(self) -> GatewayFault:
        """Send it when the test calls ``release()``; what comes after passes it."""
        return self._be("hold")

    def malform(self, d: object = _UNSET, *, change: Callable[[Payload], object] | None = None) -> GatewayFault:
        """Send it with another ``d``: the given one, what ``change`` makes of a copy, or an object without sense."""
        if change is not None:
            self.replacement = change
        else:
            nonsense: object = {"id": None, "channel_id": [], "content": 7} if d is _UNSET else d
            self.replacement = lambda _: nonsense
        return self._be("malform")

    def close(self, code: int = 4000, *, after: bool = False) -> GatewayFault:
        """Close the socket with ``code`` instead of sending it, or ``after`` it was sent. It can be resumed."""
        self.code, self.after = code, after
        return self._be("close")

    def abort(self, *, after: bool = False) -> GatewayFault:
        """Cut the connection without a close frame (the client sees 1006)."""
        self.code, self.after = None, after
        return self._be("close")

    def _be(self, action: GatewayAction) -> GatewayFault:
        if self.action != "none":
            raise Misuse(f"this fault already does {self.action!r}; make another one")
        self.action = action
        return self


@dataclass(slots=True, eq=False)
class RestFault(_Fault):
    """One fault on REST requests by method and path. Choose exactly one action."""

    method: str = "*"
    path: str = "/**"
    action: RestAction = "none"
    accept: bool = False
    code: int = 500
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    seconds: float = 0.0

    def rate_limit(
        self, retry_after: float = 0.2, *, via: bool = True, scope: Literal["user", "shared", "global"] = "user"
    ) -> RestFault:
        """429 without accepting. Without ``via`` it is Cloudflare's: an HTML page and no Via header."""
        if not via:
            page = b"<!DOCTYPE html><html><head><title>Access denied | discord.com</title></head></html>"
            headers = {"Content-Type": "text/html", "Retry-After": str(int(retry_after) + 1), "Server": "cloudflare"}
            return self._answer(429, page, headers)
        word = b"true" if scope == "global" else b"false"
        body = b'{"message":"You are being rate limited.","retry_after":%.3f,"global":%s}' % (retry_after, word)
        headers = {"Via": "1.1 google", "Retry-After": str(int(retry_after) + 1), "X-RateLimit-Scope": scope}
        if scope == "global":
            headers["X-RateLimit-Global"] = "true"
        return self._answer(429, body, {"Content-Type": "application/json", **headers})

    def status(self, code: int, body: bytes = b"upstream connect error", *, html: bool = True) -> RestFault:
        """Answer ``code`` without accepting the request."""
        return self._answer(code, body, {"Content-Type": "text/html" if html else "application/json"})

    def accept_then_status(self, code: int, body: bytes = b"upstream request timeout") -> RestFault:
        """Do what was asked and then answer ``code``."""
        self.accept = True
        return self._answer(code, body, {"Content-Type": "text/html"})

    def reset(self) -> RestFault:
        """Reset the connection before accepting."""
        return self._be("reset")

    def accept_then_reset(self) -> RestFault:
        """Do what was asked, then reset the connection instead of answering."""
        self.accept = True
        return self._be("reset")

    def stall(self, seconds: float) -> RestFault:
        """Wait ``seconds`` before accepting; then all is as usual. ``release()`` ends it early."""
        self.seconds = seconds
        return self._be("stall")

    def accept_then_stall(self, seconds: float) -> RestFault:
        """Do what was asked, and answer ``seconds`` later. ``release()`` ends it early."""
        self.accept = True
        return self.stall(seconds)

    def hold(self) -> RestFault:
        """Neither accept nor answer until ``release()``."""
        return self._be("hold")

    def accept_then_hold(self) -> RestFault:
        """Do what was asked, and answer at ``release()``."""
        self.accept = True
        return self._be("hold")

    def slow_body(self, seconds: float) -> RestFault:
        """Answer with the headers at once and the body spread over ``seconds``."""
        self.accept, self.seconds = True, seconds
        return self._be("slow_body")

    def _answer(self, code: int, body: bytes, headers: Mapping[str, str]) -> RestFault:
        self.code, self.body, self.headers = code, body, headers
        return self._be("answer")

    def _be(self, action: RestAction) -> RestFault:
        if self.action != "none":
            raise Misuse(f"this fault already does {self.action!r}; make another one")
        self.action = action
        return self

    def matches(self, method: str, path: str) -> bool:
        return self.method in ("*", method) and path_matches(self.path, path)


def path_matches(pattern: str, path: str) -> bool:
    """``*`` is one segment (or a part of it), ``**`` any number of them. Paths are without ``/api/v10``."""
    regex = "".join(
        ".*" if part == "**" else "[^/]*" if part == "*" else re.escape(part)
        for part in re.split(r"(\*\*|\*)", pattern)
    )
    return re.fullmatch(regex, path) is not None


class Faults:
    """The script. Faults are tried in the order in which they were added; the first that matches acts."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._gateway: list[GatewayFault] = []
        self._rest: list[RestFault] = []

    def gateway(
        self,
        name: str = "*",
        *,
        times: int | None = 1,
        skip: int = 0,
        where: Callable[[Payload], bool] | None = None,
    ) -> GatewayFault:
        """A fault on a dispatch; ``times=None`` is for good, ``where`` looks at its ``d``."""
        fault = GatewayFault(self._changes, times, skip, name=name, where=where)
        self._gateway.append(fault)
        return fault

    def rest(self, method: str = "*", path: str = "/**", *, times: int | None = 1, nth: int = 1) -> RestFault:
        """A fault on the ``nth`` request that matches, and on the ``times - 1`` after it."""
        fault = RestFault(self._changes, times, nth - 1, method=method, path=path)
        self._rest.append(fault)
        return fault

    def stop_heartbeats(self, times: int | None = None) -> GatewayFault:
        """Answer no more heartbeats: a zombie connection."""
        return self.gateway("HEARTBEAT_ACK", times=times).drop()

    def clear(self) -> None:
        """Forget all faults and let go of everything held back."""
        for fault in (*self._gateway, *self._rest):
            fault.release()
        self._gateway.clear()
        self._rest.clear()

    @property
    def any_gateway(self) -> bool:
        return bool(self._gateway)

    def on_dispatch(self, name: str, payload: Payload) -> GatewayFault | None:
        for fault in self._gateway:
            if fault.action == "none" or fault.name not in (name, "*") or (fault.name == "*" and name in _CONTROL):
                continue
            if (fault.where is None or fault.where(payload)) and fault.take():
                return fault
        return None

    def on_request(self, method: str, path: str) -> RestFault | None:
        for fault in self._rest:
            if fault.action != "none" and fault.matches(method, path) and fault.take():
                return fault
        return None

    async def wait_out(self, fault: RestFault) -> None:
        """A stall or a hold on a request, until it ends or is released."""
        within = fault.seconds if fault.action == "stall" else 3600.0
        await self._changes.until(lambda: True if fault.released else None, within)


_CONTROL: Final = frozenset({"HELLO", "HEARTBEAT_ACK"})


async def later(fault: GatewayFault, act: Callable[[], None]) -> None:
    """Run ``act`` when a delayed or held dispatch is due."""
    if fault.action == "delay":
        await asyncio.sleep(fault.seconds)
    else:
        await fault.changes.until(lambda: True if fault.released else None, 3600.0)
    act()
