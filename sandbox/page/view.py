"""What one person sees of the loopback Discord, as JSON: ids as strings, times in milliseconds since 1970.

Messages are Discord's own objects, with what only the viewer can tell put beside them under `view`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sandbox.discord import Channel, Guild, Kind, Member, Message, Permission, Role, Thread, User, payloads
from sandbox.discord.events import Payload
from sandbox.discord.messages import CHAT_COMMANDS, CONTEXT_COMMAND, REPLY, THREAD_STARTER, Attachment
from sandbox.discord.permissions import EVERYTHING, of_roles
from sandbox.discord.world import Typing, World

from .marks import Marks, pings

TYPING_S: Final = 10.0
"""For how long Discord shows the indicator."""

_MOST_NAMES: Final = 12
_QUOTED: Final = 160
_TYPING_LOOKED_AT: Final = 40

# What the page offers or hides by the viewer's permissions.
_OFFERED: Final = {
    "attach": Permission.ATTACH_FILES,
    "react": Permission.ADD_REACTIONS,
    "thread": Permission.CREATE_PUBLIC_THREADS,
    "manage_messages": Permission.MANAGE_MESSAGES,
    "pin": Permission.PIN_MESSAGES,
    "manage_threads": Permission.MANAGE_THREADS,
    "commands": Permission.USE_APPLICATION_COMMANDS,
}
_KEEPING_ORDER: Final = {
    "time_out": Permission.MODERATE_MEMBERS,
    "kick": Permission.KICK_MEMBERS,
    "ban": Permission.BAN_MEMBERS,
}
_IN_A_DM: Final = frozenset({"attach", "react", "pin", "commands"})


def moment(seconds: float | None) -> int | None:
    """Milliseconds since 1970."""
    return None if seconds is None else round(seconds * 1000)


def visible_places(guild: Guild, viewer: Member) -> Iterator[Channel]:
    """Where the viewer can read: the guild's channels and threads, and the DM with the bot, last."""
    for place in guild.places():
        if place.visible_to(viewer):
            yield place
    yield viewer.dm()


def directory(world: World, guild: Guild, viewer: Member, marks: Marks) -> Payload:
    """Everything beside the messages: who and what there is, and what the viewer may do where."""
    return {
        "me": str(viewer.id),
        "may": {name: need in viewer.permissions for name, need in _KEEPING_ORDER.items()},
        "bot": str(world.bot.id),
        "guild": {"id": str(guild.id), "name": guild.name, "owner": str(guild.owner_id)},
        "people": people(guild),
        "former": [{"id": str(user.id), "name": user.display_name} for user in former(world, guild)],
        "roles": [_role(role) for role in sorted(guild.roles.values(), key=lambda role: -role.position)],
        "emojis": [{"id": str(emoji_id), "name": name} for emoji_id, name in guild.emojis.items()],
        "places": [_place(place, viewer, marks) for place in visible_places(guild, viewer)],
    }


def people(guild: Guild) -> list[Payload]:
    """Everybody who is in the guild."""
    return [_person(member) for member in guild.members.values()]


def former(world: World, guild: Guild) -> Iterator[User]:
    """Everybody else whom this world knows, by name: a client does not forget who left."""
    return (user for user in world.users.values() if user.id not in guild.members)


def _role(role: Role) -> Payload:
    return {
        "id": str(role.id),
        "name": role.name,
        "color": role.color,
        "mentionable": role.mentionable,
        "managed": role.managed,
        "everyone": role.id == role.guild.id,
    }


def _person(member: Member) -> Payload:
    roles = sorted((role for role in member.roles), key=lambda role: -role.position)
    return {
        "id": str(member.id),
        "name": member.name,
        "handle": member.user.name,
        "bot": member.bot,
        "status": member.status,
        "roles": [str(role.id) for role in roles],
        "color": next((role.color for role in roles if role.color), 0),
        "title": _title(member),
        "timed_out_until": moment(member.timed_out_until),
    }


def _title(member: Member) -> str:
    """What somebody is, in a word."""
    if member.bot:
        return "Bot"
    if member.guild.owner_id == member.id:
        return "Owner"
    granted = of_roles(member)
    if granted == EVERYTHING:
        return "Administrator"
    return "Moderator" if Permission.MODERATE_MEMBERS in granted else "Member"


def _place(place: Channel, viewer: Member, marks: Marks) -> Payload:
    unread = marks.unread(viewer, place)
    body: Payload = {
        "id": str(place.id),
        "type": int(place.kind),
        "name": place.world.bot.display_name if place.is_dm else place.name,
        "topic": place.topic,
        "parent": None if place.parent is None else str(place.parent.id),
        "position": place.position,
        "slowmode": place.slowmode,
        "nsfw": place.nsfw,
        "private": not place.is_dm and not _everyone_sees(place),
        "can": _can(place, viewer),
        "unread": unread.count,
        "pinged": unread.pinged,
        "read": str(unread.after),
        "last": moment(_last_said(place)),
    }
    if isinstance(place, Thread):
        body |= {
            "archived": place.archived,
            "locked": place.locked,
            "owner": str(place.owner.id),
            "count": place.message_count,
            "created": moment(place.created_at),
        }
    return body


def _everyone_sees(place: Channel) -> bool:
    """Whether somebody without any role could read it."""
    if place.kind is Kind.PRIVATE_THREAD or place.guild is None:
        return False
    gate = place.parent if isinstance(place, Thread) and place.parent is not None else place
    overwrite = gate.overwrites.get(place.guild.id)
    granted = place.guild.everyone.permissions
    return Permission.VIEW_CHANNEL in (granted if overwrite is None else overwrite.applied(granted))


def _last_said(place: Channel) -> float | None:
    newest = place.shelf.before(None, 1)
    return newest[0].created_at if newest else None


def _can(place: Channel, viewer: Member) -> Payload:
    if place.is_dm:
        return {"say": True, **{name: name in _IN_A_DM for name in _OFFERED}}
    granted = place.permissions_of(viewer)
    speak = Permission.SEND_MESSAGES_IN_THREADS if isinstance(place, Thread) else Permission.SEND_MESSAGES
    locked = isinstance(place, Thread) and place.locked and Permission.MANAGE_THREADS not in granted
    says = speak in granted and not locked and place.kind is not Kind.CATEGORY
    offered = {name: need in granted for name, need in _OFFERED.items()}
    if isinstance(place, Thread) or place.kind not in (Kind.TEXT, Kind.NEWS):
        offered["thread"] = False
    return {"say": says, **offered}


# --- messages --------------------------------------------------------------------------------------------------------


def message_view(message: Message, viewer: Member) -> Payload:
    """A message as the viewer sees it."""
    body = payloads.message(message, gateway=False, quote=False)
    body["attachments"] = [attachment_view(message, attached) for attached in message.attachments]
    body["reactions"] = [
        {
            "emoji": reaction.emoji.payload(),
            "key": reaction.emoji.key,
            "count": len(reaction.users),
            "me": viewer.id in reaction.users,
            "by": [str(user_id) for user_id in list(reaction.users)[:_MOST_NAMES]],
        }
        for reaction in message.reactions.values()
    ]
    thread = message.thread
    place = message.channel
    manages = not place.is_dm and Permission.MANAGE_MESSAGES in place.permissions_of(viewer)
    mine = message.author is viewer.user
    body["view"] = {
        "at": moment(message.created_at),
        "edited": moment(message.edited_at),
        "mine": mine,
        "pinged": pings(message, viewer),
        "editable": mine and message.kind in CHAT_COMMANDS,
        "deletable": not message.ephemeral and (mine or manages),
        "private": message.ephemeral,
        "votes": [] if message.poll is None else [n for n, by in message.poll.votes.items() if viewer.id in by],
        "reply": _quoted(message, REPLY, CONTEXT_COMMAND),
        "starter": _quoted(message, THREAD_STARTER),
        "thread": None
        if thread is None or thread.deleted or not thread.visible_to(viewer)
        else {"id": str(thread.id), "name": thread.name, "count": thread.message_count, "archived": thread.archived},
    }
    return body


def _quoted(message: Message, *kinds: int) -> Payload | None:
    """What a message of one of these kinds refers to."""
    quoted = message.referenced
    if quoted is None or message.kind not in kinds:
        return None
    return {
        "id": str(quoted.id),
        "author": str(quoted.author.id),
        "name": quoted.author.display_name,
        "text": "" if quoted.deleted else quoted.content[:_QUOTED],
        "gone": quoted.deleted,
        "more": bool(quoted.attachments or quoted.embeds or quoted.components),
    }


def attachment_view(message: Message, attached: Attachment) -> Payload:
    """A file by an address of the page's own, so that nothing is loaded from elsewhere."""
    file = attached.file
    return {
        "id": str(attached.id),
        "filename": file.filename,
        "size": len(file.content),
        "content_type": file.content_type,
        "description": file.description,
        "width": file.width,
        "height": file.height,
        "url": f"/files/{message.channel.id}/{message.id}/{attached.id}",
    }


def typing_in(world: World, place: Channel, viewer: Member) -> list[Payload]:
    """Who is typing there, and until when it is shown unless they begin again."""
    now = world.clock.now()
    starts: dict[int, Typing] = {}
    for typing in world.typing_log[-_TYPING_LOOKED_AT:]:
        if typing.place is place and typing.by is not viewer.user and now < typing.at + TYPING_S:
            starts[typing.by.id] = typing
    for message in place.shelf.before(None, len(starts) + 1) if starts else ():
        began = starts.get(message.author.id)
        if began is not None and began.id < message.id:
            del starts[message.author.id]
    return [{"id": str(user_id), "until": moment(began.at + TYPING_S)} for user_id, began in starts.items()]
