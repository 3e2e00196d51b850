"""What start-up finds wrong: each fault is one plain sentence for the operator, and Redis and the model only warn."""

import re
from collections.abc import Mapping

import aiohttp
import asyncpg
import discord
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs

from bot import startup
from bot.errors import DatabaseUnfit, DatabaseUnreachable, DiscordRefused, SettingsFault
from bot.settings import load
from bot.startup import as_startup_fault, look_for_model, look_for_redis, prepare_database
from memory.errors import SchemaFault
from tests.harness.services import RunServices

NOBODY_LISTENS = "127.0.0.1:1"
SECRET = "this-must-never-be-shown"


def assert_plain(sentence: str) -> None:
    """One line that ends like a sentence and shows no secret."""
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert SECRET not in sentence
    assert "Traceback" not in sentence


async def test_an_empty_database_is_prepared(empty_database_url: str) -> None:
    """The schema is made, and with a fitting locale nothing is warned about; a second start finds it done."""
    with capture_logs() as logs:
        applied = await prepare_database(empty_database_url)
    assert applied.before == 0
    assert [entry["event"] for entry in logs] == ["startup.migrated"]
    with capture_logs() as logs:
        assert (await prepare_database(empty_database_url)).names == ()
    assert logs == []


async def test_a_start_without_the_right_to_migrate_says_so(empty_database_url: str) -> None:
    """With `apply` off the schema is only looked at."""
    with pytest.raises(DatabaseUnfit, match="run `muninn migrate`"):
        await prepare_database(empty_database_url, apply=False)


async def test_no_database_is_told() -> None:
    """Nobody listening is a sentence with the place and without the password."""
    with pytest.raises(DatabaseUnreachable) as caught:
        await prepare_database(f"postgresql://muninn:{SECRET}@{NOBODY_LISTENS}/muninn")
    assert_plain(str(caught.value))
    assert NOBODY_LISTENS in str(caught.value)
    assert "MUNINN_DATABASE_URL" in str(caught.value)


async def test_an_unknown_database_is_told(services: RunServices) -> None:
    """A server without the database says how to make it."""
    with pytest.raises(DatabaseUnreachable, match="has no database of the name") as caught:
        await prepare_database(services.postgres.url("not_there"))
    assert_plain(str(caught.value))


async def test_a_changed_schema_is_told(database_url: str) -> None:
    """What migrations refuse ends the start with their sentence."""
    conn = await asyncpg.connect(database_url)
    try:
        await conn.execute("UPDATE schema_migrations SET checksum = 'other' WHERE version = 1")
    finally:
        await conn.close()
    with pytest.raises(DatabaseUnfit, match="was changed after it was applied") as caught:
        await prepare_database(database_url)
    assert_plain(str(caught.value))


async def test_an_old_server_is_told(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PostgreSQL older than what Muninn needs is refused before anything is changed."""
    monkeypatch.setattr(startup, "OLDEST_POSTGRES", 99)
    with pytest.raises(DatabaseUnfit, match="PostgreSQL is version 18, and Muninn needs 99") as caught:
        await prepare_database(empty_database_url)
    assert_plain(str(caught.value))
    await _assert_untouched(empty_database_url)


@pytest.mark.parametrize(("installed", "advice"), [(True, "ALTER EXTENSION vector UPDATE"), (False, "newer pgvector")])
async def test_an_old_vector_extension_is_told(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch, installed: bool, advice: str
) -> None:
    """Whether the database has the old one or the server only offers it."""
    if installed:
        conn = await asyncpg.connect(empty_database_url)
        try:
            await conn.execute("CREATE EXTENSION vector")
        finally:
            await conn.close()
    monkeypatch.setattr(startup, "OLDEST_VECTOR", (99, 0))
    with pytest.raises(DatabaseUnfit, match=rf"The extension vector is version [\d.]+, .*{advice}") as caught:
        await prepare_database(empty_database_url)
    assert_plain(str(caught.value))
    await _assert_untouched(empty_database_url)


@pytest.mark.parametrize(("hidden", "told"), [("vector", "Install pgvector"), ("pg_trgm", "contrib package")])
async def test_a_missing_extension_is_told(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch, hidden: str, told: str
) -> None:
    """A server that cannot offer an extension is refused before anything is changed."""
    monkeypatch.setattr(startup, "EXTENSION_SQL", f"{startup.EXTENSION_SQL} AND name <> '{hidden}'")
    with pytest.raises(DatabaseUnfit, match=f"lacks the extension {hidden}; .*{told}") as caught:
        await prepare_database(empty_database_url)
    assert_plain(str(caught.value))
    await _assert_untouched(empty_database_url)


async def test_another_encoding_is_told(services: RunServices) -> None:
    """A database that could not hold what members write is refused."""
    admin = await asyncpg.connect(services.postgres.url("postgres"))
    try:
        await admin.execute(
            "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'"
        )
        with pytest.raises(DatabaseUnfit, match="encoding is LATIN1") as caught:
            await prepare_database(services.postgres.url("latin"))
        assert_plain(str(caught.value))
    finally:
        await admin.execute("DROP DATABASE IF EXISTS latin WITH (FORCE)")
        await admin.close()


async def test_a_poor_locale_is_warned_about(services: RunServices) -> None:
    """A database whose locale knows ASCII letters only works, and says that searches find less."""
    admin = await asyncpg.connect(services.postgres.url("postgres"))
    try:
        await admin.execute("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'")
        with capture_logs() as logs:
            await prepare_database(services.postgres.url("ascii"))
        assert "startup.poor_locale" in [entry["event"] for entry in logs]
    finally:
        await admin.execute("DROP DATABASE IF EXISTS ascii WITH (FORCE)")
        await admin.close()


async def test_redis_is_looked_for(redis_url: str) -> None:
    """It answers, or its absence is a warning and not a fault (I2)."""
    with capture_logs() as logs:
        assert await look_for_redis(redis_url)
    assert logs == []
    with capture_logs() as logs:
        assert not await look_for_redis(f"redis://:{SECRET}@{NOBODY_LISTENS}/0")
    assert [entry["event"] for entry in logs] == ["startup.redis_unreachable"]
    assert_plain(logs[0]["reason"])


@pytest.mark.parametrize(
    ("status", "body", "events"),
    [
        (200, {"data": [{"id": "raven"}]}, []),
        (200, {"data": [{"id": "crow"}]}, ["startup.model_unlisted"]),
        (404, {}, []),
        (401, {}, ["startup.model_unreachable"]),
    ],
)
async def test_the_model_is_looked_for(status: int, body: Mapping[str, object], events: list[str]) -> None:
    """A refused key and an unknown model are told; a server without a list of models is fine."""

    async def models(request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == f"Bearer {SECRET}"
        return web.json_response(body, status=status)

    app = web.Application()
    app.router.add_get("/v1/models", models)
    async with TestServer(app) as server:
        settings = load(openai_base_url=str(server.make_url("/v1")), openai_api_key=SECRET, model="raven")
        with capture_logs() as logs:
            assert await look_for_model(settings) == (status != 401)
    assert [entry["event"] for entry in logs] == events
    for entry in logs:
        assert_plain(entry["reason"])


async def test_no_model_is_a_warning() -> None:
    """An endpoint that nobody serves is a warning: the journal goes on without it."""
    settings = load(openai_base_url=f"http://{NOBODY_LISTENS}/v1", openai_api_key=SECRET)
    with capture_logs() as logs:
        assert not await look_for_model(settings)
    assert_plain(logs[0]["reason"])
    assert NOBODY_LISTENS in logs[0]["reason"]


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (discord.LoginFailure("Improper token"), DiscordRefused, "MUNINN_DISCORD_TOKEN"),
        (discord.PrivilegedIntentsRequired(None), DiscordRefused, "Message Content intent"),
        (aiohttp.ClientConnectionError("refused"), DiscordRefused, "cannot be reached"),
        (SchemaFault("The schema is odd."), DatabaseUnfit, "The schema is odd"),
        (SettingsFault("MUNINN_X is wrong."), SettingsFault, "MUNINN_X"),
    ],
)
def test_libraries_errors_become_sentences(error: Exception, kind: type[Exception], told: str) -> None:
    """A wrong token, missing intents and an unreachable Discord."""
    fault = as_startup_fault(error)
    assert isinstance(fault, kind)
    assert re.search(re.escape(told), str(fault))
    assert_plain(str(fault))


def test_other_errors_stay_what_they_are() -> None:
    """A bug of ours is not dressed up as an operator's fault."""
    assert as_startup_fault(KeyError("x")) is None


async def _assert_untouched(url: str) -> None:
    conn = await asyncpg.connect(url)
    try:
        assert await conn.fetchval("SELECT to_regclass('schema_migrations') IS NULL")
    finally:
        await conn.close()
