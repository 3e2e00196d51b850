"""Each benchmark, in a tiny run on the tests' own services: it goes through, and gives the figures that it promises.

The figures themselves say nothing here, and none is asserted to be fast.
"""

import math
from collections.abc import Mapping

import pytest

from bench import journal, loop, roundtrip, start, writing
from bench.ground import Ground

JOURNAL = {
    "ratio_single_transaction",
    "events_per_s",
    "single_transaction_events_per_s",
    "ratio_single_transaction_mixed",
    "events_per_s_mixed",
    "commit_p50_ms",
    "commit_p99_ms",
}
ROUNDTRIP = {
    "median_ratio_1",
    "p95_ratio_1",
    "added_ms_1",
    "turns_per_s_ratio_50",
    "median_ms_1",
    "bare_median_ms_1",
    "p95_ms_1",
    "bare_p95_ms_1",
    "with_memory_median_ms_1",
    "with_memory_p95_ms_1",
    "turns_per_s_50",
    "bare_turns_per_s_50",
}
LOOP = {
    *(f"{name}_ms_{calls}" for name in ("overhead", "step", "bare_step") for calls in (0, 1, 8)),
    "write_ms",
    "parallel_ratio",
    "statements_per_run",
    "bytes_per_run",
}
WRITING = {
    "reply_p95_ratio_under_load",
    "reply_median_ratio_under_load",
    "reply_p95_ms_idle",
    "reply_p95_ms_loaded",
    "upserts_per_s",
    "ingestion_jobs_per_s",
    "embedding_rows_per_s",
}
START = {"ready_s", "rss_mb", "ready_ratio", "rss_ratio", "bare_ready_s", "bare_rss_mb"}


async def test_journal(database_url: str, redis_url: str) -> None:
    """Both sides keep the same events, once each, and nothing is parked."""
    size = journal.Size(rounds=1, events=150, plain_events=40, warm_up=20, paced_s=0.2)
    figures = await journal.measure(Ground(database_url, redis_url), size)
    _check(figures, JOURNAL, journal.TARGETS)


async def test_loop(database_url: str, redis_url: str) -> None:
    """Both sides make the same calls; what a run costs PostgreSQL is counted, and does not depend on the machine."""
    size = loop.Size(warm_up=0, rounds=1, steps=2, slow_rounds=1)
    figures = await loop.measure(Ground(database_url, redis_url), size)
    _check(figures, LOOP, loop.TARGETS)
    assert figures["statements_per_run"] == 9
    assert figures["bytes_per_run"] < 5_000


@pytest.mark.long
async def test_roundtrip(database_url: str, redis_url: str) -> None:
    """Both bots answer every message, one at a time and in all lanes at once."""
    size = roundtrip.Size(warm_up=1, rounds=1, single=2, crowd_rounds=1, crowd=1)
    figures = await roundtrip.measure(Ground(database_url, redis_url), size)
    _check(figures, ROUNDTRIP, roundtrip.TARGETS)


@pytest.mark.long
async def test_start(database_url: str, redis_url: str) -> None:
    """Both bots start, and Muninn's READY is in the journal."""
    figures = await start.measure(Ground(database_url, redis_url), start.Size(starts=1))
    _check(figures, START, start.TARGETS)


@pytest.mark.long
async def test_writing(database_url: str, redis_url: str) -> None:
    """Values, batches and vectors are written, and replies come meanwhile."""
    size = writing.Size(rounds=1, values=60, places=3, messages=10, vectors=16, reply_rounds=1, replies=2)
    figures = await writing.measure(Ground(database_url, redis_url), size)
    _check(figures, WRITING, writing.TARGETS)


def _check(figures: dict[str, float], promised: set[str], targets: Mapping[str, object]) -> None:
    assert set(figures) == promised
    assert set(targets) <= promised
    assert all(math.isfinite(value) for value in figures.values())
