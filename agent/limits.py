"""The bounds that no run passes (I10)."""

from dataclasses import dataclass, fields

from agent.errors import LimitsBroken
from agent.excerpt import LEAST_CHARS

MAX_ARGUMENTS_CHARS = 16_384
"""Longer argument texts are turned down unread."""

MAX_REPLY_CHARS = 100_000
"""What a reply says beyond that is dropped, and the reply counts as cut off."""

MAX_WHOLE_CHARS = 262_144
"""Longer results are not even kept: a tool that returns one has lost its way."""


@dataclass(frozen=True, slots=True)
class Limits:
    """All of them hold for the whole run, also when it is resumed; only the times count anew in each attempt.

    The seven:
    max_steps        model replies, the last, toolless one included
    max_calls        tool calls, turned-down ones included
    max_writes       writes; the write barrier lets through one at a time, and so many in all
    run_s            seconds from the start of the attempt to its end
    tool_s           seconds a call may take, unless its tool declares fewer
    parallel_reads   parallel-safe reads under way at once
    identical_calls  calls of one tool with the same arguments, whatever came of them

    And what they rest on:
    final_reserve_s  the part of run_s that only the last step may use
    grace_s          seconds that cancelled work gets to clean up before it is abandoned
    store_s          seconds that the run's store may take for one write
    result_chars     characters of a tool's result that the model sees, unless its tool declares fewer
    request_tokens   tokens of a request, by the model's own count as far as it is known
    """

    max_steps: int = 6
    max_calls: int = 12
    max_writes: int = 8
    run_s: float = 120.0
    tool_s: float = 20.0
    parallel_reads: int = 4
    identical_calls: int = 2
    final_reserve_s: float = 20.0
    grace_s: float = 1.0
    store_s: float = 15.0
    result_chars: int = 12_000
    request_tokens: int = 100_000

    def __post_init__(self) -> None:
        """Raise LimitsBroken, naming the limit, if a run under these could not even give an answer."""
        least = {
            "max_steps": 1,
            "max_calls": 0,
            "max_writes": 0,
            "parallel_reads": 1,
            "identical_calls": 1,
            "result_chars": LEAST_CHARS,
            "request_tokens": 500,
        }
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise LimitsBroken(f"{name} must be at least {bound}")
        for each in fields(self):
            if each.name.endswith("_s") and not getattr(self, each.name) > 0:
                raise LimitsBroken(f"{each.name} must be more than 0 seconds")
        if self.final_reserve_s >= self.run_s:
            raise LimitsBroken("final_reserve_s must be less than run_s, or no step but the last could run")
