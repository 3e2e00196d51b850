"""What of an unfinished reply may be shown: no thought, no tag, no call that stands as text."""

import pytest

from agent.overheard import sayable


@pytest.mark.parametrize(
    "text",
    [
        "<thi",
        "<think>Should I",
        "<think>Should I</think>",
        "<|channel|>analysis<|message|>hm",
        "<tool_call>{",
        "<function=x",
        "[TOOL_CALLS] [",
        "[TOOL",
        '{"name": "x"',
        '```json\n{"na',
        "```",
        "",
        "  ",
    ],
)
def test_what_may_be_a_thought_or_a_call_is_not_shown(text: str) -> None:
    """Nothing is shown that might have to be taken back."""
    assert sayable(text) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello wor", "Hello wor"),
        ("<think>hm</think>\nHello", "Hello"),
        ("```py\nprint(1)", "```py\nprint(1)"),
        ("<@42> hello", "<@42> hello"),
        ("<3 you", "<3 you"),
    ],
)
def test_what_is_said_is_shown(text: str, shown: str) -> None:
    """Behind a thought, and where code or a mention begins the answer."""
    assert sayable(text) == shown
