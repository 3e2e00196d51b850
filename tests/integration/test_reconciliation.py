"""No receipt stays open: what nobody could record is asked of Discord when the turn is over (I4)."""

import pytest

from sandbox.discord import RestFault
from sandbox.model import call, say
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")
REACT = ("PUT", "/channels/*/messages/*/reactions/*/@me")

RECEIPT_SQL = "SELECT state, failure, external_id FROM action_receipts WHERE action = $1 AND state = $2"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up early."""
    monkeypatch.setattr("bot.effects.WITHIN_S", 0.1)
    monkeypatch.setattr("bot.delivery.STINT_S", 0.1)
    monkeypatch.setattr("bot.delivery.GIVE_UP_S", 0.1)


def _broken(stage: Stage, method: str, path: str, *, accepted: bool) -> None:
    fault: RestFault = stage.discord.faults.rest(method, path)
    fault.accept_then_status(503) if accepted else fault.status(503)
    stage.discord.faults.rest(method, path, times=None).status(503)


@pytest.mark.parametrize(("accepted", "state"), [(True, "applied"), (False, "refused")])
async def test_a_reaction_in_doubt_is_looked_up(stage: Stage, accepted: bool, state: str) -> None:
    """The model was told that it is not certain; the receipt says in the end what stands there."""
    _broken(stage, *REACT, accepted=accepted)
    stage.model.script(call("discord_react", emoji="👍"), say("I tried."))
    async with stage.muninn(reconcile_s=0.1):
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} thumbs up?")
        await stage.discord.wait_for_message(reply_to=asked)
        await stage.until(RECEIPT_SQL, "react", state)
    assert "not certain" in stage.model.requests[1].tool_results[-1].text
    assert len(stage.discord.requests_to(*REACT)) == 1


@pytest.mark.parametrize(("accepted", "state"), [(True, "applied"), (False, "refused")])
async def test_an_answer_in_doubt_is_looked_up(stage: Stage, accepted: bool, state: str) -> None:
    """The turn ended as undeliverable; whether the message is there is on record, and it is not sent again."""
    bot = str(stage.discord.bot.id)
    stage.discord.faults.gateway("MESSAGE_CREATE", times=None, where=lambda d: bot in str(d["author"])).drop()
    _broken(stage, *POST, accepted=accepted)
    stage.model.script(say("hello"))
    async with stage.muninn(reconcile_s=0.1):
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        assert await stage.settled(1) == ["cancelled"]
        stage.discord.faults.clear()
        receipt = await stage.until(RECEIPT_SQL, "send_part", state)
    said = stage.discord.bot_messages()
    assert [receipt["external_id"]] == ([said[0].id] if accepted else [None])
    assert len(said) == int(accepted)


async def test_a_reaction_that_was_cut_off_is_closed(stage: Stage) -> None:
    """The message was deleted while its reaction was on the way: the receipt does not stay intended."""
    held = stage.discord.faults.rest(*REACT).hold()
    stage.model.script(call("discord_react", emoji="👍"), say("I tried."))
    async with stage.muninn(reconcile_s=0.1):
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} thumbs up?")
        await held.hit()
        await stage.ada.deletes(asked)
        assert await stage.settled(1) == ["cancelled"]
        receipt = await stage.until(RECEIPT_SQL, "react", "refused")
    assert receipt["failure"] == "discord_10008"


async def test_what_cannot_be_read_is_asked_for_once(stage: Stage) -> None:
    """A place that is gone tells nothing: the receipt stays unknown and says why, and is left alone."""
    doomed = stage.guild.create_channel("doomed")
    held = stage.discord.faults.rest(*REACT).hold()
    stage.model.script(call("discord_react", emoji="👍"), say("I tried."))
    async with stage.muninn(reconcile_s=0.1):
        asked = await stage.ada.says(doomed, f"{stage.discord.bot.mention} thumbs up?")
        await held.hit()
        await stage.ada.deletes(asked)
        doomed.delete()
        receipt = await stage.until(RECEIPT_SQL, "react", "unknown")
    assert receipt["failure"] == "unreadable:discord_10003"
    assert len(stage.discord.requests_to("GET", "/channels/*/messages/*")) == 1
