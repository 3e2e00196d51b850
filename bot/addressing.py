"""Whether a message is meant for the bot: a pure look at the payload and at who we are.

It runs inside the journal's transaction (I1), so it asks nobody. What it cannot decide alone it calls by a reason of
its own, and the journal and the router look further: `thread` and `room` are plain talk in a thread or elsewhere,
which is answered only where the bot takes part or listens; `bot` is another bot that names it, `proxy` a webhook that
does (it may speak for a member); `joined` and `left` tell that somebody brought the bot into a thread or put it out.

@everyone and others' roles do not address the bot, nor do Discord's own notices, nor a thread's copy of the message
that it was opened on.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast, get_args

from memory.incoming import Reason

__all__ = ["PERSONAL_TYPES", "REASONS", "Identity", "Reason", "addressed", "own_role"]

# Plain messages and replies (Discord's message types); the rest are notices such as a join or a pin.
PERSONAL_TYPES: Final = frozenset({0, 19})
RECIPIENT_ADDED: Final = 1
RECIPIENT_REMOVED: Final = 2
REASONS: Final = frozenset(get_args(Reason))

_FOR_ALL: Final = re.compile(r"@(?:everyone|here)\b|<@&\d+>")
_MENTION: Final = re.compile(r"<@!?(\d{1,20})>")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is, as Discord's login told it.

    `own_roles` is the role that Discord made for the bot in each guild, by the guild's id: ingress notes it as guilds
    are told of.
    """

    application_id: int
    user_id: int
    own_roles: dict[int, int] = field(default_factory=dict[int, int], compare=False, repr=False)


def addressed(data: Mapping[str, Any], me: Identity) -> Reason | None:
    """How the message concerns the bot, or None. `data` is a MESSAGE_CREATE payload."""
    author: Mapping[str, Any] = data["author"]
    author_id, kind, in_guild = int(author["id"]), int(data.get("type") or 0), data.get("guild_id") is not None
    if author_id == me.user_id:
        return None
    if kind in (RECIPIENT_ADDED, RECIPIENT_REMOVED) and in_guild and _names(data, me.user_id):
        return "joined" if kind == RECIPIENT_ADDED else "left"
    if kind not in PERSONAL_TYPES or author.get("system"):
        return None
    if data.get("webhook_id") is not None:
        return "proxy" if in_guild and _is_written(data, me) else None
    if author.get("bot"):
        # A reply of another bot's pings, and is no question: only a name in its words counts.
        return "bot" if in_guild and _is_written(data, me) else None
    if not in_guild:
        return "dm"
    answered = _answered_author(data)
    answers_us = answered == me.user_id
    if _names(data, me.user_id) and not (answers_us and not _is_written(data, me)):
        return "mention"
    if _names_own_role(data, me):
        return "mention"
    if answers_us:
        return "reply"
    if answered not in (None, author_id) or _is_for_others(data):
        return None
    # Only messages in threads are counted by Discord.
    return "thread" if data.get("position") is not None else "room"


def _names(data: Mapping[str, Any], user_id: int) -> bool:
    mentions: Sequence[Mapping[str, Any]] | None = data.get("mentions")
    return bool(mentions) and any(int(user["id"]) == user_id for user in mentions)


def _is_written(data: Mapping[str, Any], me: Identity) -> bool:
    """Whether the words themselves name the bot."""
    content = data.get("content")
    return isinstance(content, str) and str(me.user_id) in _MENTION.findall(content)


def _names_own_role(data: Mapping[str, Any], me: Identity) -> bool:
    """By its role, which Discord counts as a mention only for who may mention any role; people mean it anyway."""
    if not me.own_roles:
        return False
    own = me.own_roles.get(int(data["guild_id"]))
    return own is not None and f"<@&{own}>" in str(data.get("content"))


def _answered_author(data: Mapping[str, Any]) -> int | None:
    answered = data.get("referenced_message")
    author = cast("Mapping[str, Any]", answered).get("author") if isinstance(answered, dict) else None
    return int(cast("Mapping[str, Any]", author)["id"]) if isinstance(author, dict) else None


def _is_for_others(data: Mapping[str, Any]) -> bool:
    """Whether it is addressed to somebody: it names people, roles or everybody."""
    if data.get("mentions") or data.get("mention_roles") or data.get("mention_everyone"):
        return True
    content = str(data.get("content") or "")
    return "@" in content and _FOR_ALL.search(content) is not None  # also where its author may not ping them


def own_role(guild: Mapping[str, Any], user_id: int) -> int | None:
    """The bot's own role in a GUILD_CREATE payload: the one that Discord made for it."""
    for role in cast("Sequence[Mapping[str, Any]]", guild.get("roles") or ()):
        tags = role.get("tags")
        if isinstance(tags, dict) and str(cast("Mapping[str, Any]", tags).get("bot_id")) == str(user_id):
            return int(role["id"])
    return None
