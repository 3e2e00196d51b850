"""Backup and restore as docs/how-to/backup-and-restore.md has them: the restored Muninn gives the same answers."""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from redis.asyncio import Redis

from bot.events import Dispatch
from bot.ingress.seen import Ledger, Seen, ledger_name
from bot.pool import open_pool
from bot.receipts import Intent, intend
from bot.services import EmbeddedPostgres, ensure_database
from bot.startup import prepare_database
from memory.ids import MessageId, PlaceId, SpaceId
from memory.scope import Scope
from memory.search import search_words
from migrations.runner import migrate
from sandbox.model import ChatRequest, Completion, call, say
from tests.harness.relay import open_relay
from tests.harness.services import FAST, RunServices
from tests.harness.stage import Stage
from tests.integration.test_journal import GUILD, create, ingress, put, snowflake

COPY = Path("/bin/cp")


async def contents(pool: asyncpg.Pool) -> dict[str, int]:
    """How many rows each table has, and where each sequence stands."""
    tables = await pool.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    counts = {row[0]: await pool.fetchval(f'SELECT count(*) FROM "{row[0]}"') for row in tables}
    sequences = await pool.fetch("SELECT sequencename, last_value FROM pg_sequences")
    return counts | {row[0]: row[1] for row in sequences}


async def run(program: Path, *arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(str(program), *arguments, stderr=asyncio.subprocess.PIPE)
    _, complaint = await process.communicate()
    assert (process.returncode, complaint) == (0, b"")


@asynccontextmanager
async def restored(services: RunServices, database_url: str, folder: Path) -> AsyncGenerator[str]:
    """An empty database into which a dump of another one was restored: its address."""
    programs, dump = services.postgres.programs(), folder / "muninn.dump"
    await run(programs / "pg_dump", "--format=custom", f"--file={dump}", f"--dbname={database_url}")
    async with services.fresh_database() as url:
        await run(programs / "pg_restore", "--no-owner", "--exit-on-error", f"--dbname={url}", str(dump))
        yield url


def _looks_and_tells(request: ChatRequest) -> Completion:
    """Search, react, then say what was found, as it came."""
    match len(request.tool_results):
        case 0:
            return call("memory_search", query="raven")
        case 1:
            return call("discord_react", emoji="👍")
        case _:
            return say(request.tool_results[0].text)


async def test_a_restored_database_gives_the_same_answers(stage: Stage, services: RunServices, tmp_path: Path) -> None:
    """The same rows, search results and schema; what was answered and done before is answered from the record, in the
    same Discord and with the same Redis, and new events go on from there (I2, I4)."""
    stage.model.default(_looks_and_tells)
    mention = stage.discord.bot.mention
    async with stage.muninn():
        for text in ("The raven left at dawn", "A crow is no raven", "Ravens remember faces", "Nothing of the kind"):
            await stage.bob.says(stage.general, text)
        question = await stage.ada.says(stage.general, f"{mention} what about the raven?")
        answer = await stage.discord.wait_for_message(reply_to=question)
        await stage.settled(1)
    async with restored(services, stage.database_url, tmp_path) as url, asyncpg.create_pool(url, min_size=0) as pool:
        assert (await prepare_database(url, apply=False)).names == ()
        assert await contents(pool) == await contents(stage.pool)
        scope = Scope(SpaceId(stage.guild.id), PlaceId(stage.general.id))
        for query in ("raven", "crow dawn", "nothing", "absent"):
            found = [await search_words(db, scope, query, limit=10, before_id=None) for db in (pool, stage.pool)]
            assert found[0] == found[1], query
        trigger = MessageId(question.id)
        args = {"message_id": str(question.id), "emoji": "👍"}
        receipt = await intend(pool, Intent(scope.space_id, scope.place_id, trigger, "react", args))
        assert (receipt.state, receipt.fresh) == ("applied", False)

        again = replace(stage, database_url=url, pool=pool)
        async with again.muninn():
            await stage.discord.redelivers(question)
            second = await stage.ada.says(stage.general, f"{mention} what about the raven?", reply_to=None)
            repeated = await stage.discord.wait_for_message(reply_to=second)
            await again.settled(2)
        assert stage.discord.replies_to(question) == [answer]
        assert _found(answer.content) <= _found(repeated.content)
        assert await pool.fetchval("SELECT count(*) FROM parked_events") == 0


def _found(text: str) -> set[str]:
    return {
        sentence for sentence in ("left at dawn", "crow is no", "remember faces", "of the kind") if sentence in text
    }


def again(number: int) -> Dispatch:
    """A message as a backfill brings it: it may well have come before, so Redis is asked."""
    return replace(create(number), source="backfill")


async def test_redis_does_not_vouch_for_what_a_restore_undid(
    service_folder: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I1, I2: the data folder is put back to an earlier state, as from a disk's snapshot; Redis, which was not, knows
    events that are now missing. They are journalled again, by a process that ran on and by a new one."""
    monkeypatch.setattr("bot.ingress.writer.DOUBTS", 1)
    server = EmbeddedPostgres(service_folder, FAST)
    data, snapshot = service_folder / "postgres" / "data", service_folder / "snapshot"
    ledger = Ledger()

    async def opened(conn: Any) -> None:
        ledger.name = await ledger_name(conn)

    server.start()
    try:
        await ensure_database(server, "muninn")
        await migrate(server.url())
        server.stop()
        await run(COPY, "-a", str(data.resolve()), str(snapshot))
        server.start()
        (service_folder / "line").mkdir()
        async with (
            open_relay(server.url(), service_folder / "line") as relay,
            Redis.from_url(redis_url) as redis,
            open_pool(relay.url, opened=opened) as pool,
        ):
            seen = Seen(redis, "p:", ledger)
            async with ingress(pool, seen=seen) as (running, _):
                assert await put(running, again(1), again(2)) == ["committed"] * 2
                await seen.flush()
                assert await seen.known([f"{GUILD}:create:{snowflake(1)}"])
                assert await put(running, again(1)) == ["duplicate"]
                before = ledger.name
                await relay.cut()
                server.stop()
                shutil.rmtree(data)
                await run(COPY, "-a", str(snapshot), str(data))
                server.start()
                late = running.accept(again(3))
                assert late is not None
                await relay.mend()
                assert await put(running, again(1)) == ["committed"]
                assert await late == "committed"
            assert ledger.name != before
            async with ingress(pool, seen=Seen(redis, "p:", ledger)) as (fresh, _):
                assert await put(fresh, again(2), again(1)) == ["committed", "duplicate"]
            kept = await pool.fetch("SELECT message_id FROM chat_messages ORDER BY 1")
            assert [row["message_id"] for row in kept] == [snowflake(1), snowflake(2), snowflake(3)]
    finally:
        server.stop()


def test_the_how_to_uses_what_is_tried_here() -> None:
    """The commands of the how-to are those of this module."""
    text = (Path(__file__).parents[2] / "docs/how-to/backup-and-restore.md").read_text()
    for part in ("pg_dump --format=custom", "pg_restore --no-owner --exit-on-error"):
        assert part in text


@pytest.mark.parametrize("name", ["pg_dump", "pg_restore", "psql"])
def test_the_embedded_server_comes_with_its_programs(services: RunServices, name: str) -> None:
    """Nothing has to be installed to back it up."""
    assert (services.postgres.programs() / name).exists()
