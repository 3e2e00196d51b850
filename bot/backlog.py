"""How much work stands in the tables, as gauges: counted when they are asked for, and at most every ten seconds.

Each count is bounded and has an index, so that a long queue does not make asking for its length dear. What cannot be
counted is NaN and not nothing (I9).
"""

import asyncio
import math
import time
from collections.abc import Mapping
from typing import Final

import structlog
from prometheus_client import Gauge

from bot.metrics import (
    GAP_OLDEST,
    GAPS_OPEN,
    INBOX_WAITING,
    LEASE_OVERDUE,
    PARKED,
    PLACES_UNREAD,
    QUEUE_OLDEST,
    RECEIPT_OLDEST,
    RECEIPTS_OPEN,
    TURNS_BEGUN,
    TURNS_QUEUED,
)
from memory.database import Pool

log = structlog.get_logger(__name__)

KEEP_S: Final = 10.0
WITHIN_S: Final = 2.0
MOST_COUNTED: Final = 10_000
"""A longer queue counts as this long."""

# What waits, what was begun, and what is open, with the age of the oldest in seconds.
BACKLOG_SQL: Final = f"""
SELECT
    (SELECT count(*) FROM (SELECT FROM discord_inbox WHERE state = 'waiting' LIMIT {MOST_COUNTED}) AS w) AS inbox,
    (SELECT count(*) FROM (SELECT FROM turns WHERE state = 'queued' LIMIT {MOST_COUNTED}) AS w) AS queued,
    greatest(
        (SELECT now() - arrived_at FROM discord_inbox WHERE state = 'waiting' ORDER BY inbox_id LIMIT 1),
        (SELECT now() - min(available_at) FROM
            (SELECT available_at FROM turns WHERE state = 'queued' LIMIT {MOST_COUNTED}) AS w)
    ) AS queue_age,
    (SELECT count(*) FROM turns WHERE state IN ('running', 'composed', 'delivering')) AS begun,
    (SELECT now() - min(lease_until) FROM turns WHERE state IN ('running', 'composed', 'delivering')) AS lease_overdue,
    (SELECT count(*) FROM gateway_gaps WHERE closed_at IS NULL) AS gaps,
    (SELECT now() - min(opened_at) FROM gateway_gaps WHERE closed_at IS NULL) AS gap_age,
    (SELECT count(*) FROM (SELECT FROM parked_events LIMIT {MOST_COUNTED}) AS w) AS parked,
    (SELECT count(*) FROM
        (SELECT FROM action_receipts WHERE state IN ('intended', 'unknown') LIMIT {MOST_COUNTED}) AS w) AS receipts,
    (SELECT now() - min(intended_at) FROM
        (SELECT intended_at FROM action_receipts WHERE state IN ('intended', 'unknown') LIMIT {MOST_COUNTED}) AS w
    ) AS receipt_age,
    (SELECT count(*) FROM
        (SELECT FROM ingestion_targets WHERE done_target < target LIMIT {MOST_COUNTED}) AS w) AS unread
"""

_COUNTS: Final[Mapping[str, Gauge]] = {
    "inbox": INBOX_WAITING,
    "queued": TURNS_QUEUED,
    "begun": TURNS_BEGUN,
    "gaps": GAPS_OPEN,
    "parked": PARKED,
    "receipts": RECEIPTS_OPEN,
    "unread": PLACES_UNREAD,
}
_AGES: Final[Mapping[str, Gauge]] = {
    "queue_age": QUEUE_OLDEST,
    "lease_overdue": LEASE_OVERDUE,
    "gap_age": GAP_OLDEST,
    "receipt_age": RECEIPT_OLDEST,
}


class Backlog:
    """Keeps the gauges no older than ten seconds, for whoever asks. One a process."""

    def __init__(self) -> None:
        self._counting = asyncio.Lock()
        self._counted_at = -KEEP_S
        _unknown()

    async def refresh(self, pool: Pool | None) -> None:
        """Count again unless that was done lately; `pool` None: nobody can count yet. Never raises."""
        async with self._counting:
            if pool is None or time.monotonic() - self._counted_at < KEEP_S:
                return
            self._counted_at = time.monotonic()
            try:
                async with asyncio.timeout(WITHIN_S), pool.acquire(timeout=WITHIN_S) as conn:
                    row = await conn.fetchrow(BACKLOG_SQL)
            except Exception as error:
                # Metrics break nothing; what cannot be counted is said to be unknown.
                log.warning("backlog.unknown", error=type(error).__name__)
                row = None
            if row is None:
                _unknown()
                return
            for name, gauge in _COUNTS.items():
                gauge.set(row[name])
            for name, gauge in _AGES.items():
                gauge.set(0.0 if row[name] is None else max(row[name].total_seconds(), 0.0))


def _unknown() -> None:
    for gauge in (*_COUNTS.values(), *_AGES.values()):
        gauge.set(math.nan)
