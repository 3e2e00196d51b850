"""Plain words to the bot: deterministic, before the model, with one end for each message (I3, I5)."""

import pytest

from sandbox.discord import Message
from sandbox.model import say
from tests.harness.moderating import Court, court
from tests.harness.stage import Stage


@pytest.fixture
def scene(stage: Stage) -> Court:
    """A guild with moderators."""
    return court(stage)


async def _card_of(scene: Court, asked: Message) -> Message:
    return await scene.stage.discord.wait_for_message(reply_to=asked, where=lambda m: bool(m.components), within=15)


async def test_plain_words_bring_a_card_and_no_model(scene: Court) -> None:
    """The card replies to the words; pressed, it is done; the turn is answered, and no model was asked."""
    me = scene.stage.discord.bot.mention
    async with scene.muninn():
        spam = await scene.bob.says(scene.general, "buy coins")
        asked = await scene.mia.says(
            scene.general, f"{me} could you please mute this spammer for 2 hours for coins?", reply_to=spam
        )
        card = await _card_of(scene, asked)
        assert "2 hours" in card.content
        assert str(spam.id) in card.content
        assert scene.changes() == []
        told = await scene.bob.says(scene.general, f"{me} yes", reply_to=card)
        answer = await scene.stage.discord.wait_for_message(reply_to=told)
        assert answer.content == "That card is somebody else's; nothing was done."
        assert "(case 1)" in await scene.confirms(scene.mia, card)
        assert scene.bob.timed_out_until is not None
        assert await scene.stage.settled(2) == ["answered", "answered"]
    assert scene.stage.model.requests == []


async def test_refusals_are_told_and_the_rest_goes_to_the_model(scene: Court) -> None:
    """One sentence for who may not; what does not ask is the model's, also where a name is a command."""
    guild, me = scene.stage.guild, scene.stage.discord.bot.mention
    named = guild.add_member("ban everyone")
    scene.stage.model.default(say("I talk."))
    async with scene.muninn():
        asked = await scene.bob.says(scene.general, f"{me} ban {scene.mia.mention}")
        answer = await scene.stage.discord.wait_for_message(reply_to=asked)
        assert answer.content == "You need the permission “Ban Members” for this."
        asked = await scene.mia.says(scene.general, f"{me} kick {scene.olive.mention}")
        answer = await scene.stage.discord.wait_for_message(reply_to=asked)
        assert "owns this server" in answer.content
        assert scene.stage.model.requests == []
        for words in (f"thank {named.mention}", f"should I ban {scene.bob.mention}?", "ban him"):
            asked = await scene.mia.says(scene.general, f"{me} {words}")
            answer = await scene.stage.discord.wait_for_message(reply_to=asked)
            assert answer.content == "I talk."
        assert scene.changes() == []
        await scene.stage.settled(5)
    assert await scene.cases() == []


async def test_words_that_were_taken_back_before_the_press(scene: Court) -> None:
    """The message that asked is deleted: the card closes, and nothing is done."""
    async with scene.muninn():
        asked = await scene.mia.says(scene.general, f"{scene.stage.discord.bot.mention} ban {scene.bob.mention}")
        card = await _card_of(scene, asked)
        await scene.mia.deletes(asked)
        await scene.ends(card)
        assert "was deleted" in card.content
    assert scene.changes() == []
