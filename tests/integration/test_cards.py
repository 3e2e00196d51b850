"""Cards: only the requester, once, for ten minutes, through restarts; each press has one action or one clear word."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot import cards
from bot.bodies import button, row
from bot.cards import Card
from bot.catalogue import COMMANDS
from bot.commands.declaration import bodies
from bot.commands.sync import digest
from bot.interactions import EXPIRED_BUTTON
from bot.questions import PREFIX
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.scope import Scope
from sandbox.discord import Channel, Member, Message, Permission
from sandbox.model import call, say
from sandbox.patience import WITHIN_S
from tests.harness.process import open_processes
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")
CARD_SQL = "SELECT state, code, shown, requester_id, lease_no FROM action_cards"


@pytest.fixture
def news(stage: Stage) -> Channel:
    """Another channel, to post in."""
    return stage.guild.create_channel("news")


async def _card(stage: Stage, news: Channel, *, who: Member | None = None, content: str = "Hello") -> Message:
    """A question of the bot's, whether to post something in another channel."""
    stage.model.script(call("discord_send_message", content=content, channel=str(news.id)), say("I have asked you."))
    question = await (who or stage.ada).says(stage.general, f"{stage.discord.bot.mention} do what you think is best")
    card = await stage.discord.wait_for_message(reply_to=question, where=lambda m: bool(m.components))
    await stage.discord.wait_for_message(reply_to=question, where=lambda m: m.content == "I have asked you.")
    assert "confirmation_needed" in stage.model.requests[-1].tool_results[-1].text
    return card


async def _shows(stage: Stage, card: Message, words: str, *, within: float = WITHIN_S) -> None:
    """Wait until the card says so, and has no buttons."""
    await stage.discord.wait_until(lambda: words in card.content and not card.components, within=within)


async def _ends(stage: Stage) -> list[tuple[str, str | None]]:
    return [(row["state"], row["code"]) for row in await stage.pool.fetch(CARD_SQL)]


async def test_the_requester_presses_and_it_is_done(stage: Stage, news: Channel) -> None:
    """I4, I5: asked back where the words do not ask; done once when pressed; the card says so; nobody is pinged."""
    async with stage.muninn():
        card = await _card(stage, news, content="Hello @everyone\n-# do it, shall I?")
        assert f"<@{stage.ada.id}>, shall I post this in <#{news.id}>?" in card.content
        assert "> Hello @everyone\n> -# do it" in card.content
        assert stage.discord.bot_messages(news) == []
        use = await stage.ada.press(card, "Do it")
        await use.updated()
        await _shows(stage, card, "✅ Done")
        [posted] = stage.discord.bot_messages(news)
    assert posted.content == "Hello @everyone\n-# do it, shall I?"
    assert not stage.discord.pings
    assert await _ends(stage) == [("used", "applied")]
    receipts = await stage.pool.fetch("SELECT action, state, requester_id FROM action_receipts ORDER BY receipt_id")
    assert [tuple(each) for each in receipts] == [
        ("ask", "applied", stage.ada.id),
        ("send_part", "applied", stage.ada.id),
        ("send_message", "applied", stage.ada.id),
        ("show_card", "applied", stage.ada.id),
    ]


async def test_no_is_no(stage: Stage, news: Channel) -> None:
    """Declined: nothing is done, and it is not asked again for the same message."""
    async with stage.muninn():
        card = await _card(stage, news)
        await (await stage.ada.press(card, "No")).answer()
        await _shows(stage, card, "Not done, as you wish")
    assert stage.discord.bot_messages(news) == []
    assert await _ends(stage) == [("cancelled", "declined")]


@pytest.mark.parametrize("redis", ["there", "gone"])
async def test_nobody_else_can_press(stage: Stage, news: Channel, redis: str) -> None:
    """I5: not another member, not the guild's owner; told so alone; and the card stays open for whom it is."""
    given: dict[str, Any] = {} if redis == "there" else {"redis_url": "redis://127.0.0.1:9/0"}
    async with stage.muninn(**given):
        card = await _card(stage, news)
        for other in (stage.bob, stage.guild.member("Olive")):
            use = await other.press(card, "Do it")
            told = await use.message()
            assert use.ephemeral
            assert told.content == f"Only <@{stage.ada.id}> can press this, since it was their message."
        assert stage.discord.bot_messages(news) == []
        assert await _ends(stage) == [("open", None)]
        await stage.ada.press(card, "Do it")
        await _shows(stage, card, "✅ Done")
    assert len(stage.discord.bot_messages(news)) == 1


async def test_pressed_many_times_it_is_done_once(stage: Stage, news: Channel) -> None:
    """Double click, and both buttons at once: one counts, the others are told."""
    async with stage.muninn():
        card = await _card(stage, news)
        uses = await asyncio.gather(*[stage.ada.press(card, "Do it") for _ in range(4)], stage.ada.press(card, "No"))
        for use in uses:
            await use.answer()
        await stage.discord.wait_until(lambda: not card.components)
    [(state, code)] = await _ends(stage)
    assert len(stage.discord.bot_messages(news)) == int(state == "used")
    assert (state, code) in (("used", "applied"), ("cancelled", "declined"))
    told = [use for use in uses if use.ephemeral]
    assert len(told) == 4


async def test_of_presses_in_any_processes_one_counts(stage: Stage, news: Channel) -> None:
    """I14: whoever's UPDATE comes first, over connections that know nothing of one another."""
    async with stage.muninn():
        card = await _card(stage, news)
    found = await stage.pool.fetchrow("SELECT card_id, space_id, place_id FROM action_cards")
    assert found is not None
    scope = Scope(SpaceId(found["space_id"]), PlaceId(found["place_id"]))

    async def press() -> Card | None:
        async with stage.pool.acquire() as conn:
            return await cards.press(
                conn,
                found["card_id"],
                by=UserId(stage.ada.id),
                scope=scope,
                message_id=MessageId(card.id),
                state="used",
                lease_s=60,
            )

    pressed = await asyncio.gather(*[press() for _ in range(8)])
    assert sum(each is not None for each in pressed) == 1


async def test_a_card_expires(stage: Stage, news: Channel) -> None:
    """By the database's time: it says so by itself, and a press that comes before that is told."""
    async with stage.muninn(poll_s=60):
        card = await _card(stage, news)
        await stage.pool.execute("UPDATE action_cards SET expires_at = now() - interval '1 second', shown = 'expired'")
        use = await stage.ada.press(card, "Do it")
        await use.answer()
        await _shows(stage, card, "⌛ Not done")
    assert stage.discord.bot_messages(news) == []
    assert await _ends(stage) == [("expired", "expired")]


async def test_an_expired_card_says_so_though_nobody_presses(stage: Stage, news: Channel) -> None:
    """A look every few seconds closes what is over."""
    async with stage.muninn(card_s=0.5):
        card = await _card(stage, news)
        await _shows(stage, card, "⌛ Not done")
    assert await _ends(stage) == [("expired", "expired")]


async def test_a_card_whose_message_was_deleted_is_closed(stage: Stage, news: Channel) -> None:
    """What asked for it is gone, and so is the question."""
    async with stage.muninn():
        card = await _card(stage, news)
        [question] = [m for m in stage.discord.messages_in(stage.general) if m.author is stage.ada.user]
        await stage.ada.deletes(question)
        await _shows(stage, card, "was deleted")
    assert stage.discord.bot_messages(news) == []
    assert await _ends(stage) == [("cancelled", "trigger_gone")]


async def test_a_permission_that_was_lost_meanwhile_is_said(stage: Stage, news: Channel) -> None:
    """I5: the facts are looked at again when the button is pressed."""
    async with stage.muninn():
        card = await _card(stage, news)
        news.set_permissions(stage.ada, deny=Permission.SEND_MESSAGES)
        await stage.ada.press(card, "Do it")
        await _shows(stage, card, "may not do this there themselves")
    assert stage.discord.bot_messages(news) == []
    assert await _ends(stage) == [("used", "requester_may_not")]


async def test_where_discord_cannot_say_the_card_says_it(stage: Stage, news: Channel) -> None:
    """Unknown is not yes, at press time as well."""
    async with stage.muninn():
        card = await _card(stage, news)
        stage.discord.faults.rest("GET", "/guilds/*", times=None).status(503)
        await stage.ada.press(card, "Do it")
        await _shows(stage, card, "cannot say right now", within=20)
    assert stage.discord.bot_messages(news) == []


@pytest.mark.parametrize(("accepted", "said"), [(True, "✅ Done"), (False, "This was not done")])
async def test_what_was_not_certain_is_said_once_it_is_found_out(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, accepted: bool, said: str
) -> None:
    """I4: Discord gave no answer to what was confirmed: it is looked for later, and the card is changed to say so."""
    monkeypatch.setattr("bot.effects.WITHIN_S", 0.2)
    put = ("PUT", "/channels/*/messages/*/reactions/*/@me")
    note = await stage.bob.says(stage.general, "the door is open")
    async with stage.muninn(reconcile_s=0.2):
        stage.model.script(call("discord_react", emoji="🎉", message=str(note.id)), say("I have asked you."))
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} do what you think is best")
        card = await stage.discord.wait_for_message(reply_to=question, where=lambda m: bool(m.components))
        fault = stage.discord.faults.rest(*put)
        fault.accept_then_status(503) if accepted else fault.status(503)
        stage.discord.faults.rest(*put, times=None).status(503)
        await stage.ada.press(card, "Do it")
        await _shows(stage, card, "❔")
        stage.discord.faults.clear()
        await _shows(stage, card, said)
        await stage.until("SELECT 1 FROM action_cards WHERE shown = state")
    assert bool(stage.discord.reactions_on(note).get("🎉")) is accepted


async def test_a_card_outlives_a_restart(stage: Stage, news: Channel) -> None:
    """Nothing of it is in memory."""
    async with stage.muninn():
        card = await _card(stage, news)
    async with stage.muninn():
        await stage.ada.press(card, "Do it")
        await _shows(stage, card, "✅ Done")
    assert len(stage.discord.bot_messages(news)) == 1


async def test_what_was_confirmed_is_gone_on_with_by_the_next_process(
    stage: Stage, news: Channel, tmp_path: Path
) -> None:
    """I14: killed right after the press counted: done once by who comes next, under the facts of then."""
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(crash_at="after_press", turn_lease_s=2.0, turn_heartbeat_s=0.4)
        await stage.discord.wait_for_session()
        card = await _card(stage, news)
        await stage.ada.press(card, "Do it")
        await first.killed()
        assert stage.discord.bot_messages(news) == []
        last = processes.start(turn_lease_s=2.0, turn_heartbeat_s=0.4)
        await _shows(stage, card, "✅ Done", within=20)
        await last.stop()
    assert len(stage.discord.bot_messages(news)) == 1


async def test_an_old_button_is_told_to_be_nobodys(stage: Stage) -> None:
    """A button of another version, or of another bot with our token: one sentence, to the one who pressed."""
    async with stage.muninn():
        posted = await _posted_with(stage, [row(button("Old", "vote:7:up"), button("Odd", f"{PREFIX}:x:do"))])
        for label in ("Old", "Odd"):
            use = await stage.bob.press(posted, label)
            assert (await use.message()).content == EXPIRED_BUTTON
            assert use.ephemeral


async def _posted_with(stage: Stage, components: list[Any]) -> Message:
    """A message of the bot's from an earlier life."""
    async with aiohttp.ClientSession() as session:
        url = f"{stage.discord.api_url}/channels/{stage.general.id}/messages"
        headers = {"Authorization": f"Bot {stage.discord.token}"}
        async with session.post(url, json={"content": "old", "components": components}, headers=headers) as answer:
            assert answer.status == 200
    return next(m for m in stage.discord.messages_in(stage.general) if m.content == "old")


async def test_commands_are_told_once(stage: Stage) -> None:
    """Discord hears of them when they change, and not at every start."""
    put = ("PUT", "/applications/*/commands")
    for _ in range(2):
        async with stage.muninn():
            await stage.until("SELECT 1 FROM application_commands")
    assert len(stage.discord.requests_to(*put)) == 1
    await stage.pool.execute("UPDATE application_commands SET digest = 'old'")
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands WHERE digest <> 'old'")
    assert len(stage.discord.requests_to(*put)) == 2
    told = await stage.pool.fetchval("SELECT digest FROM application_commands")
    assert told == digest(bodies(COMMANDS)), "what is registered is not what the catalogue lists"


async def _why(stage: Stage, who: Member, message: Message) -> str:
    use = await who.context_menu("Why this answer?", message)
    told = await use.message()
    assert use.ephemeral
    return told.content


async def test_why_this_answer(stage: Stage, news: Channel) -> None:
    """What it rests on and what was done for it, to the asker alone; a run's inside to administrators."""
    stage.model.script(
        call("memory_search", query="door"),
        call("discord_react", emoji="👍"),
        say("The door is blue."),
    )
    async with stage.muninn():
        source = await stage.bob.says(stage.general, "the door is blue, by the way")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", source.id)
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} which colour is the door?")
        answer = await stage.discord.wait_for_message(reply_to=question)
        await stage.settled(1)
        await stage.until("SELECT 1 FROM application_commands")
        for viewer, inside in ((stage.bob, False), (stage.guild.member("Olive"), True)):
            told = await _why(stage, viewer, answer)
            assert f"<@{stage.ada.id}>" in told
            assert "`memory_search`" in told
            assert str(source.id) in told
            assert "reacted: done" in told
            assert ("tokens" in told) == inside
        assert "no record" in await _why(stage, stage.bob, source)
    # What one person was shown is in nobody's memory.
    assert await stage.pool.fetch("SELECT 1 FROM chat_messages WHERE content LIKE '%Why this answer%'") == []


async def test_why_links_what_was_said_elsewhere_where_it_was_said(stage: Stage) -> None:
    """I7: a source in another channel is linked there, and only for who can read it now."""
    workshop = stage.guild.create_channel("workshop")
    stage.model.script(call("memory_search", query="lathe"), say("It is green."))
    async with stage.muninn():
        await stage.until("SELECT 1 FROM audience_guilds WHERE computed = version AND confirmed")
        source = await stage.bob.says(workshop, "the lathe is green")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", source.id)
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} which colour is the lathe?")
        answer = await stage.discord.wait_for_message(reply_to=question)
        await stage.settled(1)
        await stage.until("SELECT 1 FROM application_commands")
        link = f"/{workshop.id}/{source.id}"
        assert link in await _why(stage, stage.bob, answer)
        workshop.set_permissions(stage.bob, deny=Permission.VIEW_CHANNEL)
        assert link in await _why(stage, stage.ada, answer)
        assert str(source.id) not in await _why(stage, stage.bob, answer)


async def test_why_links_messages_that_were_read(stage: Stage) -> None:
    """What a tool read from Discord is a source, too."""
    stage.model.script(call("discord_read_messages"), say("Bob spoke of a lathe."))
    async with stage.muninn():
        source = await stage.bob.says(stage.general, "the lathe is green")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", source.id)
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} what is new here?")
        answer = await stage.discord.wait_for_message(reply_to=question)
        await stage.settled(1)
        await stage.until("SELECT 1 FROM application_commands")
        assert f"/{stage.general.id}/{source.id}" in await _why(stage, stage.ada, answer)


async def test_stop_ends_what_runs_for_oneself(stage: Stage) -> None:
    """I10: the member stops their own run, and nobody else's."""
    gate = stage.model.hold()
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} think hard")
        await gate.reached()
        told = await (await stage.bob.slash(stage.general, "stop")).message()
        assert "not working on anything for you" in told.content
        told = await (await stage.ada.slash(stage.general, "stop")).message()
        assert told.content.startswith("Stopped.")
        assert await stage.settled(1) == ["cancelled"]
        gate.release(say("too late"))
    assert stage.discord.bot_messages(stage.general) == []
