"""Reading a message body: text, embeds, mentions, reference, nonce, files and components, with Discord's limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sandbox.discord.errors import Refusal
from sandbox.discord.events import Payload
from sandbox.discord.mentions import PARSE_EVERYTHING, AllowedMentions
from sandbox.discord.messages import (
    CHAT_COMMANDS,
    DEFAULT,
    IS_COMPONENTS_V2,
    REPLY,
    SETTABLE_FLAGS,
    File,
    Message,
    Reference,
)
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Channel
from sandbox.discord.speech import BOT_LENGTH, Draft, tidy, valid_nonce

from .component_forms import read_components, refuse_legacy
from .forms import Form
from .router import Call

MAX_FILE: Final = 10 * 1024 * 1024
_MAX_EMBEDS: Final = 10
_EMBED_TOTAL: Final = 6000


def draft_from(call: Call, form: Form, channel: Channel) -> Draft:
    """The bot's message as the body describes it. Raises the Refusal that Discord answers for a bad one."""
    content = form.text("content", most=BOT_LENGTH) or ""
    flags = form.integer("flags", most=1 << 31) or 0
    embeds, files = read_embeds(form), read_files(form, call.files)
    components = read_components(form, flags, call.world, [tidy(file.filename) for file in files])
    allowed = read_allowed_mentions(form)
    nonce = _nonce(form)
    tts, enforce = form.flag("tts"), form.flag("enforce_nonce")
    stickers = form.snowflakes("sticker_ids", most=3)
    if form.data.get("poll") is not None:
        form.error("poll", "SANDBOX_NOT_SUPPORTED", "The sandbox's bot cannot post polls yet")
    reference, referenced = _reference(form, channel)
    if flags & IS_COMPONENTS_V2:
        refuse_legacy(form, content, embeds)
    form.done()
    if referenced is not None and not call.may(channel, Permission.READ_MESSAGE_HISTORY):
        raise Refusal(403, 160002, "Cannot reply without permission to read message history")
    content = content.strip()
    if not (content or embeds or files or stickers or components):
        raise Refusal(400, 50006, "Cannot send an empty message")
    return Draft(
        call.world.bot,
        content,
        kind=DEFAULT if referenced is None else REPLY,
        files=files,
        embeds=embeds if call.may(channel, Permission.EMBED_LINKS) else [],
        components=components,
        stickers=[{"id": str(s), "name": "sticker", "format_type": 1} for s in stickers],
        allowed=allowed,
        reference=reference,
        referenced=referenced,
        nonce=nonce,
        enforce_nonce=enforce,
        flags=flags & SETTABLE_FLAGS,
        tts=tts,
    )


def _nonce(form: Form) -> str | int | None:
    nonce = form.data.get("nonce")
    if nonce is None:
        return None
    if isinstance(nonce, bool) or not isinstance(nonce, int | str):
        form.error("nonce", "NONCE_TYPE_INVALID_TYPE", "Nonce must be a string or an integer.")
        return None
    if not valid_nonce(nonce):
        form.error("nonce", "NONCE_TYPE_MAX_LENGTH", "Nonce must be 25 or fewer in length.")
        return None
    return nonce


def _reference(form: Form, channel: Channel) -> tuple[Reference | None, Message | None]:
    """A reply's target in this channel. A missing one is an error unless ``fail_if_not_exists`` is false."""
    inner = form.child("message_reference")
    if inner is None:
        return None, None
    kind = inner.choice("type", (0, 1)) or 0
    message_id = inner.snowflake("message_id", required=True)
    channel_id, must_exist = inner.snowflake("channel_id"), inner.flag("fail_if_not_exists", True)
    if message_id is None or kind == 1:
        if kind == 1:
            inner.error("type", "SANDBOX_NOT_SUPPORTED", "The sandbox's bot cannot forward yet")
        return None, None
    found = channel.shelf.get(message_id) if channel_id in (None, channel.id) else None
    if channel_id not in (None, channel.id):
        form.error("message_reference", "MESSAGE_REFERENCE_CHANNEL_MISMATCH", "Cannot reply to another channel")
        return None, None
    if found is None:
        if must_exist:
            form.error("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return None, None
    if found.kind not in CHAT_COMMANDS:
        form.error("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
        return None, None
    guild_id = None if channel.guild is None else channel.guild.id
    return Reference(channel.id, found.id, guild_id), found


def read_allowed_mentions(form: Form) -> AllowedMentions:
    """The object, or parse-everything when the key is absent or null."""
    inner = form.child("allowed_mentions")
    if inner is None:
        return PARSE_EVERYTHING
    parse = inner.items("parse", most=3)
    for index, word in enumerate(parse):
        if word not in ("users", "roles", "everyone"):
            inner.error("parse", "BASE_TYPE_CHOICES", f"{index}: Value must be one of ('users', 'roles', 'everyone').")
    users, roles = inner.snowflakes("users", most=100), inner.snowflakes("roles", most=100)
    for name, ids in (("users", users), ("roles", roles)):
        if name in parse and ids:
            inner.error(
                "parse",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f'parse:["{name}"] and {name}: [ids...] are mutually exclusive.',
            )
    return AllowedMentions(
        frozenset(str(word) for word in parse), frozenset(users), frozenset(roles), inner.flag("replied_user")
    )


def read_embeds(form: Form) -> list[Payload]:
    """Embeds within https://discord.com/developers/docs/resources/message#embed-object-embed-limits."""
    total, embeds = 0, list[Payload]()
    for embed in form.children("embeds", most=_MAX_EMBEDS):
        texts = [embed.text("title", most=256), embed.text("description", most=4096)]
        for part, name, most in (("footer", "text", 2048), ("author", "name", 256)):
            inner = embed.child(part)
            if inner is not None:
                texts.append(inner.text(name, most=most, required=True))
        for field in embed.children("fields", most=25):
            texts.append(field.text("name", most=256, least=1, required=True))
            texts.append(field.text("value", most=1024, least=1, required=True))
            field.flag("inline")
        embed.integer("color", most=0xFFFFFF)
        embed.text("url", most=2048)
        total += sum(len(text) for text in texts if text)
        embeds.append({"type": "rich", **embed.data})
    if total > _EMBED_TOTAL:
        form.error("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {_EMBED_TOTAL}")
    return embeds


def read_files(form: Form, files: Mapping[int, File]) -> list[File]:
    """The multipart files, with what ``attachments`` says of them."""
    described = {f.data.get("id"): f for f in form.children("attachments", most=10) if f.has("filename") or f.has("id")}
    result: list[File] = []
    for index, file in sorted(files.items()):
        if len(file.content) > MAX_FILE:
            raise Refusal(413, 40005, "Request entity too large")
        note = described.get(index) or described.get(str(index))
        name = None if note is None else note.text("filename", most=260)
        description = None if note is None else note.text("description", most=1024)
        result.append(File(name or file.filename, file.content, file.content_type, description))
    return result


def kept_attachments(call: Call, form: Form, message: Message) -> None:
    """An edit's ``attachments`` names by id what stays; the rest goes. New files come on top."""
    if form.has("attachments"):
        items = form.items("attachments", most=10)
        kept = {str(item.get("id")) for item in items if isinstance(item, dict)}  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        message.attachments = [a for a in message.attachments if str(a.id) in kept]
    for file in read_files(form, call.files):
        message.attachments.append(call.world.speech.attach(message.channel, file))
