"""What is kept for a time is gone when it is over, however much there is of it."""

import asyncpg
import pytest

from bot import expiry
from bot.expiry import Expiry
from memory import web_documents
from tests.harness.stage import Stage

KEPT = """INSERT INTO web_documents (space_id, url, title, content, digest, fetched_at, expires_at)
SELECT 1, 'https://atlas.example/' || n, '', '', '', now(), now() + CASE n % 3 WHEN 0 THEN interval '1 d' ELSE '0' END
FROM generate_series(1, 30) n"""


async def test_everything_expired_goes_and_nothing_else(pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In as many turns as it takes."""
    for module in (expiry, web_documents):
        monkeypatch.setattr(module, "EXPIRED_AT_ONCE", 7)
    await pool.execute(KEPT)
    assert await Expiry(pool).sweep() == 20
    assert await Expiry(pool).sweep() == 0
    assert await pool.fetchval("SELECT count(*) FROM web_documents") == 10


async def test_the_bot_does_it_by_itself(stage: Stage) -> None:
    await stage.pool.execute(KEPT)
    async with stage.muninn():
        await stage.until("SELECT 1 FROM web_documents HAVING count(*) = 10")
