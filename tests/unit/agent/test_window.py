"""What does not fit into the window is shortened: old results first, then the context, and never the request."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.contracts import (
    AssistantMessage,
    ContextMessage,
    ModelReply,
    PlannedCall,
    StoredCall,
    StoredStep,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
)
from agent.results import compact, success
from agent.transcript import SHORT_CHARS, build
from agent.window import fitted
from tests.unit.agent.wire_rules import check_transcript

BLOCKS = tuple(f"[message {n}]\n> {'words ' * 40}" for n in range(20))
PROMPT = (SystemMessage("You are Muninn."), ContextMessage("Recent:", BLOCKS, "Answer this:\n> what about atlas?"))


def step(number: int, *sizes: int) -> StoredStep:
    """A step whose calls have results of these sizes."""
    calls = tuple(ToolCall(f"c{number}_{at}", "read", "{}") for at in range(len(sizes)))
    stored = tuple(
        StoredCall(PlannedCall(number, at, calls[at], "read"), success({"text": "y" * size}))
        for at, size in enumerate(sizes)
    )
    return StoredStep(number, ModelReply(AssistantMessage(None, calls), "tool_calls", Usage(), "m"), stored)


STEPS = (step(0, 6_000, 100), step(1, 6_000), step(2, 6_000))
WHOLE = fitted(PROMPT, STEPS, 10**9).tokens


def lengths(room: int) -> list[int]:
    return [len(each.content) for each in fitted(PROMPT, STEPS, room).messages if isinstance(each, ToolMessage)]


def test_what_fits_is_left_as_it_is() -> None:
    assert fitted(PROMPT, STEPS, WHOLE).messages == build(PROMPT, STEPS)


def test_the_oldest_results_go_first_and_the_newest_last() -> None:
    """One too many: the first long result is enough; far too many: the context goes before the newest result."""
    first = lengths(WHOLE - 1)
    assert first[0] <= SHORT_CHARS
    assert first[2:] == lengths(WHOLE)[2:]
    tight = fitted(PROMPT, STEPS, WHOLE // 2)
    assert "older ones are left out" in str(tight.messages[1])
    assert lengths(WHOLE // 2)[-1] == lengths(WHOLE)[-1]


def test_the_request_and_the_instructions_are_never_touched() -> None:
    least = fitted(PROMPT, STEPS, 1).messages
    assert least[0] == PROMPT[0]
    assert str(least[1]).count("[message") == 0
    assert "> what about atlas?" in str(least[1])
    assert max(lengths(1)) <= SHORT_CHARS


def test_the_newest_blocks_stay_longest_and_the_model_is_told() -> None:
    shown = str(fitted(PROMPT, (), sum(len(block) for block in BLOCKS) // 8).messages[1])
    assert "[message 19]" in shown
    assert "[message 0]" not in shown
    assert "older ones are left out" in shown


@settings(max_examples=100, deadline=None)
@given(st.integers(-100, 10_000), st.lists(st.lists(st.integers(0, 3_000), min_size=1, max_size=4), max_size=4))
def test_whatever_the_room_it_is_a_transcript_that_a_provider_takes(room: int, sizes: list[list[int]]) -> None:
    """And one that fits, or the shortest there is; more room never shows less."""
    steps = [step(number, *each) for number, each in enumerate(sizes)]
    for last in (False, True):
        found = fitted(PROMPT, steps, room, last=last)
        check_transcript(found.messages)
        shortest = fitted(PROMPT, steps, -(10**9), last=last)
        assert found.tokens <= room or found.messages == shortest.messages
        assert found.tokens >= shortest.tokens


def test_a_prefix_stays_the_same_from_step_to_step() -> None:
    """What a provider has cached: each request begins with the one before it, as long as everything fits."""
    before: list[object] = []
    for count in range(len(STEPS) + 1):
        messages = fitted(PROMPT, STEPS[:count], 10**9).messages
        assert messages[: len(before)] == before
        before = list(messages)


def test_shortened_results_say_so() -> None:
    seen = [each for each in fitted(PROMPT, STEPS, 1).messages if isinstance(each, ToolMessage)]
    assert json.loads(seen[0].content)["shortened"] is True
    assert seen[1].content == compact({"ok": True, "text": "y" * 100}), "what is short stays whole"
