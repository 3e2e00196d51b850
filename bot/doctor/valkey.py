"""What the doctor asks Valkey or Redis: version, whether it takes writes, and what it throws away when it is full.

Everything that Muninn promises holds without it (I2); a fault here costs speed, and rate limits that are shared.
"""

import asyncio
import secrets
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from bot.doctor.findings import Finding, fault, ok, skip, warn
from bot.logs import hide
from bot.startup import place_of, version_of

LOOK_S: Final = 5.0
OLDEST: Final = (6, 2)
"""Of Redis; Valkey began at 7.2 and tells this version of the protocol that it speaks as `redis_version`."""

_LOSES_NOTHING: Final = "noeviction"


async def examine(redis_url: str) -> list[Finding]:
    """What is right and wrong with it. Nothing is written."""
    client: Redis = Redis.from_url(redis_url, socket_timeout=LOOK_S, socket_connect_timeout=LOOK_S)
    try:
        async with asyncio.timeout(LOOK_S * 2):
            return await _examine(client, redis_url)
    except (RedisError, OSError, TimeoutError) as error:
        reason = hide(str(error)).rstrip(".") or "no answer in time"
        return [
            fault(
                "redis.reachable",
                f"Redis at {place_of(redis_url)} cannot be used: {reason}.",
                "Start it, or correct MUNINN_REDIS_URL; Muninn runs without it, and every promise holds.",
            )
        ]
    finally:
        await client.aclose()


async def _examine(client: Redis, redis_url: str) -> list[Finding]:
    about: dict[str, Any] = await client.info()
    found = [ok("redis.reachable", f"{_kind(about)} at {place_of(redis_url)} answers."), _version(about)]
    # Not `redis_mode`, which a Valkey no longer tells.
    if about.get("cluster_enabled"):
        found.append(
            fault(
                "redis.cluster",
                "It is a cluster, and Muninn's scripts name keys that a cluster keeps apart.",
                "Name a server that is no cluster in MUNINN_REDIS_URL.",
            )
        )
    found.append(_policy(about))
    found.append(await _writable(client))
    found.append(await _scripts(client))
    return found


def _kind(about: dict[str, Any]) -> str:
    if "valkey_version" in about:
        return f"Valkey {about['valkey_version']}"
    return f"Redis {about.get('redis_version', 'of an unknown version')}"


def _version(about: dict[str, Any]) -> Finding:
    version = str(about.get("redis_version", ""))
    if not version_of(version):
        return skip("redis.version", "It does not tell its version.")
    if version_of(version) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        return warn(
            "redis.version",
            f"It speaks Redis {version}, and Muninn is made for {wanted} or newer.",
            "Upgrade it to Valkey 8 or newer.",
        )
    return ok("redis.version", f"It speaks Redis {version}.")


def _policy(about: dict[str, Any]) -> Finding:
    policy, most = str(about.get("maxmemory_policy", "")), int(about.get("maxmemory", 0) or 0)
    if not policy:
        return skip("redis.eviction", "It does not tell what it does when it is full.")
    if most and policy == _LOSES_NOTHING:
        return warn(
            "redis.eviction",
            "When it is full it refuses writes (maxmemory-policy noeviction), and Muninn then works as without it.",
            "Set maxmemory-policy to volatile-lru.",
        )
    if policy.startswith("allkeys-"):
        return warn(
            "redis.eviction",
            f"When it is full it may throw away anything (maxmemory-policy {policy}), what others keep in it included.",
            "Set maxmemory-policy to volatile-lru, or give Muninn a server of its own.",
        )
    if not most:
        return ok("redis.eviction", "It has no memory limit; what Muninn puts there expires within the hour.")
    return ok(
        "redis.eviction", f"When it is full it throws away only what would expire anyway (maxmemory-policy {policy})."
    )


async def _writable(client: Redis) -> Finding:
    """Ask for a write that changes nothing: a key that nobody has is set only if it exists."""
    try:
        await client.set(f"muninn:doctor:{secrets.token_hex(8)}", "1", xx=True, ex=1)
    except ResponseError as error:
        return fault(
            "redis.writable",
            f"It refuses writes: {hide(str(error)).rstrip('.')}.",
            "Name a primary server with free memory in MUNINN_REDIS_URL, and let its user write keys `muninn:*`.",
        )
    return ok("redis.writable", "It takes writes.")


async def _scripts(client: Redis) -> Finding:
    try:
        await client.eval("return 1", 0)
    except ResponseError as error:
        return fault(
            "redis.scripts",
            f"It refuses scripts: {hide(str(error)).rstrip('.')}.",
            "Let the user of MUNINN_REDIS_URL run EVAL.",
        )
    return ok("redis.scripts", "It runs scripts.")
