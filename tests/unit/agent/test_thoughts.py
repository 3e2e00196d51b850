"""What a model thinks aloud in its content never reaches a member."""

import pytest

from agent.thoughts import without_thoughts


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>Ada asks.</think>Hello.", "Hello."),
        ("\n<think>\nAda asks.\n</think>\n\nHello.\n", "Hello.\n"),
        ("<THINK>x</THINK> Hello.", "Hello."),
        ("<think>a</think><think>b</think>Hello.", "Hello."),
        ("<thinking>a</thinking><reasoning>b</reasoning>Hello.", "Hello."),
        ("Ada asks, so I greet her.\n</think>\n\nHello.", "Hello."),
        ("<think>Only this, and then the tokens were used", ""),
        ("<think></think>", ""),
        ("<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>Hello.<|return|>", "Hello."),
        ("<|channel|>analysis<|message|>Hm", ""),
    ],
)  # fmt: skip
def test_thoughts_are_taken_off(text: str, left: str) -> None:
    """By their tags, also where only the closing one came, and where the end never came."""
    assert without_thoughts(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "Hello.",
        "",
        "  indented code",
        "The tag <think> opens a thought and </think> closes it.",
        "Write:\n```\n<think>\nhm\n</think>\n```\nand nothing else.",
        "<thinker>no such tag</thinker>",
        "a < b and c > d",
    ],
)
def test_an_answer_about_tags_stays_whole(text: str) -> None:
    """Only what stands at the beginning, or alone on its line outside of a code block, is a mark of thoughts."""
    assert without_thoughts(text) == text
