"""Emoji and stickers of a guild."""

from __future__ import annotations

import re
from typing import Final

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, unknown
from sandbox.discord.events import Payload
from sandbox.discord.expressions import Sticker
from sandbox.discord.places import Guild

from .router import Call, Reply, Routes

routes = Routes()
_EMOJI: Final = "/guilds/{guild_id}/emojis"
_STICKERS: Final = "/guilds/{guild_id}/stickers"
_NAME: Final = re.compile(r"\w{2,32}")
_IMAGE: Final = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif);base64,.+", re.DOTALL)
_MAX_STICKER_FILE: Final = 512 * 1024


def _shown(guild: Guild, emoji_id: int) -> Payload:
    return payloads.emoji(guild.emojis[emoji_id], emoji_id)


def _emoji_id(call: Call, guild: Guild) -> int:
    emoji_id = call.id("emoji_id")
    if emoji_id not in guild.emojis:
        raise unknown("Emoji")
    return emoji_id


@routes.get(_EMOJI)
def emoji(call: Call) -> Reply:
    guild = call.guild()
    return Reply(200, [_shown(guild, emoji_id) for emoji_id in guild.emojis])


@routes.get(_EMOJI + "/{emoji_id}")
def one_emoji(call: Call) -> Reply:
    guild = call.guild()
    return Reply(200, _shown(guild, _emoji_id(call, guild)))


@routes.post(_EMOJI)
def create_emoji(call: Call) -> Reply:
    guild, name = call.guild(), _emoji_name(call, required=True)
    image = call.form.text("image", most=1 << 20, required=True)
    if image is not None and not _IMAGE.fullmatch(image):
        call.form.error("image", "IMAGE_INVALID", "Invalid image data")
    call.form.done()
    made = call.world.expressions.create_emoji(guild, name, by=call.me(guild), reason=call.reason)
    return Reply(201, _shown(guild, made))


@routes.patch(_EMOJI + "/{emoji_id}")
def change_emoji(call: Call) -> Reply:
    guild = call.guild()
    emoji_id, name = _emoji_id(call, guild), _emoji_name(call, required=False)
    call.form.done()
    me = call.me(guild)
    call.world.expressions.rename_emoji(guild, emoji_id, name or guild.emojis[emoji_id], by=me, reason=call.reason)
    return Reply(200, _shown(guild, emoji_id))


@routes.delete(_EMOJI + "/{emoji_id}")
def delete_emoji(call: Call) -> Reply:
    guild = call.guild()
    call.world.expressions.delete_emoji(guild, _emoji_id(call, guild), by=call.me(guild), reason=call.reason)
    return Reply(204)


def _emoji_name(call: Call, *, required: bool) -> str:
    name = call.form.text("name", least=2, most=32, required=required)
    if name is not None and not _NAME.fullmatch(name):
        call.form.error("name", "STRING_TYPE_REGEX", "String value did not match validation regex.")
    return name or ""


# stickers


def _sticker(call: Call, guild: Guild) -> Sticker:
    found = guild.stickers.get(call.id("sticker_id"))
    if found is None:
        raise unknown("Sticker")
    return found


@routes.get("/stickers/{sticker_id}")
def any_sticker(call: Call) -> Reply:
    return Reply(200, call.world.expressions.find(call.id("sticker_id")).payload())


@routes.get(_STICKERS)
def stickers(call: Call) -> Reply:
    return Reply(200, [sticker.payload() for sticker in call.guild().stickers.values()])


@routes.get(_STICKERS + "/{sticker_id}")
def sticker(call: Call) -> Reply:
    return Reply(200, _sticker(call, call.guild()).payload())


@routes.post(_STICKERS)
def create_sticker(call: Call) -> Reply:
    """Of form fields and one file, not of JSON."""
    guild, form = call.guild(), call.form
    name = form.text("name", least=2, most=30, required=True)
    description, tags = form.text("description", most=100), form.text("tags", most=200, required=True)
    if call.upload is None:
        form.error("file", "BASE_TYPE_REQUIRED", "This field is required")
    form.done()
    if call.upload is not None and len(call.upload.content) > _MAX_STICKER_FILE:
        raise Refusal(400, 50045, "File uploaded exceeds the maximum size")
    made = call.world.expressions.create_sticker(
        guild, name or "", description=description or "", tags=tags or "", by=call.me(guild), reason=call.reason
    )
    return Reply(201, made.payload())


@routes.patch(_STICKERS + "/{sticker_id}")
def change_sticker(call: Call) -> Reply:
    guild, form = call.guild(), call.form
    found = _sticker(call, guild)
    name, description = form.text("name", least=2, most=30), form.text("description", most=100)
    tags = form.text("tags", most=200)
    form.done()
    call.world.expressions.edit_sticker(
        found, name=name, description=description, tags=tags, by=call.me(guild), reason=call.reason
    )
    return Reply(200, found.payload())


@routes.delete(_STICKERS + "/{sticker_id}")
def delete_sticker(call: Call) -> Reply:
    guild = call.guild()
    call.world.expressions.delete_sticker(_sticker(call, guild), by=call.me(guild), reason=call.reason)
    return Reply(204)
