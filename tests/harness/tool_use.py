"""A turn in which the scripted model calls tools: what they answered, as the model got to read it."""

from typing import Any

from sandbox.discord import Member, Message, Place
from sandbox.model import Completion, calls, say
from tests.harness.stage import Stage

ANSWER = "Done."


async def tools_used(
    stage: Stage,
    *made: Completion,
    words: str = "please look",
    who: Member | None = None,
    place: Place | None = None,
    reply_to: Message | None = None,
) -> list[Any]:
    """Somebody says `words` to the bot; the model makes all the calls in one reply, and then answers.

    Gives what each call came to, in their order, when the answer is there.
    """
    before = len(stage.model.requests)
    stage.model.script(calls(*made), say(ANSWER))
    asked = await (who or stage.ada).says(
        place or stage.general, f"{stage.discord.bot.mention} {words}", reply_to=reply_to
    )
    request = await stage.model.wait_for_request(before + 2, within=20)
    await stage.discord.wait_for_message(reply_to=asked)
    return [result.json for result in request.tool_results[-len(made) :]]
