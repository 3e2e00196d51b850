"""Reading a message body: text, embeds, mentions, reference, nonce, files and components, with Discord's limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sandbox.discord.errors import Refusal, missing_permissions
from sandbox.discord.events import Payload
from sandbox.discord.mentions import PARSE_EVERYTHING, AllowedMentions
from sandbox.discord.messages import (
    DEFAULT,
    HAS_SNAPSHOT,
    IS_COMPONENTS_V2,
    IS_VOICE_MESSAGE,
    REPLY,
    SETTABLE_FLAGS,
    File,
    Message,
)
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Channel, Guild
from sandbox.discord.speech import BOT_LENGTH, Draft, tidy, valid_nonce

from .component_forms import read_components, refuse_legacy
from .forms import Form
from .polls import read_poll
from .references import read_reference
from .router import Call

_MIB: Final = 1024 * 1024
UPLOAD_LIMITS: Final = (10 * _MIB, 10 * _MIB, 50 * _MIB, 100 * _MIB)
"""By boost tier: https://discord.com/developers/docs/reference#uploading-files; the numbers are the help centre's."""
MAX_REQUEST: Final = 25 * _MIB
MAX_FILES: Final = 10
_MAX_EMBEDS: Final = 10
_EMBED_TOTAL: Final = 6000


def draft_from(call: Call, form: Form, channel: Channel) -> Draft:
    """The bot's message as the body describes it. Raises the Refusal that Discord answers for a bad one."""
    content = form.text("content", most=BOT_LENGTH) or ""
    flags = form.integer("flags", most=1 << 31) or 0
    embeds, files = read_embeds(form), read_files(form, call.files, upload_limit(channel.guild))
    components = read_components(form, flags, call.world, [tidy(file.filename) for file in files])
    allowed = read_allowed_mentions(form)
    nonce = _nonce(form)
    tts, enforce = form.flag("tts"), form.flag("enforce_nonce")
    stickers, poll = form.snowflakes("sticker_ids", most=3), read_poll(call, form)
    target = read_reference(call, form, channel)
    if flags & IS_COMPONENTS_V2:
        refuse_legacy(form, content, embeds)
    form.done()
    may = channel.permissions_of(call.world.bot)
    if target.replied_to is not None and not call.may(channel, Permission.READ_MESSAGE_HISTORY):
        raise Refusal(403, 160002, "Cannot reply without permission to read message history")
    if channel.guild is not None:
        _check_rights(may, tts=tts, files=bool(files), poll=poll is not None)
    content = content.strip()
    draft = Draft(
        call.world.bot,
        content,
        kind=DEFAULT if target.replied_to is None else REPLY,
        files=files,
        embeds=embeds if Permission.EMBED_LINKS in may else [],
        components=components,
        stickers=[call.world.expressions.sent(sticker_id, channel, call.world.bot) for sticker_id in stickers],
        snapshots=target.snapshots,
        allowed=allowed,
        reference=target.reference,
        referenced=target.replied_to,
        nonce=nonce,
        enforce_nonce=enforce,
        flags=(flags & SETTABLE_FLAGS) | (HAS_SNAPSHOT if target.snapshots else 0),
        tts=tts,
        poll=poll,
    )
    if flags & IS_VOICE_MESSAGE:
        _check_voice_message(draft, may, in_guild=channel.guild is not None)
    elif not (content or embeds or files or stickers or components or poll or target.snapshots):
        raise Refusal(400, 50006, "Cannot send an empty message")
    return draft


def _check_rights(may: Permission, *, tts: bool, files: bool, poll: bool) -> None:
    asked = ((tts, Permission.SEND_TTS_MESSAGES), (files, Permission.ATTACH_FILES), (poll, Permission.SEND_POLLS))
    for is_asked, need in asked:
        if is_asked and need not in may:
            raise missing_permissions(need)


def _check_voice_message(draft: Draft, may: Permission, *, in_guild: bool) -> None:
    """One audio file with its length and shape, and nothing else.

    https://discord.com/developers/docs/resources/message#voice-messages
    """
    if in_guild and Permission.SEND_VOICE_MESSAGES not in may:
        raise Refusal(403, 50173, "You cannot send voice messages in this channel.")
    if draft.content or draft.embeds or draft.components or draft.stickers or draft.poll or draft.snapshots:
        raise Refusal(400, 50159, "Voice messages do not support additional content.")
    if len(draft.files) != 1 or not (draft.files[0].content_type or "").startswith("audio/"):
        raise Refusal(400, 50160, "Voice messages must have a single audio attachment.")
    if draft.files[0].waveform is None or draft.files[0].seconds is None:
        raise Refusal(400, 50161, "Voice messages must have supporting metadata.")


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


def upload_limit(guild: Guild | None) -> int:
    """How many bytes a file may have, which a guild's boosts raise."""
    return UPLOAD_LIMITS[0 if guild is None else guild.premium_tier]


def read_files(form: Form, files: Mapping[int, File], most: int = UPLOAD_LIMITS[0]) -> list[File]:
    """The multipart files, with what ``attachments`` says of them. Raises 413/40005 for one, or all, too large."""
    if len(files) > MAX_FILES:
        raise Refusal(400, 30015, f"Maximum number of attachments in a message reached ({MAX_FILES})")
    sizes = [len(file.content) for file in files.values()]
    if max(sizes, default=0) > most or sum(sizes) > max(MAX_REQUEST, most):
        raise Refusal(413, 40005, "Request entity too large")
    described = {f.data.get("id"): f for f in form.children("attachments", most=10) if f.has("filename") or f.has("id")}
    result: list[File] = []
    for index, file in sorted(files.items()):
        note = described.get(index) or described.get(str(index))
        if note is None:
            result.append(file)
            continue
        name, description = note.text("filename", most=260), note.text("description", most=1024)
        seconds, waveform = note.data.get("duration_secs"), note.text("waveform", most=400)
        result.append(
            replace(
                file,
                filename=name or file.filename,
                description=description,
                seconds=float(seconds) if isinstance(seconds, int | float) else None,
                waveform=waveform,
            )
        )
    return result


def kept_attachments(call: Call, form: Form, message: Message) -> None:
    """An edit's ``attachments`` names by id what stays; the rest goes. New files come on top."""
    if form.has("attachments"):
        items = form.items("attachments", most=10)
        kept = {str(item.get("id")) for item in items if isinstance(item, dict)}  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        message.attachments = [a for a in message.attachments if str(a.id) in kept]
    for file in read_files(form, call.files, upload_limit(message.channel.guild)):
        message.attachments.append(call.world.speech.attach(message.channel, file))
