"""How an answer arrives: its parts, its file, its links, and whom it names (I3, I4, I11)."""

from collections.abc import Callable

import pytest

from sandbox.discord import Discord, Message, Permission, RestFault
from sandbox.model import call, say, server_error, slow
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


LINKS = "https://a.example https://b.example https://c.example"
LINES = "\n".join(f"line {n} " + "x" * 80 for n in range(40))
SET_SQL = """
INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by) VALUES ($1, 0, $2, $3::text::jsonb, 1, 1)
"""


async def _set(stage: Stage, name: str, value: str) -> None:
    await stage.pool.execute(SET_SQL, stage.guild.id, name, value)


def _worn(message: Message, form: str) -> str:
    """The words of a message that has them in this form and in no other."""
    if form == "embed":
        assert (message.content, message.components, message.flags & 4) == ("", [], 0)
        assert message.displayed == message.embeds[0]["description"]
    else:
        assert (message.content, message.embeds, message.flags) == ("", [], 1 << 15)
        assert message.components[0]["type"] == 17
    return message.displayed


@pytest.mark.parametrize("form", ["embed", "panel"])
async def test_an_answer_has_the_form_that_the_guild_chose(stage: Stage, form: str) -> None:
    """I1-I4, I11: parts within the limit, each once whatever the line does, a file, a draft and an error; nobody is
    pinged, and the journal has the words, whatever holds them, for the next turn to read."""
    await _set(stage, "answer_form", f'"{form}"')
    await _set(stage, "streaming", "true")
    stage.discord.faults.rest(*POST).accept_then_reset()
    stage.model.script(
        say(LINES),
        say(f"@everyone {LINKS}"),
        say(BOOK),
        slow("It grew. " * 30, between=0.05, piece=9),
        server_error(400),
    )
    async with stage.muninn():
        await _asked(stage)
        await stage.settled(1)
        await _asked(stage, "in short")
        await _asked(stage, "at length")
        await stage.settled(3)
        await _asked(stage, "slowly")
        await stage.settled(4, within=20)
        await _asked(stage, "badly")
        assert await stage.settled(5, within=20) == [*["answered"] * 4, "failed_told"]
        said = stage.discord.bot_messages(stage.general)
        edit = call("discord_edit_own_message", content="Few words.", message=str(said[2].id))
        stage.model.script(edit, say("Done."))
        await _asked(stage, f"edit your message {said[2].id}")
        await stage.settled(6)
        await stage.until("SELECT 1 FROM chat_messages WHERE content = 'Few words.'")
    said = stage.discord.bot_messages(stage.general)
    words = [_worn(message, form) for message in said]
    assert [len(part) <= 2000 for part in words] == [True] * 7
    assert "\n".join(words[:2]) == LINES
    assert words[2] == "Few words."
    assert words[3].startswith("# Beginning")
    assert said[3].attachments[0].file.content.decode() == BOOK
    assert words[4] == ("It grew. " * 30).strip()
    assert "does not take this request" in words[5]
    assert stage.discord.pings == []
    kept = await stage.pool.fetch("SELECT content, extras FROM chat_messages WHERE author_kind = 'self'")
    assert sorted(row["content"] for row in kept) == sorted(words)
    assert not any("embeds" in row["extras"] or "components" in row["extras"] for row in kept)
    assert "line 7 xxx" in str(stage.model.requests[1].body)


async def test_where_it_may_not_embed_its_words_are_plain(stage: Stage) -> None:
    """Discord leaves the embed out, or refuses it: an answer is never empty."""
    await _set(stage, "answer_form", '"embed"')
    stage.general.set_permissions(stage.guild.me, deny=Permission.EMBED_LINKS)
    stage.model.script(say("Plain, then."))
    async with stage.muninn():
        await _asked(stage)
        assert await stage.settled(1) == ["answered"]
        await stage.until("SELECT 1 FROM chat_messages WHERE content = 'Plain, then.'")
    assert [m.content for m in stage.discord.bot_messages()] == ["Plain, then."]


REFUSALS = {
    "nothing is left": (400, b'{"message": "Cannot send an empty message", "code": 50006}'),
    "not permitted": (403, b'{"message": "Missing Permissions", "code": 50013}'),
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_an_embed_that_is_refused_is_said_plainly(stage: Stage, refusal: str) -> None:
    """I4: in both ways in which Discord refuses one, when it is sent and when it gets new words."""
    await _set(stage, "answer_form", '"embed"')
    status, body = REFUSALS[refusal]
    stage.model.script(say("As an embed."), say("Plain, then."))
    async with stage.muninn():
        await _asked(stage)
        assert await stage.settled(1) == ["answered"]
        stage.discord.faults.rest(*POST).status(status, body, html=False)
        await _asked(stage)
        assert await stage.settled(2) == ["answered"] * 2
        embed, plain = stage.discord.bot_messages()
        assert (_worn(embed, "embed"), plain.content, plain.embeds) == ("As an embed.", "Plain, then.", [])
        stage.discord.faults.rest("PATCH", "/channels/*/messages/*").status(status, body, html=False)
        edit = call("discord_edit_own_message", content="Few words.", message=str(embed.id))
        stage.model.script(edit, say("Done."))
        await _asked(stage, f"edit your message {embed.id}")
        assert await stage.settled(3) == ["answered"] * 3
    assert (embed.content, embed.embeds) == ("Few words.", [])


async def test_a_draft_that_may_become_no_embed_keeps_its_words(stage: Stage) -> None:
    """Discord may take the last change and leave the embed out of it."""
    await _set(stage, "answer_form", '"embed"')
    await _set(stage, "streaming", "true")
    stage.general.set_permissions(stage.guild.me, deny=Permission.EMBED_LINKS)
    stage.model.script(slow("It grew. " * 40, between=0.06, piece=9))
    async with stage.muninn():
        await _asked(stage, "slowly")
        assert await stage.settled(1, within=20) == ["answered"]
    (message,) = stage.discord.bot_messages()
    assert (message.content, message.embeds) == (("It grew. " * 40).strip(), [])


async def test_a_reply_pings_who_asked_where_the_guild_wants_it_and_once(stage: Stage) -> None:
    """I11: the first part alone, nobody else, and no second time where what was shown did not last."""
    await _set(stage, "reply_ping", "true")
    await _set(stage, "streaming", "true")
    stage.model.script(say(f"<@{stage.bob.id}> {LINES}"), slow("It grew. " * 40, between=0.06, piece=9))
    async with stage.muninn():
        await _asked(stage)
        await stage.settled(1)
        await _asked(stage, "slowly")
        draft = await stage.discord.wait_for_message(after=stage.discord.bot_messages()[-1], by=stage.discord.bot)
        stage.discord.world.speech.delete(draft)
        assert await stage.settled(2, within=20) == ["answered"] * 2
    first, *_ = stage.discord.bot_messages()
    assert [(ping.message, ping.pings.replied_user, ping.pings.users) for ping in stage.discord.pings] == [
        (first, stage.ada.user, ()),
        (draft, stage.ada.user, ()),
    ]
