"""What an operator can count after a conversation: every metric that is declared is also fed."""

from prometheus_client import REGISTRY

from sandbox.model import call, say
from tests.harness.stage import Stage


def _value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_a_turn_with_a_tool_leaves_its_traces(stage: Stage) -> None:
    """Model steps, tokens, tool calls, receipts, turns by end, and events by what became of them."""
    counters = {
        ("muninn_model_steps_total", (("end", "ok"),)): 2,
        ("muninn_tool_calls_total", (("tool", "discord_react"), ("end", "done"))): 1,
        ("muninn_action_receipts_total", (("action", "react"), ("end", "applied"))): 1,
        ("muninn_turns_total", (("end", "answered"),)): 1,
    }
    before = {key: _value(key[0], **dict(key[1])) for key in counters}
    tokens, committed = (
        _value("muninn_model_tokens_total", kind="prompt"),
        _value("muninn_events_total", ack="committed"),
    )
    stage.model.script(call("discord_react", emoji="👍"), say("done"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} thumbs up, please")
        await stage.discord.wait_for_message(reply_to=asked)
        await stage.settled(1)
    for key, expected in counters.items():
        assert _value(key[0], **dict(key[1])) - before[key] == expected, key
    assert _value("muninn_model_tokens_total", kind="prompt") > tokens
    assert _value("muninn_events_total", ack="committed") > committed
    assert _value("muninn_turns_running") == 0
