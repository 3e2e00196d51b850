"""What is checked before Muninn starts; each thing found wrong is one plain sentence: what, what is safe, what to do.

Without a fitting PostgreSQL nothing starts (I1). Redis and the model are only warned about: without Redis Muninn is
slower, and without the model it still keeps every event and tells those who ask.
"""

import asyncio
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import asyncpg
import redis.asyncio
import redis.exceptions
import structlog

from bot.errors import DatabaseUnfit, DatabaseUnreachable, DiscordRefused, StartupFault
from bot.logs import hide
from bot.metrics import REDIS_UP
from bot.settings import Settings
from memory.errors import SchemaFault
from migrations.runner import Applied, migrate, verify

log = structlog.get_logger(__name__)

OLDEST_POSTGRES: Final = 17
OLDEST_VECTOR: Final = (0, 8)
CONNECT_WITHIN_S: Final = 10.0
STARTING_WITHIN_S: Final = 30.0
LOOK_WITHIN_S: Final = 5.0
OPENAI_URL: Final = "https://api.openai.com/v1"

# The newest vector extension that the server could install, and the one that the database has.
EXTENSION_SQL: Final = (
    "SELECT name, default_version, installed_version FROM pg_available_extensions WHERE name = ANY($1)"
)
# Whether lower case, words and trigrams work beyond ASCII; needs the schema's extensions.
LETTERS_SQL: Final = """SELECT lower('ÄПÉ') = 'äпé' AS cases,
    to_tsvector('simple', 'Привет, Мир') @@ to_tsquery('simple', 'мир') AS words,
    cardinality(show_trgm('привет')) > 1 AS trigrams"""
# Whether the server is a standby, and the encoding of the database.
SERVER_SQL: Final = "SELECT pg_is_in_recovery() AS standby, current_setting('server_encoding') AS encoding"


async def prepare_database(database_url: str, *, apply: bool = True) -> Applied:
    """Check the server, bring the schema to this version (with `apply` off, only check it), warn of a poor locale.

    Raises DatabaseUnreachable or DatabaseUnfit. Running it twice, or in two processes at once, does no harm.
    """
    conn = await connect(database_url)
    try:
        await _check_server(conn)
        try:
            if apply:
                applied = await migrate(conn)
            else:
                version = await verify(conn)
                applied = Applied(version, version, ())
        except SchemaFault as fault:
            raise DatabaseUnfit(str(fault)) from fault
        if applied.names:
            log.info("startup.migrated", before=applied.before, after=applied.after, files=applied.names)
        await _warn_of_poor_letters(conn)
        return applied
    finally:
        await conn.close(timeout=LOOK_WITHIN_S)


async def connect(database_url: str, *, starting_s: float = STARTING_WITHIN_S) -> asyncpg.Connection:
    """A connection; a server that is starting is waited for, at most `starting_s` seconds. Raises DatabaseUnreachable,
    caused by what the library raised."""
    deadline = asyncio.get_running_loop().time() + starting_s
    while True:
        try:
            return await asyncpg.connect(database_url, timeout=CONNECT_WITHIN_S)
        except asyncpg.CannotConnectNowError as exc:
            # The server is starting, stopping or recovering.
            if asyncio.get_running_loop().time() > deadline:
                raise _unreachable(database_url, str(exc)) from exc
            await asyncio.sleep(0.25)
        except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError) as exc:
            raise DatabaseUnreachable(
                f"PostgreSQL at {place_of(database_url)} does not accept the user or password of MUNINN_DATABASE_URL; "
                "correct it and start again."
            ) from exc
        except asyncpg.InvalidCatalogNameError as exc:
            raise DatabaseUnreachable(
                f"PostgreSQL at {place_of(database_url)} has no database of the name in MUNINN_DATABASE_URL; create it "
                "(`CREATE DATABASE ... TEMPLATE template0 LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'`)."
            ) from exc
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as exc:
            reason = (exc.strerror if isinstance(exc, OSError) else str(exc)) or "no answer within ten seconds"
            raise _unreachable(database_url, reason) from exc


def _unreachable(database_url: str, reason: str) -> DatabaseUnreachable:
    return DatabaseUnreachable(
        f"PostgreSQL at {place_of(database_url)} cannot be reached ({hide(reason)}); nothing was read or written. "
        "Start it, or correct MUNINN_DATABASE_URL."
    )


async def _check_server(conn: asyncpg.Connection) -> None:
    major = conn.get_server_version().major
    if major < OLDEST_POSTGRES:
        raise DatabaseUnfit(
            f"PostgreSQL is version {major}, and Muninn needs {OLDEST_POSTGRES} or newer; nothing was changed. "
            "Upgrade it."
        )
    server = await conn.fetchrow(SERVER_SQL)
    if server is not None and server["standby"]:
        raise DatabaseUnfit("PostgreSQL is a read-only standby; set MUNINN_DATABASE_URL to the primary server.")
    if server is not None and server["encoding"] != "UTF8":
        raise DatabaseUnfit(
            f"The database's encoding is {server['encoding']}, in which most of what members write cannot be kept; "
            "nothing was changed. Make a new one with ENCODING 'UTF8'."
        )
    found = {row["name"]: row for row in await conn.fetch(EXTENSION_SQL, ["vector", "pg_trgm"])}
    for name, package in (("vector", "pgvector"), ("pg_trgm", "PostgreSQL's contrib package")):
        if name not in found:
            raise DatabaseUnfit(
                f"PostgreSQL lacks the extension {name}; nothing was changed. Install {package} on the server."
            )
    installed = found["vector"]["installed_version"]
    version = str(installed or found["vector"]["default_version"])
    if version_of(version) < OLDEST_VECTOR:
        what = "run `ALTER EXTENSION vector UPDATE`" if installed else "install a newer pgvector on the server"
        raise DatabaseUnfit(
            f"The extension vector is version {version}, and Muninn needs "
            f"{'.'.join(map(str, OLDEST_VECTOR))} or newer; nothing was changed. To go on, {what}."
        )


def version_of(text: str) -> tuple[int, ...]:
    """ "0.8.5" as numbers that compare."""
    return tuple(int(part) for part in text.split(".") if part.isdigit())


async def _warn_of_poor_letters(conn: asyncpg.Connection) -> None:
    row = await conn.fetchrow(LETTERS_SQL)
    assert row is not None  # noqa: S101 (a SELECT without FROM has one row)
    if not (row["cases"] and row["words"] and row["trigrams"]):
        log.warning(
            "startup.poor_locale",
            reason="The database's locale knows no letters beyond ASCII, so searches in other scripts find less; "
            "move to a database made with LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LC_CTYPE 'C.UTF-8'.",
        )


async def look_for_redis(redis_url: str) -> bool:
    """Whether Redis answers; where not, a warning is logged."""
    client = redis.asyncio.Redis.from_url(
        redis_url, socket_timeout=LOOK_WITHIN_S, socket_connect_timeout=LOOK_WITHIN_S, driver_info=None
    )
    try:
        async with asyncio.timeout(LOOK_WITHIN_S):
            await client.execute_command("PING")
        REDIS_UP.set(1)
    except (redis.exceptions.RedisError, OSError, TimeoutError) as exc:
        REDIS_UP.set(0)
        log.warning(
            "startup.redis_unreachable",
            reason=f"Redis at {place_of(redis_url)} cannot be reached ({hide(str(exc)) or 'no answer'}); Muninn goes "
            "on without it, and every promise holds. Start it, or correct MUNINN_REDIS_URL.",
        )
        return False
    finally:
        await client.aclose()
    return True


async def look_for_model(settings: Settings) -> bool:
    """Whether the model's endpoint answers and takes the key; where not, a warning is logged."""
    base = settings.openai_base_url or OPENAI_URL
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    reason = await _ask_model(base, key, settings.model)
    if reason is None:
        return True
    log.warning("startup.model_unreachable", reason=f"{reason} Messages are kept, and who asks is told.")
    return False


async def _ask_model(base: str, key: str, model: str) -> str | None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=LOOK_WITHIN_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as client,
            client.get(f"{base}/models", headers=headers) as found,
        ):
            status = found.status
            body = await found.text()
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as exc:
        return (
            f"The model's endpoint {place_of(base)} cannot be reached ({hide(str(exc)) or 'no answer in time'}); "
            "start it, or correct MUNINN_OPENAI_BASE_URL."
        )
    if status in (401, 403):
        return f"The model's endpoint {place_of(base)} does not accept the key; correct MUNINN_OPENAI_API_KEY."
    # Some servers list no models, and some list them under other names, so only a list that is one says anything.
    if status == 200 and '"id"' in body and f'"{model}"' not in body:
        log.warning("startup.model_unlisted", model=model, reason="The endpoint's list of models does not have it.")
    return None


def as_startup_fault(error: BaseException) -> StartupFault | None:
    """The sentence for an error that a library raised while Muninn started; None where it is not one of those."""
    import discord

    if isinstance(error, StartupFault):
        return error
    if isinstance(error, SchemaFault):
        return DatabaseUnfit(str(error))
    if isinstance(error, discord.LoginFailure):
        return DiscordRefused(
            "Discord does not accept the token; nothing was read or written. Set MUNINN_DISCORD_TOKEN to the bot's "
            "current token."
        )
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return DiscordRefused(
            "Discord refuses the Message Content intent; nothing was read or written. Turn it on under Bot, Privileged "
            "Gateway Intents, in the developer portal, or set MUNINN_MESSAGE_CONTENT=false."
        )
    if isinstance(error, aiohttp.ClientConnectionError | aiohttp.InvalidURL):
        return DiscordRefused(
            f"Discord cannot be reached ({hide(str(error))}); nothing was read or written. Check the network, and "
            "MUNINN_DISCORD_API_URL where it is set."
        )
    return None


def place_of(address: str) -> str:
    """Host and port of an address, or the path of its socket: never its user, password or query."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        port = parts.port
    except ValueError:
        port = None
    if not host:
        return "the local socket"
    return f"{host}:{port}" if port else host
