"""Which message, place or memory the requester's words can mean: the other half of asking for an action (I5).

Plain words carry an action only onto what they point at: the message that they reply to or link, the channel that they
name, the words that are to be kept. Everything else is asked back, however plainly the kind of action was asked for.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

from bot.phrasings.language import Ask
from bot.wishes import Wish, words_of
from bot.wording import Verdict, judge, plain_latin, unquoted
from memory.ids import MessageId, PlaceId
from tools.actions import (
    Action,
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

ENOUGH: Final = 0.5
"""The part of a memory's words that must have been said."""

_LINKED: Final = re.compile(r"discord(?:app)?\.com/channels/(?:\d+|@me)/\d+/(\d{15,20})")
_BARE_ID: Final = re.compile(r"(?<![\d/<@#&:])(\d{17,20})(?![\d/>])")
_CHANNEL: Final = re.compile(r"<#(\d+)>")
_CUSTOM_EMOJI: Final = re.compile(r"<a?:(\w+:\d+)>")
_TOKEN: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STEM: Final = 4
"""Letters in which two forms of a word are taken to agree."""

# How memories speak of the one who said it, in the languages of most models.
_WHO: Final = frozenset({"user", "member", "author", "they", "their", "them", "nutzer", "benutzer", "utilisateur"})


_ASKS: Final[Mapping[type[Action], Ask]] = {
    React: "react",
    RemoveOwnReaction: "unreact",
    ReplyToMessage: "reply",
    CreateThread: "thread",
    EditOwnMessage: "edit",
    DeleteOwnMessage: "delete",
    PinMessage: "pin",
    UnpinMessage: "unpin",
    Remember: "remember",
    Forget: "forget",
}


@dataclass(frozen=True, slots=True)
class Words:
    """What the requester said, as the journal has it now. `last_own` is the bot's newest message before it.

    `gone`: the message was deleted, is not in the journal, or is not the requester's.
    """

    text: str
    trigger_id: MessageId
    own_id: int
    reply_to: MessageId | None = None
    last_own: MessageId | None = None
    author_name: str = ""
    gone: bool = False
    plain: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", unquoted(self.text))

    @property
    def named_messages(self) -> frozenset[int]:
        """Messages by link or id."""
        return frozenset(int(each) for each in (*_LINKED.findall(self.plain), *_BARE_ID.findall(self.plain)))

    @property
    def named_channels(self) -> frozenset[int]:
        """Channels by mention."""
        return frozenset(int(each) for each in _CHANNEL.findall(self.plain))

    @property
    def emoji(self) -> frozenset[str]:
        """The emoji in it, as reactions are named."""
        custom = set(_CUSTOM_EMOJI.findall(self.plain))
        return frozenset(custom | _signs(self.plain))

    def times(self, wish: Wish) -> int:
        """How many effects of this kind they can carry: one, or one for each emoji or message that they name."""
        if isinstance(wish.action, React | RemoveOwnReaction):
            return max(1, len(self.emoji))
        if wish.message_id is not None:
            return max(1, len(self.named_messages))
        return 1


def asks_of(wish: Wish, *, here: PlaceId) -> tuple[Ask, ...]:
    """What has to be asked for: for a change of a thread, each of its changes."""
    if isinstance(wish.action, EditThread):
        return _changes(wish.action)
    if isinstance(wish.action, SendMessage):
        return ("send" if wish.place_id == here else "send_to",)
    return (_ASKS[type(wish.action)],)


def _changes(action: EditThread) -> tuple[Ask, ...]:
    asks: list[Ask] = []
    if action.name is not None:
        asks.append("rename")
    if action.archived is not None:
        asks.append("archive" if action.archived else "unarchive")
    if action.locked is not None:
        asks.append("lock" if action.locked else "unlock")
    if action.slowmode_s is not None:
        asks.append("slowmode")
    return tuple(asks)


def verdict_on(wish: Wish, words: Words, *, here: PlaceId) -> Verdict:
    """Whether the words ask for the kind of action that the wish is."""
    verdicts = {judge(words.text, ask, own_id=words.own_id) for ask in asks_of(wish, here=here)}
    if "negated" in verdicts:
        return "negated"
    return "asked" if verdicts == {"asked"} else "unclear"


def is_meant(wish: Wish, words: Words, *, here: PlaceId, known: str | None = None) -> bool:
    """Whether the words point at what the wish acts on. `known`: the words of a memory that is to be forgotten."""
    match wish.action:
        case Remember() as memory:
            return _is_said(memory.content, words)
        case Forget() as memory:
            return _is_named(" ".join(filter(None, (known, memory.key))), words)
        case SendMessage():
            return _is_place(wish.place_id, words, here)
        case CreateThread():
            return _is_place(wish.place_id, words, here) and _is_message(wish, words)
        case EditThread() as edit:
            named = edit.name is None or _folded(words_of(edit.name)) in _folded(words.text)
            return _is_place(wish.place_id, words, here) and named
        case React() | RemoveOwnReaction() as reaction:
            fits = not words.emoji or not words.emoji.isdisjoint({reaction.emoji, *_signs(reaction.emoji)})
            return fits and _is_message(wish, words)
        case ReplyToMessage() | EditOwnMessage() | DeleteOwnMessage() | PinMessage() | UnpinMessage():
            return _is_message(wish, words)
        case _:
            assert_never(wish.action)


def _is_place(place_id: PlaceId, words: Words, here: PlaceId) -> bool:
    """A channel that is named, else this one."""
    return place_id in words.named_channels if words.named_channels else place_id == here


def _is_message(wish: Wish, words: Words) -> bool:
    """A message that is linked, else the one that is replied to, else this message or the bot's last one."""
    if wish.message_id is None:
        return True
    if words.named_messages:
        return wish.message_id in words.named_messages
    if words.reply_to is not None:
        return wish.message_id == words.reply_to
    if isinstance(wish.action, EditOwnMessage | DeleteOwnMessage):
        return wish.message_id == words.last_own
    return wish.message_id in (words.trigger_id, words.last_own)


def _is_said(content: str, words: Words) -> bool:
    """Whether enough of what is to be kept was said."""
    who = _tokens(words.author_name) | _WHO
    wanted = {each for each in _tokens(content) if not _agrees(each, who)}
    said = _tokens(words.text)
    return bool(wanted) and sum(_agrees(each, said) for each in wanted) >= ENOUGH * len(wanted)


def _is_named(known: str, words: Words) -> bool:
    """Whether something of what is to be forgotten was named."""
    theirs = _tokens(known)
    return any(_agrees(each, theirs) for each in _tokens(words.plain))


def _agrees(token: str, others: frozenset[str]) -> bool:
    if token in others:
        return True
    return (
        len(token) > _STEM
        and not _UNSPACED.search(token)
        and any(
            len(each) >= _STEM and (each.startswith(token[:_STEM]) and token.startswith(each[:_STEM]))
            for each in others
        )
    )


def _tokens(text: str) -> frozenset[str]:
    """The words that carry meaning: three letters or more, numbers, and pairs of signs where words are not spaced."""
    found: set[str] = set()
    for token in _TOKEN.findall(_folded(text)):
        if _UNSPACED.search(token):
            found.update(token[i : i + 2] for i in range(max(1, len(token) - 1)))
        elif len(token) >= 3 or token.isdecimal():
            found.add(token)
    return frozenset(found)


def _folded(text: str) -> str:
    """In lower case and without marks on Latin letters."""
    return plain_latin(unicodedata.normalize("NFKC", text).casefold())


def _signs(text: str) -> set[str]:
    """The signs of the emoji in it, without what colours or joins them."""
    return {each for each in text if unicodedata.category(each) == "So"}
