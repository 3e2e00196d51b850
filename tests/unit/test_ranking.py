"""The order of what recall found, and the choice from it, on candidates made by hand: no database, no model."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import pytest

from memory.candidates import Candidate
from memory.ids import MessageId, PlaceId, UserId
from memory.ranking import Bearings, Floors, Ranked, factor, rank
from memory.selection import Limits, Selected, select

FLOORS = Floors(alone=0.5, low=0.3)
TODAY = Bearings(date(2026, 5, 1))
SOME_WORDS = 60


def memory(number: int, content: str = "", **more: Any) -> Candidate:
    """A memory that no arm found; `more` says what did."""
    words = content or f"Memory number {number} says one thing of its own, in a sentence of usual length."
    fields: dict[str, Any] = {
        "memory_id": number,
        "version": 1,
        "scope": "guild",
        "owner_id": 1,
        "place_id": PlaceId(1),
        "kind": "fact",
        "key": None,
        "content": words,
        "content_hash": hashlib.sha256(words.encode()).digest(),
        "author_id": UserId(1),
        "author_name": "Ada",
        "said_at": datetime(2026, 4, 1, tzinfo=UTC),
        "said_id": MessageId(number),
        "importance": 0.5,
        "confidence": 0.8,
        "pinned": False,
        "uses": 0,
        "cosine": 0.1,
        "words": 0.0,
        "terms": 0.0,
        "before_ids": (),
        "after_ids": (),
        "found": True,
    }
    return Candidate(**{**fields, **more})


def order(candidates: Sequence[Candidate], bearings: Bearings = TODAY) -> list[int]:
    """The ids of the relevant ones, best first."""
    return [each.candidate.memory_id for each in rank(candidates, bearings, FLOORS)]


def test_factors_never_lift_the_irrelevant_over_the_relevant() -> None:
    """Pinned, important, sure, new and often used: bounded, so what only nearly fits stays behind what fits."""
    fits = memory(1, cosine=0.9, words=9.0, terms=0.9, importance=0.0, confidence=0.3)
    fits_little = memory(
        2, cosine=0.4, words=1.0, terms=0.1, importance=1.0, confidence=1.0, pinned=True, uses=1_000,
        said_at=datetime(2026, 5, 1, tzinfo=UTC),
    )  # fmt: skip
    assert order([fits_little, fits, memory(3)]) == [1, 2]
    plain = memory(4, content="x" * 500)
    for extreme in (fits, fits_little):
        assert 0.6 < factor(extreme, TODAY.today) / factor(plain, TODAY.today) < 1.2


def test_what_was_said_around_it_speaks_for_a_memory() -> None:
    """Two before and two after count, in the same talk; and what directly follows a question is taken as its answer."""
    question = memory(2, "Where does the offsite take place this year?", cosine=0.9, words=8.0, terms=0.8,
                      before_ids=(1,), after_ids=(3, 4))  # fmt: skip
    answer = memory(3, "In the house by the lake, as every year.", cosine=0.35)
    beside = memory(4, "And who is going to bring the tents?", cosine=0.35)
    far = memory(5, "Something else about another lake altogether.", cosine=0.35)
    before = memory(1, "We need to book something soon, all of us.", cosine=0.35, found=False)
    found = order([far, beside, answer, before, question, memory(9)])
    assert found[0] == 2
    assert found[1] == 3
    assert found[-1] == 5
    assert set(found) == {1, 2, 3, 4, 5}


def test_who_is_named_in_the_question_counts_more() -> None:
    """Between two that fit alike, the one by whom the question is about comes first."""
    by_ada, by_bob = memory(2, cosine=0.6), memory(1, cosine=0.6, author_id=UserId(2))
    assert order([by_ada, by_bob, memory(3)], Bearings(date(2026, 5, 1), (UserId(2),))) == [1, 2]


def test_nothing_comes_where_nothing_answers() -> None:
    """Some like it a little and some have a word of it: no single one is reason enough."""
    assert order([memory(1, cosine=0.4), memory(2, words=1.0, terms=0.1), memory(3, cosine=0.29, terms=0.3)]) == []


def test_a_memory_without_a_vector_is_ranked_by_its_words() -> None:
    """It waits for its vector, and is never dropped for that."""
    ranked = rank([memory(1, cosine=None, words=5.0, terms=0.9), memory(2, cosine=0.6)], TODAY, FLOORS)
    assert {each.candidate.memory_id: each.reason for each in ranked} == {1: "keyword", 2: "semantic"}


def pick(
    scores: Mapping[int, float],
    *,
    seen: Sequence[int] = (),
    alike: Mapping[tuple[int, int], float] | None = None,
    contents: Mapping[int, str] | None = None,
    limits: Limits | None = None,
) -> Selected:
    """Choose from memories of these scores."""
    ranked = [
        Ranked(memory(number, (contents or {}).get(number, "")), score, score, "both")
        for number, score in sorted(scores.items(), key=lambda item: -item[1])
    ]
    return select(ranked, seen, alike or {}, FLOORS, limits or Limits(items=2))


def ids(selected: Selected) -> list[int]:
    """What was chosen, in its order."""
    return [each.candidate.memory_id for each in selected.chosen]


def test_what_was_shown_makes_room_and_comes_again_only_where_nothing_else_is_left() -> None:
    """The drop is refilled by the next best; an exhausted pool gives its best back."""
    partly = pick({1: 0.9, 2: 0.8, 3: 0.7}, seen=[1])
    assert (ids(partly), partly.left_out, partly.again) == ([2, 3], {"seen": 1}, False)
    exhausted = pick({1: 0.9, 2: 0.8}, seen=[1, 2])
    assert (ids(exhausted), exhausted.left_out, exhausted.again) == ([1], {"seen": 1}, True)


def test_copies_are_told_by_words_and_by_vectors_against_what_is_selected() -> None:
    """Same words, and a cosine of at least 0.95 with one that is selected: counted by kind, and refilled."""
    same = pick({1: 0.9, 2: 0.89, 3: 0.5}, contents={1: "The same words.", 2: "The same words."})
    assert (ids(same), same.left_out) == ([1, 3], {"copy": 1})
    near = pick({1: 0.9, 2: 0.89, 3: 0.5}, alike={(1, 2): 0.95, (1, 3): 0.4, (2, 3): 0.4}, limits=Limits(items=3))
    assert (ids(near), near.left_out) == ([1, 3], {"near_copy": 1})
    below = pick({1: 0.9, 2: 0.89, 3: 0.5}, alike={(1, 2): 0.949}, limits=Limits(items=3))
    assert ids(below) == [1, 2, 3]


def test_a_diverse_set_is_chosen_and_stands_in_the_order_of_relevance() -> None:
    """MMR: of two that are much alike the second gives way to another; the order stays that of the scores."""
    spread = pick({1: 0.9, 2: 0.85, 3: 0.8}, alike={(1, 2): 0.9, (1, 3): 0.3, (2, 3): 0.3})
    assert (ids(spread), spread.left_out) == ([1, 3], {"alike": 1})
    assert spread.saved_tokens > 0


@pytest.mark.parametrize("limits", [Limits(items=3, chars=SOME_WORDS), Limits(items=3, tokens=SOME_WORDS)])
def test_what_does_not_fit_makes_room_for_what_does(limits: Limits) -> None:
    """A budget of characters and of tokens: the long one is left out and counted, the short one behind it comes."""
    chosen = pick({1: 0.9, 2: 0.8, 3: 0.7}, contents={1: "Short one.", 2: "long " * 60, 3: "Short too."}, limits=limits)
    assert ids(chosen)[0] == 1
    assert 2 not in ids(chosen)
    assert chosen.left_out["budget"] >= 1
