"""What of the candidates is relevant, and in which order: one deterministic sum, measured on conversations.

    relevance = cosine (from the worst to the best of the question) + words (against the best of the question)
              + a share of what was said just before and after + a bonus for an author whom the question names
              + a bonus for the span of time that the question names
    score     = relevance x bounded factors: importance, confidence, pin, recency, use

Equal weights of ranks were measured worse than words alone; sums of normalised scores better than either. The factors
together move a score by less than a fifth, so that nothing irrelevant passes what is relevant. Recency counts UTC days,
and use is as of the day's beginning: the same rows and question give the same order all day.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from memory.candidates import Candidate, Span
from memory.ids import UserId

Reason = Literal["semantic", "keyword", "both", "keyword_fallback", "unscored"]
"""What found it: vectors, words, both; words for want of vectors; or neither, only where or when it was said."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the parts of the sum, against words = 1. Chosen on LoCoMo's dev conversations (see docs/how-to)."""

    cosine: float = 1.0
    before: float = 0.25
    after: float = 0.25
    author: float = 0.4
    span: float = 0.4


@dataclass(frozen=True, slots=True)
class Floors:
    """What counts as relevant with one embedding model: its cosines of strangers and of kin lie where they lie.

    `alone`: a cosine that is enough by itself; `low`: below it, a vector says nothing; `copy`: two memories that say
    the same; `used`: a hit that counts as a use. `terms`: the share of a question's words, by rarity, that is enough by
    itself, and `few` the share that is enough beside a cosine of at least `low`.
    """

    alone: float
    low: float
    copy: float = 0.95
    used: float = 0.6
    terms: float = 0.4
    few: float = 0.15


# Measured for the embedded model: strangers have 0.72 to 0.84, small talk up to 0.84, answers mostly 0.84 to 0.9.
E5_FLOORS: Final = Floors(alone=0.845, low=0.8, used=0.845)
HOSTED_FLOORS: Final = Floors(alone=0.42, low=0.25)


def floors_of(model: str) -> Floors:
    """The floors that fit a model, by its name; settings may say others."""
    return E5_FLOORS if "e5" in model.lower() else HOSTED_FLOORS


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place in the order."""

    candidate: Candidate
    score: float
    relevance: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class Bearings:
    """What the order is taken against: authors whom the question names, its span of time, and the day in UTC.

    `only_span`: the question names nothing but a time, so that everything from then answers it.
    """

    today: date
    authors: Collection[UserId] = ()
    span: Span | None = None
    only_span: bool = False


def rank(
    candidates: Sequence[Candidate], bearings: Bearings, floors: Floors, weights: Weights = Weights()
) -> tuple[Ranked, ...]:
    """The relevant candidates, best first; empty where none is."""
    if not any(_answers(each, bearings, floors) for each in candidates):
        return ()
    own = _own_scores(candidates, bearings, weights)
    relevance = _with_neighbours(candidates, own, weights)
    fallback = all(each.cosine is None for each in candidates)
    near = _beside_relevant(candidates, bearings, floors)
    ranked = [
        Ranked(each, relevance[each.memory_id] * factor(each, bearings.today), relevance[each.memory_id], reason)
        for each in candidates
        if (reason := _reason(each, floors, fallback=fallback)) != "unscored"
        or each.memory_id in near
        or _within(each, bearings.span)
    ]
    return tuple(sorted(ranked, key=lambda each: (-each.score, -each.candidate.said_id, each.candidate.memory_id)))


def _answers(each: Candidate, bearings: Bearings, floors: Floors) -> bool:
    """Whether a candidate is by itself reason enough to recall anything at all."""
    if bearings.only_span and _within(each, bearings.span):
        return True
    if each.terms >= floors.terms or (each.cosine is not None and each.cosine >= floors.alone):
        return True
    return each.terms >= floors.few and each.cosine is not None and each.cosine >= floors.low


def _reason(each: Candidate, floors: Floors, *, fallback: bool) -> Reason:
    by_words = each.words > 0
    if fallback:
        return "keyword_fallback" if by_words else "unscored"
    by_vector = each.cosine is not None and each.cosine >= floors.low
    if by_words and by_vector:
        return "both"
    return "keyword" if by_words else "semantic" if by_vector else "unscored"


def _within(each: Candidate, span: Span | None) -> bool:
    return span is not None and span.since <= each.said_id < span.until


def _own_scores(candidates: Sequence[Candidate], bearings: Bearings, weights: Weights) -> Mapping[int, float]:
    found = sorted((each.cosine for each in candidates if each.cosine is not None and each.found), reverse=True)
    best = found[0] if found else 1.0
    worst = found[-1] if len(found) > 1 else best - 0.1
    most = max((each.words for each in candidates), default=0.0) or 1.0

    def own(each: Candidate) -> float:
        cosine = 0.0 if each.cosine is None else max(each.cosine - worst, 0.0) / max(best - worst, 1e-6)
        return (
            weights.cosine * cosine
            + each.words / most
            + (weights.author if each.author_id in bearings.authors else 0.0)
            + (weights.span if _within(each, bearings.span) else 0.0)
        )

    return {each.memory_id: own(each) for each in candidates}


def _pairs(candidates: Iterable[Candidate]) -> set[tuple[int, int]]:
    """(earlier, later) of those that were said beside each other."""
    pairs: set[tuple[int, int]] = set()
    for each in candidates:
        if each.before_id is not None:
            pairs.add((each.before_id, each.memory_id))
        if each.after_id is not None:
            pairs.add((each.memory_id, each.after_id))
    return pairs


def _with_neighbours(
    candidates: Sequence[Candidate], own: Mapping[int, float], weights: Weights
) -> Mapping[int, float]:
    total = dict(own)
    for earlier, later in sorted(_pairs(candidates)):
        # One of the two may have lost its evidence: it says nothing for the other.
        if earlier in own and later in own:
            total[later] += weights.before * own[earlier]
            total[earlier] += weights.after * own[later]
    return total


def _beside_relevant(candidates: Sequence[Candidate], bearings: Bearings, floors: Floors) -> set[int]:
    answering = {each.memory_id for each in candidates if _answers(each, bearings, floors)}
    return {
        other
        for earlier, later in _pairs(candidates)
        for one, other in ((earlier, later), (later, earlier))
        if one in answering
    }


def factor(each: Candidate, today: date) -> float:
    """What importance, confidence, pin, recency and use make of a score: between 0.9 and 1.15."""
    days = max((today - each.said_at.date()).days, 0)
    return (
        1.0
        + 0.08 * (each.importance - 0.5)
        + 0.06 * (each.confidence - 0.8)
        + (0.05 if each.pinned else 0.0)
        + 0.03 * math.exp(-days / 60)
        + 0.02 * min(math.log1p(each.uses) / math.log1p(20), 1.0)
    )
