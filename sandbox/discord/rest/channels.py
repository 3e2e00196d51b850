"""Channels: reading, changing, sorting, deleting, typing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, unknown
from sandbox.discord.fields import ChannelFields
from sandbox.discord.forums import MAX_TAGS, Tag
from sandbox.discord.layout import Move
from sandbox.discord.places import Channel, Guild, Kind, Thread

from .forms import Form
from .overwrites import read_overwrites
from .router import Call, Reply, Routes
from .threads import change_thread

routes = Routes()
ARCHIVE_MINUTES: Final = (60, 1440, 4320, 10080)
MAX_SLOWMODE: Final = 21_600
_MAKEABLE: Final = frozenset({Kind.TEXT, Kind.VOICE, Kind.CATEGORY, Kind.NEWS, Kind.STAGE, Kind.FORUM, Kind.MEDIA})


@routes.get("/channels/{channel_id}")
def channel(call: Call) -> Reply:
    return Reply(200, payloads.channel(call.channel()))


@routes.get("/guilds/{guild_id}/channels")
def channels(call: Call) -> Reply:
    return Reply(200, [payloads.channel(channel) for channel in call.guild().channels.values()])


@routes.post("/guilds/{guild_id}/channels")
def create(call: Call) -> Reply:
    guild, form = call.guild(), call.form
    if form.data.get("name") is None:
        form.error("name", "BASE_TYPE_REQUIRED", "This field is required")
    kind = Kind(form.choice("type", _MAKEABLE) or 0)
    fields, parent = _fields(call, kind, ()), _parent(form, guild)
    overwrites = read_overwrites(form)
    form.done()
    made = call.world.layout.create(
        guild, kind, fields, by=call.me(guild), parent=parent, overwrites=overwrites, reason=call.reason
    )
    return Reply(201, payloads.channel(made))


@routes.patch("/guilds/{guild_id}/channels", takes_list=True)
def arrange(call: Call) -> Reply:
    guild = call.guild()
    moves: list[Move] = []
    for form in call.form.spread(call.items):
        channel_id = form.snowflake("id", required=True)
        found = guild.channels.get(channel_id or 0)
        if channel_id is not None and found is None:
            raise unknown("Channel")
        position, parent = form.integer("position"), _parent(form, guild)
        if found is not None:
            moves.append(Move(found, position, form.has("parent_id"), parent, form.flag("lock_permissions")))
    call.form.done()
    call.world.layout.arrange(guild, moves, by=call.me(guild))
    return Reply(204)


@routes.patch("/channels/{channel_id}")
def change(call: Call) -> Reply:
    found = call.channel()
    if isinstance(found, Thread):
        change_thread(call, found)
        return Reply(200, payloads.thread(found))
    if found.guild is None:
        raise Refusal(403, 50003, "Cannot execute action on a DM channel")
    guild, form, layout = found.guild, call.form, call.world.layout
    fields, parent = _fields(call, found.kind, found.tags), _parent(form, guild)
    overwrites = read_overwrites(form)
    position = form.integer("position")
    if form.data.get("type") not in (None, int(found.kind)):
        form.error("type", "CHANNEL_TYPE_NOT_CONVERTIBLE", "Only text and announcement channels can be converted")
    form.done()
    me = call.me(guild)
    if fields != ChannelFields() or (overwrites is None and position is None and not form.has("parent_id")):
        layout.edit(found, fields, by=me, reason=call.reason)
    if overwrites is not None:
        layout.set_overwrites(found, overwrites, by=me, reason=call.reason)
    if position is not None or form.has("parent_id"):
        layout.arrange(guild, [Move(found, position, form.has("parent_id"), parent)], by=me)
    return Reply(200, payloads.channel(found))


@routes.delete("/channels/{channel_id}")
def delete(call: Call) -> Reply:
    found = call.channel()
    body = payloads.channel(found)
    if isinstance(found, Thread):
        call.world.threads.delete(found, by=call.world.bot, reason=call.reason)
    elif found.guild is not None:
        call.world.layout.delete(found, by=call.me(found.guild), reason=call.reason)
    return Reply(200, body)


def _parent(form: Form, guild: Guild) -> Channel | None:
    """The category that the body names."""
    parent_id = form.snowflake("parent_id")
    if parent_id is None:
        return None
    found = guild.channels.get(parent_id)
    if found is None or found.kind is not Kind.CATEGORY:
        form.error("parent_id", "CHANNEL_PARENT_INVALID", "Category does not exist")
        return None
    return found


def _fields(call: Call, kind: Kind, tags: Sequence[Tag]) -> ChannelFields:
    """What the body says of a channel of some kind; a null is the same as leaving a field out, but for the topic."""
    form = call.form
    is_forum = kind in (Kind.FORUM, Kind.MEDIA)
    topic = form.text("topic", most=4096 if is_forum else 1024)
    reaction = form.child("default_reaction_emoji")
    return ChannelFields(
        name=form.text("name", least=1, most=100),
        topic="" if form.has("topic") and topic is None else topic,
        nsfw=form.flag("nsfw") if form.data.get("nsfw") is not None else None,
        slowmode=form.integer("rate_limit_per_user", most=MAX_SLOWMODE),
        flags=form.integer("flags"),
        default_auto_archive_minutes=form.choice("default_auto_archive_duration", ARCHIVE_MINUTES),
        default_thread_slowmode=form.integer("default_thread_rate_limit_per_user", most=MAX_SLOWMODE),
        tags=_tags(call, tags) if form.data.get("available_tags") is not None else None,
        default_reaction=None if reaction is None else reaction.text("emoji_name", most=32),
        default_sort_order=form.choice("default_sort_order", (0, 1)),
        default_layout=form.choice("default_forum_layout", (0, 1, 2)),
        bitrate=form.integer("bitrate", least=8000, most=96_000),
        user_limit=form.integer("user_limit", most=99 if kind is Kind.VOICE else 10_000),
    )


def _tags(call: Call, before: Sequence[Tag]) -> list[Tag]:
    """A forum's tags; one that has an id keeps it, a new one is given one."""
    made: list[Tag] = []
    known = {tag.id for tag in before}
    for form in call.form.children("available_tags", most=MAX_TAGS * 2):
        name, tag_id = form.text("name", most=20, required=True), form.snowflake("id")
        emoji_id, emoji_name = form.snowflake("emoji_id"), form.text("emoji_name", most=32)
        if emoji_id is not None and emoji_name is not None:
            form.error("emoji_id", "MUTUALLY_EXCLUSIVE", "Only one of emoji_id and emoji_name may be set")
        kept = tag_id if tag_id in known else None
        new_id = call.world.ids.next() if kept is None else kept
        made.append(Tag(new_id, name or "", form.flag("moderated"), emoji_id, emoji_name))
    return made


@routes.post("/channels/{channel_id}/typing")
def typing(call: Call) -> Reply:
    found = call.channel()
    call.world.speech.must_speak(call.world.bot, found)
    call.world.speech.typing(call.world.bot, found)
    return Reply(204)
