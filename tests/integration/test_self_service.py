"""/help, /usage, /why and /new: made from what there is, shown to who asks, and of the place where they ask."""

from collections.abc import AsyncGenerator

import pytest

from bot.catalogue import COMMANDS
from bot.help import PAGE_SIZE
from bot.pages import pages_of
from sandbox.discord import Member, Message
from sandbox.model import say
from tests.harness.stage import Stage


@pytest.fixture
async def running(stage: Stage) -> AsyncGenerator[Stage]:
    """Muninn, with its commands known to Discord."""
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        yield stage


async def _asks(stage: Stage, who: Member, text: str, answer: str) -> Message:
    stage.model.script(say(answer))
    question = await who.says(stage.general, f"{stage.discord.bot.mention} {text}")
    return await stage.discord.wait_for_message(reply_to=question)


async def test_help_names_every_command_there_is(running: Stage) -> None:
    """Made from the declarations: none is missing on its pages, and each can be shown whole."""
    stage = running
    use = await stage.ada.slash(stage.general, "help")
    told = await use.message()
    assert use.ephemeral
    pages = [told.content]
    for _ in range(pages_of(len(COMMANDS), PAGE_SIZE) - 1):
        told = await (await stage.ada.press(told, "▶")).updated()
        pages.append(told.content)
    text = "\n".join(pages)
    assert all(len(page) <= 2000 for page in pages)
    assert [each.path for each in COMMANDS if f"**{each.shown}**" not in text] == []
    use = await stage.ada.slash(stage.general, "help", command="memory add")
    assert "`content`: What I shall remember" in (await use.message()).content
    use = await stage.ada.slash(stage.general, "help", command="dance")
    assert "no command of that name" in (await use.message()).content
    use = await stage.ada.autocomplete(stage.general, "help", "command", command="pin")
    assert "memory pin" in [choice.value for choice in await use.choices()]


async def test_usage_is_ones_own_and_everybodys_for_who_governs(running: Stage) -> None:
    """What was booked, against what is allowed."""
    stage = running
    await _asks(stage, stage.ada, "what is up?", "The sky.")
    await stage.settled(1)
    spent = await stage.until("SELECT sum(tokens) AS tokens FROM token_spend WHERE member_id = $1", stage.ada.id)
    mine = (await (await stage.ada.slash(stage.general, "usage")).message()).content
    assert f"{spent['tokens']:,} tokens today" in mine
    assert "Everybody" not in mine
    assert "0 tokens today" in (await (await stage.bob.slash(stage.general, "usage")).message()).content
    olive = stage.guild.member("Olive")
    whole = (await (await olive.slash(stage.general, "usage")).message()).content
    assert f"<@{stage.ada.id}>: {spent['tokens']:,} tokens" in whole


async def test_why_finds_ones_newest_answer_here(running: Stage) -> None:
    """By itself, by a link and by a number; what is no message is said to be none."""
    stage = running
    answer = await _asks(stage, stage.ada, "what is up?", "The sky.")
    await stage.settled(1)
    link = f"https://discord.com/channels/{stage.guild.id}/{stage.general.id}/{answer.id}"
    for named in ({}, {"message": link}, {"message": str(answer.id)}):
        use = await stage.ada.slash(stage.general, "why", **named)
        assert "**Why this answer?**" in (await use.message()).content
        assert use.ephemeral
    use = await stage.bob.slash(stage.general, "why")
    assert "answered nothing of yours" in (await use.message()).content
    use = await stage.bob.slash(stage.general, "why", message="the last one")
    assert "neither a link" in (await use.message()).content


async def test_new_begins_afresh_and_leaves_memory(running: Stage) -> None:
    """The next answer is shown nothing of before, the summary starts anew, and what is remembered is remembered."""
    stage = running
    await (await stage.ada.slash(stage.general, "memory add", content="I keep a raven called Huginn.")).message()
    await _asks(stage, stage.ada, "the password of the game is swordfish", "Noted.")
    await stage.settled(1)
    await stage.pool.execute(
        """INSERT INTO conversation_summaries (space_id, place_id, content, since_id, through_id, written_at)
           VALUES ($1, $2, 'They spoke of swordfish.', 1, 2, now())
           ON CONFLICT (space_id, place_id) DO UPDATE SET content = EXCLUDED.content, written_at = now()""",
        stage.guild.id,
        stage.general.id,
    )
    use = await stage.ada.slash(stage.general, "new")
    told = await use.message()
    assert not use.ephemeral
    assert "fresh conversation begins here" in told.content
    assert not stage.discord.pings
    await _asks(stage, stage.ada, "what is my raven called, which I keep?", "Huginn.")
    seen = "\n".join(str(message) for message in stage.model.requests[-1].messages)
    assert "swordfish" not in seen
    assert "Huginn" in seen
    # Another place goes on as it was.
    rows = await stage.pool.fetch("SELECT place_id FROM conversation_starts")
    assert [row["place_id"] for row in rows] == [stage.general.id]
