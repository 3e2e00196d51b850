"""The estimate of tokens, and what it learns from providers."""

import pytest

from agent.contracts import AssistantMessage, ToolCall, ToolMessage, ToolSpec, UserMessage
from agent.tokens import Gauge, estimate, of_message, of_tools


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        # Counts of several public tokenizers lie between these.
        ("The quick brown fox jumps over the lazy dog.", 9, 20),
        ("Съешь же ещё этих мягких французских булок", 12, 40),
        ("今日は天気がいいので散歩に行きます。", 12, 30),
        ("👍👍👍👍", 4, 16),
        ('{"message_id":"1576123456789012345"}', 10, 30),
        ("", 0, 1),
    ],
)
def test_the_estimate_is_in_the_right_region(text: str, least: int, most: int) -> None:
    """Within a factor of about two in each script, so that the correction has little to do."""
    assert least <= estimate(text) <= most


def test_it_grows_with_the_text_and_bears_anything() -> None:
    for piece in ("a", "ß", "字", "👍", "\ud800", "\0"):
        assert estimate(piece) <= estimate(piece * 10) < estimate(piece * 1_000)


def test_messages_cost_more_than_their_words() -> None:
    call = ToolCall("call_1", "memory_search", '{"query":"atlas"}')
    for message in (UserMessage("hello"), AssistantMessage(None, (call,)), ToolMessage("call_1", '{"ok":true}')):
        assert of_message(message) > 5
    assert of_tools([ToolSpec("find", "Finds.", {"type": "object"}, "read")]) > 10


def test_the_gauge_rises_at_once_and_falls_slowly() -> None:
    """Too high an estimate costs a few words of context, too low a one a refused request."""
    gauge = Gauge()
    assert gauge.factor == 1
    gauge.learn("m", estimated=1_000, counted=1_500)
    assert gauge.factor == 1.5
    gauge.learn("m", estimated=1_000, counted=500)
    assert 1.2 < gauge.factor < 1.5
    gauge.learn("m", estimated=1_000, counted=2_000)
    assert gauge.factor == 2


@pytest.mark.parametrize(("estimated", "counted"), [(1_000, 0), (10, 500), (0, 0), (1_000, -5)])
def test_what_says_nothing_teaches_nothing(estimated: int, counted: int) -> None:
    gauge = Gauge()
    gauge.learn("m", estimated=estimated, counted=counted)
    assert gauge.factor == 1


def test_nonsense_is_bounded_and_each_model_has_its_own() -> None:
    gauge = Gauge()
    gauge.learn("a", estimated=1_000, counted=10**9)
    assert gauge.factor == 4
    gauge.learn("b", estimated=1_000, counted=1)
    assert gauge.factor == 0.5
    for number in range(1_000):
        gauge.learn(f"model-{number}", estimated=1_000, counted=1_000)
    assert len(gauge.factors) <= 32
