"""What is left of a run: one to three sentences and keywords, the same for the same run."""

import pytest

from agent.contracts import CallEnd
from agent.summary import summarise


@pytest.mark.parametrize(
    ("reason", "steps", "ends", "text", "keywords"),
    [
        ("answered", 1, [], "Answered after 1 model call.", ("answered",)),
        (
            "answered",
            3,
            [CallEnd("memory_search", None), CallEnd("discord_react", None), CallEnd("memory_search", None)],
            "Answered after 3 model calls. Called memory_search twice, discord_react.",
            ("memory_search", "discord_react", "answered"),
        ),
        (
            "limit_calls",
            4,
            [CallEnd("web_search", "web_timeout"), CallEnd("web_search", "web_timeout"), CallEnd("x", "unknown_tool")],
            "Stopped at the limit of tool calls after 4 model calls. Called web_search twice. web_search failed twice "
            "(web_timeout); 1 call named no tool that there is.",
            ("web_search", "web_timeout", "unknown_tool", "limit_calls"),
        ),
        (
            "model_unavailable",
            0,
            [CallEnd("make something up", "unknown_tool")],
            "Gave no answer, since the model could not be reached, after 0 model calls. "
            "1 call named no tool that there is.",
            ("unknown_tool", "model_unavailable"),
        ),
        ("new_reason", 2, [], "Ended (new_reason) after 2 model calls.", ("new_reason",)),
    ],
)
def test_summaries(reason: str, steps: int, ends: list[CallEnd], text: str, keywords: tuple[str, ...]) -> None:
    """Names that the model made up are in neither."""
    summary = summarise(reason, steps, ends)
    assert (summary.text, summary.keywords) == (text, keywords)
    assert 1 <= summary.text.count(". ") + 1 <= 3
