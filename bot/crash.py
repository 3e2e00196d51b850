"""Named points at which a test may kill the process.

In production `crash_point` compares one global with None. With MUNINN_CRASH_AT="name" (or "name:3" for the third time)
in the environment the process dies there as kill -9 would have it: nothing is flushed, nothing is cleaned up.
"""

import os
import signal

_target: str | None = os.environ.get("MUNINN_CRASH_AT")
_passed = 0

POINTS = (
    "before_commit",
    "after_commit",
    "after_claim",
    "after_reply",
    "after_composed",
    "after_post",
    "after_settled",
)


def crash_point(name: str) -> None:
    """Die here, if a test asked for it."""
    global _passed
    if _target is None:
        return
    wanted, _, count = _target.partition(":")
    if wanted != name:
        return
    _passed += 1
    if _passed >= int(count or 1):
        os.kill(os.getpid(), signal.SIGKILL)
