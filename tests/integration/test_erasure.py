"""I15: forget means everywhere. After an erasure nothing in any table or in Redis names them or says their words."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, cast

import asyncpg
import pytest
import redis.asyncio as redis

from bot.erasure import members, requests
from bot.erasure.requests import Seal
from bot.erasure.worker import Eraser
from bot.ingress.seen import Seen
from bot.interactions import EXPIRED_BUTTON
from memory.ids import PlaceId, SpaceId, UserId
from memory.items import Draft, remember
from memory.scope import Scope
from sandbox.discord import Message
from sandbox.model import ChatRequest, Completion, call, say, say_json
from tests.harness.erasing import found_in, tables
from tests.harness.remembering import Mind, entry, heard, is_extraction, open_mind
from tests.harness.stage import Stage
from tests.harness.told import Talk

CANARY = "zanzibar-cloves-4711"
ADA = 70_133
SEAL = Seal(b"a key of these tests")

QUICK: dict[str, Any] = {
    "memory_quiet_s": 0.1,
    "memory_longest_s": 0.5,
    "poll_s": 0.1,
    "erasure_again_s": 1.5,  # longer than what was asked of models waits to be written
    "summary_messages": 2,
    "embedding_dimensions": 1024,
}

CALM: dict[str, Any] = {"poll_s": 0.1, "erasure_again_s": 0.2}

# Tables in which a person may leave something, and what is left there after an erasure.
PERSONAL = {
    "discord_events", "parked_events", "chat_messages", "chat_message_revisions", "message_reactions", "discord_inbox",
    "turns", "turn_parts", "action_receipts", "agent_runs", "agent_steps", "agent_tool_calls", "ai_events",
    "token_spend", "action_cards", "memory_items", "memory_item_revisions", "memory_evidence", "memory_link_evidence",
    "memory_owners", "memory_postings", "conversation_summaries", "guild_settings", "guild_setting_changes",
    "member_choices", "memory_episodes", "recalls", "erasures", "erasure_lines",
    "operator_audit", "reaction_tasks", "guild_rules",
}  # fmt: skip
# Tables without anything of a person's but through a row of those: numbers, states, ids of messages and places.
NOBODYS = {
    "place_cursors", "ingestion_targets", "gateway_gaps", "turn_triggers", "operator_switches", "application_commands",
    "memory_links", "memory_link_revisions", "embedding_models", "memory_vectors", "embedding_jobs",
    "memory_revocations", "ingestion_rereads", "parked_ingestions", "extraction_counts", "web_documents",
    "guild_joinings", "audience_guilds", "guild_roles", "places", "audience_classes", "audience_flow",
    "embedding_rechecks", "memory_uses", "recall_items", "episode_messages", "recall_episodes", "turn_drafts",
    "erasure_messages", "schema_migrations", "conversation_starts", "reaction_roles",
    "reaction_shortcuts",
}  # fmt: skip
# What stays, and is said to.
KEPT = {"mod_cases", "mod_counters", "mod_timers"}


def eraser(pool: asyncpg.Pool) -> Eraser:
    """The worker of another process, without Redis and without turns."""
    return Eraser(pool, None, "", lambda _: None, poll_s=0.05, again_s=0.0)


async def found_in_redis(url: str, needles: Sequence[str]) -> list[str]:
    """The keys that name, or whose value is, any of the needles."""
    found: list[str] = []
    async with redis.Redis.from_url(url) as opened:
        client = cast("Any", opened)
        readers: dict[bytes, Callable[[bytes], Awaitable[object]]] = {
            b"string": lambda k: client.get(k),
            b"zset": lambda k: client.zrange(k, 0, -1),
            b"set": lambda k: client.smembers(k),
            b"hash": lambda k: client.hgetall(k),
            b"list": lambda k: client.lrange(k, 0, -1),
        }
        async for key in client.scan_iter():
            said = f"{key!r} {await readers[await client.type(key)](key)!r}"
            found += [said for needle in needles if needle in said]
    return found


def turn(request: ChatRequest) -> Completion:
    """The model: a memory of what Ada says of cloves, and answers and summaries that repeat it."""
    if is_extraction(request):
        messages = heard(request)["messages"]
        made = [
            entry(m["id"], int(m["by"]), f"{m['name']} sells {CANARY}.", f"fact.goods{m['id']}")
            for m in messages
            if CANARY in m["text"] and m["by"].isdigit()
        ]
        return say_json(cast("Any", {"memories": made, "relations": []}))
    if request.response_format.name or not request.tools:
        return say(f"They talked about {CANARY if CANARY in str(request.body) else 'the weather'}.")
    return say(f"As was said: I sell {CANARY} at the harbour every week.")


async def asks(stage: Stage, who: Any, words: str) -> Message:
    question = await who.says(stage.general, f"{stage.discord.bot.mention} {words}")
    await stage.discord.wait_for_message(reply_to=question, within=20)
    return question


async def fill(stage: Stage) -> None:
    """Ada leaves something in every table that she can leave something in, by living here and by hand."""
    ada, bob, pool = stage.ada, stage.bob, stage.pool
    said = await ada.says(stage.general, f"I sell {CANARY} at the harbour every week")
    edited = await ada.says(stage.general, f"my {CANARY} are cheap")
    await ada.edits(edited, f"my {CANARY} are dear")
    await ada.reacts(await bob.says(stage.general, f"{ada.mention} is a merchant, and {ada.id} her number"), "🎉")
    await ada.says(ada.dm(), f"secretly, {CANARY} too")
    await asks(stage, ada, f"remember my {CANARY}, where do I sell?")
    await asks(stage, bob, "what does Ada sell at the harbour?")
    await stage.until("SELECT 1 FROM memory_items WHERE owner_id = $1", ada.id)
    await stage.until("SELECT 1 FROM memory_vectors")
    await stage.until("SELECT 1 FROM memory_episodes WHERE asker_id = $1", ada.id)
    await stage.until("SELECT 1 FROM conversation_summaries WHERE strpos(content, $1) > 0", CANARY, within=20)
    space, place, who = stage.guild.id, stage.general.id, ada.id
    for statement, args in (
        (
            "INSERT INTO parked_events (kind, event_key, payload, reason) VALUES ('X', 'x', $1, 'r')",
            (f"{who} {CANARY}",),
        ),
        (
            "INSERT INTO action_cards (space_id, place_id, trigger_id, requester_id, action, digest, asked_action,"
            " question, nonce, expires_at) VALUES ($1, $2, $3, $4, 'react', '\\x00', '{}', $5, 'n',"
            " now() + interval '1 hour')",
            (space, place, said.id, who, CANARY),
        ),
        (
            "INSERT INTO action_receipts (space_id, place_id, trigger_id, action, args_digest, args, requester_id,"
            " state) VALUES ($1, $2, $3, 'send_message', '\\x00', jsonb_build_object('content', $4::text), $5,"
            " 'unknown')",
            (space, place, said.id, CANARY, who),
        ),
        (
            "INSERT INTO memory_item_revisions (memory_id, version, space_id, place_id, kind, content, source,"
            " author_id, author_name, said_at, importance, confidence, reason, by_id)"
            " SELECT memory_id, 90, space_id, place_id, 'fact', $1, 'told', $2, 'Ada', now(), 1, 1, 'revised', $2"
            " FROM memory_items LIMIT 1",
            (CANARY, who),
        ),
        (
            "INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by)"
            " VALUES ($1, 0, 'ambient', 'false', 1, $2)",
            (space, who),
        ),
        (
            "INSERT INTO guild_setting_changes (space_id, place_id, name, version, value, set_by)"
            " VALUES ($1, 0, 'ambient', 1, 'false', $2)",
            (space, who),
        ),
        ("INSERT INTO member_choices (user_id, time_zone) VALUES ($1, 'Africa/Dar_es_Salaam')", (who,)),
        (
            "INSERT INTO discord_inbox (space_id, place_id, message_id, author_id, reason, state)"
            " VALUES ($1, $2, 5, $3, 'mention', 'ignored')",
            (space, place, who),
        ),
        (
            "INSERT INTO memory_owners (space_id, scope, owner_id, writes) VALUES ($1, 'user', $2, 1)"
            " ON CONFLICT DO NOTHING",
            (space, who),
        ),
        (
            "INSERT INTO guild_rules (space_id, place_id, version, content, set_by) VALUES ($1, 0, 1, '', $2)",
            (space, who),
        ),
        (
            "INSERT INTO operator_audit (operator_id, space_id, action) VALUES ($1, $2, 'list_runs')",
            (who, space),
        ),
        (
            "INSERT INTO reaction_tasks (space_id, place_id, message_id, user_id, emoji, claim, available_at)"
            " VALUES ($1, $2, 5, $3, '🎉', 'role', 'infinity')",
            (space, place, who),
        ),
        ("INSERT INTO embedding_jobs (memory_id, space_id, version) SELECT memory_id, space_id, version"
         " FROM memory_items ON CONFLICT DO NOTHING", ()),
        (
            "INSERT INTO mod_cases (space_id, place_id, case_no, deed, object_id, subject_id, requester_id, trigger_id,"
            " asked) VALUES ($1, $2, 1, 'warn', $3, $3, 1, 1, '{}')",
            (space, place, who),
        ),
    ):  # fmt: skip
        await pool.execute(statement, *args)
    # A turn that uses tools, whose arguments and results repeat her.
    stage.model.script_for(
        lambda request: bool(request.tools) and "read the channel" in request.last_user_text,
        call("discord_read_messages", limit=20),
        say(f"So {ada.mention} has {CANARY}."),
    )
    question = await bob.says(stage.general, f"{stage.discord.bot.mention} read the channel, please")
    await stage.discord.wait_for_message(reply_to=question, within=20)


async def pressed_delete(stage: Stage) -> Any:
    """Ada uses /privacy delete, and presses the button."""
    use = await stage.ada.slash(stage.general, "privacy delete")
    question = await use.message()
    assert "cannot be undone" in question.content
    assert use.ephemeral
    return await stage.ada.press(question, "Delete everything")


async def test_every_table_is_one_of_a_persons_or_of_nobodys(pool: asyncpg.Pool) -> None:
    """A new table is a decision: what may it hold of a person, and how does that go? Then bot/erasure/members.py."""
    assert set(await tables(pool)) == PERSONAL | NOBODYS | KEPT


async def test_delete_me(stage: Stage) -> None:
    """A member with rows in every table, vectors, caches, queued jobs and a running turn; after it nothing is found."""
    stage.model.default(turn)
    settings: dict[str, Any] = {
        **QUICK,
        "embedding_url": stage.model.base_url,
        "embedding_key": stage.model.api_key,
        "embedding_model": stage.model.embedding_name,
    }
    needles = [str(stage.ada.id), CANARY]
    async with stage.muninn(**settings):
        await stage.until("SELECT 1 FROM application_commands")
        await fill(stage)
        gate = stage.model.hold(lambda request: "still there" in request.last_user_text)
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} are my {CANARY} still there?")
        await gate.reached()
        # What was asked of models is written behind.
        await stage.until("SELECT 1 FROM ai_events WHERE member_id = $1", stage.ada.id)
        before = await found_in(stage.pool, needles)
        assert set(before) >= PERSONAL - {"erasures", "erasure_lines", "memory_link_evidence", "turn_parts"}
        await pressed_delete(stage)
        await stage.until("SELECT 1 FROM erasures WHERE state <> 'queued'", within=30)
    # It stops, and writes what was to be written behind; whoever comes next looks once more.
    async with stage.muninn(**settings):
        row = await stage.until("SELECT removed::text AS removed FROM erasures WHERE state = 'done'", within=30)
    removed = json.loads(row["removed"])
    assert min(removed[kind] for kind in ("messages", "memories", "turns", "episodes", "events", "reactions")) > 0
    assert set(await found_in(stage.pool, needles)) == {"mod_cases"}
    assert await found_in_redis(stage.redis_url, needles) == []
    assert await stage.pool.fetchval("SELECT count(*) FROM erasures WHERE subject_id IS NOT NULL") == 0
    # What others wrote is there, without her.
    said = [row["content"] for row in await stage.pool.fetch("SELECT content FROM chat_messages WHERE content <> ''")]
    assert "@someone is a merchant, and someone her number" in said


async def test_an_erasure_that_was_cut_off_is_finished_by_whoever_comes_next(
    pool: asyncpg.Pool, redis_url: str
) -> None:
    """I14: cut off after any statement, and taken up by another process when its lease is over; the old one writes no
    more."""
    talk = Talk(pool)
    for number in range(3):
        await talk.says(701, f"line {number} of {CANARY}", name="Ada")
    await talk.says(702, "and a line of Bob's", name="Bob")
    async with pool.acquire() as conn, conn.transaction():
        asked = await requests.ask(conn, SEAL, "member", 701, space_id=None, by=UserId(701))
    async with pool.acquire() as conn:
        held = await requests.claim(conn, lease_s=0.0)
        assert held is not None
        for step in (*members.COLLECTING, *members.STEPS[:16]):
            await conn.execute(step.statement, held.erasure_id)
    worker = eraser(pool)
    assert await worker.step()
    assert await worker.step()
    assert not await worker.step()
    async with pool.acquire() as conn:
        assert not await requests.keep(conn, held, lease_s=60)
        assert not await requests.swept(conn, held, {}, again_s=0)
        found = await requests.by_receipt(conn, asked.receipt)
        assert found is not None
        assert (found.state, found.subject_id) == ("done", None)
        assert await requests.is_about(conn, found, SEAL.mark("member", 701))
        assert not await requests.is_about(conn, found, SEAL.mark("member", 702))
    assert await found_in(pool, [CANARY, "701"]) == {}
    assert await pool.fetchval("SELECT content FROM chat_messages WHERE author_id = 702") == "and a line of Bob's"


async def test_redis_vouches_no_longer_for_the_events_of_a_space_that_was_erased(
    pool: asyncpg.Pool, redis_url: str
) -> None:
    """I15: nor are they taken for known where they come again; those of others are."""
    async with redis.Redis.from_url(redis_url) as opened:
        seen = Seen(opened, "muninn:1:seen:")
        seen.note([f"{space}:create:{number}" for space in (500, 5001, 600) for number in range(2_000)], seen.stretch())
        await seen.flush()
        async with pool.acquire() as conn, conn.transaction():
            await requests.ask(conn, SEAL, "space", 500, space_id=SpaceId(500))
        worker = Eraser(pool, opened, "muninn:1:", lambda _: None, poll_s=0.05, again_s=0.0)
        while await worker.step():
            pass
        assert await seen.known(["500:create:1", "500:create:1999"]) == frozenset()
        assert await seen.known(["600:create:1", "5001:create:1999"]) == {"600:create:1", "5001:create:1999"}
    assert await found_in_redis(redis_url, ["'500:", '"500:']) == []


@pytest.fixture
async def mind(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Mind]:
    async with open_mind(database_url, pool) as opened:
        yield opened


@pytest.mark.parametrize("writer", ["reader", "summaries"])
async def test_what_a_model_had_in_hand_is_not_kept(mind: Mind, writer: str) -> None:
    """I8, I15: reading and summing up hold her words while she is erased, and the model answers when all is done."""
    pool = mind.pool
    for number in range(4):
        await mind.talk.says(ADA, f"my {CANARY} number {number}", name="Ada")
    gate = mind.model.hold()
    working = asyncio.create_task(mind.reader.step() if writer == "reader" else mind.summaries.step())
    request = await gate.reached()
    async with pool.acquire() as conn, conn.transaction():
        await requests.ask(conn, SEAL, "member", ADA, space_id=None)
    worker = eraser(pool)
    while await worker.step():
        pass
    assert await pool.fetchval("SELECT state FROM erasures") == "done"
    gate.release(turn(request))
    await working
    assert await found_in(pool, [CANARY, str(ADA)]) == {}


async def test_an_answer_on_its_way_is_waited_for(stage: Stage) -> None:
    """I15: another's answer that repeats her was made before, and arrives after the first sweep; the second waits."""
    stage.model.default(turn)
    async with stage.muninn(**CALM):
        await stage.until("SELECT 1 FROM application_commands")
        await stage.ada.says(stage.general, f"I sell {CANARY} at the harbour every week")
        door = stage.discord.faults.rest("POST", "/channels/*/messages").hold()
        await stage.bob.says(stage.general, f"{stage.discord.bot.mention} what does she sell at the harbour?")
        await door.hit()
        await pressed_delete(stage)
        await stage.until("SELECT 1 FROM erasures WHERE attempts > 0")
        await stage.pool.execute("UPDATE erasures SET attempts = 100")  # as if the first sweep had waited long enough
        await stage.until("SELECT 1 FROM erasures WHERE state = 'swept' AND attempts > 1", within=20)
        door.release()
        await stage.until("SELECT 1 FROM erasures WHERE state = 'done'", within=20)
    assert await found_in(stage.pool, [CANARY, str(stage.ada.id)]) == {}


async def test_a_card_about_them_is_waited_for(pool: asyncpg.Pool) -> None:
    """I15: what a moderator is asked about them can still be pressed; it goes when it is closed, before it is done."""
    talk = Talk(pool)
    said = await talk.says(702, "ban her", name="Bob")
    await pool.execute(
        """INSERT INTO action_cards (space_id, place_id, trigger_id, requester_id, action, digest, asked_action,
               question, nonce, expires_at)
           VALUES ($1, $2, $3, 702, 'ban', '\\x00', jsonb_build_object('member', $4::text), '?', 'n', now())""",
        talk.scope.space_id, talk.scope.place_id, said, str(ADA),
    )  # fmt: skip
    async with pool.acquire() as conn, conn.transaction():
        await requests.ask(conn, SEAL, "member", ADA, space_id=None)
    worker = eraser(pool)
    for _ in range(3):
        await worker.step()
    assert await pool.fetchval("SELECT state FROM erasures") == "swept"
    await pool.execute("UPDATE action_cards SET state = 'expired'")
    while await worker.step():
        pass
    assert await pool.fetchval("SELECT state FROM erasures") == "done"
    assert await found_in(pool, [str(ADA)]) == {}


async def test_what_is_erased_does_not_come_back(pool: asyncpg.Pool) -> None:
    """I2: the same message fetched again, live or by a backfill, has no effect any more."""
    talk = Talk(pool)
    said = await talk.says(701, f"my {CANARY}", name="Ada")
    async with pool.acquire() as conn, conn.transaction():
        await requests.ask(conn, SEAL, "member", 701, space_id=None)
    worker = eraser(pool)
    while await worker.step():
        pass
    await talk.put(talk.seen(said, 701, f"my {CANARY}", "Ada", "member", None, "{}"), key="again")
    assert await pool.fetchval("SELECT content FROM chat_messages WHERE message_id = $1", said) == ""


async def test_a_former_members_data_goes_in_one_guild_alone(pool: asyncpg.Pool) -> None:
    """A purge by an admin stays within the guild; what the person wrote elsewhere is theirs."""
    here, elsewhere = Talk(pool), Talk(pool, Scope(SpaceId(900), PlaceId(901)))
    await here.says(701, f"my {CANARY} here")
    await elsewhere.says(701, f"my {CANARY} elsewhere")
    async with pool.acquire() as conn, conn.transaction():
        await requests.ask(conn, SEAL, "member", 701, space_id=here.scope.space_id, by=UserId(1))
    worker = eraser(pool)
    while await worker.step():
        pass
    rows = await pool.fetch("SELECT content FROM chat_messages WHERE content <> ''")
    assert [row["content"] for row in rows] == [f"my {CANARY} elsewhere"]


async def test_a_channel_is_purged_and_its_keys_stay(pool: asyncpg.Pool) -> None:
    """What was said in it is gone; the rest of the guild is as it was, and nothing comes back."""
    here, beside = Talk(pool), Talk(pool, Scope(SpaceId(500), PlaceId(601)))
    said = await here.says(701, f"my {CANARY} here")
    await beside.says(701, "and another channel")
    async with pool.acquire() as conn, conn.transaction():
        await remember(conn, here.author(701, said), Draft(f"Ada has {CANARY}."))
        await requests.ask(conn, SEAL, "place", here.scope.place_id, space_id=here.scope.space_id, by=UserId(1))
    worker = eraser(pool)
    while await worker.step():
        pass
    assert set(await found_in(pool, [CANARY])) == set()
    assert await pool.fetchval("SELECT count(*) FROM discord_events WHERE place_id = $1", here.scope.place_id) == 1
    assert await pool.fetchval("SELECT content FROM chat_messages WHERE place_id = 601") == "and another channel"


async def test_only_who_asked_presses_and_only_in_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """I5: a declined question, and one that has expired (seen after a restart), delete nothing, and say so; nobody else
    is shown it at all."""
    olive = stage.guild.member("Olive")
    async with stage.muninn(**CALM):
        await stage.until("SELECT 1 FROM application_commands")
        with monkeypatch.context() as quick:
            quick.setattr("bot.privacy.deadline.HOLDS_S", -1)
            late = await (await stage.ada.slash(stage.general, "privacy delete")).message()
            use = await olive.slash(stage.general, "purge-kept channel", channel=stage.general)
            late_too = await use.message()
    async with stage.muninn(**CALM):
        for who, question, button in ((stage.ada, late, "Delete everything"), (olive, late_too, "Delete it")):
            told = await (await who.press(question, button)).message()
            assert told.content == EXPIRED_BUTTON
        await stage.until("SELECT 1 FROM application_commands")
        await stage.ada.says(stage.general, "keep me")
        question = await (await stage.ada.slash(stage.general, "privacy delete")).message()
        assert (await (await stage.ada.press(question, "Keep it")).updated()).content == "Nothing was deleted."
        for command, button in (("privacy show", "Do not remember me"), ("privacy show", "Delete me")):
            shown = await (await stage.ada.slash(stage.general, command)).message()
            assert "1 message" in shown.content
            changed = await (await stage.ada.press(shown, button)).updated()
        assert "cannot be undone" in changed.content
    assert await stage.pool.fetchval("SELECT remembered FROM member_choices WHERE user_id = $1", stage.ada.id) is False
    assert await stage.pool.fetchval("SELECT count(*) FROM erasures") == 0


async def test_an_export_is_a_file_for_the_person_alone(stage: Stage) -> None:
    """Everything that they wrote and that is remembered of them, as JSON; nothing of others."""
    async with stage.muninn(**CALM):
        await stage.until("SELECT 1 FROM application_commands")
        await stage.ada.says(stage.general, f"my {CANARY}")
        await stage.bob.says(stage.general, "not hers")
        use = await stage.ada.slash(stage.general, "privacy export")
        told = await use.message()
        assert use.ephemeral
    content = told.attachments[0].file.content
    found = json.loads(content)
    assert [each["content"] for each in found["messages"]] == [f"my {CANARY}"]
    assert b"not hers" not in content


async def test_a_time_zone_is_chosen_among_those_there_are(stage: Stage) -> None:
    """Offered while it is typed, kept for the person alone; one that there is not is refused, and nothing is kept."""
    async with stage.muninn(**CALM):
        await stage.until("SELECT 1 FROM application_commands")
        typing = await stage.ada.autocomplete(stage.general, "privacy timezone", "zone", zone="berl")
        assert [choice.value for choice in await typing.choices()] == ["Europe/Berlin"]
        for zone, said in (("Europe/Atlantis", "no time zone"), ("Europe/Berlin", "Noted")):
            use = await stage.ada.slash(stage.general, "privacy timezone", zone=zone)
            assert said in (await use.message()).content
            assert use.ephemeral
        shown = await (await stage.ada.slash(stage.general, "privacy show")).message()
        assert "Time zone: Europe/Berlin" in shown.content
        assert stage.model.name in shown.content, "which model receives text"
        assert "Search by meaning: off" in shown.content, "and which endpoint for embeddings"


async def test_admins_purge_and_others_do_not(stage: Stage) -> None:
    """I5: who governs may, for a channel of this guild and for somebody who left; who does not is told so."""
    olive = stage.guild.member("Olive")
    async with stage.muninn(**CALM):
        await stage.until("SELECT 1 FROM application_commands")
        await stage.ada.says(stage.general, f"my {CANARY}")
        still = await (await olive.slash(stage.general, "purge-kept member", member=stage.ada)).message()
        assert "member of this server" in still.content
        stage.ada.leaves()
        question = await (await olive.slash(stage.general, "purge-kept member", member=stage.ada)).message()
        await olive.press(question, "Delete it")
        await stage.until("SELECT 1 FROM erasures WHERE state = 'done' AND kind = 'member'", within=20)
        question = await (await olive.slash(stage.general, "purge-kept channel", channel=stage.general)).message()
        await olive.press(question, "Delete it")
        await stage.until("SELECT 1 FROM erasures WHERE state = 'done' AND kind = 'place'", within=20)
    assert await found_in(stage.pool, [CANARY]) == {}
