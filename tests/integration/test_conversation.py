"""A member speaks, and Muninn answers: the whole way of a message, over real sockets."""

from sandbox.model import call, say
from tests.harness.stage import Stage


async def test_a_mention_is_answered_once_as_a_reply(stage: Stage) -> None:
    """I3: journalled, answered as a reply to the message, and journalled as the assistant's."""
    stage.model.script(say("Hello Ada!"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        answer = await stage.discord.wait_for_message(reply_to=asked)
        assert answer.content == "Hello Ada!"
        assert await stage.settled(1) == ["answered"]
    row = await stage.pool.fetchrow("SELECT * FROM chat_messages WHERE message_id = $1", answer.id)
    assert row is not None
    assert (row["author_kind"], row["content"], row["turn_id"] is not None) == ("self", "Hello Ada!", True)
    assert len(stage.discord.bot_messages()) == 1
