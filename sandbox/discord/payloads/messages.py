"""Messages as JSON shows them.

REST and gateway differ: a gateway message names its guild, carries the author's member and members in its mentions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.discord.clock import iso
from sandbox.discord.components import shown
from sandbox.discord.events import Intent, Payload, censored
from sandbox.discord.messages import REPLY, THREAD_STARTER, Attachment, Message, Reaction

from .people import member, moment, user
from .places import thread

if TYPE_CHECKING:
    from sandbox.discord.people import User
    from sandbox.discord.places import Guild
    from sandbox.discord.world import World


def message(of: Message, *, gateway: bool, nonce: bool = False, quote: bool = True) -> Payload:
    """A message. ``gateway`` adds guild_id and member; ``nonce`` is shown only when it has just been posted."""
    place = of.channel
    mentioned = {who.id: who for who in of.pings.users}
    if of.pings.replied_user is not None:
        mentioned[of.pings.replied_user.id] = of.pings.replied_user
    body: Payload = {
        "id": str(of.id),
        "type": of.kind,
        "content": of.content,
        "channel_id": str(place.id),
        "author": user(of.author),
        "attachments": [attachment(a, place.world) for a in of.attachments],
        "embeds": of.embeds,
        "mentions": [_mentioned(who, place.guild if gateway else None) for who in mentioned.values()],
        "mention_roles": [str(r.id) for r in of.pings.roles],
        "mention_everyone": of.pings.everyone,
        "pinned": of.pinned,
        "tts": of.tts,
        "timestamp": iso(of.created_at),
        "edited_timestamp": moment(of.edited_at),
        "flags": of.flags,
        "components": shown(of.components, of.attachments, place.world),
    }
    body |= _parts(of)
    if of.author.webhook_id is not None:
        body["webhook_id"] = str(of.author.webhook_id)
    if of.interaction is not None:
        body |= of.interaction
    if of.thread is not None and not of.thread.deleted and quote:
        body["thread"] = thread(of.thread)
    if nonce and of.nonce is not None:
        body["nonce"] = of.nonce
    _add_reference(body, of, quote)
    if gateway and place.guild is not None and not of.ephemeral:
        body["guild_id"] = str(place.guild.id)
        speaker = place.guild.members.get(of.author.id)
        if speaker is not None and "webhook_id" not in body:
            body["member"] = member(speaker, with_user=False)
    return body


def _parts(of: Message) -> Payload:
    """What only some messages have."""
    body: Payload = {}
    if of.position is not None:
        body["position"] = of.position
    if of.reactions:
        body["reactions"] = [_reaction(r, of.channel.world.bot.id) for r in of.reactions.values()]
    if of.poll is not None:
        body["poll"] = of.poll.payload()
    if of.stickers:
        body["sticker_items"] = of.stickers
    if of.snapshots:
        body["message_snapshots"] = [{"message": snapshot} for snapshot in of.snapshots]
    return body


def for_application(of: Message, *, nonce: bool = False) -> Payload:
    """A message over REST, whose content depends on the application's switch as the gateway's on the intents."""
    body = message(of, gateway=False, nonce=nonce)
    world = of.channel.world
    if of.channel.guild is None or Intent.MESSAGE_CONTENT in world.application.privileged:
        return body
    shown = censored({**body, "guild_id": str(of.channel.guild.id)}, str(world.bot.id))
    del shown["guild_id"]
    return shown


def _add_reference(body: Payload, of: Message, quote: bool) -> None:
    if of.reference is None:
        return
    reference: Payload = {"type": of.reference.kind, "channel_id": str(of.reference.channel_id)}
    if of.reference.message_id is not None:
        reference["message_id"] = str(of.reference.message_id)
    if of.reference.guild_id is not None:
        reference["guild_id"] = str(of.reference.guild_id)
    body["message_reference"] = reference
    if quote and of.kind in (REPLY, THREAD_STARTER):
        gone = of.referenced is None or of.referenced.deleted
        body["referenced_message"] = (
            None if gone or of.referenced is None else message(of.referenced, gateway=False, quote=False)
        )


def snapshot(of: Message) -> Payload:
    """What a forward carries: no author, no ids."""
    whole = message(of, gateway=False, quote=False)
    kept = ("type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mentions")
    return {key: whole[key] for key in (*kept, "mention_roles", "components")}


def snapshots(of: Message) -> list[Payload]:
    """What a forward of a message carries: of a forward, what that one carries."""
    return list(of.snapshots) or [snapshot(of)]


def _mentioned(who: User, where: Guild | None) -> Payload:
    body = user(who)
    present = None if where is None else where.members.get(who.id)
    if present is not None:
        body["member"] = member(present, with_user=False)
    return body


def _reaction(of: Reaction, viewer_id: int) -> Payload:
    return {
        "emoji": of.emoji.payload(),
        "count": len(of.users),
        "count_details": {"burst": 0, "normal": len(of.users)},
        "burst_colors": [],
        "me_burst": False,
        "burst_me": False,
        "me": viewer_id in of.users,
        "burst_count": 0,
    }


def attachment(of: Attachment, world: World) -> Payload:
    url = world.cdn.url(of)
    body: Payload = {
        "id": str(of.id),
        "filename": of.file.filename,
        "size": len(of.file.content),
        "url": url,
        "proxy_url": url,
        "content_scan_version": 0,
    }
    if of.file.content_type is not None:
        body["content_type"] = of.file.content_type
    if of.file.description is not None:
        body["description"] = of.file.description
    if of.file.width is not None and of.file.height is not None:
        body |= {"width": of.file.width, "height": of.file.height}
    if of.file.waveform is not None:
        body |= {"duration_secs": of.file.seconds, "waveform": of.file.waveform}
    return body
