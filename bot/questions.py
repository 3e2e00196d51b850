"""What a card says: before it is pressed, and after.

The words are ours; what the model wants to write, and names, stand quoted (I12), and nobody is pinged (I11).
"""

from typing import Final, assert_never

from bot.bodies import Component, button, row
from bot.cards import Card
from bot.links import message_link
from bot.payloads import clean
from bot.wishes import Wish
from memory.ids import PlaceId, SpaceId, UserId
from tools.actions import (
    CreateThread,
    DeleteOwnMessage,
    EditOwnMessage,
    EditThread,
    Forget,
    PinMessage,
    React,
    Remember,
    RemoveOwnReaction,
    ReplyToMessage,
    SendMessage,
    UnpinMessage,
)

PREFIX: Final = "card"
QUOTED_MOST: Final = 1_000
"""Characters of what is to be written that a card shows."""

_ENDS: Final = {
    "expired": "⌛ Not done: nobody pressed a button in time. Ask me again if you still want it.",
    "declined": "Not done, as you wish.",
    "trigger_gone": "Not done: the message that asked for it was deleted.",
    "not_shown": "Not done.",
    "too_late": "⌛ Not done: I was cut off before I could do it, and it is too long ago now. Ask me again.",
}


def question(wish: Wish, requester_id: UserId, here: PlaceId, guild_id: SpaceId | None, *, minutes: int) -> str:
    """What a card in the place `here` asks. `guild_id` is None in a direct conversation."""
    return (
        f"<@{requester_id}>, shall I {deed(wish, here, guild_id)}\n"
        f"-# I am not sure that your message asks for this. Only you can press a button, within {minutes} minutes."
    )


def buttons(card_id: int) -> tuple[Component, ...]:
    """Do it, or not."""
    return (row(button("Do it", f"{PREFIX}:{card_id}:do", "primary"), button("No", f"{PREFIX}:{card_id}:no")),)


def working(card: Card) -> str:
    """What stands there while it is done."""
    return f"⏳ {_asked(card)}"


def outcome(card: Card) -> str:
    """What the card says when it is over."""
    if card.state == "used" and card.code in ("applied", "from_record"):
        return f"✅ Done. {_asked(card)}"
    if card.state == "used":
        mark = "❔" if card.code == "unknown" else "⚠️"
        return f"{mark} {card.told or _ENDS.get(card.code or '', 'Not done.')}\n{_asked(card)}"
    return f"{_ENDS.get(card.code or '', 'Not done.')}\n{_asked(card)}"


def _asked(card: Card) -> str:
    """The question without its second line, as what it was about."""
    about = card.question.rsplit("\n-# ", 1)[0]
    return f"<@{card.requester_id}> asked me to {about.split(', shall I ', 1)[-1].replace('?', '.', 1)}"


def deed(wish: Wish, here: PlaceId, guild_id: SpaceId | None) -> str:
    """The action, as it goes on after "shall I"."""
    action, there = wish.action, _where(wish.place_id, here)
    message = "" if wish.message_id is None else message_link(guild_id, wish.place_id, wish.message_id)
    match action:
        case React() | RemoveOwnReaction():
            verb = "react with" if isinstance(action, React) else "take back my reaction"
            return f"{verb} {_emoji(action.emoji)} on {message}?"
        case SendMessage():
            return f"post this{there}?\n{quoted(action.content)}"
        case ReplyToMessage():
            return f"reply to {message}?\n{quoted(action.content)}"
        case CreateThread():
            start = "" if action.message_id is None else f" from {message}"
            return f"start a thread{start}{there}?\n{quoted(action.name)}"
        case EditThread():
            return f"{_changes(action)} the thread{there or ' ' + f'<#{wish.place_id}>'}?{_name(action)}"
        case EditOwnMessage():
            return f"change my message {message} to this?\n{quoted(action.content)}"
        case DeleteOwnMessage():
            return f"delete my message {message}?"
        case PinMessage() | UnpinMessage():
            verb = "pin" if isinstance(action, PinMessage) else "unpin"
            return f"{verb} {message}?"
        case Remember():
            return f"remember this {_for(action.scope)}?\n{quoted(action.content)}"
        case Forget():
            named = f"`{action.key}`" if action.key is not None else f"number {action.memory_id}"
            return f"forget the memory {named.replace('``', '')} {_for(action.scope)}?"
        case _:
            assert_never(action)


def quoted(text: str) -> str:
    """Words of somebody else's as a quotation that they cannot leave, cut to a bounded length."""
    shown = clean(text).strip()
    if len(shown) > QUOTED_MOST:
        shown = shown[:QUOTED_MOST].rstrip() + "…"
    return "\n".join(f"> {line}" for line in shown.splitlines())


def _where(place_id: PlaceId, here: PlaceId) -> str:
    return "" if place_id == here else f" in <#{place_id}>"


def _emoji(emoji: str) -> str:
    return f"<:{emoji}>" if ":" in emoji else emoji


def _for(scope: str) -> str:
    return {"user": "for you", "channel": "for this whole channel", "guild": "for this whole server"}[scope]


def _changes(action: EditThread) -> str:
    verbs: list[str] = []
    if action.name is not None:
        verbs.append("rename")
    if action.archived is not None:
        verbs.append("archive" if action.archived else "reopen")
    if action.locked is not None:
        verbs.append("lock" if action.locked else "unlock")
    if action.slowmode_s is not None:
        verbs.append(f"set slow mode to {action.slowmode_s} seconds in")
    return " and ".join(verbs)


def _name(action: EditThread) -> str:
    return "" if action.name is None else f"\n{quoted(action.name)}"
