"""The practice model with a whole bot: what a newcomer sees who has no key."""

from sandbox.discord import Message, Permission
from sandbox.discord.permissions import EVERYONE_DEFAULT
from sandbox.model.practice import practice
from tests.harness.stage import Stage


async def test_a_newcomer_sees_memory_at_work(stage: Stage) -> None:
    """What Ada says of herself in passing becomes a memory that rests on her message; search and reactions work."""
    stage.model.default(practice)
    mention = stage.discord.bot.mention
    async with stage.muninn(memory_quiet_s=0.1, embeddings="off"):
        said = await stage.ada.says(stage.general, "I prefer tea over coffee, as everybody knows.")
        row = await stage.until(
            """SELECT i.kind, i.key, i.content, i.owner_id, e.message_id
               FROM memory_items i JOIN memory_evidence e USING (memory_id)"""
        )
        asked = await stage.bob.says(stage.general, f"{mention} what did Ada say about tea?")
        found = await stage.discord.wait_for_message(reply_to=asked)
        react = await stage.bob.says(stage.general, f"{mention} react with 👍")
        await stage.discord.wait_for_reaction(react, "👍")
        await stage.settled(2)
    assert (row["kind"], row["owner_id"], row["message_id"]) == ("preference", stage.ada.id, said.id)
    assert row["content"] == "Ada: I prefer tea over coffee, as everybody knows."
    assert "I prefer tea over coffee" in found.content


async def test_a_question_that_was_edited_is_the_one_that_is_answered(stage: Stage) -> None:
    """The heading over an edited message says so, and the practice model still knows the message for what is asked."""
    stage.model.default(practice)
    async with stage.muninn(embeddings="off"):
        await stage.bob.says(stage.general, "react with 👍")
        asked = await stage.ada.says(stage.general, "what a day")
        await stage.ada.edits(asked, f"{stage.discord.bot.mention} who am I?")
        reply = await stage.discord.wait_for_message(reply_to=asked)
    assert "Ada" in reply.content


def _is_no_question(message: Message) -> bool:
    return not message.components


async def test_everyday_requests_are_really_done(stage: Stage) -> None:
    """Each in plain words, by the tools that Muninn really has, and told in a plain sentence; the thing is there."""
    stage.model.default(practice)
    stage.guild.everyone.edit(permissions=EVERYONE_DEFAULT | Permission.PIN_MESSAGES)
    stage.ada.give(stage.guild.create_role("Admin", permissions=Permission.ADMINISTRATOR))
    help_channel, mention = stage.guild.create_channel("help"), stage.discord.bot.mention

    async def asks(words: str, reply_to: Message | None = None) -> str:
        asked = await stage.ada.says(stage.general, f"{mention} {words}", reply_to=reply_to)
        replies = await stage.discord.wait_for_message(reply_to=asked, where=_is_no_question, within=15)
        return replies.content

    async with stage.muninn(embeddings="off", member_turns=100):
        fact = await stage.bob.says(stage.general, "The Atlas database moves on Thursday.")
        told = {
            "remember that I prefer tea": await asks("remember that I prefer tea"),
            "who said thursday?": await asks("who said thursday?"),
            "pin": await asks("pin this", reply_to=fact),
            "thread": await asks("start a thread called Winter plans"),
            "send": await asks(f"send hello to <#{help_channel.id}>"),
            "react": await asks("react to that with 🎉", reply_to=fact),
            "unreact": await asks("remove your 🎉 reaction", reply_to=fact),
            "by name": await asks("send goodbye to #help"),
            "read": await asks("read #help"),
            "channels": await asks("list channels"),
            "threads": await asks("list threads"),
            "summary": await asks("summarise this channel"),
            "me": await asks("who am I?"),
            "activity": await asks("what did you do last?"),
            "forget": await asks("forget that I prefer tea"),
        }
    assert told["remember that I prefer tea"].startswith("I will remember: I prefer tea"), told
    assert told["who said thursday?"].startswith("Bob did"), told
    assert fact.pinned, told
    assert any(thread.name == "Winter plans" for thread in stage.guild.threads.values()), told
    assert [message.content for message in stage.discord.bot_messages(help_channel)] == ["hello"], told
    assert (told["react"], told["unreact"]) == ("I reacted with 🎉.", "I took my 🎉 back."), told
    # Words that do not plainly ask for it are asked about, and that is told.
    assert "press it" in told["by name"], told
    assert "hello" in told["read"], told
    assert str(help_channel.id) in told["channels"], told
    assert "Winter plans" in told["threads"], told
    assert "by Ada (" in told["summary"], told
    assert told["me"].startswith("You are Ada"), told
    assert told["activity"].startswith("What I did here"), told
    assert told["forget"] == "It is forgotten.", told
    assert await stage.pool.fetchval("SELECT count(*) FROM memory_items WHERE state = 'active'") == 0
