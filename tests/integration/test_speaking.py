"""How an answer arrives: its parts, its file, its links, and whom it names (I3, I4, I11)."""

from collections.abc import Callable

import pytest

from sandbox.discord import Discord, RestFault
from sandbox.model import say, server_error
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")
BOOK = "# Beginning\n\nOnce upon a time.\n\n" + "\n\n".join(
    f"## Chapter {n}\n\n" + f"They walked on, day {n}. " * 40 for n in range(1, 15)
)


async def _asked(stage: Stage, words: str = "tell me") -> None:
    await stage.ada.says(stage.general, f"{stage.discord.bot.mention} {words}")


async def test_a_table_arrives_as_aligned_text(stage: Stage) -> None:
    """Discord has no tables."""
    stage.model.script(say("Here:\n\n| Name | Age |\n|---|--:|\n| Ada | 36 |"))
    async with stage.muninn():
        await _asked(stage)
        answer = await stage.discord.wait_for_message()
    assert answer.content == "Here:\n\n```\nName  Age\n----  ---\nAda    36\n```"


FAULTS: dict[str, Callable[[Discord], RestFault]] = {
    "none": lambda discord: discord.faults.rest("GET", "/nothing").status(500),
    "502 after": lambda discord: discord.faults.rest(*POST).accept_then_status(502),
    "reset after": lambda discord: discord.faults.rest(*POST).accept_then_reset(),
    "503 before": lambda discord: discord.faults.rest(*POST).status(503),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_long_answer_is_a_file_with_its_beginning(stage: Stage, fault: str) -> None:
    """I4: more than a handful of messages becomes one with a file, once, whatever happens to the request."""
    FAULTS[fault](stage.discord)
    stage.model.script(say(BOOK))
    async with stage.muninn():
        await _asked(stage)
        answer = await stage.discord.wait_for_message()
        assert await stage.settled(1) == ["answered"]
    assert stage.discord.bot_messages() == [answer]
    assert answer.content.startswith("# Beginning\n\nOnce upon a time.")
    assert "on Beginning, Chapter 1" in answer.content
    assert len(answer.content) <= 2000
    (attached,) = answer.attachments
    assert (attached.file.filename, attached.file.content.decode()) == ("answer.md", BOOK)


async def test_previews_are_left_out_where_there_are_many_links(stage: Stage) -> None:
    """Three links show no previews; two do, and links in code are none."""
    many = "https://a.example https://b.example https://c.example"
    stage.model.script(say(many), say("https://a.example https://b.example `https://c.example https://d.example`"))
    async with stage.muninn():
        await _asked(stage)
        first = await stage.discord.wait_for_message()
        await _asked(stage, "fewer")
        second = await stage.discord.wait_for_message(after=first)
    assert first.flags & 4
    assert not second.flags & 4


async def test_others_are_named_and_not_mentioned(stage: Stage) -> None:
    """I11: a mention is for the member answered alone; others go by their names, and nobody is pinged in vain."""
    said = f"<@{stage.ada.id}>, ask <@{stage.bob.id}> or <@!424242424242424242>, but `<@{stage.bob.id}>` is code."
    stage.model.script(say("Hello Bob."), say(said))
    async with stage.muninn():
        hello = await stage.bob.says(stage.general, f"{stage.discord.bot.mention} hi")
        await stage.discord.wait_for_message(reply_to=hello)
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} who knows?")
        answer = await stage.discord.wait_for_message(reply_to=asked)
    assert answer.content == f"<@{stage.ada.id}>, ask @Bob or @member, but `<@{stage.bob.id}>` is code."
    assert all({user.id for user in ping.pings.users} <= {stage.ada.id} for ping in stage.discord.pings[-1:])


async def test_an_answer_to_a_message_that_is_gone_arrives_without_the_reference(stage: Stage) -> None:
    """Deleted after the answer was composed: all parts arrive all the same."""
    stage.model.script(say("\n".join(f"line {n} " + "x" * 80 for n in range(40))))
    held = stage.discord.faults.rest(*POST).hold()
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} well?")
        await held.hit()
        await stage.ada.deletes(asked)
        held.release()
        assert await stage.settled(1) == ["answered"]
    said = stage.discord.bot_messages(stage.general)
    assert len(said) == 2
    assert [message.reply_to for message in said] == [None, None]


async def test_a_failure_is_no_fuel_for_another_bot(stage: Stage) -> None:
    """Another bot is not told that there is no answer: it would answer that, and so on. A member is."""
    stage.model.default(server_error(503))
    peer = stage.guild.add_bot("Peer")
    async with stage.muninn(answered_bots=str(peer.id)):
        await peer.says(stage.general, f"{stage.discord.bot.mention} and you?")
        assert await stage.settled(1, within=20) == ["cancelled"]
        assert stage.discord.bot_messages() == []
        await _asked(stage)
        assert await stage.settled(2, within=20) == ["cancelled", "failed_told"]
    assert (await stage.turns())[0]["end_reason"] == "untold:model_unavailable"
