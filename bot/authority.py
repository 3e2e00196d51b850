"""Whether an action may run: a pure decision over Discord's own facts, settings and the requester's own words (I5).

Nothing that a model, a page, a memory, a name or a tool result says is an input: the wish says what is wanted, and
everything that could allow it is in the Sight. The rules, in order:

    actions are on here . the message that asks still stands . the place is there, and of this space (I6) . requester
    and bot can see and use it . the bot has the permission . the tool's own rule . the words ask for this very action

Where the words do not decide, the requester is asked back; with `confirmed` (the card was pressed) they need not.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

import discord

from bot.facts import FORUM_KINDS, PlaceFacts
from bot.meaning import Words, is_meant, verdict_on
from bot.wishes import Wish
from memory.ids import MessageId, PlaceId, UserId
from memory.items import Sought
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

MOST_CARDS: Final = 3
"""How often one message may make the bot ask back."""

# Discord's channel types in which messages can be written, and those in which threads can be started.
_WRITABLE: Final = frozenset({0, 1, 2, 3, 5, 10, 11, 12, 13})
_STARTABLE: Final = frozenset({0, 5})


@dataclass(frozen=True, slots=True)
class Person:
    """Requester or bot, as Discord has them now. `permissions` are those in the place where the wish acts.

    `governs`: a Discord administrator of the guild, its owner, or an owner of the bot named in the settings.
    """

    user_id: UserId
    permissions: discord.Permissions
    governs: bool = False


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """The message that a wish acts on, as Discord has it now. `is_notice`: one of Discord's own, such as a join.

    `pinned` and `reactions` (those of ours, `bare`) are looked at where they are to be taken back.
    """

    message_id: MessageId
    author_id: UserId
    is_notice: bool = False
    pinned: bool = False
    reactions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sight:
    """Everything that a decision rests on.

    `here` is the place of the turn, `place` that of the wish: None if there is none, it is of another space, or the bot
    cannot see it. `message` is what the wish acts on. `done`: effects of this kind that these words have already
    carried; `begun`: this very effect was begun, and nobody knows its end; `cards`: how often was asked back. `memory`:
    what is to be forgotten; None if there is no such memory.
    """

    enabled: bool
    requester: Person
    me: Person
    here: PlaceId
    trigger_id: MessageId
    place: PlaceFacts | None
    message: MessageFacts | None
    words: Words
    done: int = 0
    cards: int = 0
    begun: bool = False
    memory: Sought | None = None
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Allowed:
    """It may run now."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It may not. `code` is stable; `message` is one sentence for the model and the member (I16)."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Nothing stands against it but that nobody plainly asked for it: the requester is to be asked."""


Decision: TypeAlias = Allowed | Refused | Ask


def bare(emoji: str) -> str:
    """An emoji without the sign that has it shown in colour, which is not always sent."""
    return emoji.replace("\ufe0f", "")


def decide(wish: Wish, sight: Sight) -> Decision:
    """Whether the wish may run."""
    return _general(wish, sight) or _own_rule(wish, sight) or _asked_for(wish, sight)


def _general(wish: Wish, sight: Sight) -> Refused | None:
    """What holds for every action."""
    if not sight.enabled and not wish.is_memory:
        return Refused("actions_off", "Actions of mine are switched off here; nothing was done.")
    if sight.words.gone:
        return Refused("trigger_gone", "The message that asked for this is gone; nothing was done.")
    if wish.is_memory:
        return None
    if sight.place is None:
        return Refused("no_such_place", "There is no such channel here that I can see; nothing was done.")
    theirs, mine = sight.requester.permissions, sight.me.permissions
    if not theirs.view_channel:
        return Refused("requester_cannot_see", "The member cannot see that channel, so I do nothing there for them.")
    if not mine.view_channel:
        return Refused("bot_cannot_see", "I cannot see that channel; nothing was done.")
    if wish.message_id is not None:
        if not theirs.read_message_history or not mine.read_message_history:
            who = "I" if not mine.read_message_history else "The member"
            return Refused("no_history", f"{who} cannot read that channel's history; nothing was done.")
        # A deletion that was begun is gone on with: that its message is gone may be its own doing.
        gone_by_us = sight.begun and isinstance(wish.action, DeleteOwnMessage)
        if sight.message is None and not gone_by_us:
            return Refused("no_such_message", "There is no such message there; nothing was done.")
    return None


def _own_rule(wish: Wish, sight: Sight) -> Refused | None:
    """What holds for this action."""
    match wish.action:
        case React():
            answered = wish.message_id == sight.trigger_id
            return _both_may(sight, "add_reactions", requester=not answered)
        case RemoveOwnReaction():
            return None
        case SendMessage() | ReplyToMessage():
            return _may_write(sight)
        case CreateThread():
            return _may_start_thread(sight)
        case EditThread():
            return _may_change_thread(wish.action, sight)
        case EditOwnMessage() | DeleteOwnMessage():
            return _may_change_message(sight)
        case PinMessage() | UnpinMessage():
            return _may_pin(sight)
        case Remember():
            return _may_change_memory(wish.action.scope, sight)
        case Forget():
            refused = _may_change_memory(wish.action.scope, sight)
            if refused is not None:
                return refused
            if sight.memory is None:
                return Refused("not_found", "There is no such memory; nothing was changed.")
            return _may_change_memory(sight.memory.scope, sight)


def _may_change_memory(scope: str, sight: Sight) -> Refused | None:
    if scope == "user" or sight.requester.governs:
        return None
    return Refused(
        "not_yours",
        f"What is remembered for the whole {scope} is for administrators to change; nothing was changed.",
    )


def _both_may(sight: Sight, permission: str, *, requester: bool = True) -> Refused | None:
    """Whether requester and bot have the permission in the place."""
    said = permission.replace("_", " ")
    if requester and not getattr(sight.requester.permissions, permission):
        return Refused("requester_may_not", f"The member may not do this there themselves ({said}); nothing was done.")
    if not getattr(sight.me.permissions, permission):
        return Refused("bot_may_not", f"I lack the permission for this there ({said}); nothing was done.")
    return None


def _speaking(place: PlaceFacts) -> str:
    return "send_messages_in_threads" if place.is_thread else "send_messages"


def _may_write(sight: Sight) -> Refused | None:
    place = _place(sight)
    if place.kind not in _WRITABLE:
        why = "A forum takes posts and no messages" if place.kind in FORUM_KINDS else "Nobody can write in there"
        return Refused("not_a_text_channel", f"{why}; nothing was sent.")
    if place.is_thread and place.locked and not _both_manage(sight):
        return Refused("thread_locked", "That thread is locked; nothing was sent.")
    return _both_may(sight, _speaking(place))


def _may_start_thread(sight: Sight) -> Refused | None:
    place = _place(sight)
    if place.kind not in _STARTABLE:
        return Refused("no_threads_here", "Threads cannot be started there; nothing was done.")
    if sight.message is not None and sight.message.is_notice:
        return Refused("not_on_this_message", "A thread cannot start from a notice of Discord's; nothing was done.")
    return _both_may(sight, "create_public_threads")


def _may_change_thread(action: EditThread, sight: Sight) -> Refused | None:
    place = _place(sight)
    if not place.is_thread:
        return Refused("not_a_thread", "That is no thread; nothing was changed.")
    managing = action.locked is not None or action.slowmode_s is not None or place.locked
    for who, name in ((sight.requester, "The member"), (sight.me, "I")):
        manages = who.permissions.manage_threads
        if not manages and (managing or place.owner_id != who.user_id):
            verb = "neither began that thread nor may manage threads" if not managing else "may not manage threads"
            code = "bot_may_not" if who is sight.me else "requester_may_not"
            return Refused(code, f"{name} {verb}; nothing was changed.")
    return None


def _may_change_message(sight: Sight) -> Refused | None:
    if sight.message is not None and sight.message.author_id != sight.me.user_id:
        return Refused("not_mine", "I change only messages that I wrote myself; nothing was changed.")
    if not getattr(sight.requester.permissions, _speaking(_place(sight))):
        return Refused("requester_may_not", "The member may not write there; nothing was changed.")
    return None


def _may_pin(sight: Sight) -> Refused | None:
    place = _place(sight)
    if not place.is_direct and not sight.requester.governs:
        return Refused("requester_may_not", "Pins are for administrators to ask for; nothing was done.")
    if sight.message is not None and sight.message.is_notice:
        return Refused("not_on_this_message", "A notice of Discord's cannot be pinned; nothing was done.")
    return _both_may(sight, "pin_messages")


def _both_manage(sight: Sight) -> bool:
    return sight.requester.permissions.manage_threads and sight.me.permissions.manage_threads


def _place(sight: Sight) -> PlaceFacts:
    assert sight.place is not None  # noqa: S101 - _general refused otherwise
    return sight.place


def _asked_for(wish: Wish, sight: Sight) -> Decision:
    """Whether the words ask for it, or the requester confirmed it."""
    if sight.confirmed:
        return Allowed()
    verdict = verdict_on(wish, sight.words, here=sight.here)
    if verdict == "negated":
        return Refused("asked_not_to", "The member's message says that this is not to be done; nothing was done.")
    if isinstance(wish.action, React) and wish.message_id == sight.trigger_id:
        # To react to the message that it answers is part of answering.
        return Allowed()
    # A key is named by itself; a number says nothing, and so the memory's own words do.
    by_number = isinstance(wish.action, Forget) and wish.action.key is None
    known = sight.memory.words if by_number and sight.memory is not None else None
    plain = verdict == "asked" and is_meant(wish, sight.words, here=sight.here, known=known)
    if plain and sight.done < sight.words.times(wish):
        return Allowed()
    missing = _missing(wish, sight.message)
    if missing is not None:
        return missing
    if sight.cards >= MOST_CARDS:
        return Refused(
            "too_many_questions", "The member was asked about several actions already; nothing more was done."
        )
    return Ask()


def _missing(wish: Wish, message: MessageFacts | None) -> Refused | None:
    """Nobody is asked about taking back what is not there. Twice is no fault, so this stands before a card alone: what
    was begun and cut off is gone on with."""
    if message is None:
        return None
    if isinstance(wish.action, RemoveOwnReaction) and bare(wish.action.emoji) not in message.reactions:
        return Refused("no_such_reaction", "I have no such reaction on that message; nothing was done.")
    if isinstance(wish.action, UnpinMessage) and not message.pinned:
        return Refused("not_pinned", "That message is not pinned; nothing was done.")
    return None
