"""Named points at which a test may kill the process.

In production `crash_point` compares one global with None. With MUNINN_CRASH_AT="name" (or "name:3" for the third time)
in the environment the process dies there as kill -9 would have it: nothing is flushed, nothing is cleaned up.
"""

import os
import signal
from typing import Final

POINTS: Final = (
    # Ingress: in the transaction, between COMMIT and the Redis note, after a gap was recorded.
    "before_commit",
    "after_commit",
    "after_gap",
    # Backfill: a page is committed and its cursor still frozen; every place is whole and the gap still open.
    "after_page",
    "before_gap_closed",
    # Router: in the transaction, and after it, before a worker is woken.
    "before_route",
    "after_route",
    # Worker and answer: a turn is claimed; the model has answered; the parts are committed.
    "after_claim",
    "after_reply",
    "after_composed",
    # The loop: a step with its plan is stored; what reads, and what a write, came to is not stored yet; it is stored.
    "after_step_saved",
    "before_reads_settled",
    "before_write_settled",
    "after_calls_settled",
    # A tool's write: its receipt is committed; Discord did it; it is recorded, but not yet told to the run.
    "after_intended",
    "after_effect",
    "after_receipt",
    # Cards: one is committed, and not yet posted; a press counts, and nothing is done yet; the card shows its end.
    "after_card",
    "after_press",
    "after_card_shown",
    # Delivery: Discord took a part; the part is recorded (between parts, and after the last).
    "after_post",
    "after_settled",
)

MODERATION_POINTS: Final = (
    # Moderation: a case is begun; it has its number; Discord did it, and the case does not say so yet.
    "after_case",
    "after_case_number",
    "after_deed",
    # What ends by itself: its timer is claimed, and nothing is done yet.
    "after_timer",
)

DRAFT_POINTS: Final = (
    # One is about to be posted; it stands, and that is not recorded; it shows the answer, which is not recorded.
    "after_draft_intended",
    "after_draft_posted",
    "after_turned",
)

ERASURE_POINTS: Final = (
    # Erasing: a request is claimed; it is known what is about it; a statement has its effect; all is gone and that is
    # not recorded yet, and is recorded (after the first sweep, and after the second).
    "after_erasure_claim",
    "after_erasure_collected",
    "after_erasure_step",
    "before_erasure_swept",
    "after_erasure_swept",
)

MEMORY_POINTS: Final = (
    # Reading for memory: a place is claimed; changes are dealt with, before and after the commit; the model has
    # answered; values and checkpoint are written, before and after the commit.
    "after_memory_claim",
    "before_taken_back",
    "after_taken_back",
    "after_extraction",
    "before_memory_commit",
    "after_memory_commit",
    # Embedding and summing up.
    "after_embedding_claim",
    "before_vectors_commit",
    "after_vectors_commit",
    "after_summary_claim",
    "after_summary",
)

_wanted: str | None = None
_left = 0


def arm(spec: str | None) -> None:
    """Die at `spec`, a point's name or "name:n" for its n-th time, counted from now; never, for None or "".

    A process made by fork calls this, since it has its environment only after the import. Raises ValueError for a
    point that there is not.
    """
    global _wanted, _left
    name, _, count = (spec or "").partition(":")
    if name and name not in POINTS + DRAFT_POINTS + MODERATION_POINTS + ERASURE_POINTS + MEMORY_POINTS:
        raise ValueError(f"there is no crash point {name!r}")
    _wanted, _left = name or None, int(count or 1)


def crash_point(name: str) -> None:
    """Die here, if a test asked for it."""
    global _left
    if _wanted is None:
        return
    if name == _wanted:
        _left -= 1
        if _left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


arm(os.environ.get("MUNINN_CRASH_AT"))
