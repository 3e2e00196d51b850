"""Who is answered, and when Muninn keeps quiet."""

from datetime import UTC, datetime
from typing import Any

import orjson

from sandbox.discord import File, Permission
from sandbox.model import ChatRequest, Completion, say, say_json
from tests.harness.remembering import entry, heard, is_extraction
from tests.harness.stage import Stage

LAST = "SELECT 1 FROM chat_messages WHERE message_id = $1"
DECIDED = """SELECT 1 FROM chat_messages WHERE message_id = $1
             AND NOT EXISTS (SELECT FROM discord_inbox WHERE state = 'waiting')"""


async def switch(stage: Stage, name: str, value: object, place: int = 0) -> None:
    """As an administrator would set it."""
    await stage.pool.execute(
        """INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by)
           VALUES ($1, $2, $3, $4::text::jsonb, 1, 1)""",
        stage.guild.id,
        place,
        name,
        orjson.dumps(value).decode(),
    )


async def answered(stage: Stage) -> list[int]:
    """The messages that Muninn replied to, oldest first."""
    return sorted(m.reference.message_id or 0 for m in stage.discord.bot_messages() if m.reference is not None)


async def test_the_bots_own_role_is_the_bot_and_others_are_not(stage: Stage) -> None:
    """People pick it from the list of suggestions by mistake; @everyone and other roles name nobody."""
    stage.model.default(say("Yes?"))
    own = next(role for role in stage.guild.roles.values() if role.bot_id == stage.discord.bot.id)
    crew = stage.guild.create_role("crew", mentionable=True)
    async with stage.muninn():
        await stage.ada.says(stage.general, "@everyone hello")
        await stage.ada.says(stage.general, f"<@&{crew.id}> hello")
        asked = await stage.ada.says(stage.general, f"<@&{own.id}> hello")
        await stage.discord.wait_for_message(reply_to=asked)
    assert await answered(stage) == [asked.id]


async def test_an_edit_that_adds_the_mention_is_answered_once(stage: Stage) -> None:
    """I3: and no later edit, nor one of a message that had it before, is answered again."""
    stage.model.default(say("Yes?"))
    mention = stage.discord.bot.mention
    async with stage.muninn():
        forgot = await stage.ada.says(stage.general, "what time is it")
        await stage.ada.edits(forgot, f"{mention} what time is it")
        await stage.discord.wait_for_message(reply_to=forgot)
        asked = await stage.ada.says(stage.general, f"{mention} and the date?")
        await stage.discord.wait_for_message(reply_to=asked)
        for message in (forgot, asked):
            await stage.ada.edits(message, f"{message.content} please")
        last = await stage.bob.says(stage.general, "done")
        await stage.until(DECIDED, last.id)
        assert await stage.settled(2) == ["answered"] * 2
    assert await answered(stage) == [forgot.id, asked.id]
    assert [row["reason"] for row in await stage.turns()] == ["edit", "mention"]


async def test_an_edit_that_adds_the_mention_while_muninn_was_away_is_answered(stage: Stage) -> None:
    """I1: the backfill finds the edit, and the edit finds its turn, within the window that begins with it."""
    stage.model.default(say("Yes?"))
    async with stage.muninn():
        forgot = await stage.ada.says(stage.general, "what time is it")
        await stage.until(LAST, forgot.id)
    await stage.ada.edits(forgot, f"{stage.discord.bot.mention} what time is it")
    async with stage.muninn():
        await stage.discord.wait_for_message(reply_to=forgot, within=15)


async def test_a_listening_channel_is_answered_but_not_what_is_meant_for_others(stage: Stage) -> None:
    """`free` in one channel and its threads, and nowhere else; what names or answers somebody else stays theirs."""
    stage.model.default(say("Yes?"))
    other = stage.guild.create_channel("other")
    await switch(stage, "listening", "free", stage.general.id)
    async with stage.muninn():
        await stage.ada.says(other, "hello?")
        free = await stage.ada.says(stage.general, "hello?")
        await stage.discord.wait_for_message(reply_to=free)
        to_bob = await stage.ada.says(stage.general, f"{stage.bob.mention} what do you think?")
        await stage.bob.says(stage.general, "not much", reply_to=to_bob)
        await stage.ada.says(stage.general, "@everyone lunch")
        thread = await stage.ada.starts_thread(stage.general, "More")
        inherited = await stage.ada.says(thread, "and here?")
        await stage.discord.wait_for_message(reply_to=inherited)
    assert await answered(stage) == [free.id, inherited.id]


async def test_a_channel_that_is_off_is_silent(stage: Stage) -> None:
    await switch(stage, "listening", "off", stage.general.id)
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello?")
        await stage.until(DECIDED, asked.id)
    assert stage.discord.bot_messages() == []


async def test_a_thread_that_muninn_was_asked_into_needs_no_mention(stage: Stage) -> None:
    """Opened on a message that addressed it, or brought in by a member; not after it was put out, and not elsewhere.

    The thread's copy of the message that it was opened on is no second question.
    """
    stage.model.default(say("Yes?"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} plan a party")
        await stage.discord.wait_for_message(reply_to=asked)
        party = await stage.ada.starts_thread(asked, "Party")
        more = await stage.ada.says(party, "with cake?")
        await stage.discord.wait_for_message(reply_to=more)
        lonely = await stage.ada.starts_thread(stage.general, "Lonely")
        await stage.ada.says(lonely, "nobody here?")
        await stage.ada.adds(stage.guild.me, lonely)
        company = await stage.ada.says(lonely, "and now?")
        await stage.discord.wait_for_message(reply_to=company)
        await stage.guild.member("Ada").deletes(more)
        owner = stage.guild.members[stage.guild.owner_id]
        await owner.removes(stage.guild.me, lonely)
        last = await stage.ada.says(lonely, "gone?")
        await stage.until(DECIDED, last.id)
    assert await answered(stage) == [asked.id, more.id, company.id]


async def test_a_forum_post_that_mentions_muninn_is_answered_once_and_its_thread_followed(stage: Stage) -> None:
    stage.model.default(say("Yes?"))
    forum = stage.guild.create_forum("help")
    async with stage.muninn():
        post = await stage.ada.posts(forum, "Broken", f"{stage.discord.bot.mention} it does not start")
        await stage.discord.wait_for_messages(1, in_=post)
        more = await stage.ada.says(post, "it says: no fuel")
        await stage.discord.wait_for_message(reply_to=more)
        assert await stage.settled(2) == ["answered"] * 2


async def test_a_paste_in_several_messages_is_one_turn(stage: Stage) -> None:
    """The mention stands in the first piece alone; in a direct conversation every piece addresses us."""
    stage.model.default(say("Long."))
    first, second, third = f"{stage.discord.bot.mention} " + "a" * 1_900, "b" * 1_950, "c" * 20
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, first)
        for piece in (second, third):
            await stage.ada.says(stage.general, piece)
        await stage.discord.wait_for_message(reply_to=asked)
        private = await stage.bob.says(stage.bob.dm(), first)
        for piece in (second, third):
            await stage.bob.says(stage.bob.dm(), piece)
        await stage.discord.wait_for_message(reply_to=private)
        assert await stage.settled(2) == ["answered"] * 2
    assert len(stage.model.requests) == 2
    for request in stage.model.requests:
        wanted = request.last_user_text.split("Answer this message now.")[1]
        assert ("a" * 1_900 in wanted, second in wanted, third in wanted) == (True, True, True)
    assert await stage.pool.fetchval("SELECT count(*) FROM turn_triggers") == 4


async def test_a_long_message_that_is_whole_does_not_wait_for_more(stage: Stage) -> None:
    """It brings a file, is shorter than what is split, or is an order: only what may go on waits, and what follows on a
    whole one is a turn of its own."""
    stage.model.default(say("Read."))
    me, words = stage.discord.bot.mention, "w" * 1_850
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{me} {words}", files=[File("a.png", b"no text", "image/png")])
        await stage.bob.says(stage.general, f"{me} {words[:1_700]}")
        await stage.bob.says(stage.bob.dm(), words)
        await stage.settled(3)
        await stage.ada.says(stage.ada.dm(), words, files=[File("a.png", b"no text", "image/png")])
        await stage.ada.says(stage.ada.dm(), "and this?")
        await stage.settled(5)
    waits = await stage.pool.fetch("SELECT round(extract(epoch FROM available_at - queued_at)) FROM turns ORDER BY 1")
    assert [float(row[0]) for row in waits] == [0, 0, 0, 0, 2]


async def test_a_proxy_speaks_for_its_member_once(stage: Stage) -> None:
    """PluralKit's way: the webhook says it again, and the member's message is deleted, before or after.

    A webhook that repeats nobody's deleted words is no member.
    """
    gate = stage.model.hold()
    stage.model.default(say("Hello."))
    hook = stage.general.create_webhook("PK")
    mention = stage.discord.bot.mention
    async with stage.muninn():
        said = await stage.ada.says(stage.general, f"A: {mention} who am I?")
        await gate.reached()
        copy = await hook.says(f"{mention} who am I?", name="Alter")
        await stage.ada.deletes(said)
        await stage.until("SELECT 1 FROM turns WHERE trigger_id = $1 AND state = 'answered'", copy.id)
        alone = await hook.says(f"{mention} free prizes", name="News")
        await stage.until("SELECT 1 FROM discord_inbox WHERE message_id = $1", alone.id)
        assert await stage.settled(2) == ["cancelled", "answered"]
    assert [row["author_id"] for row in await stage.turns()] == [stage.ada.id, stage.ada.id]
    assert len(stage.discord.bot_messages()) == 1


async def test_two_bots_in_one_thread_come_to_an_end(stage: Stage) -> None:
    """Another bot is answered only if an operator named it, only where it names us in its words (a reply's ping is
    none), and only twice while no member says anything."""
    stage.model.default(say("Yes."))
    peer, stranger = stage.guild.add_bot("Peer"), stage.guild.add_bot("Stranger")
    thread = await stage.ada.starts_thread(stage.general, "Bots")
    mention = stage.discord.bot.mention
    async with stage.muninn(answered_bots=str(peer.id)):
        heard: list[int] = []
        for turn in range(5):
            asked = await peer.says(thread, f"{mention} round {turn}")
            await stage.until(DECIDED, asked.id)
            await stage.settled(min(turn + 1, 2))
            heard.append(asked.id)
        ours = stage.discord.bot_messages(thread)
        await peer.says(thread, "I reply with a ping", reply_to=ours[0])
        last = await stranger.says(thread, f"{mention} and me?")
        await stage.until(DECIDED, last.id)
        await stage.ada.says(thread, "go on")
        again = await peer.says(thread, f"{mention} more")
        await stage.discord.wait_for_message(reply_to=again)
    assert await answered(stage) == [heard[0], heard[1], again.id]


async def test_an_unasked_silence_leaks_nothing(stage: Stage) -> None:
    """Whatever a model writes to say that it says nothing, nobody sees it; and nobody sees it typing."""
    await switch(stage, "ambient", value=True)
    much = orjson.dumps({"speak": True, "text": "a" * 601}).decode()
    silences = ['{"speak": false}', "NO_REPLY", '{"speak": true, "text": "   "}', "{", much]
    stage.model.script(*(say(text) for text in silences))
    async with stage.muninn(ambient_lull_s=0, ambient_pause_s=0, ambient_hourly=9):
        for asked in range(1, len(silences) + 1):
            await stage.bob.says(stage.general, f"Does anybody know when train {asked} goes?")
            await stage.settled(asked)
        ends = [(row["state"], row["end_reason"]) for row in await stage.turns()]
    assert ends == [("cancelled", "silent")] * len(silences)
    assert stage.discord.bot_messages() == []
    assert stage.discord.typing_log == []


async def test_unasked_muninn_says_little_and_to_what_nobody_took_up(stage: Stage) -> None:
    """Off by default; where it is on: open questions only, after others had their chance, and not often; never in a
    channel's quiet hours, nor where a channel allows no thought in an hour, nor once its day's budget is used up."""
    stage.model.default(say('{"speak": true, "text": "At nine, as Bob said."}'))
    other, night, never, poor = (stage.guild.create_channel(name) for name in ("other", "night", "never", "poor"))
    hour = datetime.now(UTC).hour
    for place in (night, never, poor):
        await switch(stage, "ambient", True, place.id)
    await switch(stage, "quiet_hours", f"{hour}-{(hour + 2) % 24}", night.id)
    await switch(stage, "ambient_hourly", 0, never.id)
    await switch(stage, "ambient", True, stage.general.id)
    question = "Does anybody know when the train goes?"
    async with stage.muninn(ambient_lull_s=0.5, poll_s=0.2, ambient_daily_tokens=1):
        for place in (other, night, never):
            await stage.bob.says(place, question)
        await stage.bob.says(stage.general, "The train is late again today.")
        await stage.bob.says(stage.general, question)
        await stage.ada.says(stage.general, "At nine!")
        taken = await stage.bob.says(stage.general, "thanks")
        await stage.until(DECIDED, taken.id)
        assert stage.model.requests == []
        await stage.bob.says(stage.general, question)
        await stage.discord.wait_for_messages(1, in_=stage.general)
        await stage.until("SELECT 1 FROM ai_events WHERE purpose = 'ambient' AND prompt_tokens > 0")
        await stage.bob.says(stage.general, "And when does the next one go?")
        again = await stage.bob.says(poor, question)
        await stage.until(DECIDED, again.id)
        assert await stage.settled(1) == ["answered"]
    assert [m.content for m in stage.discord.bot_messages()] == ["At nine, as Bob said."]
    assert stage.discord.bot_messages()[0].pings.users == ()
    (request,) = stage.model.requests
    assert request.tool_names == frozenset()
    assert await stage.pool.fetchval("SELECT purpose FROM ai_events") == "ambient"


async def test_unasked_muninn_fails_in_silence(stage: Stage) -> None:
    """A model that cannot be had is nobody's concern who asked for nothing."""
    await switch(stage, "ambient", value=True)
    async with stage.muninn(ambient_lull_s=0, openai_base_url="http://127.0.0.1:9/v1"):
        await stage.bob.says(stage.general, "Does anybody know when the train goes?")
        await stage.settled(1, within=20)
    assert stage.discord.bot_messages() == []


async def test_unasked_muninn_reads_the_room_by_the_same_memory(stage: Stage) -> None:
    """I7: what may show here is before it when it thinks of saying something, and what may not is not."""

    def turn(request: ChatRequest) -> Completion:
        if not is_extraction(request):
            return say('{"speak": false}')
        made: Any = [
            entry(
                each["id"],
                int(each["by"]),
                f"The express train leaves Uppsala {each['text']}.",
                f"fact.train.{each['text'][3:]}",
            )
            for each in heard(request)["messages"]
            if each["text"].startswith("at ")
        ]
        return say_json({"memories": made, "relations": []})

    stage.model.default(turn)
    await switch(stage, "ambient", True, stage.general.id)
    plans, hidden = stage.guild.create_channel("plans"), stage.guild.create_channel("hidden")
    hidden.set_permissions(stage.guild.everyone, deny=Permission.VIEW_CHANNEL)
    for who in (stage.ada, stage.guild.me):
        hidden.set_permissions(who, allow=Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES)
    quick = {"poll_s": 0.1, "memory_quiet_s": 0.3, "memory_longest_s": 1.0, "embedding_dimensions": 1024}
    url, key, name = stage.model.base_url, stage.model.api_key, stage.model.embedding_name
    async with stage.muninn(ambient_lull_s=0, **quick, embedding_url=url, embedding_key=key, embedding_model=name):
        await stage.ada.says(plans, "at nine")
        await stage.ada.says(hidden, "at midnight")
        await stage.until("SELECT 1 FROM memory_vectors HAVING count(*) = 2")
        await stage.until("SELECT 1 FROM audience_guilds WHERE computed = version AND confirmed")
        asked = await stage.ada.says(stage.general, "Does anybody know when the express train leaves Uppsala?")
        assert await stage.settled(1) == ["cancelled"]
    (shown,) = (str(request.body) for request in stage.model.requests if f"[message {asked.id}," in str(request.body))
    assert "The express train leaves Uppsala at nine." in shown
    assert "midnight" not in shown
