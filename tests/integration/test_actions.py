"""Actions of tools in Discord and memory: done where they are plainly asked for, once, under a receipt."""

from dataclasses import dataclass
from typing import Any

import pytest

from sandbox.discord import Channel, Member, Message, Permission
from sandbox.model import Completion, call, calls, say
from tests.harness.stage import Stage

KEEPER = Permission.PIN_MESSAGES | Permission.MANAGE_THREADS | Permission.CREATE_PUBLIC_THREADS
REACT = ("PUT", "/channels/*/messages/*/reactions/*/@me")
POST = ("POST", "/channels/*/messages")

RECEIPTS_SQL = """
SELECT action, state, external_id, requester_id, served, attempts, args::text AS args, failure
FROM action_receipts WHERE trigger_id = $1 AND action <> 'send_part' ORDER BY receipt_id
"""
SWITCH_SQL = """
INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by)
VALUES ($1, 0, 'actions', $2::text::jsonb, 1, 1)
"""
EVENTS_SQL = "SELECT kind, subject_ids FROM discord_events WHERE source = 'action' AND kind LIKE 'ACTION%'"


@dataclass(slots=True)
class Scene:
    """Olive owns the guild, Ada is a member, and the bot may do what its tools need."""

    stage: Stage
    olive: Member
    other: Channel

    async def asks(self, who: Member, text: str, *said: Completion, **more: Any) -> Message:
        """Somebody asks for something; the model calls what it is told to, then answers. Gives the question."""
        self.stage.model.script(*said, say("That was it."))
        place = more.pop("place", self.stage.general)
        question = await who.says(place, f"{self.stage.discord.bot.mention} {text}", **more)
        await self.stage.discord.wait_for_message(reply_to=question, where=lambda m: m.content == "That was it.")
        return question

    def told(self) -> str:
        """What the model was told of its last call."""
        return self.stage.model.requests[-1].tool_results[-1].text


@pytest.fixture
def scene(stage: Stage) -> Scene:
    """The stage, with an owner, a second channel, and a bot that keeps things in order."""
    crew = stage.guild.create_role("Keepers", permissions=KEEPER)
    stage.guild.members[stage.discord.bot.id].give(crew)
    return Scene(stage, stage.guild.member("Olive"), stage.guild.create_channel("news"))


async def test_what_is_plainly_asked_for_is_done(scene: Scene) -> None:
    """I4, I5: every write of Discord's, asked for in plain words: done, under a receipt, and an event of the ledger."""
    stage, olive, general = scene.stage, scene.olive, scene.stage.general
    note = await stage.bob.says(general, "the door code is on the wall")
    about = {"message": str(note.id)}
    async with stage.muninn():
        await scene.asks(olive, "please pin this", call("discord_pin_message", **about), reply_to=note)
        assert note.pinned
        await scene.asks(olive, "unpin this", call("discord_unpin_message", **about), reply_to=note)
        assert not note.pinned

        react = call("discord_react", emoji="🎉", **about)
        await scene.asks(stage.ada, "react to this with 🎉", react, reply_to=note)
        assert stage.discord.reactions_on(note) == {"🎉": [stage.discord.bot]}
        unreact = call("discord_remove_own_reaction", emoji="🎉", **about)
        await scene.asks(stage.ada, "remove your reaction", unreact, reply_to=note)
        assert not stage.discord.reactions_on(note).get("🎉")

        posted = call("discord_send_message", content="Hello @everyone", channel=f"<#{scene.other.id}>")
        await scene.asks(stage.ada, f"say hello in <#{scene.other.id}>", posted)
        [greeting] = stage.discord.bot_messages(scene.other)
        assert greeting.content == "Hello @everyone"
        reply = call("discord_reply_to_message", content="Thank you", **about)
        await scene.asks(stage.ada, "reply to this and say thanks", reply, reply_to=note)
        assert [m.content for m in stage.discord.replies_to(note) if m.author is stage.discord.bot] == ["Thank you"]

        edit = call(
            "discord_edit_own_message", content="Good morning", message=str(greeting.id), channel=str(scene.other.id)
        )
        await scene.asks(stage.ada, f"edit your message {greeting.id}", edit)
        assert greeting.content == "Good morning"
        delete = call("discord_delete_own_message", message=str(greeting.id), channel=str(scene.other.id))
        await scene.asks(stage.ada, f"delete your message {greeting.id}", delete)
        assert greeting.deleted

        started = call("discord_create_thread", name="Door", **about)
        await scene.asks(stage.ada, "start a thread about this", started, reply_to=note)
        thread = stage.discord.world.channels[note.id]
        rename = call("discord_edit_thread", thread=str(note.id), name="Doors")
        await scene.asks(olive, f"rename <#{note.id}> to Doors", rename)
        assert thread.name == "Doors"
        alone = call("discord_create_thread", name="Plans")
        await scene.asks(stage.ada, "create a thread for our plans", alone)
    assert not stage.discord.pings
    receipts = await stage.pool.fetch(
        "SELECT action, state, requester_id, args::text AS args FROM action_receipts WHERE action <> 'send_part'"
    )
    # I15: what was written stands in the journal, where it can be forgotten, and not in the receipts and their events.
    told = await stage.pool.fetchval(
        "SELECT string_agg(payload::text, ' ') FROM discord_events WHERE kind LIKE 'ACTION%'"
    )
    kept = " ".join([told, *(each["args"] for each in receipts)])
    assert [words for words in ("Hello", "Thank you", "Good morning", "Door", "Plans") if words in kept] == []
    assert {(each["action"], each["state"]) for each in receipts} == {
        (action, "applied")
        for action in (
            "pin_message", "unpin_message", "react", "remove_own_reaction", "send_message", "reply_to_message",
            "edit_own_message", "delete_own_message", "create_thread", "edit_thread",
        )
    }  # fmt: skip
    assert {each["requester_id"] for each in receipts} == {olive.id, stage.ada.id}
    events = [each["kind"] for each in await stage.pool.fetch(EVENTS_SQL)]
    # What is a message of ours is journalled as one.
    assert sorted(events) == sorted(
        f"ACTION_{each['action'].upper()}"
        for each in receipts
        if each["action"] not in ("send_message", "reply_to_message")
    )


async def test_memory_commits_with_its_receipt(scene: Scene) -> None:
    """I4: both or neither; and a receipt holds none of a memory's words."""
    stage = scene.stage
    async with stage.muninn():
        keep = call("memory_remember", content="I like green tea", kind="preference", key="preference.tea")
        asked = await scene.asks(stage.ada, "remember that I like green tea", keep)
        [item] = await stage.pool.fetch("SELECT memory_id, content, owner_id, state FROM memory_items")
        assert (item["content"], item["owner_id"], item["state"]) == ("I like green tea", stage.ada.id, "active")
        [receipt] = await stage.pool.fetch(RECEIPTS_SQL, asked.id)
        assert (receipt["state"], receipt["external_id"]) == ("applied", item["memory_id"])
        assert "tea" not in receipt["args"]
        secret = call("memory_remember", content="my key is sk-abcdefghijklmnopqrstuvwxyz123456", kind="fact")
        asked = await scene.asks(stage.ada, "remember: my key is sk-abcdefghijklmnopqrstuvwxyz123456", secret)
        assert "secret" in scene.told()
        assert await stage.pool.fetch(RECEIPTS_SQL, asked.id) == []
        await scene.asks(stage.ada, "forget my tea", call("memory_forget", key="preference.tea"))
    assert [each["state"] for each in await stage.pool.fetch("SELECT state FROM memory_items")] == ["forgotten"]


async def test_the_same_again_is_answered_from_the_record(scene: Scene) -> None:
    """I4: a fresh call with the same arguments, in another step: one effect, and the audit says that it was none."""
    stage = scene.stage
    async with stage.muninn(identical_calls=3):
        again = call("discord_send_message", content="Hi", channel=str(scene.other.id))
        asked = await scene.asks(stage.ada, f"say hi in <#{scene.other.id}>", again, again, again)
        await stage.settled(1)
    assert [message.content for message in stage.discord.bot_messages(scene.other)] == ["Hi"]
    [receipt] = await stage.pool.fetch(RECEIPTS_SQL, asked.id)
    assert (receipt["state"], receipt["served"], receipt["attempts"]) == ("applied", 2, 1)
    marks = await stage.pool.fetch("SELECT from_record FROM agent_tool_calls ORDER BY step")
    assert [each["from_record"] for each in marks] == [False, True, True]


async def test_one_ask_carries_one_effect(scene: Scene) -> None:
    """I5: five messages where one was asked for: one is sent, then the member is asked back, and not without end."""
    stage = scene.stage
    async with stage.muninn():
        sends = [call("discord_send_message", content=f"Hi {n}", channel=str(scene.other.id)) for n in range(5)]
        await scene.asks(stage.ada, f"say hi in <#{scene.other.id}>", calls(*sends))
        await stage.settled(1)
    assert [message.content for message in stage.discord.bot_messages(scene.other)] == ["Hi 0"]
    assert len([m for m in stage.discord.bot_messages(stage.general) if m.components]) == 3
    codes = [
        each["error_code"]
        for each in await stage.pool.fetch("SELECT error_code FROM agent_tool_calls ORDER BY ordinal")
    ]
    assert codes == [None, *["confirmation_needed"] * 3, "too_many_questions"]


async def test_who_may_not_is_refused_from_fresh_facts(scene: Scene) -> None:
    """I5: the requester's own rights, now: a member is no administrator, and a channel that was closed is closed."""
    stage = scene.stage
    note = await stage.bob.says(stage.general, "hello")
    secret = stage.guild.create_channel("secret", private_to=[scene.olive])
    async with stage.muninn():
        await scene.asks(stage.ada, "please pin this", call("discord_pin_message", message=str(note.id)), reply_to=note)
        assert "requester_may_not" in scene.told()
        sneak = call("discord_send_message", content="boo", channel=str(secret.id))
        await scene.asks(stage.ada, f"say boo in <#{secret.id}>", sneak)
        assert "requester_cannot_see" in scene.told()
        scene.other.set_permissions(stage.ada, deny=Permission.SEND_MESSAGES)
        barred = call("discord_send_message", content="hello", channel=str(scene.other.id))
        await scene.asks(stage.ada, f"say hello in <#{scene.other.id}>", barred)
        assert "requester_may_not" in scene.told()
    assert not note.pinned
    assert stage.discord.bot_messages(secret) == stage.discord.bot_messages(scene.other) == []
    assert await stage.pool.fetch("SELECT 1 FROM action_receipts WHERE action <> 'send_part'") == []


async def test_where_discord_cannot_say_nothing_is_done(scene: Scene) -> None:
    """I5: unknown is not yes."""
    stage = scene.stage
    async with stage.muninn():
        stage.discord.faults.rest("GET", "/guilds/*/members/*", times=None).status(503)
        sent = call("discord_send_message", content="hello", channel=str(scene.other.id))
        await scene.asks(stage.ada, f"say hello in <#{scene.other.id}>", sent)
        assert "discord_unavailable" in scene.told()
    assert stage.discord.bot_messages(scene.other) == []


@pytest.mark.parametrize("switched", ["setting", "space", "row"])
async def test_actions_can_be_switched_off(scene: Scene, switched: str) -> None:
    """By the deployment, for one guild by setting, and for one guild by its row, which goes before both."""
    stage = scene.stage
    given: dict[str, Any] = {"setting": {"actions": False}, "space": {"actions_off_in": str(stage.guild.id)}, "row": {}}
    if switched == "row":
        await stage.pool.execute(SWITCH_SQL, stage.guild.id, "false")
    async with stage.muninn(**given[switched]):
        sent = call("discord_send_message", content="hello", channel=str(scene.other.id))
        await scene.asks(stage.ada, f"say hello in <#{scene.other.id}>", sent)
        assert "actions_off" in scene.told()
        if switched != "row":
            await stage.pool.execute(SWITCH_SQL, stage.guild.id, "true")
            await scene.asks(stage.ada, f"say hello in <#{scene.other.id}>", sent)
    assert len(stage.discord.bot_messages(scene.other)) == int(switched != "row")


async def test_a_send_whose_answer_was_lost_is_sent_once(scene: Scene) -> None:
    """I4: Discord took the message and the line broke: the same nonce, one message."""
    stage = scene.stage
    lost = stage.discord.faults.rest(*POST).accept_then_reset()
    async with stage.muninn():
        sent = call("discord_send_message", content="hello", channel=str(scene.other.id))
        await scene.asks(stage.ada, f"say hello in <#{scene.other.id}>", sent)
    assert lost.hits == 1
    assert len(stage.discord.bot_messages(scene.other)) == 1


@pytest.mark.parametrize("from_message", [True, False])
async def test_a_thread_whose_answer_was_lost_is_found_again(scene: Scene, from_message: bool) -> None:
    """I4: by its starter message, or by name, parent and time."""
    stage = scene.stage
    note = await stage.bob.says(stage.general, "hello")
    path = "/channels/*/messages/*/threads" if from_message else "/channels/*/threads"
    lost = stage.discord.faults.rest("POST", path).accept_then_status(502)
    about = {"message": str(note.id)} if from_message else {}
    async with stage.muninn():
        made = call("discord_create_thread", name="Door", **about)
        asked = await scene.asks(stage.ada, "start a thread about this", made, reply_to=note)
        [receipt] = await stage.pool.fetch(RECEIPTS_SQL, asked.id)
    assert lost.hits == 1
    threads = [each for each in stage.discord.world.channels.values() if each.name == "Door"]
    assert [(each.id, receipt["state"]) for each in threads] == [(receipt["external_id"], "applied")]


async def test_a_deletion_whose_answer_was_lost_is_gone_on_with(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """I4: that the message is gone is its own doing; nobody is told that nothing was done."""
    stage = scene.stage
    monkeypatch.setattr("bot.effects.WITHIN_S", 0.1)
    async with stage.muninn():
        question = await scene.asks(stage.ada, "good morning")
        [own] = stage.discord.replies_to(question)
        lost = stage.discord.faults.rest("DELETE", f"/channels/*/messages/{own.id}").accept_then_status(503)
        delete = call("discord_delete_own_message", message=str(own.id))
        await scene.asks(stage.ada, f"delete your message {own.id}", delete, delete)
        first, second = (request.tool_results[-1].text for request in stage.model.requests[-2:])
    assert lost.hits == 1
    assert own.deleted
    assert '"unknown"' in first
    assert "error" not in second


async def test_a_limit_that_is_long_is_told_and_nothing_is_in_doubt(scene: Scene) -> None:
    """I16: Discord says come back in half an hour: certainly not done, said so, and settled later."""
    stage = scene.stage
    thread = await stage.ada.starts_thread(stage.general, "door")
    stage.discord.faults.rest("PATCH", "/channels/*", times=None).rate_limit(1800)
    async with stage.muninn(reconcile_s=0.2):
        rename = call("discord_edit_thread", thread=str(thread.id), name="Doors")
        asked = await scene.asks(stage.ada, f"rename <#{thread.id}> to Doors", rename)
        assert "rate_limited" in scene.told()
        await stage.until("SELECT 1 FROM action_receipts WHERE trigger_id = $1 AND failure = 'not_applied'", asked.id)
    assert thread.name == "door"


async def test_what_discord_refuses_is_told_by_a_stable_code(scene: Scene) -> None:
    """I16: a second thread on one message."""
    stage = scene.stage
    note = await stage.bob.says(stage.general, "hello")
    await stage.ada.starts_thread(note, "first")
    async with stage.muninn():
        made = call("discord_create_thread", name="second", message=str(note.id))
        asked = await scene.asks(stage.ada, "start a thread about this", made, reply_to=note)
        [receipt] = await stage.pool.fetch(RECEIPTS_SQL, asked.id)
    assert "thread_exists" in scene.told()
    assert (receipt["state"], receipt["failure"]) == ("refused", "discord_160004")


async def test_in_a_conversation_of_two(scene: Scene) -> None:
    """A DM stays in its DM: there the member may have things pinned, and nothing is sent anywhere else."""
    stage, ada = scene.stage, scene.stage.ada
    async with stage.muninn():
        note = await scene.asks(ada, "hello", place=ada)
        pin = call("discord_pin_message", message=str(note.id))
        await scene.asks(ada, "pin this", pin, place=ada, reply_to=note)
        assert note.pinned
        leave = call("discord_send_message", content="hello", channel=str(scene.other.id))
        await scene.asks(ada, f"say hello in <#{scene.other.id}>", leave, place=ada)
        assert "no_such_place" in scene.told()
    assert stage.discord.bot_messages(scene.other) == []
