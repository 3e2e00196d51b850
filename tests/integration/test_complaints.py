"""What users of other bots complain about, each shown not to happen here (I1-I4, I11, I16).

Those that have a test where they belong (parts, tables, mentions, forwards, pastes, limits) are not repeated.
"""

import asyncio
import time

import pytest

from sandbox.discord import File, Permission
from sandbox.model import call, say
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")
PATCH = ("PATCH", "/channels/*/messages/*")
TYPING = ("POST", "/channels/*/typing")


async def test_an_outage_of_one_guild_and_a_line_that_keeps_breaking_stop_no_other_work(stage: Stage) -> None:
    """What runs goes on while the gateway refuses every attempt, and another guild's outage is its own."""
    other = stage.discord.create_guild("Elsewhere")
    hall, eve = other.create_channel("hall"), other.add_member("Eve")
    gate = stage.model.hold()
    async with stage.muninn():
        stage.guild.goes_down()
        asked = await eve.says(hall, f"{stage.discord.bot.mention} slowly, please")
        await gate.reached()
        async with stage.discord.gateway_offline():
            gate.release(say("Done meanwhile."))
            await stage.discord.wait_for_message(reply_to=asked)
            missed = await stage.ada.says(stage.general, "nobody listens")
        for _ in range(3):
            await stage.discord.wait_for_session(within=15)
            await stage.discord.disconnect_bots(abort=True)
        stage.model.default(say("Still here."))
        again = await eve.says(hall, f"{stage.discord.bot.mention} and now?")
        await stage.discord.wait_for_message(reply_to=again, within=15)
        stage.guild.comes_back()
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", missed.id)
        assert await stage.settled(2) == ["answered"] * 2


async def test_a_message_that_comes_by_backfill_and_live_at_once_is_answered_once(stage: Stage) -> None:
    """I2: its page is under way when the gateway brings it, too."""
    stage.model.default(say("Once."))
    async with stage.muninn():
        before = await stage.bob.says(stage.general, "before")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", before.id)
        await stage.until("SELECT 1 FROM gateway_gaps HAVING count(closed_at) = 1")
    asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello?")
    page = stage.discord.faults.rest("GET", f"/channels/{stage.general.id}/messages").accept_then_hold()
    async with stage.muninn():
        await page.hit()
        await stage.discord.redelivers(asked)
        await stage.discord.wait_for_message(reply_to=asked)
        page.release()
        await stage.until("SELECT 1 FROM gateway_gaps HAVING count(closed_at) = 2")
        assert await stage.settled(1) == ["answered"]
    assert len(stage.discord.bot_messages()) == 1
    assert len(stage.model.requests) == 1


async def test_a_thread_that_was_archived_meanwhile_opens_for_the_answer(stage: Stage) -> None:
    """As for anybody who writes in it."""
    gate = stage.model.hold()
    async with stage.muninn():
        thread = await stage.ada.starts_thread(stage.general, "Plans")
        asked = await stage.ada.says(thread, f"{stage.discord.bot.mention} well?")
        await gate.reached()
        thread.archive()
        gate.release(say("Here."))
        await stage.discord.wait_for_message(reply_to=asked)
    assert not thread.archived


async def test_a_thread_that_was_locked_meanwhile_ends_the_turn_with_the_reason(stage: Stage) -> None:
    """Archived too, or not: Discord refuses once, nothing is tried again, and the next question is answered."""
    async with stage.muninn():
        for archived in (False, True):
            gate = stage.model.hold()
            thread = await stage.ada.starts_thread(stage.general, "Plans")
            await stage.ada.says(thread, f"{stage.discord.bot.mention} well?")
            await gate.reached()
            thread.lock()
            if archived:
                thread.archive(locked=True)
            gate.release(say("Too late."))
            assert await stage.settled(1 + archived) == ["cancelled"] * (1 + archived)
            assert len(stage.discord.requests_to("POST", f"/channels/{thread.id}/messages")) == 1
        stage.model.script(say("Here."))
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
    reasons = [row["end_reason"] for row in await stage.turns()][:2]
    assert reasons == ["undeliverable:discord_160005", "undeliverable:discord_50083"]


async def test_a_locked_thread_that_only_ever_answers_500_ends_the_turn_with_the_reason(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Discord does not say that it is locked; it is looked up, and nothing is tried for half an hour."""
    monkeypatch.setattr("bot.rest.ATTEMPT_S", 0.8)
    stage.model.default(say("Here."))
    async with stage.muninn():
        thread = await stage.ada.starts_thread(stage.general, "Plans")
        fault = stage.discord.faults.rest("POST", f"/channels/{thread.id}/messages", times=None).status(500)
        await stage.ada.says(thread, f"{stage.discord.bot.mention} well?")
        await fault.hit()
        thread.lock()
        assert await stage.settled(1) == ["cancelled"]
    assert (await stage.turns())[0]["end_reason"] == "undeliverable:thread_locked"
    assert len(stage.discord.requests_to("POST", f"/channels/{thread.id}/messages")) < 10


async def test_a_draft_in_a_thread_that_is_locked_and_answers_500_ends_with_the_reason(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last change of a draft is no other than a message: it is looked up, and not tried for half an hour."""
    monkeypatch.setattr("bot.rest.ATTEMPT_S", 0.8)
    monkeypatch.setattr("bot.delivery.STINT_S", 1.5)
    monkeypatch.setattr("bot.drafts.REMOVE_WITHIN_S", 0.5)
    gate = stage.model.hold()
    async with stage.muninn(progress_s=0.2):
        thread = await stage.ada.starts_thread(stage.general, "Plans")
        await stage.ada.says(thread, f"{stage.discord.bot.mention} well?")
        await gate.reached()
        await stage.discord.wait_for_message(in_=thread, by=stage.discord.bot)
        for method in ("PATCH", "DELETE", "POST"):
            stage.discord.faults.rest(method, f"/channels/{thread.id}/messages/**", times=None).status(500)
        stage.discord.faults.rest("POST", f"/channels/{thread.id}/messages", times=None).status(500)
        thread.lock()
        gate.release(say("Too late."))
        assert await stage.settled(1, within=20) == ["cancelled"]
    assert (await stage.turns())[0]["end_reason"] == "undeliverable:thread_locked"


async def test_a_thread_from_a_mention_gets_a_title_that_discord_takes_or_a_plain_refusal(stage: Stage) -> None:
    """I16: a title of more than 100 characters comes back to the model, and not to Discord; the next one is made."""
    title = "Plans for the winter " * 8
    stage.model.script(
        call("discord_create_thread", name=title), call("discord_create_thread", name=title[:100]), say("There it is.")
    )
    stage.guild.me.give(stage.guild.create_role("threads", permissions=Permission.CREATE_PUBLIC_THREADS))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} start a thread called {title[:100]}")
        await stage.discord.wait_for_message(reply_to=asked)
    first, second = (request.tool_results[-1].text for request in stage.model.requests[1:])
    assert '"ok":false' in first.replace(" ", "")
    assert "100" in first
    assert '"ok":true' in second.replace(" ", "")
    assert [thread.name for thread in stage.guild.threads.values()] == [title[:100].strip()]


async def test_what_a_tool_brings_pings_nobody(stage: Stage) -> None:
    """I11: a mention of a role and of everyone that somebody wrote is found, and said again."""
    crew = stage.guild.create_role("crew", mentionable=True)
    loud = stage.guild.create_role("loud", permissions=Permission.MENTION_EVERYONE)
    stage.guild.me.give(loud)
    words = f"the password is for <@&{crew.id}> and @everyone"
    stage.model.script(call("memory_search", query="password"), say(words))
    async with stage.muninn():
        await stage.bob.says(stage.general, words)
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} who is the password for?")
        await stage.discord.wait_for_message(reply_to=asked)
    assert str(crew.id) in stage.model.requests[1].tool_results[-1].text
    assert [(p.pings.users, p.pings.roles, p.pings.everyone) for p in stage.discord.pings] in ([], [((), (), False)])


async def test_an_answer_is_plain_words_without_embeds_and_its_reply_pings_nobody(stage: Stage) -> None:
    """Nothing that a phone shows badly, and no second ping beside the words'."""
    stage.model.script(say("**Plain** words."))
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        answer = await stage.discord.wait_for_message()
    assert (answer.embeds, answer.components, answer.flags) == ([], [], 0)
    assert stage.discord.pings == [] or stage.discord.pings[-1].pings.replied_user is None


async def test_in_a_direct_conversation_it_knows_what_was_said_before_without_a_reply(stage: Stage) -> None:
    """And after /new it does not."""
    stage.model.default(say("Nice."))
    dm = stage.ada.dm()
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        for words in ("my cat is called Schrodinger", "what is it called?"):
            asked = await stage.ada.says(dm, words)
            await stage.discord.wait_for_message(reply_to=asked)
        assert "Schrodinger" in stage.model.requests[-1].last_user_text
        await (await stage.ada.slash(dm, "new")).message()
        asked = await stage.ada.says(dm, "and now?")
        await stage.discord.wait_for_message(reply_to=asked)
    assert "called Schrodinger" not in stage.model.requests[-1].last_user_text.split("before, and answered")[0]


async def test_a_reply_to_a_message_that_is_gone_is_answered(stage: Stage) -> None:
    """Discord shows what it answers without words and author; what it asks is all that counts."""
    stage.model.script(say("It is gone."))
    async with stage.muninn():
        first = await stage.bob.says(stage.general, "look at this")
        reply = await stage.ada.says(stage.general, "hm", reply_to=first)
        await stage.bob.deletes(first)
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1 AND deleted_at IS NOT NULL", first.id)
        await stage.ada.edits(reply, f"{stage.discord.bot.mention} what was that?")
        await stage.discord.wait_for_message(reply_to=reply)
    shown = stage.model.requests[-1].last_user_text
    assert "what was that?" in shown
    assert "look at this" not in shown


async def test_typing_is_renewed_while_a_tool_works_and_through_an_outage_of_typing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins soon, does not end after ten seconds, is not stopped by Discord's 500, and is over with the answer."""
    monkeypatch.setattr("bot.writes.TYPING_EVERY_S", 0.05)
    stage.discord.faults.rest(*TYPING).status(500)
    slow = stage.discord.faults.rest("GET", "/channels/*").hold()
    stage.model.script(call("discord_read_messages", limit=3), say("Read."))
    async with stage.muninn(progress_s=0):
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} what was said?")
        await slow.hit()
        begun = len(stage.discord.typing_log)
        await stage.discord.wait_until(lambda: len(stage.discord.typing_log) >= begun + 3, what="typing")
        slow.release()
        await stage.discord.wait_for_message(reply_to=asked)
        assert await stage.settled(1) == ["answered"]
        over = len(stage.discord.requests_to(*TYPING))
        await stage.discord.expect_silence(stage.general, for_=0.3)
        assert len(stage.discord.requests_to(*TYPING)) <= over + 1


async def test_a_draft_that_is_too_old_to_be_edited_becomes_a_message_of_its_own(stage: Stage) -> None:
    """Discord: 30046, the most edits of messages older than an hour. The answer is there once all the same."""
    refused = b'{"code": 30046, "message": "Maximum number of edits to messages older than 1 hour reached"}'
    stage.discord.faults.rest(*PATCH, times=None).status(429, refused, html=False)
    gate = stage.model.hold()
    async with stage.muninn(progress_s=0.1):
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} think")
        await stage.discord.wait_for_message(reply_to=asked)
        stage.discord.faults.clear()
        stage.discord.faults.rest(*PATCH, times=None).status(400, refused, html=False)
        gate.release(say("Thought."))
        assert await stage.settled(1, within=20) == ["answered"]
    assert [m.content for m in stage.discord.bot_messages()] == ["Thought."]


async def test_who_asks_is_never_met_with_silence(stage: Stage) -> None:
    """Whatever the model writes: an answer that can be seen, or a sentence that there is none."""
    async with stage.muninn():
        for text in ("   ", "\u200b", '{"speak": false}', "NO_REPLY"):
            stage.model.default(say(text))
            asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello?")
            answer = await stage.discord.wait_for_message(reply_to=asked)
            assert answer.content.strip(" \u200b"), text
        assert set(await stage.settled(4)) <= {"answered", "failed_told"}


async def test_a_run_over_much_text_never_holds_the_loop(stage: Stage) -> None:
    """Heartbeats go out meanwhile: no step of the loop takes a quarter of a second of its thread, whatever the machine
    does besides."""
    stage.model.default(say("That is a lot."))
    worst = 0.0

    async def watch() -> None:
        nonlocal worst
        while True:
            began = time.thread_time()
            await asyncio.sleep(0.01)
            worst = max(worst, time.thread_time() - began)

    words = " ".join(f"word{n} 漢字 `code` https://example.com/{n}" for n in range(60))
    async with stage.muninn():
        for _ in range(40):
            await stage.bob.says(stage.general, words[:2_000])
        files = [File("log.txt", ("a line of the log\n" * 40_000).encode(), "text/plain")]
        watching = asyncio.create_task(watch())
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} what is all this?", files=files)
        await stage.discord.wait_for_message(reply_to=asked, within=15)
        watching.cancel()
    assert worst < 0.25
