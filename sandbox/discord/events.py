"""Gateway dispatches, and which intents let a session see them.

Source: https://discord.com/developers/docs/topics/gateway#gateway-intents (list of intents, message content).
"""

import json
from collections.abc import Mapping
from enum import IntFlag
from typing import Final, cast

import orjson

Payload = dict[str, object]


def encode(value: object) -> bytes:
    """JSON. A lone surrogate, which orjson refuses, goes out as the escape that a careless server would send."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


class Intent(IntFlag):
    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_MODERATION = 1 << 2
    GUILD_EXPRESSIONS = 1 << 3
    GUILD_INTEGRATIONS = 1 << 4
    GUILD_WEBHOOKS = 1 << 5
    GUILD_INVITES = 1 << 6
    GUILD_VOICE_STATES = 1 << 7
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_MESSAGE_REACTIONS = 1 << 13
    DIRECT_MESSAGE_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15
    GUILD_SCHEDULED_EVENTS = 1 << 16
    AUTO_MODERATION_CONFIGURATION = 1 << 20
    AUTO_MODERATION_EXECUTION = 1 << 21
    GUILD_MESSAGE_POLLS = 1 << 24
    DIRECT_MESSAGE_POLLS = 1 << 25


ALL_INTENTS: Final = Intent(sum(i.value for i in Intent))
PRIVILEGED: Final = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT
NO_INTENT: Final = Intent(0)

# event name -> (intent in a guild, intent in a DM)
_MESSAGES: Final = (Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES)
_REACTIONS: Final = (Intent.GUILD_MESSAGE_REACTIONS, Intent.DIRECT_MESSAGE_REACTIONS)
_POLLS: Final = (Intent.GUILD_MESSAGE_POLLS, Intent.DIRECT_MESSAGE_POLLS)
_GUILDS: Final = (Intent.GUILDS, NO_INTENT)
_MEMBERS: Final = (Intent.GUILD_MEMBERS, NO_INTENT)
_REQUIRED: Final[Mapping[str, tuple[Intent, Intent]]] = {
    "MESSAGE_CREATE": _MESSAGES,
    "MESSAGE_UPDATE": _MESSAGES,
    "MESSAGE_DELETE": _MESSAGES,
    "MESSAGE_DELETE_BULK": _MESSAGES,
    "MESSAGE_REACTION_ADD": _REACTIONS,
    "MESSAGE_REACTION_REMOVE": _REACTIONS,
    "MESSAGE_REACTION_REMOVE_ALL": _REACTIONS,
    "MESSAGE_REACTION_REMOVE_EMOJI": _REACTIONS,
    "MESSAGE_POLL_VOTE_ADD": _POLLS,
    "MESSAGE_POLL_VOTE_REMOVE": _POLLS,
    "TYPING_START": (Intent.GUILD_MESSAGE_TYPING, Intent.DIRECT_MESSAGE_TYPING),
    "CHANNEL_PINS_UPDATE": (Intent.GUILDS, Intent.DIRECT_MESSAGES),
    "GUILD_CREATE": _GUILDS,
    "GUILD_UPDATE": _GUILDS,
    "GUILD_DELETE": _GUILDS,
    "GUILD_ROLE_CREATE": _GUILDS,
    "GUILD_ROLE_UPDATE": _GUILDS,
    "GUILD_ROLE_DELETE": _GUILDS,
    "CHANNEL_CREATE": _GUILDS,
    "CHANNEL_UPDATE": _GUILDS,
    "CHANNEL_DELETE": _GUILDS,
    "THREAD_CREATE": _GUILDS,
    "THREAD_UPDATE": _GUILDS,
    "THREAD_DELETE": _GUILDS,
    "THREAD_LIST_SYNC": _GUILDS,
    "THREAD_MEMBER_UPDATE": _GUILDS,
    "THREAD_MEMBERS_UPDATE": _MEMBERS,
    "GUILD_MEMBER_ADD": _MEMBERS,
    "GUILD_MEMBER_UPDATE": _MEMBERS,
    "GUILD_MEMBER_REMOVE": _MEMBERS,
    "GUILD_BAN_ADD": (Intent.GUILD_MODERATION, NO_INTENT),
    "GUILD_BAN_REMOVE": (Intent.GUILD_MODERATION, NO_INTENT),
    "GUILD_AUDIT_LOG_ENTRY_CREATE": (Intent.GUILD_MODERATION, NO_INTENT),
    "GUILD_STICKERS_UPDATE": (Intent.GUILD_EXPRESSIONS, NO_INTENT),
    "GUILD_EMOJIS_UPDATE": (Intent.GUILD_EXPRESSIONS, NO_INTENT),
    "WEBHOOKS_UPDATE": (Intent.GUILD_WEBHOOKS, NO_INTENT),
    "PRESENCE_UPDATE": (Intent.GUILD_PRESENCES, NO_INTENT),
    "VOICE_STATE_UPDATE": (Intent.GUILD_VOICE_STATES, NO_INTENT),
}
_CARRIES_CONTENT: Final = frozenset({"MESSAGE_CREATE", "MESSAGE_UPDATE"})
_CONTENT_FIELDS: Final[Mapping[str, object]] = {"content": "", "embeds": [], "attachments": [], "components": []}


def censored(message: Payload, bot_id: str) -> Payload:
    """A message as an application without MESSAGE_CONTENT sees it.

    DMs, the bot's own messages and messages that mention the bot keep their content; a quoted message is judged
    by itself. Returns the same object where nothing changes. ``guild_id`` must be present for a guild's message.
    """
    exempt = "guild_id" not in message or _is_own_or_mentions(message, bot_id)
    quoted = message.get("referenced_message")
    hidden: Payload | None = None
    if isinstance(quoted, dict):
        inside = {**cast("Payload", quoted), "guild_id": message.get("guild_id")}
        if "guild_id" in message and not _is_own_or_mentions(inside, bot_id):
            hidden = {**cast("Payload", quoted), **_CONTENT_FIELDS}
    if exempt and hidden is None:
        return message
    result = dict(message) if exempt else {**message, **_CONTENT_FIELDS}
    if not exempt:
        result.pop("poll", None)
    if hidden is not None:
        result["referenced_message"] = hidden
    return result


def _is_own_or_mentions(message: Payload, bot_id: str) -> bool:
    author = cast("Payload", message["author"])
    mentions = cast("list[Payload]", message["mentions"])
    return author["id"] == bot_id or any(user["id"] == bot_id for user in mentions)


class Dispatch:
    """One event, serialised at most once for each of its two faces (whole and censored), however many sessions."""

    __slots__ = ("_censored", "_whole", "bot_id", "guild_id", "intents", "name", "payload")

    def __init__(
        self, name: str, payload: Payload, *, guild_id: int | None, bot_id: int, intents: Intent | None = None
    ) -> None:
        self.name = name
        self.payload = payload
        self.guild_id = guild_id
        self.bot_id = bot_id
        usual = _REQUIRED.get(name, (NO_INTENT, NO_INTENT))[0 if guild_id is not None else 1]
        self.intents = usual if intents is None else intents
        self._whole: bytes | None = None
        self._censored: bytes | None = None

    def allowed_by(self, intents: Intent) -> bool:
        return not self.intents or bool(self.intents & intents)

    def face(self, intents: Intent) -> Payload:
        """What a session with these intents is shown."""
        if self._is_whole_for(intents):
            return self.payload
        if self.name == "GUILD_CREATE":
            return only_own_member(self.payload, str(self.bot_id))
        return censored(self.payload, str(self.bot_id))

    def body(self, intents: Intent) -> bytes:
        if self._is_whole_for(intents):
            if self._whole is None:
                self._whole = encode(self.payload)
            return self._whole
        if self._censored is None:
            self._censored = encode(self.face(intents))
        return self._censored

    def _is_whole_for(self, intents: Intent) -> bool:
        if self.name in _CARRIES_CONTENT:
            return Intent.MESSAGE_CONTENT in intents
        return self.name != "GUILD_CREATE" or Intent.GUILD_PRESENCES in intents


def only_own_member(guild: Payload, bot_id: str) -> Payload:
    """GUILD_CREATE without the presences intent: nobody's presence, and the bot's member alone."""
    members = cast("list[Payload]", guild["members"])
    return {**guild, "members": [m for m in members if cast("Payload", m["user"])["id"] == bot_id], "presences": []}
