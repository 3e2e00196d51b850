"""What of the candidates is relevant, and in which order: one deterministic sum, measured on conversations.

    own       = cosine (from the worst to the best of the question) + words (against the best of the question)
              + a bonus for an author whom the question names + a bonus for the span of time that it names
    relevance = own + a share of what was said just before and after, more of a question that it may answer
    score     = relevance x bounded factors: substance, importance, confidence, pin, recency, use

Equal weights of ranks were measured worse than words alone; sums of normalised scores better than either. The factors
are bounded, so that nothing irrelevant passes what is relevant. Recency counts UTC days,
and use is as of the day's beginning: the same rows and question give the same order all day.
"""

import math
import re
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
    """Of the parts of the sum, against words = 1. Chosen on LoCoMo's dev conversations (see docs/how-to).

    `bend`: the power of the share of words; above 1, a few of many words are worth less than their share. `beside`: of
    each that was said within two before and after; `asked`: besides, of a question for what was said right after it.
    """

    cosine: float = 0.85
    bend: float = 1.3
    beside: float = 0.25
    asked: float = 0.4
    author: float = 0.6
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
E5_FLOORS: Final = Floors(alone=0.845, low=0.8, copy=0.985, used=0.845)
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


_NEAREST: Final = 60
"""Of the cosines of a question's candidates so many are told apart; whatever is further away counts as far."""


def _own_scores(candidates: Sequence[Candidate], bearings: Bearings, weights: Weights) -> Mapping[int, float]:
    found = sorted((each.cosine for each in candidates if each.cosine is not None and each.found), reverse=True)
    best = found[0] if found else 1.0
    worst = found[:_NEAREST][-1] if len(found) > 1 else best - 0.1
    most = max((each.words for each in candidates), default=0.0) or 1.0

    def own(each: Candidate) -> float:
        cosine = 0.0 if each.cosine is None else max(each.cosine - worst, 0.0) / max(best - worst, 1e-6)
        return (
            weights.cosine * cosine
            + (each.words / most) ** weights.bend
            + (weights.author if each.author_id in bearings.authors else 0.0)
            + (weights.span if _within(each, bearings.span) else 0.0)
        )

    return {each.memory_id: own(each) for each in candidates}


def _pairs(candidates: Iterable[Candidate]) -> set[tuple[int, int, bool]]:
    """(earlier, later, whether nothing lies between) of those that were said beside each other."""
    pairs: set[tuple[int, int, bool]] = set()
    for each in candidates:
        pairs.update((before, each.memory_id, n == 0) for n, before in enumerate(each.before_ids))
        pairs.update((each.memory_id, after, n == 0) for n, after in enumerate(each.after_ids))
    return pairs


_ASKS: Final = re.compile(r"[?\uff1f\u061f]\s*(?:\[[^\]]*\]\s*)?$")
"""Ends as a question, before what an attachment may have been said to show."""


def _with_neighbours(
    candidates: Sequence[Candidate], own: Mapping[int, float], weights: Weights
) -> Mapping[int, float]:
    total = dict(own)
    asking = {each.memory_id for each in candidates if _ASKS.search(each.content)}
    for earlier, later, next_to in sorted(_pairs(candidates)):
        # One of the two may have lost its evidence: it says nothing for the other.
        if earlier in own and later in own:
            total[later] += own[earlier] * (weights.beside + (weights.asked if next_to and earlier in asking else 0.0))
            total[earlier] += own[later] * weights.beside
    return total


def _beside_relevant(candidates: Sequence[Candidate], bearings: Bearings, floors: Floors) -> set[int]:
    answering = {each.memory_id for each in candidates if _answers(each, bearings, floors)}
    return {
        other
        for earlier, later, _ in _pairs(candidates)
        for one, other in ((earlier, later), (later, earlier))
        if one in answering
    }


SUBSTANCE_BYTES: Final = 150
"""From here on a memory has as much to say as any."""


def factor(each: Candidate, today: date) -> float:
    """What substance, importance, confidence, pin, recency and use make of a score: between 0.9 and 1.45.

    Substance: a word or two answer less often than a sentence, even where they match better.
    """
    days = max((today - each.said_at.date()).days, 0)
    return (
        1.0
        + 0.3 * min(len(each.content.encode()) / SUBSTANCE_BYTES, 1.0)
        + 0.08 * (each.importance - 0.5)
        + 0.06 * (each.confidence - 0.8)
        + (0.05 if each.pinned else 0.0)
        + 0.03 * math.exp(-days / 60)
        + 0.02 * min(math.log1p(each.uses) / math.log1p(20), 1.0)
    )
