"""The benchmarks of recall, on a handful of rows in the shape of their data: what they read, ask and count.

The figures themselves say nothing here; the loopback model makes the vectors.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import asyncpg
import orjson
import pytest

from bench import locomo, precision, recall
from bench.ground import Ground
from tests.harness.recalling import open_shelf

TALK: list[Mapping[str, object]] = [
    {
        "sample_id": "other-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "My cat Miso ran away on Monday."},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Did you look in the garden shed?"},
                {"speaker": "Ada", "dia_id": "D1:3", "text": "Look at this!", "blip_caption": "a cat in a basket"},
            ],
            "session_2_date_time": "9:00 am on 3 June, 2023",
            "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "My cello lessons begin in autumn."}],
        },
        "qa": [
            {"question": "When did the cat Miso run away?", "category": 2, "evidence": ["D:1:1"]},
            {"question": "What begins in autumn, the cello lessons?", "category": 1, "evidence": ["D2:01; D1:2"]},
            {"question": "What is Ada's car?", "category": 5, "evidence": ["D1:1"]},
            {"question": "Who cites nothing?", "category": 4, "evidence": []},
        ],
    }
]


def test_the_evidence_of_a_talk_is_read_as_its_authors_wrote_it(tmp_path: Path) -> None:
    """Malformed citations count, questions without evidence or answer do not; captions stand in brackets."""
    path = tmp_path / "talk.json"
    path.write_bytes(orjson.dumps(TALK))
    (conversation,) = locomo.read(path)
    assert [turn.turn_id for turn in conversation.turns] == ["D1:1", "D1:2", "D1:3", "D2:1"]
    assert conversation.turns[2].text == "Look at this! [a cat in a basket]"
    assert [question.evidence for question in conversation.questions] == [{"D1:1"}, {"D2:1", "D1:2"}]


async def test_locomo_takes_other_data_in_its_shape(
    database_url: str, redis_url: str, pool: asyncpg.Pool, tmp_path: Path
) -> None:
    """Turns become memories, questions go through the door, with vectors and without; a conversation that nothing was
    chosen on counts as test."""
    path = tmp_path / "talk.json"
    path.write_bytes(orjson.dumps(TALK))
    async with open_shelf(database_url, pool) as shelf:
        figures = await locomo.measure(Ground(database_url, redis_url), locomo.read(path), shelf.embedder)
    assert set(locomo.TARGETS) <= set(figures)
    assert figures["questions"] == 2
    assert figures["recall10_test"] == figures["recall10_all"]
    assert figures["recall10_temporal"] == 1
    assert all(0 <= value <= 2 and math.isfinite(value) for value in figures.values())


def _belief(name: str, scope: str, content: str, **more: object) -> Mapping[str, object]:
    fixed: Mapping[str, object] = {
        "user_id": "test-user",
        "type": "preference",
        "aliases": [],
        "epistemic_status": "active",
    }
    plain: Mapping[str, object] = {
        "confidence": 0.9,
        "pinned": False,
        "resolved_at": None,
        "updated_at": "2026-10-01T00:00:00Z",
    }
    return {"_id": name, "scope": [scope], "content": content, **fixed, **plain, **more}


def _case(name: str, scope: list[str], query: str, wanted: list[str]) -> Mapping[str, object]:
    expect = {"relevantBeliefs": {"shouldOnlyInclude": wanted}}
    return {"caseId": name, "category": "x", "scope": scope, "query": query, "expect": expect}


async def test_precision_keeps_scopes_users_and_tiers_apart(
    database_url: str, redis_url: str, pool: asyncpg.Pool, tmp_path: Path
) -> None:
    """A channel a domain; who has both roles sees both; another user's and what is superseded never comes; an alias
    finds; what has a tier of its own counts in the strict figure only."""
    folder = tmp_path / "precisionmembench"
    folder.mkdir()
    beliefs = [
        _belief("code", "domain:code", "Redis is the cache of the backend.", aliases=["redisdb"]),
        _belief("novel", "domain:writing", "Redis is a pianist in the novel."),
        _belief("old", "domain:code", "Redis was the queue of the backend.", epistemic_status="superseded"),
        _belief("other", "domain:code", "Redis is what the other one likes.", user_id="other-user"),
        _belief("pinned", "domain:code", "Redis is never upgraded on Fridays.", pinned=True),
    ]
    cases = [
        _case("code", ["domain:code"], "What is Redis, the cache?", ["code"]),
        _case("both", ["domain:code", "domain:writing"], "What is Redis?", ["code", "novel"]),
        _case("alias", ["domain:code"], "redisdb?", ["code"]),
        _case("empty", ["domain:code"], "", []),
    ]
    for name, rows in (("beliefs.seed", beliefs), ("retrieval.cases", cases), ("session-retrieval.cases", [])):
        (folder / f"{name}.json").write_bytes(orjson.dumps(rows))
    async with open_shelf(database_url, pool) as shelf:
        figures = await precision.measure(Ground(database_url, redis_url), *precision.read(tmp_path), shelf.embedder)
    assert (figures["mean_precision"], figures["mean_recall"], figures["empty_where_nothing_fits"]) == (1, 1, 1)
    assert figures["mean_precision_strict"] < 1
    assert figures["cases"] == 4


@pytest.mark.long
async def test_recall_among_many(database_url: str, redis_url: str) -> None:
    """Every scope has something, the small ones are found whole, and the vectors' arm finds what a look at all does."""
    size = recall.Size(memories=(2_000,), asked=6, warm=2, compared=4, complete=2)
    figures = await recall.measure(Ground(database_url, redis_url), 2_000, size)
    assert {f"{name}_2000" for name in figures} >= set(recall.targets(size.memories))
    assert figures["small_scope_complete"] == 1
    assert figures["exact_agreement"] == 1
