"""What a whole bot logs while it works on a turn: who it is about by ids, and nobody's words."""

from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from sandbox.model import call, rate_limited, say
from tests.harness.stage import Stage


async def test_every_line_of_a_turn_names_it(stage: Stage) -> None:
    """Turn, guild and channel stand on each line, and the run on those of the loop; no line has what was said."""
    stage.model.script(
        rate_limited(retry_after=0.01), call("memory_search", query="secret garden"), say("A secret answer")
    )
    with capture_logs(processors=[merge_contextvars]) as lines:
        async with stage.muninn():
            asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} secret question")
            await stage.discord.wait_for_message(reply_to=asked)
            await stage.settled(1)
    ended = next(line for line in lines if line["event"] == "run.ended")
    retried = next(line for line in lines if line["event"] == "model_retry")
    for line in (ended, retried):
        assert (line["guild_id"], line["channel_id"]) == (stage.guild.id, stage.general.id)
        assert line["turn_id"] > 0
        assert line["run_id"] == ended["run_id"]
    assert not [line for line in lines if "secret" in str(line)]
