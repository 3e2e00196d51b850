"""Runs as an operator and a member meet them: budgets, the switch, the fallback, and what is left of them."""

import asyncio
from typing import Any

import asyncpg
import pytest
from pydantic import SecretStr

from agent.contracts import Usage
from agent.store import LOAD_STEPS_SQL
from bot.ai_events import AiEvent, AiEvents
from bot.composing import FAILURES
from bot.stops import switch_stop
from memory.ids import SpaceId
from sandbox.discord import Message
from sandbox.model import (
    Model,
    call,
    calls,
    context_length_exceeded,
    empty_answer,
    finished_as,
    malformed_arguments,
    reasoned,
    reset_connection,
    say,
    server_error,
    stall,
    truncated,
    without_index,
)
from sandbox.model import Usage as Counted
from tests.harness.stage import Stage


async def ask(stage: Stage, words: str = "well?") -> Message:
    return await stage.ada.says(stage.general, f"{stage.discord.bot.mention} {words}")


async def answered(stage: Stage, words: str = "well?", **settings: Any) -> str:
    """What Muninn answers to one question."""
    async with stage.muninn(**settings):
        answer = await stage.discord.wait_for_message(reply_to=await ask(stage, words), within=15)
    return answer.content


async def run_of(stage: Stage) -> asyncpg.Record:
    row = await stage.pool.fetchrow("SELECT * FROM agent_runs ORDER BY run_id DESC LIMIT 1")
    assert row is not None
    return row


# --- budgets and the switch ------------------------------------------------------------------------------------------


async def test_a_member_who_has_used_up_the_day_is_told_and_others_are_answered(stage: Stage) -> None:
    """The run that crosses the budget is finished; the next one of that member is not begun."""
    stage.model.default(say("Yes.", usage=Counted(900, 200)))
    async with stage.muninn(member_daily_tokens=1_000):
        replies = []
        for who in (stage.ada, stage.ada, stage.bob):
            asked = await who.says(stage.general, f"{stage.discord.bot.mention} hello")
            replies.append((await stage.discord.wait_for_message(reply_to=asked)).content)
        assert await stage.settled(3) == ["answered", "failed_told", "answered"]
    assert replies == ["Yes.", FAILURES["budget_member"], "Yes."]
    assert len(stage.model.requests) == 2
    spent = await stage.pool.fetch("SELECT space_id, member_id, tokens FROM token_spend ORDER BY member_id")
    assert {tuple(row) for row in spent} == {(stage.guild.id, who.id, 1_100) for who in (stage.ada, stage.bob)}


async def test_a_space_that_has_used_up_the_day_is_told(stage: Stage) -> None:
    """Whoever asks; a direct conversation is another space. What durable memory used counts, and embedding does not."""
    events = AiEvents(stage.pool)
    for purpose, tokens in (("extraction", 3_000), ("summary", 2_000), ("embedding", 10**6), ("answer", 10**6)):
        events.note(AiEvent(SpaceId(stage.guild.id), purpose, "m", "ok", 0.1, usage=Usage(tokens, 0)))
    await events.flush()
    assert await stage.pool.fetchval("SELECT tokens FROM token_spend") == 5_000
    stage.model.default(say("Yes."))
    async with stage.muninn(space_daily_tokens=5_000):
        told = await stage.discord.wait_for_message(reply_to=await ask(stage))
        private = await stage.discord.wait_for_message(reply_to=await stage.ada.says(stage.ada.dm(), "hello"))
    assert (told.content, private.content) == (FAILURES["budget_space"], "Yes.")


async def test_yesterday_is_forgotten(stage: Stage) -> None:
    await stage.pool.execute(
        "INSERT INTO token_spend VALUES ($1, (now() AT TIME ZONE 'UTC')::date - 1, $2, 10^9)",
        stage.guild.id,
        stage.ada.id,
    )
    stage.model.script(say("A new day."))
    assert await answered(stage, member_daily_tokens=1_000, space_daily_tokens=1_000) == "A new day."


async def test_the_switch_stops_what_runs_and_whoever_asks_is_told(stage: Stage) -> None:
    """At once, with nothing lost: events are journalled, and switched on again it answers."""
    gate = stage.model.hold()
    async with stage.muninn():
        first = await ask(stage)
        await gate.reached()
        async with stage.pool.acquire() as conn:
            await switch_stop(conn, is_on=True, reason="trying it out")
        assert (await stage.discord.wait_for_message(reply_to=first)).content == FAILURES["stopped"]
        second = await ask(stage)
        assert (await stage.discord.wait_for_message(reply_to=second)).content == FAILURES["stopped"]
        async with stage.pool.acquire() as conn:
            await switch_stop(conn, is_on=False)
        stage.model.script(say("Here I am."))
        assert (await stage.discord.wait_for_message(reply_to=await ask(stage))).content == "Here I am."
    runs = await stage.pool.fetch("SELECT state, end_reason FROM agent_runs ORDER BY run_id")
    assert [tuple(row) for row in runs] == [("failed", "stopped"), ("answered", "answered")]


async def test_the_setting_stops_it_too(stage: Stage) -> None:
    assert await answered(stage, stopped=True) == FAILURES["stopped"]
    assert stage.model.requests == []
    assert await stage.pool.fetchval("SELECT count(*) FROM chat_messages WHERE author_id = $1", stage.ada.id) == 1


# --- the provider ----------------------------------------------------------------------------------------------------


async def test_the_fallback_replies_where_the_first_is_away_and_is_named(stage: Stage) -> None:
    """In the step, the run and the event; the first one's key is not shown to the other endpoint (I13)."""
    stage.model.default(server_error(500))
    async with Model.start(name="second") as second:
        second.script(say("From the other one."))
        text = await answered(
            stage,
            fallback_model="second",
            fallback_base_url=second.base_url,
            fallback_api_key=SecretStr(second.api_key),
            price_prompt=1,
            price_completion=2,
        )
    assert text == "From the other one."
    steps = await stage.pool.fetch("SELECT fallback, reply ->> 'model' AS model FROM agent_steps")
    assert [tuple(row) for row in steps] == [(True, "second")]
    run = await run_of(stage)
    assert (run["fallback_steps"], run["cost"], run["model"]) == (1, 0, stage.model.name)
    events = await stage.pool.fetch("SELECT status, fallback, model, cost FROM ai_events ORDER BY ai_event_id")
    assert [tuple(row) for row in events] == [("ok", True, "second", None)]


async def test_a_key_is_not_shown_to_another_endpoint(stage: Stage) -> None:
    """I13: a fallback elsewhere without a key of its own is asked without one."""
    stage.model.default(server_error(500))
    async with Model.start(name="second", check_at_exit=False) as second:
        text = await answered(stage, fallback_model="second", fallback_base_url=second.base_url)
        assert [each.error.status for each in second.refusals] == [401]
        assert stage.model.api_key not in str(second.refusals)
    assert text == FAILURES["model_refused"]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
async def test_a_provider_that_misbehaves_in_every_way_is_understood(stage: Stage, stream: bool) -> None:
    """One run: calls without index, thoughts, an empty answer, malformed and truncated calls, calls as text."""
    search = call("memory_search", query="atlas")
    stage.model.script(
        without_index(calls(search, call("memory_search", query="other"))),
        reasoned(call("memory_search", query="third"), "I should look once more."),
        malformed_arguments("memory_search", '{"query": "atl'),
        truncated(call("discord_react", emoji="👍")),
        say('<tool_call>{"name": "memory_search", "arguments": {"query": "fourth"}}</tool_call>'),
        empty_answer(),
        finished_as(say("<think>Enough.</think>Nothing was said about atlas."), "end_turn"),
    )
    text = await answered(stage, model_stream=stream, max_steps=8)
    assert text == "Nothing was said about atlas."
    stage.model.assert_complete()
    codes = await stage.pool.fetch("SELECT step, tool, error_code FROM agent_tool_calls ORDER BY step, ordinal")
    assert [tuple(row) for row in codes] == [
        (0, "memory_search", None),
        (0, "memory_search", None),
        (1, "memory_search", None),
        (2, "memory_search", "malformed_arguments"),
        (3, "discord_react", "truncated"),
        (4, "memory_search", None),
    ]
    assert stage.discord.requests_to("PUT", "/channels/*/messages/*/reactions/**") == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(stall(60), "limit_time"), (reset_connection(), "model_unavailable"), (server_error(503), "model_unavailable")],
    ids=["stall", "reset", "503"],
)
async def test_a_provider_that_is_away_costs_a_sentence_and_no_more(stage: Stage, fault: Any, reason: str) -> None:
    stage.model.default(fault)
    assert await answered(stage, run_s=2.0, tool_s=1.0) == FAILURES[reason]
    run = await run_of(stage)
    assert (run["state"], run["end_reason"]) == ("failed", reason)


async def test_a_prompt_that_does_not_fit_is_made_shorter(stage: Stage) -> None:
    """A window that is smaller than was said: the older messages are left out, the request is not."""
    stage.model.script(context_length_exceeded(), say("It fits."))
    async with stage.muninn():
        for number in range(10):
            await stage.bob.says(stage.general, f"{number} " + "many words " * 60)
        await stage.until("SELECT 1 FROM chat_messages HAVING count(*) = 10")
        answer = await stage.discord.wait_for_message(reply_to=await ask(stage, "what was that?"))
    assert answer.content == "It fits."
    whole, shorter = (request.last_user_text for request in stage.model.requests)
    assert len(shorter) < len(whole)
    assert "older ones are left out" in shorter
    assert "> @Muninn what was that?" in shorter
    assert len(await stage.pool.fetch("SELECT 1 FROM agent_steps")) == 1


async def test_a_request_that_never_fits_is_told_as_that(stage: Stage) -> None:
    stage.model.default(context_length_exceeded())
    assert await answered(stage) == FAILURES["too_long"]
    assert (await run_of(stage))["error_code"] == "too_long"


async def test_the_member_is_told_what_a_limit_left_undone(stage: Stage) -> None:
    """Whatever the model says: two searches were cut from the batch."""
    asked = [call("memory_search", query=each) for each in ("a", "b", "c")]
    stage.model.script(calls(*asked), say("Here is all about it."))
    text = await answered(stage, max_calls=1)
    assert text == (
        "Here is all about it.\n\n(I reached my limit of work for one answer. Not done: memory_search (2 times).)"
    )


# --- what is left of a run -------------------------------------------------------------------------------------------


async def test_a_run_leaves_its_audit(stage: Stage) -> None:
    """Whose, where, which model, how much, how long, at what cost; a summary without words; previews without words."""
    stage.model.script(
        calls(call("memory_search", query="the secret atlas"), call("nothing", at="all")),
        say("It moves on Thursday.", usage=Counted(1_000, 100)),
    )
    await answered(stage, "when does the secret atlas move?", price_prompt=2, price_completion=10)
    run = await run_of(stage)
    trigger = (await stage.turns())[0]["trigger_id"]
    identity = (run["space_id"], run["place_id"], run["member_id"], run["trigger_id"])
    assert identity == (stage.guild.id, stage.general.id, stage.ada.id, trigger)
    assert run["queued_at"] <= run["started_at"] <= run["first_token_at"] <= run["last_token_at"] <= run["ended_at"]
    first = await stage.pool.fetchrow("SELECT * FROM agent_steps WHERE step = 0")
    assert first is not None
    tokens = (first["prompt_tokens"] + 1_000, first["completion_tokens"] + 100)
    assert (run["prompt_tokens"], run["completion_tokens"]) == tokens
    assert float(run["cost"]) == pytest.approx((2 * tokens[0] + 10 * tokens[1]) / 1_000_000)
    assert first["took_ms"] >= first["first_ms"] >= 0
    assert run["summary"] == ("Answered after 2 model calls. Called memory_search. 1 call named no tool that there is.")
    assert run["keywords"] == ["memory_search", "unknown_tool", "answered"]
    searched, unknown = await stage.pool.fetch("SELECT * FROM agent_tool_calls ORDER BY ordinal")
    assert searched["took_ms"] is not None
    for shown in (searched["arguments_preview"], searched["result_preview"], unknown["arguments_preview"]):
        assert "atlas" not in shown
        assert shown.startswith("{")


async def test_a_write_that_is_served_from_the_record_is_marked_so(stage: Stage) -> None:
    """I4: the second one changes nothing, says so, and counts; the third is one too many."""
    stage.model.script(*[call("discord_react", emoji="🎉")] * 3, say("There."))
    await answered(stage, "celebrate")
    rows = await stage.pool.fetch("SELECT state, from_record, error_code FROM agent_tool_calls ORDER BY step")
    assert [tuple(row) for row in rows] == [
        ("done", False, None),
        ("done", True, None),
        ("failed", False, "identical_calls"),
    ]
    assert len(stage.discord.requests_to("PUT", "/channels/*/messages/*/reactions/**")) == 1


async def test_each_request_is_an_event_and_none_of_them_can_break_a_run(stage: Stage) -> None:
    """With the table gone the run goes on, and the failure is logged."""
    stage.model.script(server_error(400), say("One."), say("Two."))
    async with stage.muninn():
        await stage.discord.wait_for_message(reply_to=await ask(stage))
        await stage.discord.wait_for_message(reply_to=await ask(stage))
        rows = await stage.until(
            "SELECT array_agg(status ORDER BY ai_event_id) AS s FROM ai_events HAVING count(*) = 2"
        )
        assert rows["s"] == ["failed", "ok"]
        await stage.pool.execute("ALTER TABLE ai_events RENAME TO gone")
        await stage.discord.wait_for_message(reply_to=await ask(stage))
        assert (await stage.settled(3))[-1] == "answered"
    event = await stage.pool.fetchrow("SELECT * FROM gone WHERE status = 'ok'")
    assert event is not None
    assert (event["purpose"], event["model"], event["member_id"]) == ("answer", stage.model.name, stage.ada.id)
    assert event["messages"] == 2
    assert event["prompt_tokens"] > 0


async def test_a_cancelled_run_leaves_a_transcript_that_a_provider_takes(stage: Stage) -> None:
    """I10: deleted while a reaction is under way: it may have been made; the search behind it certainly was not."""
    held = stage.discord.faults.rest("PUT", "/channels/*/messages/*/reactions/**").hold()
    stage.model.script(calls(call("discord_react", emoji="👍"), call("memory_search", query="x")))
    async with stage.muninn():
        asked = await ask(stage, "thumbs up")
        await held.hit()
        await stage.ada.deletes(asked)
        assert await stage.settled(1) == ["cancelled"]
        held.release()
    rows = await stage.pool.fetch(LOAD_STEPS_SQL, (await run_of(stage))["run_id"])
    assert [row["error_code"] for row in rows] == ["unknown", "not_started"]
    assert "may still have completed: check before repeating" in rows[0]["result"]
    assert "had no effect" in rows[1]["result"]
    run = await run_of(stage)
    assert run["summary"].startswith("Cancelled, since the message was deleted, after 1 model call.")


async def test_a_late_result_updates_its_receipt_and_never_the_transcript(stage: Stage) -> None:
    """Discord answers after the tool's time: the model was told that it is not certain, and the receipt learns it."""
    held = stage.discord.faults.rest("PUT", "/channels/*/messages/*/reactions/**").accept_then_hold()
    stage.model.script(call("discord_react", emoji="👍"), say("I am not certain that I could."))
    async with stage.muninn(tool_s=0.5, reconcile_s=0.5):
        asked = await ask(stage, "thumbs up")
        await stage.discord.wait_for_message(reply_to=asked)
        held.release()
        await stage.until("SELECT 1 FROM action_receipts WHERE action = 'react' AND state = 'applied'")
    assert '"code":"unknown"' in stage.model.requests[1].tool_results[0].text
    states = await stage.pool.fetch("SELECT state, error_code FROM agent_tool_calls")
    assert [tuple(row) for row in states] == [("failed", "unknown")]
    assert len(stage.discord.requests_to("PUT", "/channels/*/messages/*/reactions/**")) == 1


async def test_a_run_that_was_cut_off_goes_on_with_what_it_has(stage: Stage) -> None:
    """I3: the process stops in the second model call; the next one asks only that again, with the same transcript."""
    stage.model.script(calls(call("memory_search", query="x"), call("discord_react", emoji="👍")))
    gate = stage.model.hold()
    async with stage.muninn(drain_s=1.1):
        asked = await ask(stage, "and thumbs up")
        await gate.reached()
    stage.model.script(say("Done."))
    async with stage.muninn():
        assert (await stage.discord.wait_for_message(reply_to=asked)).content == "Done."
    _, before, after = stage.model.requests
    assert after.body["messages"] == before.body["messages"]
    assert len(stage.discord.requests_to("PUT", "/channels/*/messages/*/reactions/**")) == 1
    assert await stage.pool.fetchval("SELECT count(*) FROM agent_runs") == 1


# --- many at once ----------------------------------------------------------------------------------------------------


async def test_a_flood_in_one_channel_starves_nobody_and_nothing_crosses(stage: Stage) -> None:
    """Three channels, one of them flooded by Ada; Bob asks in it too, and Cleo and Dan elsewhere."""
    cleo, dan = stage.guild.add_member("Cleo"), stage.guild.add_member("Dan")
    two, three = stage.guild.create_channel("two"), stage.guild.create_channel("three")
    stage.model.default(lambda request: say("to " + request.last_user_text.rsplit("> @Muninn ", 1)[-1], delay=0.05))
    mention = stage.discord.bot.mention
    async with stage.muninn(workers=3):
        flood = [await stage.ada.says(stage.general, f"{mention} flood {n}") for n in range(8)]
        others = [
            await who.says(where, f"{mention} {word}")
            for who, where, word in (
                (stage.bob, stage.general, "bob one"),
                (cleo, two, "cleo"),
                (dan, three, "dan"),
                (stage.bob, stage.general, "bob two"),
            )
        ]
        replies = [await stage.discord.wait_for_message(reply_to=each, within=20) for each in others]
        last = await stage.discord.wait_for_message(reply_to=flood[-1], within=20)
        assert await stage.settled(12, within=20) == ["answered"] * 12
    assert [each.content for each in replies] == ["to bob one", "to cleo", "to dan", "to bob two"]
    assert max(each.id for each in replies) < last.id, (
        "those who asked once or twice were served before the flood ended"
    )
    for asked in (*flood, *others):
        (reply,) = stage.discord.replies_to(asked)
        assert reply.content == f"to {asked.content.split('> ', 1)[-1]}"
        assert reply.channel == asked.channel


async def test_runs_side_by_side_share_no_budget_of_calls(stage: Stage) -> None:
    """Each run has its own limits, ids and results, however they interleave."""
    places = [stage.general, *(stage.guild.create_channel(f"room-{n}") for n in range(3))]

    async def turn(request: Any) -> Any:
        await asyncio.sleep(0.02)
        word = request.messages[1].text.rsplit("> @Muninn ", 1)[-1]
        done = sum(len(message.tool_calls) for message in request.messages)
        return call("memory_search", query=f"{word} {done}") if done < 3 else say(f"{word} is done")

    stage.model.default(turn)
    async with stage.muninn(max_calls=3, workers=4):
        asked = [await stage.ada.says(p, f"{stage.discord.bot.mention} word{n}") for n, p in enumerate(places)]
        for number, each in enumerate(asked):
            reply = await stage.discord.wait_for_message(reply_to=each, within=15)
            assert reply.content == f"word{number} is done"
    counts = await stage.pool.fetch("SELECT count(*) FROM agent_tool_calls GROUP BY run_id")
    assert [row["count"] for row in counts] == [3, 3, 3, 3]
