"""The doctor on what is on record: gaps, parked events, waiting work, receipts; and what `--live` searches."""

import asyncpg

from bot.doctor import records, remembering, trial
from bot.doctor.findings import Finding
from bot.settings import Settings
from bot.shard_lock import ShardLock, lock_key
from bot.stops import switch_stop
from tests.harness.diagnosis import assert_plain, named
from tests.harness.stage import Stage


async def on_record(url: str) -> list[Finding]:
    conn = await asyncpg.connect(url)
    try:
        found = await records.examine(conn)
    finally:
        await conn.close()
    assert_plain(found)
    return found


async def test_nothing_went_wrong(database_url: str) -> None:
    """A database in which nothing is left undone."""
    assert {finding.level for finding in await on_record(database_url)} == {"ok"}


async def test_a_parked_event_is_a_fault(database_url: str, pool: asyncpg.Pool) -> None:
    """Its kind is named and its words are not."""
    await pool.execute(
        """INSERT INTO parked_events (kind, event_key, payload, reason)
           VALUES ('MESSAGE_CREATE', 'k', 'secret words', 'DataError: secret words')"""
    )
    finding = named(await on_record(database_url), "records.parked")
    assert finding.level == "fault"
    assert "1 event could not be journalled (MESSAGE_CREATE 1)" in finding.says
    assert "secret words" not in finding.says


async def test_gaps(database_url: str, pool: asyncpg.Pool) -> None:
    """One that is open for long, and one that was closed with something missing; one that was just opened is none."""
    await pool.execute("INSERT INTO gateway_gaps (shard_id, reason, since) VALUES (0, 'start', now())")
    assert named(await on_record(database_url), "records.gaps").level == "ok"
    await pool.execute(
        """INSERT INTO gateway_gaps (shard_id, reason, since, opened_at, closed_at, incomplete) VALUES
           (0, 'identify', now(), now() - interval '3 hours', NULL, 0), (0, 'start', now(), now(), now(), 2)"""
    )
    found = await on_record(database_url)
    assert "2 spans of messages are still to be fetched, the oldest for 3 hours" in named(found, "records.gaps").says
    assert named(found, "records.incomplete").level == "warn"


async def test_work_that_waits(database_url: str, pool: asyncpg.Pool) -> None:
    """Messages that nobody took up, a turn whose worker is gone, and one that comes back again and again."""
    await pool.execute(
        """INSERT INTO discord_inbox (space_id, place_id, message_id, author_id, reason, arrived_at)
           VALUES (1, 2, 3, 4, 'mention', now() - interval '5 minutes')"""
    )
    await pool.execute(
        """INSERT INTO turns (space_id, place_id, author_id, trigger_id, triggered_at, state, attempts, available_at,
               lease_until) VALUES
           (1, 2, 4, 5, now(), 'queued', 0, now() - interval '10 minutes', NULL),
           (1, 3, 4, 6, now(), 'running', 1, now(), now() - interval '1 hour'),
           (1, 4, 4, 7, now(), 'composed', 5, now(), now() + interval '1 minute')"""
    )
    found = await on_record(database_url)
    assert "2 messages wait for an answer, the oldest for 10 minutes" in named(found, "records.waiting").says
    assert "1 turn was left by the worker 1 hour ago" in named(found, "records.abandoned").says
    struggling = named(found, "records.struggling")
    assert (struggling.level, "at most 5" in struggling.says) == ("fault", True)


async def test_effects_that_nobody_knows_of(database_url: str, pool: asyncpg.Pool) -> None:
    """I4: a receipt that is open for long is a fault, one whose place cannot be read a warning, a fresh one neither."""
    insert = """INSERT INTO action_receipts
        (space_id, place_id, trigger_id, action, args_digest, args, state, failure, intended_at, settled_at)
        VALUES (1, 2, $1, 'send_part', '', '{}', $2, $3, now() - interval '2 hours',
            now() - $4 * interval '1 second')"""
    await pool.execute(insert, 1, "unknown", "timeout", 10)
    assert named(await on_record(database_url), "records.receipts").level == "ok"
    await pool.execute(insert, 2, "unknown", "timeout", 4_000)
    await pool.execute(insert, 3, "intended", None, None)
    await pool.execute(insert, 4, "unknown", "unreadable:discord_50001", 4_000)
    found = await on_record(database_url)
    assert "Of 2 effects" in named(found, "records.receipts").says
    assert named(found, "records.receipts").level == "fault"
    assert named(found, "records.unreadable").level == "warn"


async def test_the_stop_switch(database_url: str, pool: asyncpg.Pool) -> None:
    """An operator who forgot it is reminded."""
    async with pool.acquire() as conn:
        await switch_stop(conn, is_on=True)
    finding = named(await on_record(database_url), "records.stopped")
    assert (finding.level, "muninn start" in (finding.next_step or "")) == ("warn", True)


async def test_memory_that_fails(database_url: str, pool: asyncpg.Pool) -> None:
    """Places that cannot be read, messages that were given up, work that waits for long, and vectors of another model
    than the settings name."""
    settings = Settings()
    conn = await asyncpg.connect(database_url)
    try:
        sound = await remembering.examine(conn, settings)
        assert {finding.level for finding in sound} == {"ok"}
        await conn.execute(
            """INSERT INTO ingestion_targets (space_id, place_id, target, failure, attempts, raised_at)
               VALUES (1, 2, 3, 'bad_json', 4, now() - interval '2 hours')"""
        )
        await conn.execute(
            "INSERT INTO parked_ingestions (space_id, place_id, message_id, failure) VALUES (1, 2, 3, 'bad_json')"
        )
        await conn.execute("INSERT INTO embedding_models (name, dimensions, is_current) VALUES ('other', 8, true)")
        found = await remembering.examine(conn, settings)
    finally:
        await conn.close()
    assert_plain(found)
    assert "reading places: bad_json 1" in named(found, "records.memory").says
    assert named(found, "records.memory").level == "fault"
    assert "2 hours" in named(found, "records.memory_waiting").says
    assert named(found, "records.memory_parked").level == "fault"
    assert "other (8 numbers)" in named(found, "embeddings.model").says
    assert named(found, "embeddings.model").level == "warn"


async def test_who_serves(database_url: str) -> None:
    """I17: whether some Muninn holds the shard's lock, also for an application whose number is negative there."""
    for application_id in range(1_000, 1_008):
        conn = await asyncpg.connect(database_url)
        lock = ShardLock(lambda: asyncpg.connect(database_url), application_id, 3)
        try:
            assert (await records.served(conn, application_id, 3)).level == "skip"
            await lock.take()
            assert (await records.served(conn, application_id, 3)).level == "ok"
            assert (await records.served(conn, application_id, 2)).level == "skip"
        finally:
            lock.free()
            await conn.close()
    assert {lock_key(application_id, 3)[0] < 0 for application_id in range(1_000, 1_008)} == {True, False}


async def test_the_journal_is_really_searched(stage: Stage) -> None:
    """A word that was said lately is found; where nothing was said there is nothing to search for."""
    conn = await asyncpg.connect(stage.database_url)
    try:
        (finding,) = await trial.try_search(conn)
        assert finding.level == "skip"
        async with stage.muninn():
            said = await stage.ada.says(stage.general, "The ravens return at nightfall")
            await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", said.id)
        (finding,) = await trial.try_search(conn)
        assert finding.level == "ok"
        assert_plain([finding], "nightfall")
    finally:
        await conn.close()
