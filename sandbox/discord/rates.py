"""Rate limits: a bucket for each route and major parameter, and one for all requests.

Source: https://discord.com/developers/docs/topics/rate-limits. Generous unless a test narrows them.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass

from .clock import Clock
from .faults import path_matches

_MAJOR = re.compile(r"/(?:channels|guilds)/\d+|/(?:webhooks|interactions)/\d+(?:/[^/]+)?")


@dataclass(slots=True)
class _Window:
    started: float
    used: int = 0


@dataclass(frozen=True, slots=True)
class Limit:
    """``limit`` requests in ``per`` seconds."""

    limit: int
    per: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the headers say after counting a request; ``retry_after`` is set when it is refused."""

    bucket: str
    limit: int
    remaining: int
    resets_at: float
    reset_after: float
    retry_after: float | None = None
    is_global: bool = False

    def headers(self) -> dict[str, str]:
        named = {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": f"{self.resets_at:.3f}",
            "X-RateLimit-Reset-After": f"{_milliseconds(self.reset_after):.3f}",
            "X-RateLimit-Bucket": self.bucket,
        }
        if self.retry_after is not None:
            named["Retry-After"] = str(int(self.retry_after) + 1)
            named["X-RateLimit-Scope"] = "global" if self.is_global else "user"
            if self.is_global:
                named["X-RateLimit-Global"] = "true"
        return named


def _milliseconds(seconds: float) -> float:
    """Rounded up: who waits as long as it was told is not too early."""
    return math.ceil(seconds * 1000) / 1000


class Rates:
    """``limit("POST", "/channels/*/messages", 5, per=5.0)`` narrows a route; ``limit_all(50)`` everything together."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rules: list[tuple[str, str, Limit]] = []
        self._windows: dict[tuple[str, str], _Window] = {}
        self._names: dict[str, str] = {}
        self._global: Limit | None = None
        self._global_window = _Window(0.0)
        self.default = Limit(10_000, 1.0)
        self.refused = 0

    def limit(self, method: str, path: str, limit: int, *, per: float = 1.0) -> None:
        self._rules.insert(0, (method, path, Limit(limit, per)))

    def limit_all(self, limit: int, *, per: float = 1.0) -> None:
        """The global limit of the bot (50 a second on Discord)."""
        self._global = Limit(limit, per)

    def count(self, method: str, template: str, path: str, *, by_bot: bool = True) -> Verdict:
        """Count a request to ``path``, whose route is ``template`` (its bucket's name).

        What is asked without the bot's token, as answers to interactions are, does not count towards its global limit.
        """
        route = f"{method} {template}"
        bucket = self._names.get(route)
        if bucket is None:
            bucket = self._names[route] = hashlib.sha1(route.encode(), usedforsecurity=False).hexdigest()
        rule = self._rule(method, path)
        major = _MAJOR.match(path)
        window = self._window((bucket, major[0] if major else ""), rule)
        now = self._clock.now()
        resets_at = window.started + rule.per
        if self._global is not None and by_bot:
            shared = self._global_window
            if now >= shared.started + self._global.per:
                shared.started, shared.used = now, 0
            if shared.used >= self._global.limit:
                self.refused += 1
                wait = shared.started + self._global.per - now
                return Verdict(bucket, rule.limit, rule.limit - window.used, resets_at, resets_at - now, wait, True)
            shared.used += 1
        if window.used >= rule.limit:
            self.refused += 1
            return Verdict(bucket, rule.limit, 0, resets_at, resets_at - now, resets_at - now)
        window.used += 1
        return Verdict(bucket, rule.limit, rule.limit - window.used, resets_at, resets_at - now)

    def _rule(self, method: str, path: str) -> Limit:
        for of_method, pattern, limit in self._rules:
            if of_method in ("*", method) and path_matches(pattern, path):
                return limit
        return self.default

    def _window(self, key: tuple[str, str], rule: Limit) -> _Window:
        now = self._clock.now()
        window = self._windows.get(key)
        if window is None:
            window = self._windows[key] = _Window(now)
        elif now >= window.started + rule.per:
            window.started, window.used = now, 0
        return window
