"""Tools that write, through the loop: what is plainly asked for happens, once, and without a permission nothing does.

The requester is Ada, the place that is acted on is another channel than the one in which she asks.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox.discord import Channel, Message, Permission
from sandbox.model import Completion, call
from tests.harness.stage import Stage
from tests.harness.tool_use import tools_used
from tools.registry import collect

PERMISSIONS = {tool.name: tool.permissions for tool in collect() if tool.effect == "write"}
LOUD = "Hear me, @everyone!"


@dataclass
class Scene:
    """Where it plays: Ada asks in general; in `other` stands Bob's message and one of the bot's own."""

    stage: Stage
    other: Channel
    bobs: Message
    own: Message
    thread: Any

    def link(self, message: Message) -> str:
        return f"https://discord.com/channels/{self.stage.guild.id}/{message.channel.id}/{message.id}"


@dataclass
class Case:
    """One wish: what the model calls, how Ada asks for it, and whether it has happened."""

    tool: str
    arguments: Callable[[Scene], dict[str, Any]]
    words: Callable[[Scene], str]
    happened: Callable[[Scene], bool]
    spared: frozenset[str] = field(default_factory=frozenset[str])
    """Permissions that Ada needs for none of it: the bot acts, or she governs."""

    def call(self, scene: Scene) -> Completion:
        return call(self.tool, **self.arguments(scene))


def said(scene: Scene, words: str) -> list[Message]:
    return [m for m in scene.stage.discord.messages_in(scene.other) if m.content == words and m is not scene.own]


def threads(scene: Scene, name: str) -> list[Any]:
    return [thread for thread in scene.stage.guild.threads.values() if thread.name == name]


def reacted(scene: Scene, emoji: str) -> bool:
    return scene.stage.discord.bot in scene.stage.discord.reactions_on(scene.bobs).get(emoji, [])


def own_now(scene: Scene) -> str | None:
    return None if scene.own.deleted else scene.own.content


CASES = [
    Case(
        "discord_react",
        lambda s: {"emoji": "👍", "message": s.link(s.bobs)},
        lambda s: f"react to {s.link(s.bobs)} with 👍",
        lambda s: reacted(s, "👍"),
    ),
    Case(
        "discord_remove_own_reaction",
        lambda s: {"emoji": "🐟", "message": str(s.bobs.id), "channel": str(s.other.id)},
        lambda s: f"remove your reaction from {s.link(s.bobs)}",
        lambda s: not reacted(s, "🐟"),
    ),
    Case(
        "discord_send_message",
        lambda s: {"content": LOUD, "channel": s.other.mention},
        lambda s: f"send a greeting to {s.other.mention}",
        lambda s: len(said(s, LOUD)) == 1,
    ),
    Case(
        "discord_reply_to_message",
        lambda s: {"content": LOUD, "message": s.link(s.bobs)},
        lambda s: f"reply to {s.link(s.bobs)} please",
        lambda s: [m.reference.message_id for m in said(s, LOUD) if m.reference] == [s.bobs.id],
    ),
    Case(
        "discord_create_thread",
        lambda s: {"name": "Plans", "channel": s.other.mention},
        lambda s: f"create a thread called Plans in {s.other.mention}",
        lambda s: [thread.parent for thread in threads(s, "Plans")] == [s.other],
    ),
    Case(
        "discord_edit_thread",
        lambda s: {"thread": s.thread.mention, "name": "Done", "archived": True},
        lambda s: f"rename {s.thread.mention} to Done and archive {s.thread.mention}",
        lambda s: (s.thread.name, s.thread.archived) == ("Done", True),
    ),
    Case(
        "discord_edit_own_message",
        lambda s: {"message": s.link(s.own), "content": LOUD},
        lambda s: f"edit your message {s.link(s.own)}",
        lambda s: own_now(s) == LOUD,
    ),
    Case(
        "discord_delete_own_message",
        lambda s: {"message": s.link(s.own)},
        lambda s: f"delete your message {s.link(s.own)}",
        lambda s: own_now(s) is None,
    ),
    Case(
        "discord_pin_message",
        lambda s: {"message": s.link(s.bobs)},
        lambda s: f"pin {s.link(s.bobs)}",
        lambda s: s.bobs.pinned,
        frozenset({"pin_messages", "view_channel", "read_message_history"}),
    ),
    Case(
        "discord_unpin_message",
        lambda s: {"message": s.link(s.own)},
        lambda s: f"unpin {s.link(s.own)}",
        lambda s: not s.own.pinned,
        frozenset({"pin_messages", "view_channel", "read_message_history"}),
    ),
]


async def set_up(stage: Stage, case: Case) -> Scene:
    """The scene; for pins Ada is an administrator, and nobody else ever is."""
    stage.guild.me.roles[0].edit(permissions=Permission.MANAGE_THREADS | Permission.PIN_MESSAGES)
    other = stage.guild.create_channel("other")
    if "pin" in case.tool:
        stage.ada.give(stage.guild.create_role("Chief", permissions=Permission.ADMINISTRATOR))
    bobs = await stage.bob.says(other, "Bob was here")
    bot = stage.discord.bot
    own = await bot.says(other, "I was here")
    stage.discord.world.speech.react(bobs, bot, "🐟")
    await stage.guild.members[stage.guild.owner_id].pins(own)
    thread = await stage.ada.starts_thread(other, "Talk")
    return Scene(stage, other, bobs, own, thread)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.tool)
async def test_each_write_needs_its_permissions_and_then_happens_once(stage: Stage, case: Case) -> None:
    """I4, I5, I11: first each declared permission is taken from the bot, and from Ada, who must not get by the bot what
    she may not do herself; then all are there, and the same wish in the same turn is answered from the record."""
    scene = await set_up(stage, case)
    wish, words = case.call(scene), case.words(scene)
    async with stage.muninn(member_turns=100, identical_calls=2):
        for name in PERMISSIONS[case.tool]:
            for who in (stage.guild.me, stage.ada):
                if who is stage.ada and name in case.spared:
                    continue
                scene.other.set_permissions(who, deny=Permission[name.upper()])
                (refused,) = await tools_used(stage, wish, words=words)
                scene.other.clear_permissions(who)
                assert refused["ok"] is False, f"without {name} of {who}"
                assert refused["error"]["code"] != "confirmation_needed", f"without {name} of {who}"
                assert not case.happened(scene), f"without {name} of {who}"
        first, second = await tools_used(stage, wish, wish, words=words)
        assert first["ok"] is True, first
        assert case.happened(scene)
        assert second["ok"] is True
        assert second["from_record"] is True
        assert case.happened(scene)
    assert all(not message.pings.everyone for message in stage.discord.bot_messages())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.tool)
async def test_what_nobody_asked_for_is_asked_back_and_not_done(stage: Stage, case: Case) -> None:
    """I5: the model alone wants it. Adding a reaction to somebody else's message is no part of answering either."""
    scene = await set_up(stage, case)
    async with stage.muninn():
        (asked,) = await tools_used(stage, case.call(scene), words="how are you?")
    assert asked["error"]["code"] == "confirmation_needed"
    assert "Nothing was done" in asked["error"]["message"] or "asked" in asked["error"]["message"]
    assert not case.happened(scene)


async def test_reacting_to_the_message_that_it_answers_needs_no_asking(stage: Stage) -> None:
    async with stage.muninn():
        (done,) = await tools_used(stage, call("discord_react", emoji="👍"), words="how are you?")
    assert done == {"ok": True, "state": "applied"}


async def test_a_memory_is_kept_and_forgotten_by_its_owner(stage: Stage) -> None:
    """memory_remember and memory_forget: the id comes back, and what is asked for is what is gone."""
    async with stage.muninn():
        wish = call("memory_remember", content="Ada edits with Helix.", kind="preference", key="preference.editor")
        (kept,) = await tools_used(stage, wish, words="remember that I edit with Helix")
        assert kept["ok"] is True, kept
        (secret,) = await tools_used(
            stage,
            call("memory_remember", content="Ada's password is Sw0rdf1sh!", kind="fact"),
            words="remember that my password is Sw0rdf1sh!",
        )
        (others,) = await tools_used(
            stage, call("memory_forget", memory_id=kept["memory_id"]), words="forget the editor", who=stage.bob
        )
        (gone,) = await tools_used(
            stage, call("memory_forget", key="preference.editor"), words="forget my editor preference"
        )
    assert (gone["ok"], gone) == (True, {**gone, "state": "applied"})
    assert kept["memory_id"] == gone["memory_id"]
    assert (secret["ok"], others["ok"]) == (False, False)
    states = await stage.pool.fetch("SELECT state FROM memory_items")
    assert [row["state"] for row in states] == ["forgotten"]
