"""How much of the evidence of LoCoMo's questions is among the first ten memories that recall brings back.

One memory is one turn, kept in a channel of its conversation's own space, embedded as the embedded default does, and
recalled through the same door as in the bot. `DATA=` names the folder with `locomo/locomo10.json`, or any file in its
shape.
"""

import asyncio
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

import orjson

from bench.figures import at_least, progress, publish
from bench.ground import Ground, open_ground
from bench.vectors import embed_all, open_model
from bot.pool import open_pool
from memory.database import Pool
from memory.ids import MessageId, PlaceId, SpaceId, UserId, time_snowflake
from memory.owners import Caps, Owner
from memory.ports import Embedder
from memory.recall import Asking, Recall
from memory.scope import Scope
from memory.selection import Limits
from memory.values import Value, store

TARGETS: Final = {"recall10_test": at_least(0.72), "mrr_test": at_least(0.50)}
DEV: Final = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
"""Weights are chosen on these conversations only; the others are for looking at the result."""

FIRST: Final = 10
ASKER: Final = UserId(1)
_CAPS: Final = Caps(live=1_000_000, writes=1_000_000)
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)$")
_CATEGORIES: Final = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop"}


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said: one memory."""

    turn_id: str
    author: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category, and the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, in the order in which it was said."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def read(path: Path) -> list[Conversation]:
    """Every conversation of a JSON file in LoCoMo's shape. Raises FileNotFoundError."""
    samples = cast("list[dict[str, Any]]", orjson.loads(path.read_bytes()))
    return [_conversation(sample) for sample in samples]


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    said, turns = cast("dict[str, Any]", sample["conversation"]), list[Turn]()
    for number in range(1, len(said)):
        for place, turn in enumerate(said.get(f"session_{number}", ())):
            begun = datetime.strptime(said[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            at = begun + timedelta(seconds=place)
            turns.append(Turn(turn["dia_id"], turn["speaker"], str(turn.get("text") or "") + caption, at))
    known = {turn.turn_id for turn in turns}
    questions = [
        Question(str(each["question"]), int(each["category"]), _evidence(each.get("evidence") or ()) & known)
        for each in sample["qa"]
    ]
    # Adversarial questions have no answer, and a few others cite nothing.
    scored = tuple(each for each in questions if each.category in _CATEGORIES and each.evidence)
    return Conversation(str(sample["sample_id"]), tuple(turns), scored)


def _evidence(cited: Iterable[object]) -> frozenset[str]:
    """Turn ids, some of which are written like "D8:6; D9:17", "D:11:26" or "D30:05"."""
    pieces = [piece for each in cited for piece in re.split(r"[;\s,]+", str(each))]
    return frozenset(f"D{int(m[1])}:{int(m[2])}" for piece in pieces if (m := _EVIDENCE.match(piece)) is not None)


async def keep(pool: Pool, conversation: Conversation, space: int) -> dict[int, set[str]]:
    """Remember each turn, and give the turn ids by memory: turns of the same words are one."""
    authors = {name: space * 10 + n for n, name in enumerate(sorted({turn.author for turn in conversation.turns}))}
    made: dict[int, set[str]] = {}
    async with pool.acquire() as conn, conn.transaction():
        for turn in conversation.turns:
            value = Value(
                owner=Owner(SpaceId(space), "channel", space),
                place_id=PlaceId(space),
                kind="fact",
                key=None,
                content=turn.text or "(nothing)",
                source="told",
                author_id=UserId(authors[turn.author]),
                author_name=turn.author,
                said_id=MessageId(time_snowflake(turn.at)),
                importance=0.5,
                asserted=0.8,
            )
            stored = await store(conn, value, _CAPS)
            made.setdefault(stored.memory_id, set()).add(turn.turn_id)
    return made


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one question: the share of its evidence among the first ten, and one over the rank of the first of it."""

    conversation: str
    category: int
    recall: float
    reciprocal: float


async def ask_all(
    recall: Recall, conversation: Conversation, space: int, turns: Mapping[int, set[str]]
) -> list[Outcome]:
    """Ask each question in its own conversation."""
    outcomes: list[Outcome] = []
    scope = Scope(SpaceId(space), PlaceId(space))
    for question in conversation.questions:
        recalled = await recall.answer(Asking(scope, ASKER, question.text, most=FIRST))
        found = [turns[each.candidate.memory_id] for each in recalled.items]
        share = len(question.evidence & set[str]().union(*found)) / len(question.evidence)
        first = next((rank for rank, said in enumerate(found, start=1) if said & question.evidence), None)
        outcomes.append(Outcome(conversation.name, question.category, share, 1 / first if first else 0.0))
    return outcomes


def figures(outcomes: Sequence[Outcome], lexical: Sequence[Outcome]) -> dict[str, float]:
    """Means, by what is looked at."""
    test = [each for each in outcomes if each.conversation not in DEV]
    dev = [each for each in outcomes if each.conversation in DEV]
    made = {
        "recall10_test": _mean(each.recall for each in test),
        "mrr_test": _mean(each.reciprocal for each in test),
        "recall10_all": _mean(each.recall for each in outcomes),
        "mrr_all": _mean(each.reciprocal for each in outcomes),
        "recall10_dev": _mean(each.recall for each in dev),
        "recall10_lexical_all": _mean(each.recall for each in lexical),
        "mrr_lexical_all": _mean(each.reciprocal for each in lexical),
        "questions": float(len(outcomes)),
    }
    for number, name in _CATEGORIES.items():
        made[f"recall10_{name}"] = _mean(each.recall for each in outcomes if each.category == number)
    return made


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given) if given else 0.0


async def measure(ground: Ground, conversations: Sequence[Conversation], model: Embedder) -> dict[str, float]:
    """The figures, by name: with vectors, and by words alone."""
    async with open_pool(ground.database_url) as pool:
        turns = [await keep(pool, each, 1_000 + n) for n, each in enumerate(conversations)]
        await embed_all(pool, model, "locomo")
        outcomes: list[Outcome] = []
        lexical: list[Outcome] = []
        limits = Limits(items=FIRST)
        for n, each in enumerate(conversations):
            whole = Recall(pool, model, limits=limits, query_s=60)
            outcomes += await ask_all(whole, each, 1_000 + n, turns[n])
            lexical += await ask_all(Recall(pool, None, limits=limits), each, 1_000 + n, turns[n])
            progress(f"locomo: {each.name}: {_mean(o.recall for o in outcomes if o.conversation == each.name):.3f}")
    return figures(outcomes, lexical)


def data() -> Path:
    """The file that `DATA` names: itself, or `locomo/locomo10.json` in the folder. Ends the program where it is not."""
    named = Path(os.environ.get("DATA") or "no data named")
    path = named if named.is_file() else named / "locomo" / "locomo10.json"
    if not path.is_file():
        sys.exit("locomo: DATA= must name a folder that holds locomo/locomo10.json, or a file in its shape.")
    return path


async def main() -> None:
    """Measure, print and write."""
    conversations = read(data())
    async with open_ground() as ground, open_model() as model:
        publish("locomo", await measure(ground, conversations, model), TARGETS, about="evidence in the first ten")


if __name__ == "__main__":
    asyncio.run(main())
