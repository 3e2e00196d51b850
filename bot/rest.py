"""The way to Discord's REST API: one request with its deadline, and what went wrong in our own words.

Writes and reads share it, so that a time in which Discord wants to be left alone holds for both.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import aiohttp
import discord
import stamina
from discord.http import HTTPClient, Route

from agent.deadline import bounded
from agent.errors import DeadlinePassed
from bot.errors import ReadFailed, ReadRefused, WriteInDoubt, WriteRefused
from bot.refusals import Refusals

T = TypeVar("T")

ATTEMPT_S: Final = 15.0
"""Seconds for one request; a stalled one is sent again, and its nonce keeps it single."""

READ_ATTEMPT_S: Final = 4.0
"""Seconds for one request that only reads: somebody waits for it, and the next one may be quicker."""

READ_ATTEMPTS: Final = 3
READ_WITHIN_S: Final = 6.0
"""Seconds after which a read that failed is not tried again."""

GRACE_S: Final = 0.5
"""Seconds that the library gets to clean up after a request that was cut off: it may wait for a limit there."""

PATIENCE_S: Final = 10.0
"""A limit that is longer than this is ours to wait out, and not the library's: it fits into no request."""

REOPEN_S: Final = 1.0
UNAUTHORIZED_S: Final = 30.0
INVALID_WEBHOOK_TOKEN: Final = 50027
"""Said of an interaction's token, with the status that an unknown token of the bot has."""


class Rest:
    """Discord's API as the library's client reaches it, safe to cancel."""

    def __init__(self, http: HTTPClient, refusals: Refusals | None = None) -> None:
        """One for a client: who counts `refusals` would count each twice. Left out: those of this client alone."""
        make_patient(http, refusals or Refusals())
        self._http = http

    async def request(self, route: Route, *, within_s: float | None = None, once: bool = False, **kwargs: Any) -> Any:
        """One request with its deadline. Raises WriteRefused or WriteInDoubt, and nothing of the libraries below.

        `once`: what Discord would do twice if it were sent twice. The library by itself sends anything again after
        500, 502 and 504, when it may well have been done.
        """
        if once:
            kwargs["files"] = [_Once()]
        try:
            request = self._http.request(route, **kwargs)
            return await bounded(request, within_s or ATTEMPT_S, grace_s=GRACE_S, name="discord request")
        except DeadlinePassed as error:
            raise WriteInDoubt("timeout") from error
        except _SecondTry as error:
            raise WriteInDoubt("server_error") from error
        except discord.RateLimited as error:
            raise WriteInDoubt("held" if isinstance(error, Held) else "rate_limited", error.retry_after) from error
        except discord.HTTPException as error:
            raise _fault(error) from error
        except (aiohttp.ClientError, OSError) as error:
            # TimeoutError is an OSError.
            raise WriteInDoubt("timeout" if isinstance(error, TimeoutError) else "connection") from error
        except (ValueError, LookupError, TypeError) as error:
            # The library met a body that is not what Discord sends.
            raise WriteInDoubt("bad_answer") from error


class _SecondTry(Exception):
    """The library was about to send a request again that must go out once."""


class _Once:
    """Stands where files would: the library rewinds them before each try, and says which one it is."""

    def reset(self, *, seek: int | bool = True) -> None:
        """Let the first try go on, and no other."""
        if seek:
            raise _SecondTry


class Reads:
    """The door for what is only read from Discord. Nothing is done twice by reading again, so a failure is retried."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    async def get(self, route: Route, *, params: Mapping[str, str] | None = None) -> Any:
        """The JSON under a GET route.

        Raises ReadRefused where Discord says no, ReadFailed where nobody can say (after at most READ_ATTEMPTS tries).
        """
        try:
            async for attempt in stamina.retry_context(
                on=_pause, attempts=READ_ATTEMPTS, timeout=READ_WITHIN_S, wait_initial=0.2, wait_jitter=0.2
            ):
                with attempt:
                    return await self._rest.request(route, within_s=READ_ATTEMPT_S, params=dict(params or {}))
        except WriteRefused as refusal:
            raise ReadRefused(refusal.code, refusal.status) from refusal
        except WriteInDoubt as doubt:
            raise ReadFailed(doubt.cause, doubt.retry_after_s) from doubt
        raise AssertionError("stamina ends with a result or an exception")


def parsed(parse: Callable[[Any], T], answer: Any) -> T:
    """What `parse` makes of an answer. Raises ReadFailed for what is not what Discord sends."""
    try:
        return parse(answer)
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ReadFailed("bad_answer") from error


def _pause(error: Exception) -> bool | float:
    """Whether a read that failed is tried again, and after how many seconds if Discord says so."""
    if not isinstance(error, WriteInDoubt):
        return False
    if error.retry_after_s is None:
        return True
    return error.retry_after_s if error.retry_after_s < READ_WITHIN_S else False


class Held(discord.RateLimited):
    """Nothing was asked: Discord, or what stands before it, wants to be left alone for a while."""


def _fault(error: discord.HTTPException) -> WriteRefused | WriteInDoubt:
    if error.status == 429:
        return WriteInDoubt("rate_limited", _retry_after_s(error))
    if error.status == 401 and error.code != INVALID_WEBHOOK_TOKEN:
        return WriteInDoubt("unauthorized", UNAUTHORIZED_S)
    if error.status >= 500 or not _is_json(error):
        return WriteInDoubt(f"http_{error.status}")
    return WriteRefused(error.code or error.status, error.status, error.text)


def _holds_s(error: discord.HTTPException) -> float:
    """For how long nobody may ask anything after this answer."""
    if error.status == 429:
        # Without Discord's own body it is the network's edge: every request would make it worse.
        return _retry_after_s(error)
    # Our token, and no fault of this request; each of them counts towards a ban.
    return UNAUTHORIZED_S if error.status == 401 and error.code != INVALID_WEBHOOK_TOKEN else 0.0


def make_patient(http: HTTPClient, refusals: Refusals) -> None:
    """Make the library's client safe to cancel, let it wait out no limit that is longer than a request may take, and
    hold it for everybody where the network's edge or a refused token says so, or too much was refused.

    On a global limit it closes a gate for all requests and opens it after its sleep; cancelled in that sleep, it would
    leave the gate closed for good.
    """
    http.max_ratelimit_timeout = PATIENCE_S
    library = http.request

    async def request(route: Route, **kwargs: Any) -> Any:
        held_s = refusals.held_s()
        if held_s > 0:
            raise Held(held_s)
        try:
            return await library(route, **kwargs)
        except discord.HTTPException as error:
            if error.status in (401, 403, 429):
                await refusals.note(hold_s=_holds_s(error))
            raise
        except asyncio.CancelledError:
            gate = http._global_over  # pyright: ignore[reportPrivateUsage]
            if not gate.is_set():
                # A little later: if the limit still holds, who comes first closes the gate again.
                asyncio.get_running_loop().call_later(REOPEN_S, gate.set)
            raise

    http.request = request


def _is_json(error: discord.HTTPException) -> bool:
    """Whether Discord itself answered, and not something before it."""
    return str(error.response.headers.get("Content-Type", "")).startswith("application/json")


def _retry_after_s(error: discord.HTTPException) -> float:
    value = error.response.headers.get("Retry-After", "")
    try:
        asked = float(value)
    except ValueError:
        return 5.0
    return min(max(asked, 0.5), 600.0) if math.isfinite(asked) else 5.0
