"""The hot statements find their rows by the index that was made for them, also when the tables are large."""

import json
from typing import Any

import asyncpg
import pytest

from bot.arrivals.items import WAITING_INBOX_SQL
from bot.router import ADD_TURNS_SQL
from bot.turns import CLAIM_TURNS_SQL, HEARTBEAT_SQL, claim
from memory.context import WORKING_SET_SQL
from memory.gaps import PLACES_BEHIND_SQL
from memory.search import SEARCH_PIECES_SQL, SEARCH_WORDS_SQL

FILL = """
INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_kind, content, created_at, version_at)
SELECT 1 + n % 50, n, 1 + n % 500, 7, 'member', 'word ' || n, now(), now() FROM generate_series(1, 50000) AS n;
INSERT INTO discord_inbox (space_id, place_id, message_id, author_id, reason, state)
SELECT 1, 1, n, 7, 'dm', CASE WHEN n > 49990 THEN 'waiting' ELSE 'routed' END FROM generate_series(1, 50000) AS n;
INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, triggered_at, started_at)
SELECT 1 + n % 50, 1 + n % 500, n % 97, n, CASE WHEN n > 49950 THEN 'queued' ELSE 'answered' END, now(),
       CASE WHEN n > 49950 THEN NULL ELSE now() END FROM generate_series(1, 50000) AS n;
INSERT INTO place_cursors (space_id, place_id, newest_id, backfill_after)
SELECT 1 + n % 50, n, n, CASE WHEN n > 19990 THEN n END FROM generate_series(1, 20000) AS n;
"""

CASES = [
    (WAITING_INBOX_SQL, (64, 3000, 1800), {"discord_inbox_waiting"}, {"discord_inbox"}),
    (CLAIM_TURNS_SQL, (8, 20.0, 1800.0), {"turns_queued", "turns_leased", "turns_served", "turns_lane"}, {"turns"}),
    (HEARTBEAT_SQL, ([1, 2], [1, 1], 20.0), set[str](), {"turns"}),
    (WORKING_SET_SQL, (1, 1, 31, None), {"chat_messages_place"}, {"chat_messages"}),
    (
        SEARCH_WORDS_SQL,
        (1, 1, "word", 2**62, 2**62, 0, 5, 5_000, None, 32, False),
        {"chat_messages_place", "chat_messages_pkey"},
        {"chat_messages"},
    ),
    (SEARCH_PIECES_SQL, (1, 1, ["日本"], 2**62, 2**62, 0, 5, 5_000, None), {"chat_messages_place"}, {"chat_messages"}),
    (PLACES_BEHIND_SQL, (200,), {"place_cursors_behind"}, {"place_cursors"}),
]


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in _nodes(child))]


async def test_hot_statements_use_their_indexes(pool: asyncpg.Pool) -> None:
    """EXPLAIN over 50,000 rows: each index is used, and no table is read from end to end."""
    async with pool.acquire() as conn:
        await conn.execute(FILL)
        await conn.execute("ANALYZE")
        for statement, arguments, wanted, never_scanned in CASES:
            row = await conn.fetchval(f"EXPLAIN (FORMAT JSON) {statement}", *arguments)
            plan = json.loads(row) if isinstance(row, str) else row
            nodes = _nodes(plan[0]["Plan"])
            used = {node["Index Name"] for node in nodes if "Index Name" in node}
            scanned = {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}
            assert wanted <= used, (statement, used)
            assert not scanned & never_scanned, (statement, scanned)


# Some turns that ran and ended, and left behind in the indexes what vacuum has not removed yet.
PASS = """
INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, triggered_at, started_at, lease_until)
SELECT 1, n, n % 50, n, 'running', now(), now(), now() FROM generate_series($1::bigint, $2::bigint) AS n
"""
PASSED = "UPDATE turns SET state = 'answered', lease_until = NULL WHERE state = 'running'"
WAIT = """
INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, triggered_at)
SELECT 1, n, 7, 100000 + n, 'queued', now() FROM generate_series(1, 40) AS n
"""


ARRIVE = """
INSERT INTO discord_inbox (space_id, place_id, message_id, author_id, reason, state)
SELECT 1, 200 + n, 200000 + n, 7, 'dm', 'waiting' FROM generate_series(1, 8) AS n
"""
NONE = "array_fill(NULL::text, '{8}')"
ITEMS = (
    f"'{{1,2,3,4,5,6,7,8}}', {NONE}, {NONE}, array_fill(now(), '{{8}}'), array_fill('dm'::text, '{{8}}'), "
    f"array_fill(NULL::bigint, '{{8}}'), array_fill(0::float8, '{{8}}'), {NONE}, 8, 20, 1800"
)
SOON = [
    ("claim", "int, float8, float8", CLAIM_TURNS_SQL, "1, 20, 1800"),
    (
        "add",
        "bigint[], text[], text[], timestamptz[], text[], bigint[], float8[], text[], int, float8, float8",
        ADD_TURNS_SQL,
        ITEMS,
    ),
]


async def test_turns_are_made_and_claimed_by_few_reads_whatever_was_there_before(pool: asyncpg.Pool) -> None:
    """I14: a plan made for an empty or small table holds until it is analysed, and many turns end before that."""
    made_at = [0, 40, 80, 120, 160, 200, 300, 500]
    read: dict[str, int] = {}
    async with pool.acquire() as conn:
        await conn.execute("SET plan_cache_mode = force_generic_plan")
        for last, size in zip([0, *made_at], [*made_at, 3_000], strict=False):
            await conn.execute(PASS, last + 1, size)
            await conn.execute(PASSED)
            for name, types, statement, arguments in SOON:
                await conn.execute(f"PREPARE {name}_{size} ({types}) AS {statement}")
                await conn.execute(f"EXPLAIN EXECUTE {name}_{size} ({arguments})")
        await conn.execute(WAIT)
        await conn.execute(ARRIVE)
        for name, _, _, arguments in SOON:
            for size in made_at:
                before = conn.transaction()
                await before.start()
                row = await conn.fetchval(
                    f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE {name}_{size} ({arguments})"
                )
                await before.rollback()
                plan = json.loads(row)[0]["Plan"]
                read[f"{name}_{size}"] = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        await conn.execute("DEALLOCATE ALL; RESET plan_cache_mode")
    assert max(read.values()) < 600, read


async def test_a_claim_compares_no_waiting_turns_with_each_other(pool: asyncpg.Pool) -> None:
    """I14: after an outage thousands of places wait, and the statistics still say that none does."""
    async with pool.acquire() as conn:
        await conn.execute("SET plan_cache_mode = force_generic_plan")
        await conn.execute(PASS, 1, 3_000)
        await conn.execute(PASSED)
        await conn.execute("ANALYZE turns")
        await conn.execute(WAIT.replace("40", "1000"))
        await conn.execute(f"PREPARE claim (int, float8, float8) AS {CLAIM_TURNS_SQL}")
        row = await conn.fetchval("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE claim (8, 20, 1800)")
        await conn.execute("DEALLOCATE ALL; RESET plan_cache_mode")
    nodes = _nodes(json.loads(row)[0]["Plan"])
    assert sum(node.get("Rows Removed by Join Filter", 0) * node["Actual Loops"] for node in nodes) < 10_000


@pytest.mark.parametrize("queued", [0, 3])
async def test_a_claim_takes_the_author_served_longest_ago(pool: asyncpg.Pool, queued: int) -> None:
    """I3: of a lane's queue, the author whose last turn began first; of several lanes, one each."""
    await pool.execute(
        """INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, triggered_at, started_at) VALUES
           (1, 1, 7, 1, 'answered', now(), now() - interval '1 minute'),
           (1, 1, 8, 2, 'answered', now(), now() - interval '5 minutes'),
           (1, 1, 7, 3, 'queued', now(), NULL), (1, 1, 8, 4, 'queued', now(), NULL),
           (1, 2, 7, 5, 'queued', now(), NULL), (1, 2, 9, 6, 'queued', now(), NULL)"""
    )
    claimed, others = await claim(pool, most=2 + queued, lease_s=20.0, window_s=1800.0)
    assert ({turn.trigger_id for turn in claimed}, others) == ({4, 5}, True)
    assert await claim(pool, most=8, lease_s=20.0, window_s=1800.0) == ((), True)
    await pool.execute("UPDATE turns SET state = 'cancelled', ended_at = now() WHERE state = 'queued'")
    assert await claim(pool, most=8, lease_s=20.0, window_s=1800.0) == ((), False)


async def test_a_turn_that_came_back_waits_for_those_that_waited_longer(pool: asyncpg.Pool) -> None:
    """I3: answers that cannot be delivered come back again and again, and take no worker from those before them."""
    await pool.execute(
        """INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, triggered_at, started_at, lease_until)
           VALUES (1, 1, 7, 1, 'composed', now(), now(), now() - interval '1 second'),
                  (1, 2, 7, 2, 'running', now(), now(), now() - interval '3 seconds');
           INSERT INTO turns (space_id, place_id, author_id, trigger_id, triggered_at, available_at)
           VALUES (1, 3, 7, 3, now(), now() - interval '2 seconds')"""
    )
    claimed = [(await claim(pool, most=1, lease_s=20.0, window_s=1800.0))[0] for _ in range(3)]
    assert [turn.trigger_id for (turn,) in claimed] == [2, 3, 1]
