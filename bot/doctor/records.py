"""What the doctor reads in Muninn's own tables: work that waits, and what went wrong and is on record."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from asyncpg import Record

from bot.doctor.findings import Finding, fault, looked_at, ok, skip, warn
from bot.shard_lock import lock_key
from bot.stops import STOP_SWITCH_SQL
from memory.database import Connection

GAP_OPEN_S: Final = 600
"""Seconds after which a span that is still to be fetched is no longer on its way."""

WAITING_S: Final = 60
"""Seconds that work may wait for a free worker."""

MANY_ATTEMPTS: Final = 3
RECEIPT_OPEN_S: Final = 3_600
LATELY: Final = "7 days"

# Whether the schema is there at all.
TABLES_SQL: Final = "SELECT to_regclass('turns') IS NOT NULL AND to_regclass('parked_events') IS NOT NULL"

# Spans that are not fetched yet, and those that were closed lately with something missing.
GAPS_SQL: Final = f"""
SELECT count(*) FILTER (WHERE closed_at IS NULL) AS open,
    coalesce(extract(epoch FROM now() - min(opened_at) FILTER (WHERE closed_at IS NULL)), 0)::float8 AS age_s,
    count(*) FILTER (WHERE incomplete > 0 AND closed_at > now() - interval '{LATELY}') AS incomplete
FROM gateway_gaps
"""

# Events that could not be journalled as they were, by kind.
PARKED_SQL: Final = """
SELECT kind, count(*) AS events, max(parked_at) AS newest FROM parked_events GROUP BY kind ORDER BY count(*) DESC, kind
"""

# Turns that nobody has taken up.
WAITING_TURNS_SQL: Final = """
SELECT count(*) AS turns, coalesce(extract(epoch FROM now() - min(available_at)), 0)::float8 AS age_s
FROM turns WHERE state = 'queued' AND available_at <= now()
"""

# Turns that were begun: those whose worker is gone, and those that come back again and again.
BEGUN_TURNS_SQL: Final = """
SELECT count(*) FILTER (WHERE lease_until < now()) AS abandoned,
    coalesce(extract(epoch FROM now() - min(lease_until)), 0)::float8 AS age_s,
    count(*) FILTER (WHERE attempts > $1) AS struggling, max(attempts) AS attempts
FROM turns WHERE state IN ('running', 'composed', 'delivering')
"""

# Messages that wait for the router.
WAITING_INBOX_SQL: Final = """
SELECT count(*) AS messages, coalesce(extract(epoch FROM now() - min(arrived_at)), 0)::float8 AS age_s
FROM discord_inbox WHERE state = 'waiting'
"""

# Effects of which nobody knows whether Discord did them.
OPEN_RECEIPTS_SQL: Final = """
SELECT count(*) FILTER (WHERE coalesce(settled_at, intended_at) < now() - make_interval(secs => $1)
        AND coalesce(failure, '') NOT LIKE 'unreadable:%') AS old,
    count(*) FILTER (WHERE failure LIKE 'unreadable:%') AS unreadable, count(*) AS open
FROM action_receipts WHERE state IN ('intended', 'unknown')
"""

# Whether some session holds the lock of a shard.
SERVED_SQL: Final = """
SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid::bigint = ($1::bigint & 4294967295) AND objid::bigint = $2)
"""


async def examine(conn: Connection) -> list[Finding]:
    """What is left undone and what went wrong, as the tables tell it."""
    if not await conn.fetchval(TABLES_SQL):
        return [skip("records.tables", "Nothing is on record yet.")]
    found: list[Finding] = []
    for name, look in _LOOKS:
        found += await looked_at(name, lambda look=look: look(conn))
    return found


async def served(conn: Connection, application_id: int, shard_id: int) -> Finding:
    """Whether a Muninn serves the shard now."""
    if await conn.fetchval(SERVED_SQL, *lock_key(application_id, shard_id)):
        return ok("records.served", f"A Muninn serves shard {shard_id} now.")
    return skip("records.served", f"No Muninn serves shard {shard_id} now.")


async def _gaps(conn: Connection) -> list[Finding]:
    row = await _row(conn, GAPS_SQL)
    found: list[Finding] = []
    if row["open"] and row["age_s"] > GAP_OPEN_S:
        found.append(
            warn(
                "records.gaps",
                f"{_counted(row['open'], 'span')} of messages {_is(row['open'])} still to be fetched, the oldest for "
                f"{duration(row['age_s'])}.",
                "Let Muninn run: it fetches them by itself; where it does run, look for `backfill.` in its log.",
            )
        )
    else:
        found.append(ok("records.gaps", "No span of messages is left to be fetched."))
    if row["incomplete"]:
        found.append(
            warn(
                "records.incomplete",
                f"In {_counted(row['incomplete'], 'span')} of the last {LATELY} something could not be fetched.",
                "Give Muninn Read Message History where it should remember, or raise MUNINN_BACKFILL_MESSAGES.",
            )
        )
    return found


async def _parked(conn: Connection) -> list[Finding]:
    rows = await conn.fetch(PARKED_SQL)
    if not rows:
        return [ok("records.parked", "Every event could be journalled.")]
    total = sum(row["events"] for row in rows)
    newest = max(row["newest"] for row in rows)
    kinds = ", ".join(f"{row['kind'][:40]} {row['events']}" for row in rows[:5])
    return [
        fault(
            "records.parked",
            f"{_counted(total, 'event')} could not be journalled ({kinds}), the newest at {newest:%Y-%m-%d %H:%M} UTC.",
            "Read `reason` in the table parked_events, report it, and delete the rows once it is settled.",
        )
    ]


async def _waiting(conn: Connection) -> list[Finding]:
    inbox, turns = await _row(conn, WAITING_INBOX_SQL), await _row(conn, WAITING_TURNS_SQL)
    waiting, age_s = inbox["messages"] + turns["turns"], max(inbox["age_s"], turns["age_s"])
    if waiting and age_s > WAITING_S:
        return [
            warn(
                "records.waiting",
                f"{_counted(waiting, 'message')} {'waits' if waiting == 1 else 'wait'} for an answer, the oldest for "
                f"{duration(age_s)}.",
                "Start Muninn if it does not run; where it does, raise MUNINN_WORKERS or look at how long the model "
                "takes.",
            )
        ]
    return [ok("records.waiting", "Nobody waits for an answer to begin.")]


async def _begun(conn: Connection) -> list[Finding]:
    row = await _row(conn, BEGUN_TURNS_SQL, MANY_ATTEMPTS)
    found: list[Finding] = []
    if row["abandoned"] and row["age_s"] > WAITING_S:
        found.append(
            warn(
                "records.abandoned",
                f"{_counted(row['abandoned'], 'turn')} {_was(row['abandoned'])} left by the worker "
                f"{duration(row['age_s'])} ago.",
                "Start Muninn if it does not run: it goes on from what is stored.",
            )
        )
    if row["struggling"]:
        found.append(
            fault(
                "records.struggling",
                f"{_counted(row['struggling'], 'turn')} {_was(row['struggling'])} begun more than {MANY_ATTEMPTS} "
                f"times (at most {row['attempts']}).",
                "Look for `turn.broken`, `turn.delayed` or `turn.interrupted` in Muninn's log, which name the cause.",
            )
        )
    return found or [ok("records.begun", "Every turn that was begun goes forward.")]


async def _receipts(conn: Connection) -> list[Finding]:
    row = await _row(conn, OPEN_RECEIPTS_SQL, RECEIPT_OPEN_S)
    found: list[Finding] = []
    if row["old"]:
        found.append(
            fault(
                "records.receipts",
                f"Of {_counted(row['old'], 'effect')} it has been unknown for more than {duration(RECEIPT_OPEN_S)} "
                "whether Discord did it.",
                "Let Muninn run: it asks Discord every MUNINN_RECONCILE_S seconds; where it does, look for "
                "`receipt.reconciled` in its log.",
            )
        )
    if row["unreadable"]:
        found.append(
            warn(
                "records.unreadable",
                f"Of {_counted(row['unreadable'], 'effect')} it can no longer be told whether Discord did it, since "
                "the place cannot be read.",
                "Give Muninn View Channel and Read Message History there, if it should still find out.",
            )
        )
    return found or [ok("records.receipts", "Of every effect it is known whether Discord did it.")]


async def _stopped(conn: Connection) -> list[Finding]:
    row = await conn.fetchrow(STOP_SWITCH_SQL)
    if row is None or not row["is_on"]:
        return [ok("records.stopped", "The stop switch is off.")]
    since = f"{row['changed_at']:%Y-%m-%d %H:%M} UTC"
    return [
        warn(
            "records.stopped",
            f"The stop switch is on since {since}: Muninn keeps everything and answers nobody.",
            "Run `muninn start` when it may go on.",
        )
    ]


_LOOKS: Final[Sequence[tuple[str, Callable[[Connection], Awaitable[Sequence[Finding]]]]]] = (
    ("records.stopped", _stopped),
    ("records.gaps", _gaps),
    ("records.parked", _parked),
    ("records.waiting", _waiting),
    ("records.begun", _begun),
    ("records.receipts", _receipts),
)


async def _row(conn: Connection, statement: str, *args: object) -> Record:
    row = await conn.fetchrow(statement, *args)
    assert row is not None  # noqa: S101 - an aggregate has one row
    return row


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def duration(seconds: float) -> str:
    """A time for people: `40 seconds`, `5 minutes`, `3 hours`, `2 days`."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size or round(seconds) == size:
            return _counted(round(seconds / size), unit)
    return _counted(round(seconds), "second")
