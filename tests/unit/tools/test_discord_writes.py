"""Tools that do something in Discord: what each asks for, and what never gets that far."""

from typing import Any

import pytest

from tests.unit.tools.turn import (
    ELSEWHERE,
    GUILD,
    HERE,
    MESSAGE,
    TRIGGER,
    FakeActions,
    called,
    context,
    direct,
    refused,
)
from tools.actions import (
    Action,
    CreateThread,
    DeleteOwnMessage,
    EditOwnMessage,
    EditThread,
    PinMessage,
    React,
    RemoveOwnReaction,
    ReplyToMessage,
    SendMessage,
    UnpinMessage,
)
from tools.emoji import reaction
from tools.errors import Refused
from tools.ports import ActionReport
from tools.registry import Registry

REGISTRY = Registry()
LINK = f"https://discord.com/channels/{GUILD}/{ELSEWHERE}/{MESSAGE}"

ASKED: list[tuple[str, dict[str, Any], Action]] = [
    ("discord_react", {"emoji": "👍"}, React("👍")),
    ("discord_react", {"emoji": "👍", "message": str(TRIGGER)}, React("👍")),
    ("discord_react", {"emoji": "👍", "message": LINK}, React("👍", MESSAGE, ELSEWHERE)),
    ("discord_react", {"emoji": "👍", "message": None, "channel": str(HERE)}, React("👍")),
    ("discord_remove_own_reaction", {"emoji": "👍", "message": str(MESSAGE)}, RemoveOwnReaction("👍", MESSAGE)),
    ("discord_send_message", {"content": "Hello"}, SendMessage("Hello")),
    ("discord_send_message", {"content": "Hello", "channel": f"<#{ELSEWHERE}>"}, SendMessage("Hello", ELSEWHERE)),
    ("discord_reply_to_message", {"message": LINK, "content": "Yes"}, ReplyToMessage("Yes", MESSAGE, ELSEWHERE)),
    ("discord_create_thread", {"name": " Plans "}, CreateThread("Plans")),
    ("discord_create_thread", {"name": "Plans", "channel": str(ELSEWHERE)}, CreateThread("Plans", None, ELSEWHERE)),
    ("discord_create_thread", {"name": "Plans", "message": str(MESSAGE)}, CreateThread("Plans", MESSAGE)),
    ("discord_edit_thread", {"archived": True}, EditThread(archived=True)),
    (
        "discord_edit_thread",
        {"thread": str(ELSEWHERE), "name": "Done", "locked": False, "slowmode_s": 0},
        EditThread(ELSEWHERE, "Done", None, False, 0),
    ),
    ("discord_edit_own_message", {"message": str(MESSAGE), "content": "New"}, EditOwnMessage(MESSAGE, "New")),
    ("discord_delete_own_message", {"message": LINK}, DeleteOwnMessage(MESSAGE, ELSEWHERE)),
    ("discord_pin_message", {"message": str(MESSAGE)}, PinMessage(MESSAGE)),
    ("discord_unpin_message", {"message": str(MESSAGE)}, UnpinMessage(MESSAGE)),
]


@pytest.mark.parametrize(("tool", "arguments", "action"), ASKED)
async def test_what_is_wanted_is_asked_for_and_nothing_else(
    tool: str, arguments: dict[str, Any], action: Action
) -> None:
    """The action in its one form, so that the same wish finds the same receipt (I4)."""
    actions = FakeActions()
    content = await called(REGISTRY.for_turn(context(actions=actions)), tool, **arguments)
    assert content == {"ok": True, "state": "applied"}
    assert actions.asked == [action]


@pytest.mark.parametrize(
    ("tool", "arguments", "name"),
    [
        ("discord_send_message", {"content": "Hello"}, "message_id"),
        ("discord_reply_to_message", {"content": "Hello", "message": str(MESSAGE)}, "message_id"),
        ("discord_create_thread", {"name": "Plans"}, "thread_id"),
        ("memory_remember", {"content": "Ada likes tea.", "kind": "preference"}, "memory_id"),
    ],
)
async def test_what_was_made_is_named_by_its_id(tool: str, arguments: dict[str, Any], name: str) -> None:
    """As text: it passes what a JSON number holds everywhere."""
    actions = FakeActions(ActionReport("applied", None, "", 2**62 + 1, HERE))
    content = await called(REGISTRY.for_turn(context(actions=actions)), tool, **arguments)
    assert content == {"ok": True, "state": "applied", name: str(2**62 + 1)}


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (ActionReport("refused", "discord_10014", "Discord does not know this emoji."), "discord_10014"),
        (ActionReport("refused"), "refused"),
        (ActionReport("unknown", "http_502", "It is not certain."), "unknown"),
        (ActionReport("unknown"), "unknown"),
        (ActionReport("asked"), "confirmation_needed"),
    ],
)
@pytest.mark.parametrize(("tool", "arguments", "action"), ASKED)
async def test_what_was_not_done_is_told(
    report: ActionReport, code: str, tool: str, arguments: dict[str, Any], action: Action
) -> None:
    """I16: never a success that was none."""
    content = await called(REGISTRY.for_turn(context(actions=FakeActions(report))), tool, **arguments)
    assert content["ok"] is False
    assert content["error"]["code"] == code
    assert content["error"]["message"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("discord_send_message", '{"content": ""}'),
        ("discord_send_message", '{"content": "  \\n "}'),
        ("discord_send_message", '{"content": "' + "x" * 2001 + '"}'),
        ("discord_send_message", '{"content": "x", "allowed_mentions": {"parse": ["everyone"]}}'),
        ("discord_send_message", '{"content": "x", "guild_id": "200000000000000001"}'),
        ("discord_reply_to_message", '{"content": "x"}'),
        ("discord_edit_own_message", f'{{"message": {MESSAGE}, "content": "x"}}'),
        ("discord_create_thread", '{"name": ""}'),
        ("discord_create_thread", '{"name": "' + "x" * 101 + '"}'),
        ("discord_edit_thread", "{}"),
        ("discord_edit_thread", '{"thread": "100000000000000005"}'),
        ("discord_edit_thread", '{"slowmode_s": 21601}'),
        ("discord_edit_thread", '{"slowmode_s": -1}'),
        ("discord_edit_thread", '{"archived": "yes"}'),
        ("discord_react", '{"emoji": "' + "👍" * 65 + '"}'),
        ("discord_pin_message", "{}"),
    ],
)
def test_what_discord_would_not_take_is_turned_down_before_it_runs(tool: str, arguments: str) -> None:
    """Discord's own limits: 2,000 characters, 100 for a thread's name, ids as text, nothing undeclared."""
    code, _ = refused(REGISTRY.for_turn(context()), tool, arguments)
    assert code == "invalid_arguments"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("discord_send_message", {"content": "x", "channel": "general"}, "not_a_channel"),
        ("discord_pin_message", {"message": "the last one"}, "not_a_message"),
        ("discord_react", {"emoji": "👍", "channel": str(ELSEWHERE)}, "not_a_message"),
        ("discord_delete_own_message", {"message": LINK.replace(str(GUILD), "200000000000000001")}, "other_space"),
        ("discord_edit_thread", {"thread": "https://discord.com/channels/@me/123456789012345678", "locked": True},
         "other_space"),
    ],
)  # fmt: skip
async def test_what_names_nothing_here_is_never_asked_for(tool: str, arguments: dict[str, Any], code: str) -> None:
    """I6."""
    actions = FakeActions()
    content = await called(REGISTRY.for_turn(context(actions=actions)), tool, **arguments)
    assert content["error"]["code"] == code
    assert actions.asked == []


def test_threads_are_not_offered_in_a_direct_conversation() -> None:
    offered = {spec.name for spec in REGISTRY.for_turn(direct(context())).specs()}
    assert "discord_react" in offered
    assert not offered & {"discord_create_thread", "discord_edit_thread"}


# --- emoji


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("👍", "👍"),
        (" 👍🏽 ", "👍🏽"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("1️⃣", "1️⃣"),
        ("❤️", "❤️"),
        ("<:heron:123456789012345678>", "heron:123456789012345678"),
        ("<a:heron:123456789012345678>", "heron:123456789012345678"),
        ("heron:123456789012345678", "heron:123456789012345678"),
    ],
)
async def test_a_reaction_is_asked_for_as_discord_names_it(said: str, named: str) -> None:
    """Different spellings of one custom emoji are one action, so they find one receipt (I4)."""
    actions = FakeActions()
    content = await called(REGISTRY.for_turn(context(actions=actions)), "discord_react", emoji=said)
    assert content == {"ok": True, "state": "applied"}
    assert actions.asked == [React(named)]


@pytest.mark.parametrize("said", ["thumbsup", ":thumbsup:", "+1", "1", "a 👍", "👍 👍", "https://👍", "<@123>", " "])
async def test_what_is_no_emoji_is_never_asked_for(said: str) -> None:
    actions = FakeActions()
    for tool in ("discord_react", "discord_remove_own_reaction"):
        content = await called(REGISTRY.for_turn(context(actions=actions)), tool, emoji=said)
        assert content["error"]["code"] == "not_an_emoji"
    assert actions.asked == []


def test_reaction_refuses_with_advice() -> None:
    with pytest.raises(Refused, match="Give the emoji itself"):
        reaction("smile")
