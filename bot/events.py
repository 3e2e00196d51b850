"""Reading Discord's dispatches: from a raw payload to what the journal stores.

Pure: looks at the payload and at who we are, and at nothing else, so that it may run within the journal's work (I1).
Field names are those of Discord's API v10.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from bot.addressing import PERSONAL_TYPES, Identity, addressed
from bot.drafting import is_draft
from bot.errors import MalformedDispatch
from bot.extras import extras
from bot.guild_structure import structure
from bot.payloads import Payload, digest, dump, listed, moment, snowflake, subjects, text, without_secrets
from bot.speech.forms import undressed
from memory.ids import APPLICATION_SPACE, MessageId, PlaceId, SpaceId, UserId, snowflake_time
from memory.incoming import (
    AuthorKind,
    GuildsUnconfirmed,
    Incoming,
    MessageGone,
    MessageSeen,
    ReactionAdded,
    ReactionsRemoved,
    Source,
    Structure,
)

# Flags of a message: one person alone sees it; its author is still thinking about it.
EPHEMERAL: Final = 1 << 6
LOADING: Final = 1 << 7

MOST_EMOJI: Final = 100
"""Characters of an emoji: Discord's names have 32, the longest of Unicode's are shorter still."""

MOST_KIND: Final = 100

# Dispatches that are told apart by where they stood in their session: they have no identity of their own, and are
# never sent again by a later session. THREAD_CREATE also comes when the bot is merely added to a thread.
BY_SEQUENCE: Final = frozenset(
    {
        "THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE", "THREAD_MEMBER_UPDATE", "THREAD_MEMBERS_UPDATE",
        "CHANNEL_CREATE", "CHANNEL_UPDATE", "CHANNEL_DELETE", "CHANNEL_PINS_UPDATE",
        "GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE", "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE",
        "GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE", "GUILD_BAN_ADD", "GUILD_BAN_REMOVE",
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "MESSAGE_POLL_VOTE_ADD", "MESSAGE_POLL_VOTE_REMOVE",
        "READY", "RESUMED", "INTERACTION_CREATE",
    }
)  # fmt: skip

# Never journalled: they say nothing that lasts, or (chunks, emoji and sticker lists) repeat what REST can tell.
IGNORED: Final = frozenset(
    {
        "TYPING_START", "PRESENCE_UPDATE", "VOICE_STATE_UPDATE", "VOICE_SERVER_UPDATE", "VOICE_CHANNEL_STATUS_UPDATE",
        "VOICE_CHANNEL_EFFECT_SEND", "GUILD_MEMBERS_CHUNK", "GUILD_EMOJIS_UPDATE", "GUILD_STICKERS_UPDATE",
        "GUILD_INTEGRATIONS_UPDATE", "WEBHOOKS_UPDATE", "USER_UPDATE", "THREAD_LIST_SYNC",
        "GUILD_APPLICATION_COMMAND_INDEX_UPDATE",
    }
)  # fmt: skip

# The parts of a GUILD_CREATE that are worth keeping; the rest is a snapshot of thousands of members.
GUILD_FIELDS: Final = ("id", "name", "owner_id", "joined_at", "unavailable", "member_count", "preferred_locale")


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One dispatch as it came: `session` names the gateway session ("rest" for what was fetched)."""

    kind: str
    data: object
    session: str
    sequence: int
    source: Source = "gateway"


def read(dispatch: Dispatch, me: Identity) -> tuple[Incoming, ...]:
    """Turn a dispatch into the events that the journal keeps: none for kinds that are not kept, one a message for a
    bulk delete, else one. Raises MalformedDispatch if the payload is not what Discord sends for that kind.
    """
    if dispatch.kind in IGNORED:
        return ()
    try:
        if dispatch.kind == "MESSAGE_CREATE":  # nearly all of them
            return (_message_create(dispatch, _object(dispatch.data), me),)
        return tuple(_read(dispatch, me))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise MalformedDispatch(f"{dispatch.kind}: {type(error).__name__}: {error}") from error


def _read(dispatch: Dispatch, me: Identity) -> Iterator[Incoming]:
    data = _object(dispatch.data)
    match dispatch.kind:
        case "MESSAGE_CREATE":
            yield _message_create(dispatch, data, me)
        case "MESSAGE_UPDATE":
            yield _message_update(dispatch, data, me)
        case "MESSAGE_DELETE":
            yield _message_delete(dispatch, data, snowflake(data["id"]))
        case "MESSAGE_DELETE_BULK":
            for message_id in listed(data["ids"]):
                yield _message_delete(dispatch, data, snowflake(message_id))
        case "MESSAGE_REACTION_ADD" | "MESSAGE_REACTION_REMOVE":
            yield _reaction(dispatch, data)
        case "MESSAGE_REACTION_REMOVE_ALL" | "MESSAGE_REACTION_REMOVE_EMOJI":
            yield _reactions_cleared(dispatch, data)
        case _:
            yield _by_sequence(dispatch, data)


def _object(value: object) -> Payload:
    # JSON objects are dicts; to ask for the abstract Mapping takes twenty times as long, for each event.
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {type(value).__name__}")
    return cast("Payload", value)


def space_of(data: Payload) -> SpaceId:
    """The guild, else the channel of a DM, else the application's own space."""
    guild_id, channel_id = data.get("guild_id"), data.get("channel_id")
    if guild_id is not None:
        return SpaceId(snowflake(guild_id))
    return SpaceId(snowflake(channel_id)) if channel_id is not None else APPLICATION_SPACE


def emoji_key(emoji: Payload) -> str:
    """A custom emoji by its id (its name can change), a Unicode one by itself."""
    return str(snowflake(emoji["id"])) if emoji.get("id") else text(emoji["name"], most=MOST_EMOJI)


def _message_create(dispatch: Dispatch, data: Payload, me: Identity) -> Incoming:
    seen = message_seen(data, me)
    key = f"create:{seen.message_id}"
    if _flags(data) & EPHEMERAL:
        return _for_one(dispatch, data, key)
    nonce = data.get("nonce") if seen.author_kind == "self" else None
    # By position, as in message_seen: of all that comes, most passes here, and names would take half as long again.
    return Incoming(
        dispatch.kind,
        key,
        seen.space_id,
        seen.place_id,
        seen.message_id,
        _with_mentioned(data, (seen.author_id,)),
        dispatch.source,
        dump(_without_others(data)),
        # An answer that is still being thought about has no words yet; they come with an update.
        None if _is_unfinished(data, me) else seen,
        addressed(data, me),
        None if nonce is None else text(str(nonce)),
    )


def _message_update(dispatch: Dispatch, data: Payload, me: Identity) -> Incoming:
    message_id = MessageId(snowflake(data["id"]))
    payload = dump(_without_others(data))
    edited = moment(data["edited_timestamp"]).isoformat() if data.get("edited_timestamp") is not None else None
    key = f"update:{message_id}:{edited or digest(payload)}"
    if _flags(data) & EPHEMERAL:
        return _for_one(dispatch, data, key)
    # Discord sends the whole message with an update; a partial one changes no words, nor does one that is no edit (a
    # link unfurled), unless the words were not known yet.
    whole = "content" in data and "author" in data and not _is_unfinished(data, me)
    return Incoming(
        kind=dispatch.kind,
        key=key,
        space_id=space_of(data),
        place_id=PlaceId(snowflake(data["channel_id"])),
        message_id=message_id,
        subject_ids=_message_subjects(data),
        source=dispatch.source,
        payload=payload,
        change=message_seen(data, me) if whole else None,
        addressed="edit" if whole and edited is not None and addressed(data, me) == "mention" else None,
    )


def _for_one(dispatch: Dispatch, data: Payload, key: str) -> Incoming:
    """A message that one person alone can see, and that names no guild even where it was said in one.

    It is kept as an event of the application's own, with who may read it as its subject, and is no message of the
    place: nobody else may come upon its words there (I7).
    """
    caused_by = cast("Payload", data.get("interaction_metadata") or {})
    return Incoming(
        kind=dispatch.kind,
        key=key,
        space_id=APPLICATION_SPACE,
        place_id=PlaceId(snowflake(data["channel_id"])),
        message_id=None,
        subject_ids=tuple(dict.fromkeys((*subjects(caused_by), *_message_subjects(data)))),
        source=dispatch.source,
        payload=dump(_without_others(data)),
    )


def _is_unfinished(data: Payload, me: Identity) -> bool:
    """Whether the words are not said yet: an answer that is thought about, or a draft of ours that shows how far one
    is."""
    if _flags(data) & LOADING:
        return True
    return bool(data.get("components")) and snowflake(data["author"]["id"]) == me.user_id and is_draft(data)


def _flags(data: Payload) -> int:
    return int(data.get("flags") or 0)


def _message_delete(dispatch: Dispatch, data: Payload, message_id: int) -> Incoming:
    gone = MessageGone(space_of(data), PlaceId(snowflake(data["channel_id"])), MessageId(message_id))
    return Incoming(
        kind=dispatch.kind,
        key=f"delete:{message_id}",
        space_id=gone.space_id,
        place_id=gone.place_id,
        message_id=gone.message_id,
        subject_ids=(),
        source=dispatch.source,
        payload=dump({**{k: v for k, v in data.items() if k != "ids"}, "id": str(message_id)}),
        change=gone,
    )


def _reaction(dispatch: Dispatch, data: Payload) -> Incoming:
    space_id, place_id = space_of(data), PlaceId(snowflake(data["channel_id"]))
    message_id, user_id = MessageId(snowflake(data["message_id"])), UserId(snowflake(data["user_id"]))
    emoji = emoji_key(cast("Payload", data["emoji"]))
    change: ReactionAdded | ReactionsRemoved
    if dispatch.kind == "MESSAGE_REACTION_ADD":
        change = ReactionAdded(space_id, place_id, message_id, user_id, emoji)
    else:
        change = ReactionsRemoved(space_id, message_id, user_id, emoji)
    return _at_sequence(dispatch, data, change, message_id=message_id)


def _reactions_cleared(dispatch: Dispatch, data: Payload) -> Incoming:
    message_id = MessageId(snowflake(data["message_id"]))
    emoji = emoji_key(cast("Payload", data["emoji"])) if dispatch.kind.endswith("EMOJI") else None
    change = ReactionsRemoved(space_of(data), message_id, None, emoji)
    return _at_sequence(dispatch, data, change, message_id=message_id)


def _at_sequence(
    dispatch: Dispatch,
    data: Payload,
    change: ReactionAdded | ReactionsRemoved,
    *,
    message_id: MessageId,
) -> Incoming:
    return Incoming(
        kind=dispatch.kind,
        key=_sequence_key(dispatch),
        space_id=space_of(data),
        place_id=PlaceId(snowflake(data["channel_id"])),
        message_id=message_id,
        subject_ids=subjects(data),
        source=dispatch.source,
        payload=dump({k: v for k, v in data.items() if k != "member"}),
        change=change,
    )


def _by_sequence(dispatch: Dispatch, data: Payload) -> Incoming:
    """What is only kept: kinds that we know, and kinds that Discord invents later, for both have no effect here."""
    if text(dispatch.kind, most=MOST_KIND) != dispatch.kind:
        raise ValueError("a kind that is no name")
    kept: Payload = data
    if dispatch.kind == "GUILD_CREATE":
        kept = {field: data[field] for field in GUILD_FIELDS if field in data}
    elif dispatch.kind == "READY":
        kept = {field: data[field] for field in ("v", "shard", "application") if field in data}
    else:
        kept = cast("Payload", without_secrets(data))
        if isinstance(message := kept.get("message"), Mapping):
            # What an interaction is about, which may be somebody else's.
            kept = {**kept, "message": {"id": cast("Payload", message).get("id")}}
    space_id = space_of(data)
    if dispatch.kind in ("GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"):
        space_id = SpaceId(snowflake(data["id"]))
    place_id = data.get("channel_id")
    if dispatch.kind.startswith(("CHANNEL_", "THREAD_")) and "id" in data:
        place_id = data["id"]
    key = f"interaction:{snowflake(data['id'])}" if dispatch.kind == "INTERACTION_CREATE" else _sequence_key(dispatch)
    return Incoming(
        kind=dispatch.kind,
        key=key,
        space_id=space_id,
        place_id=PlaceId(snowflake(place_id)) if place_id is not None else None,
        message_id=None,
        subject_ids=subjects(kept),
        source=dispatch.source,
        payload=dump(kept),
        change=_structure(dispatch.kind, data, space_id),
    )


def _structure(kind: str, data: Payload, space_id: SpaceId) -> Structure | None:
    """What it tells of the guild; where that cannot be read, that nobody knows the guild any more (I7)."""
    try:
        return structure(kind, data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return GuildsUnconfirmed((space_id,))


def _sequence_key(dispatch: Dispatch) -> str:
    return f"{dispatch.kind.lower()}:{dispatch.session}:{dispatch.sequence}"


def message_seen(data: Payload, me: Identity) -> MessageSeen:
    """A whole message object, as the journal keeps it. Raises as `read` says of what it finds malformed."""
    author: Payload = data["author"]
    author_id = UserId(snowflake(author["id"]))
    kind = _kind_of(data, author, author_id, me)
    if kind == "self":
        data = undressed(data)
    message_id = MessageId(snowflake(data["id"]))
    created_at = snowflake_time(message_id)
    edited = data.get("edited_timestamp")
    edited_at = moment(edited) if edited is not None else None
    reference: Payload | None = data.get("message_reference")
    # A forward is a reference too (type 1), but answers nothing.
    reply_to = reference.get("message_id") if reference and int(reference.get("type") or 0) == 0 else None
    member = data.get("member")
    nick = cast("Payload", member).get("nick") if isinstance(member, dict) else None
    return MessageSeen(
        space_of(data),
        PlaceId(snowflake(data["channel_id"])),
        message_id,
        author_id,
        kind,
        text(nick or author.get("global_name") or author.get("username") or ""),
        text(data["content"] or ""),
        MessageId(snowflake(reply_to)) if reply_to is not None else None,
        dump(found) if (found := extras(data)) else "{}",
        created_at,
        edited_at or created_at,
        edited_at,
    )


def author_kind(data: Payload, me: Identity) -> AuthorKind:
    """Whose words these are. Only a member's are a person's."""
    author: Payload = data["author"]
    return _kind_of(data, author, snowflake(author["id"]), me)


def _kind_of(data: Payload, author: Payload, author_id: int, me: Identity) -> AuthorKind:
    if author_id == me.user_id:
        return "self"
    if data.get("webhook_id") is not None:
        return "webhook"
    if int(data.get("type") or 0) not in PERSONAL_TYPES or author.get("system"):
        return "system"
    return "bot" if author.get("bot") else "member"


def _message_subjects(data: Payload) -> tuple[int, ...]:
    author: Payload | None = data.get("author")
    return _with_mentioned(data, (snowflake(author["id"]),) if author is not None else ())


def _with_mentioned(data: Payload, said_by: tuple[int, ...]) -> tuple[int, ...]:
    if not data.get("mentions"):  # nearly all of them
        return said_by
    return tuple(dict.fromkeys([*said_by, *(snowflake(user["id"]) for user in listed(data["mentions"]))]))


def _without_others(data: Payload) -> dict[str, object]:
    """The payload without what belongs to other people: the message replied to, and the profiles of the mentioned."""
    kept = dict(data)
    kept.pop("referenced_message", None)
    kept.pop("nonce", None)
    if data.get("mentions"):
        kept["mentions"] = [{"id": user["id"]} for user in data["mentions"]]
    return kept
