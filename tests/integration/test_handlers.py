"""Handlers of interactions that are late or break: Discord is answered in time, and the person told in one sentence."""

import asyncio
from collections.abc import Awaitable, Callable

import asyncpg
import pytest

from bot.bodies import Attached
from bot.interactions.payloads import Command, Press
from bot.interactions.replies import Reply
from sandbox.discord import Message
from sandbox.discord.uses import Use
from sandbox.model import call, say
from tests.harness.stage import Stage

BROKEN = "Something in me broke over this; the person who runs me finds the reason in my log."
PASSING = "I cannot reach what I remember right now, so I did nothing; please try again in a minute."
TOO_LONG = "This took too long, so I stopped; part of it may be done, so please look before you do it again."

Handles = Callable[[Command | Press, Reply], Awaitable[None]]


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> Callable[[Handles], None]:
    """Let /stop and the buttons of cards be handled by this instead."""

    def by(handler: Handles) -> None:
        async def handle(_: object, interaction: Command | Press, reply: Reply) -> None:
            await handler(interaction, reply)

        monkeypatch.setattr("bot.stopping.Stopping.asked", handle)
        monkeypatch.setattr("bot.asking.Asking.pressed", handle)

    return by


async def _use(stage: Stage) -> Use:
    await stage.until("SELECT 1 FROM application_commands")
    return await stage.ada.slash(stage.general, "stop")


async def _card(stage: Stage) -> Message:
    stage.model.script(call("discord_send_message", content="Hello", channel=str(stage.general.id)), say("I asked."))
    question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} do what you think is best")
    await stage.discord.wait_for_message(reply_to=question, where=lambda m: m.content == "I asked.")
    return await stage.discord.wait_for_message(reply_to=question, where=lambda m: bool(m.components))


async def test_a_command_whose_handler_takes_its_time(stage: Stage, handled: Callable[[Handles], None]) -> None:
    """Discord's three seconds are kept, and what is said later becomes the answer, for the person alone."""
    done = asyncio.Event()

    async def late(_: object, reply: Reply) -> None:
        await done.wait()
        await reply.say("Here it is.")

    handled(late)
    async with stage.muninn():
        use = await _use(stage)
        await use.deferred()
        done.set()
        assert (await use.message()).content == "Here it is."
    assert (use.ephemeral, use.followups) == (True, [])


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(KeyError("a bug"), BROKEN), (asyncpg.CannotConnectNowError("starting up"), PASSING)],
    ids=["a bug", "PostgreSQL away"],
)
@pytest.mark.parametrize("late", [False, True])
async def test_a_command_whose_handler_breaks(
    stage: Stage, handled: Callable[[Handles], None], error: Exception, sentence: str, late: bool
) -> None:
    """Before it was acknowledged and after it: one plain sentence, and nothing of the error (I13)."""

    async def breaks(_: object, reply: Reply) -> None:
        if late:
            await reply.defer()
        raise error

    handled(breaks)
    async with stage.muninn():
        use = await _use(stage)
        assert (await use.message()).content == sentence
    assert use.ephemeral


async def test_a_command_whose_handler_never_ends(
    stage: Stage, handled: Callable[[Handles], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut off, and the person is not left with a bot that is thinking."""
    monkeypatch.setattr("bot.interactions.dispatch.LONGEST_S", 1.0)
    cut_off = asyncio.Event()

    async def endless(_: object, __: Reply) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cut_off.set()

    handled(endless)
    async with stage.muninn():
        use = await _use(stage)
        await use.deferred()
        assert (await use.message()).content == TOO_LONG
    assert cut_off.is_set()


@pytest.mark.parametrize("alone", [True, False], ids=["for the person alone", "for everybody"])
async def test_an_answer_after_fifteen_minutes_is_a_message(
    stage: Stage, handled: Callable[[Handles], None], alone: bool
) -> None:
    """The token is over: what was for the person alone is written to them, the rest in the channel; once, under a
    receipt, with its file, and nobody else is pinged (I4, I11)."""
    done = asyncio.Event()

    async def late(_: object, reply: Reply) -> None:
        await reply.defer(ephemeral=alone)
        await done.wait()
        await reply.say("Here it is @everyone.", ephemeral=alone, attached=Attached("list.txt", b"one\ntwo"))

    handled(late)
    place = stage.ada.dm() if alone else stage.general
    async with stage.muninn():
        await (await _use(stage)).deferred()
        stage.discord.clock.advance(16 * 60)
        done.set()
        answer = await stage.discord.wait_for_message(in_=place, where=lambda m: "Here" in m.content)
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", answer.id)
    assert answer.content.removeprefix(f"<@{stage.ada.id}> ") == "Here it is @everyone."
    assert answer.attachments[0].file.content == b"one\ntwo"
    assert [m for m in stage.discord.bot_messages() if "Here" in m.content] == [answer]
    assert {user for ping in stage.discord.pings for user in ping.pings.users} <= {stage.ada.user}
    receipt = await stage.pool.fetchrow("SELECT * FROM action_receipts WHERE action = 'late_answer'")
    assert receipt is not None
    assert (receipt["state"], receipt["external_id"]) == ("applied", answer.id)


async def test_a_press_whose_handler_takes_its_time(stage: Stage, handled: Callable[[Handles], None]) -> None:
    """The press is taken in time, and the message that was pressed is changed when there is something to say."""
    done = asyncio.Event()

    async def late(_: object, reply: Reply) -> None:
        await done.wait()
        await reply.update("Done at last.")

    handled(late)
    async with stage.muninn():
        card = await _card(stage)
        use = await stage.ada.press(card, "Do it")
        await use.acknowledged()
        assert card.components
        done.set()
        await stage.discord.wait_until(lambda: card.content == "Done at last.")
    assert not use.failed


async def test_a_press_whose_handler_breaks(stage: Stage, handled: Callable[[Handles], None]) -> None:
    """After the press was taken, the person is told beside the message, which stays as it is."""

    async def breaks(_: object, reply: Reply) -> None:
        await reply.defer_update()
        raise KeyError("a bug")

    handled(breaks)
    async with stage.muninn():
        card = await _card(stage)
        use = await stage.ada.press(card, "Do it")
        assert (await use.followup()).content == BROKEN
        assert card.components


async def test_a_stop_does_not_wait_for_a_handler_for_ever(stage: Stage, handled: Callable[[Handles], None]) -> None:
    """I10: Muninn ends within its bound, and the handler is cut off."""
    cut_off = asyncio.Event()

    async def endless(_: object, __: Reply) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cut_off.set()

    handled(endless)
    async with stage.muninn(drain_s=1.2):
        await (await _use(stage)).deferred()
    assert cut_off.is_set()


async def test_a_form_that_is_sent_after_a_restart_is_taken(stage: Stage) -> None:
    """What it is about stands in its own id, and nothing of it was kept in memory."""
    olive = stage.guild.member("Olive")
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        form = await (await olive.slash(stage.general, "rules edit")).modal()
    async with stage.muninn():
        await (await olive.submit(form, {"words": "Speak like a pirate."})).message()
    assert await stage.pool.fetchval("SELECT count(*) FROM guild_rules") == 1


@pytest.mark.parametrize("how", ["too late", "thread is archived"])
async def test_a_first_answer_that_discord_does_not_take_harms_nothing(stage: Stage, how: str) -> None:
    """10062 after three seconds, for a suggestion and for a command, and 50083: what comes next is answered, and
    nobody is written to elsewhere."""
    body = {
        "too late": b'{"code": 10062, "message": "Unknown interaction"}',
        "thread is archived": b'{"code": 50083, "message": "Thread is archived"}',
    }[how]
    refused = stage.discord.faults.rest("POST", "/interactions/*/*/callback", times=3)
    refused.status(404 if how == "too late" else 400, body, html=False)
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        await stage.ada.autocomplete(stage.general, "help", "command", command="pin")
        await stage.ada.slash(stage.general, "stop")
        await stage.ada.slash(stage.general, "usage")
        await refused.hit(3)
        assert (await (await stage.ada.slash(stage.general, "stop")).message()).content
    assert stage.discord.messages_in(stage.ada.dm()) == []
    assert await stage.pool.fetchval("SELECT count(*) FROM action_receipts") == 0
