"""Which of the ranked memories go into the pack: what was shown before, copies and sameness make room for others.

Selection decides what, never the order. Everything that is left out is replaced by the next best, and counted by kind;
where only what was shown before is left, the best of it comes again.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory.ranking import Floors, Ranked

LeftOut = Literal["seen", "copy", "near_copy", "alike", "budget", "rank"]
"""Why a relevant memory is not in the pack: shown already, same words, nearly the same, too like others, no room."""

OVERFETCH: Final = 4
DIVERSITY: Final = 0.3
"""What likeness to those selected costs, against relevance: MMR with lambda 0.7."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a pack holds at most."""

    items: int = 8
    chars: int = 24_000
    tokens: int = 6_000


@dataclass(frozen=True, slots=True)
class Selected:
    """The chosen ones in their order, and how many were left out and why. `again`: some were shown before."""

    chosen: tuple[Ranked, ...]
    left_out: Mapping[LeftOut, int]
    saved_tokens: int
    again: bool


Alike = Mapping[tuple[int, int], float]
"""The cosine of two memories, by their ids, the smaller first; a pair without two vectors is not in it."""


def pool_of(ranked: Sequence[Ranked], limits: Limits) -> Sequence[Ranked]:
    """The pool that is chosen from: the best few times as many as the pack holds."""
    return ranked[: limits.items * OVERFETCH]


def select(ranked: Sequence[Ranked], seen: Collection[int], alike: Alike, floors: Floors, limits: Limits) -> Selected:
    """Choose from the ranked ones. `seen`: ids that this conversation was shown."""
    left: Counter[LeftOut] = Counter()
    pool = list(pool_of(ranked, limits))
    left["rank"] += len(ranked) - len(pool)
    fresh = [each for each in pool if each.candidate.memory_id not in seen]
    again = not fresh and bool(pool)
    if again:
        fresh = pool[:1]
    left["seen"] += len(pool) - len(fresh)
    chosen, room, nearest = list[Ranked](), _Room(limits), dict[int, float]()
    while fresh and len(chosen) < limits.items:
        top = fresh[0].score
        best = max(fresh, key=lambda each: (_worth(each, nearest, top, floors), each.score))
        fresh.remove(best)
        why = _refusal(best, chosen, nearest, floors) or room.refusal(best)
        if why is None:
            chosen.append(best)
            room.take(best)
            for each in fresh:
                number = each.candidate.memory_id
                nearest[number] = max(nearest.get(number, 0.0), _likeness(each, best, alike))
        else:
            left[why] += 1
    left["alike"] += sum(1 for each in fresh if chosen and each.score > min(c.score for c in chosen))
    left["rank"] += sum(1 for each in fresh if not chosen or each.score <= min(c.score for c in chosen))
    order = {each.candidate.memory_id: rank for rank, each in enumerate(pool)}
    chosen.sort(key=lambda each: order[each.candidate.memory_id])
    kept = {each.candidate.memory_id for each in chosen}
    saved = sum(tokens_of(each) for each in pool if each.candidate.memory_id not in kept)
    return Selected(tuple(chosen), {why: count for why, count in sorted(left.items()) if count}, saved, again)


def _worth(each: Ranked, nearest: Mapping[int, float], best: float, floors: Floors) -> float:
    # Where the model's strangers lie is no likeness at all.
    likeness = max(nearest.get(each.candidate.memory_id, 0.0) - floors.low, 0.0) / (1 - floors.low)
    return (1 - DIVERSITY) * each.score / max(best, 1e-9) - DIVERSITY * likeness


def _likeness(one: Ranked, other: Ranked, alike: Alike) -> float:
    first, second = one.candidate.memory_id, other.candidate.memory_id
    return alike.get((first, second) if first < second else (second, first), 0.0)


def _refusal(each: Ranked, chosen: Sequence[Ranked], nearest: Mapping[int, float], floors: Floors) -> LeftOut | None:
    if any(each.candidate.content_hash == other.candidate.content_hash for other in chosen):
        return "copy"
    # Against what is selected, never against the question: a memory that says just what was asked is the best there is.
    return "near_copy" if nearest.get(each.candidate.memory_id, 0.0) >= floors.copy else None


class _Room:
    def __init__(self, limits: Limits) -> None:
        self._chars, self._tokens = limits.chars, limits.tokens

    def refusal(self, each: Ranked) -> LeftOut | None:
        fits = len(each.candidate.content) <= self._chars and tokens_of(each) <= self._tokens
        return None if fits else "budget"

    def take(self, each: Ranked) -> None:
        self._chars -= len(each.candidate.content)
        self._tokens -= tokens_of(each)


LINE_TOKENS: Final = 24
"""What a memory costs beside its words: whose it is, when it was said, and the marks around it."""


def tokens_of(each: Ranked) -> int:
    """An estimate: a token for three bytes, which is too many for English and about right for most scripts."""
    return (len(each.candidate.content.encode()) + 2) // 3 + LINE_TOKENS
