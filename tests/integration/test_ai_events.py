"""What is written behind: a stop loses none of it."""

import asyncio
import contextlib

from agent.contracts import Usage
from bot.ai_events import AiEvent, AiEvents
from memory.ids import SpaceId
from tests.harness.stage import Stage

SOMEBODY_WAITS = """
SELECT 1 FROM pg_locks WHERE relation = 'ai_events'::regclass AND NOT granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


async def test_a_stop_in_the_middle_of_a_flush_loses_and_doubles_nothing(stage: Stage) -> None:
    """The rows under way are let be written, then what came since; each once, also in the budget's sum."""
    events = AiEvents(stage.pool, every_s=0.01)
    async with stage.pool.acquire() as other:
        held = other.transaction()
        await held.start()
        await other.execute("LOCK TABLE ai_events")
        events.note(_event())
        running = asyncio.create_task(events.run())
        await stage.until(SOMEBODY_WAITS)
        events.note(_event())
        running.cancel()
        await asyncio.sleep(0)
        await held.rollback()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert running.cancelled()
    assert await stage.pool.fetchval("SELECT count(*) FROM ai_events") == 2
    assert await stage.pool.fetchval("SELECT tokens FROM token_spend") == 14


def _event() -> AiEvent:
    return AiEvent(SpaceId(1), "extraction", "m", "ok", 0.1, usage=Usage(5, 2))
