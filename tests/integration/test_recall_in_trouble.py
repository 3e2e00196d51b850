"""Recall while the embedding model is in trouble: it stays up, finds by words, and says how it was made (I9)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import asyncpg
import pytest

from bot.remembering.embeddings import EndpointEmbeddings
from sandbox.model import Model, failure, gateway_page, rate_limited, reset_connection, server_error, stall
from tests.harness.recalling import Shelf, contents, open_shelf

ADA = 701
OFFSITE = "The offsite is in Lisbon."

TROUBLE = [
    ("busy", rate_limited()),
    ("busy", server_error()),
    ("connection", reset_connection()),
    ("timeout", stall(30)),
    ("bad_reply", failure(200, "what", kind="nothing")),
    ("bad_reply", gateway_page(200)),
    ("unauthorized", failure(401, "wrong key", kind="authentication_error")),
]


@pytest.fixture
async def shelf(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Shelf]:
    async with open_shelf(database_url, pool) as opened:
        await opened.keeps(ADA, OFFSITE)
        await opened.exchanges(ADA, "Who booked the offsite hotel?", "Priya booked it.")
        await opened.embeds()
        yield opened


async def asked(shelf: Shelf, why: str, **how: Any) -> None:
    """Ada asks: the memory and the episode are found by their words, and the ledger says so and why."""
    recalled = await shelf.asks(ADA, "Where is the offsite?", **how)
    assert contents(recalled) == [OFFSITE]
    assert [each.answer for each in recalled.episodes] == ["Priya booked it."]
    assert (recalled.mode, recalled.why) == ("keyword_fallback", why)
    row = await shelf.pool.fetchrow("SELECT mode, why FROM recalls WHERE recall_id = $1", recalled.recall_id)
    assert row is not None
    assert tuple(row) == ("keyword_fallback", why)
    assert {each.cosine for each in recalled.episodes} == {None}


@pytest.mark.parametrize(("why", "fault"), TROUBLE)
async def test_recall_stays_up_and_says_why(shelf: Shelf, why: str, fault: Any) -> None:
    """Down, slow, refused, or an answer that is none; the next question has vectors again."""
    shelf.model.fail_embeddings(fault)
    await asked(shelf, why, query_s=0.5)
    assert (await shelf.asks(ADA, "Where is the offsite?")).mode == "hybrid"


async def test_a_model_that_is_not_there(shelf: Shelf) -> None:
    """Nothing listens."""
    async with aclosing(
        EndpointEmbeddings(
            base_url="http://127.0.0.1:9/v1", api_key="key", name=shelf.model.embedding_name, dimensions=256
        )
    ) as away:
        await asked(shelf, "connection", embedder=away)


async def test_vectors_of_a_wrong_dimension(shelf: Shelf) -> None:
    """They are never compared with those that there are."""
    async with (
        Model.start(embedding_dimensions=32, embedding_shortens=False, check_at_exit=False) as other,
        aclosing(
            EndpointEmbeddings(
                base_url=other.base_url, api_key=other.api_key, name=shelf.model.embedding_name, dimensions=256
            )
        ) as wrong,
    ):
        await asked(shelf, "wrong_dimension", embedder=wrong)


async def test_another_model_than_embedded(shelf: Shelf) -> None:
    """Swapped, and nothing embedded anew yet: the vectors of the former one are not compared with its question."""
    async with (
        Model.start(embedding_name="newer", embedding_dimensions=48, check_at_exit=False) as other,
        aclosing(
            EndpointEmbeddings(base_url=other.base_url, api_key=other.api_key, name="newer", dimensions=48)
        ) as newer,
    ):
        await asked(shelf, "nothing_embedded", embedder=newer)
