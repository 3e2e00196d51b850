"""Half an hour of an ordinary day with a gateway that keeps breaking. `SOAK_S` says for how long instead."""

import os

import pytest

from bench import soak
from bench.ground import Ground

SOAK_S = float(os.environ.get("SOAK_S") or 1_800)


@pytest.mark.long
@pytest.mark.timeout(SOAK_S + 600)
async def test_half_an_hour_leaves_memory_flat_the_loop_quick_and_nothing_lost(
    database_url: str, redis_url: str
) -> None:
    """I1, I3: each word is journalled and each question answered once; nothing grows, and nothing blocks the loop."""
    figures = await soak.measure(Ground(database_url, redis_url), soak.Size(seconds=SOAK_S))
    missed = {name: figures[name] for name, target in soak.TARGETS.items() if not target.met(figures[name])}
    assert missed == {}, figures
