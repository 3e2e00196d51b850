"""What is said: posting, editing, deleting, reacting, typing. One set of rules for the bot and for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from . import emoji as emojis
from . import payloads
from .clock import looks_like_snowflake
from .errors import Misuse, NotPermitted, Refusal, missing_access, missing_permissions, unknown
from .floor import Floor
from .mentions import PARSE_EVERYTHING, AllowedMentions, resolve
from .messages import (
    CHAT_COMMANDS,
    DEFAULT,
    HAS_SNAPSHOT,
    IS_VOICE_MESSAGE,
    REPLY,
    Attachment,
    File,
    Message,
    Ping,
    Pings,
    Reaction,
    Reference,
)
from .nonces import Nonces
from .people import User
from .permissions import Permission
from .places import Channel, Guild, Place, Thread

if TYPE_CHECKING:
    from .events import Payload
    from .polls import Poll
    from .world import World

_UNTIDY: Final = re.compile(r"[^\w.\-]")
MAX_REACTIONS: Final = 20
BOT_LENGTH: Final = 2000
NITRO_LENGTH: Final = 4000


@dataclass(frozen=True, slots=True)
class Draft:
    """A message about to be posted. ``nonce`` with ``enforce_nonce`` makes the post happen once in the window."""

    author: User
    content: str = ""
    kind: int = DEFAULT
    files: Sequence[File] = ()
    embeds: Sequence[Payload] = ()
    components: Sequence[Payload] = ()
    stickers: Sequence[Payload] = ()
    snapshots: Sequence[Payload] = ()
    allowed: AllowedMentions = PARSE_EVERYTHING
    reference: Reference | None = None
    referenced: Message | None = None
    nonce: str | int | None = None
    enforce_nonce: bool = False
    flags: int = 0
    tts: bool = False
    poll: Poll | None = None
    named: Sequence[User] = ()
    """Whom a message of Discord's own mentions without a word in its text."""
    id: int | None = None
    """Given only for the first message of a forum post, which shares its thread's."""
    interaction: Payload | None = None
    seen_by: User | None = None
    """These two are for answers to interactions; see Message."""


class Speech(Floor):
    def __init__(self, world: World, nonce_window: float) -> None:
        super().__init__(world)
        self.nonces = Nonces(world.clock, nonce_window)

    async def spoken(
        self,
        author: User,
        place: Place,
        text: str,
        *,
        reply_to: Message | None = None,
        ping: bool = True,
        files: Sequence[File] = (),
        embeds: Sequence[Payload] = (),
        forward: Message | None = None,
        stickers: Sequence[str] = (),
    ) -> Message:
        """A person, another bot or a webhook speaks; see User.says."""
        channel = place.as_channel()
        most, whose = (BOT_LENGTH, "a bot's") if author.bot else (NITRO_LENGTH, "Nitro's")
        if len(text) > most:
            raise Misuse(f"{author} cannot post {len(text)} characters; {most} is {whose} limit")
        if author.webhook_id is None:
            try:
                self.must_speak(author, channel)
            except Refusal as refused:
                raise NotPermitted(f"{author} cannot speak in {channel}: {refused.words}") from refused
        draft = Draft(
            author,
            text,
            files=files,
            embeds=embeds,
            stickers=[{"id": str(self._world.ids.next()), "name": name, "format_type": 1} for name in stickers],
            # People's clients send one with each message, and the gateway shows it; history does not.
            nonce=None if author.bot else str(self._world.ids.next()),
            allowed=PARSE_EVERYTHING if ping else replace(PARSE_EVERYTHING, replied_user=False),
            # A client sends a voice message as one file with a shape and without words, and marks it so.
            flags=IS_VOICE_MESSAGE if len(files) == 1 and not text and files[0].waveform is not None else 0,
        )
        if reply_to is not None:
            draft = replace(draft, kind=REPLY, reference=_reference(reply_to), referenced=reply_to)
        elif forward is not None:
            if not forward.channel.visible_to(author):
                raise NotPermitted(f"{author} cannot forward from {forward.channel}: Missing Access")
            reference = replace(_reference(forward), kind=1)
            draft = replace(draft, reference=reference, snapshots=payloads.snapshots(forward), flags=HAS_SNAPSHOT)
        message = self.post(channel, draft)
        await self._world.breathe()
        return message

    def post(self, channel: Channel, draft: Draft) -> Message:
        """Post, or inside the nonce window return what the same author posted here with the same nonce.

        Raises 404/10008 when that one was deleted meanwhile. Permissions are the caller's business.
        """
        if draft.enforce_nonce and draft.nonce is not None:
            earlier = self.nonces.find(draft.author.id, channel.id, draft.nonce)
            if earlier is not None:
                if earlier.deleted:
                    raise unknown("Message")
                return earlier
        if isinstance(channel, Thread) and draft.interaction is None:
            self._world.threads.before_post(channel, draft.author)
        message = self._write(channel, draft)
        if draft.nonce is not None:
            self.nonces.remember(message)
        self.announce(message)
        return message

    def announce(self, message: Message) -> None:
        """MESSAGE_CREATE, the one place besides the answer to the POST where the nonce is shown."""
        body = payloads.message(message, gateway=True, nonce=True)
        self._world.publish("MESSAGE_CREATE", body, guild=_told_in(message), channel=message.channel)

    def _write(self, channel: Channel, draft: Draft) -> Message:
        replied_to = draft.referenced.author if draft.kind == REPLY and draft.referenced is not None else None
        message = Message(
            self._world.ids.next() if draft.id is None else draft.id,
            channel,
            draft.author,
            draft.content,
            kind=draft.kind,
            pings=Pings(tuple(draft.named))
            if draft.named
            else resolve(draft.content, channel, draft.author, draft.allowed, replied_to),
            embeds=list(draft.embeds),
            components=list(draft.components),
            stickers=list(draft.stickers),
            snapshots=list(draft.snapshots),
            reference=draft.reference,
            referenced=draft.referenced,
            nonce=draft.nonce,
            flags=draft.flags,
            tts=draft.tts,
            poll=draft.poll,
            interaction=draft.interaction,
            seen_by=draft.seen_by,
        )
        message.attachments = [self.attach(channel, file) for file in draft.files]
        if message.ephemeral:
            self._world.interactions.hide(message)
            return message
        channel.shelf.put(message)
        if isinstance(channel, Thread):
            message.position = channel.sent
            if message.kind in CHAT_COMMANDS:
                channel.sent += 1
        if message.poll is not None:
            self._world.polls.posted(message)
        if message.pings:
            self._world.pings.append(Ping(message, message.pings))
        return message

    def attach(self, channel: Channel, file: File) -> Attachment:
        attachment = Attachment(self._world.ids.next(), channel.id, replace(file, filename=tidy(file.filename)))
        self._world.cdn.keep(attachment)
        return attachment

    def system(self, channel: Channel, about: User, kind: int, content: str = "") -> Message:
        """A message that Discord makes itself, in somebody's name."""
        return self.post(channel, Draft(about, content, kind=kind))

    def edit(
        self, message: Message, *, content: str | None = None, allowed: AllowedMentions = PARSE_EVERYTHING
    ) -> None:
        """A new text. The mentions are worked out again; somebody newly named in them counts as pinged."""
        before = message.pings
        message.past.append(message.content)
        message.content = message.content if content is None else content
        message.edited_at = self._world.clock.now()
        replied_to = message.referenced.author if message.kind == REPLY and message.referenced is not None else None
        message.pings = resolve(message.content, message.channel, message.author, allowed, replied_to)
        fresh = Pings(
            tuple(user for user in message.pings.users if user not in before.users),
            tuple(role for role in message.pings.roles if role not in before.roles),
            message.pings.everyone and not before.everyone,
        )
        if fresh and not message.ephemeral:
            self._world.pings.append(Ping(message, fresh, by_edit=True))
        self.changed(message)

    def changed(self, message: Message) -> None:
        """Tell the sessions (MESSAGE_UPDATE, the whole message) without marking it as edited."""
        body = payloads.message(message, gateway=True)
        self._world.publish("MESSAGE_UPDATE", body, guild=_told_in(message), channel=message.channel)

    def delete(self, message: Message) -> None:
        """Deleting twice is nothing new."""
        if message.deleted:
            return
        message.deleted = True
        body: Payload = {"id": str(message.id), "channel_id": str(message.channel.id)}
        if message.ephemeral:
            self._world.publish("MESSAGE_DELETE", body, guild=None, channel=message.channel)
        else:
            self._publish("MESSAGE_DELETE", message.channel, body)

    def delete_bulk(self, channel: Channel, messages: Sequence[Message]) -> None:
        live = [message for message in messages if not message.deleted]
        for message in live:
            message.deleted = True
        if live:
            body: Payload = {"ids": [str(m.id) for m in live], "channel_id": str(channel.id)}
            self._publish("MESSAGE_DELETE_BULK", channel, body)

    def known_emoji(self, channel: Channel, text: str) -> emojis.Emoji:
        """The emoji behind its text. Raises 400/10014 when neither Unicode nor the guild has it."""
        emoji = emojis.parse(text)
        if emoji is not None and emoji.id is not None:
            owner = next((g for g in self._world.guilds.values() if emoji.id in g.emojis), None)
            emoji = None if owner is None else emojis.Emoji(owner.emojis[emoji.id], emoji.id)
        if emoji is None:
            raise Refusal(400, 10014, "Unknown Emoji")
        return emoji

    def must_react(self, who: User, message: Message, text: str) -> None:
        """Raises 50083 in an archived thread, 50013 without the permission.

        A kind of emoji that is already there needs no permission to add reactions, only to read the history.
        """
        channel = message.channel
        if isinstance(channel, Thread) and channel.archived:
            raise Refusal(400, 50083, "Thread is archived")
        if channel.guild is None:
            return
        allowed = channel.permissions_of(who)
        if Permission.VIEW_CHANNEL not in allowed:
            raise missing_access()
        is_new = self.known_emoji(channel, text).key not in message.reactions
        need = Permission.READ_MESSAGE_HISTORY | (Permission.ADD_REACTIONS if is_new else Permission(0))
        if need not in allowed:
            raise missing_permissions(need)

    def react(self, message: Message, who: User, text: str) -> None:
        """Raises Refusal 10014 for no emoji, 30010 for a 21st kind of it."""
        emoji = self.known_emoji(message.channel, text)
        reaction = message.reactions.get(emoji.key)
        if reaction is None:
            if len(message.reactions) >= MAX_REACTIONS:
                raise Refusal(400, 30010, f"Maximum number of reactions reached ({MAX_REACTIONS})")
            reaction = message.reactions[emoji.key] = Reaction(emoji)
        if who.id in reaction.users:
            return
        reaction.users[who.id] = who
        body = _reaction_body(message, who, reaction)
        body["message_author_id"] = str(message.author.id)
        guild = message.channel.guild
        if guild is not None and who.id in guild.members:
            body["member"] = payloads.member(guild.members[who.id])
        self._publish("MESSAGE_REACTION_ADD", message.channel, body)

    def unreact(self, message: Message, who: User, text: str) -> None:
        """Raises Refusal 10014 when nobody reacted with that emoji."""
        emoji = self.known_emoji(message.channel, text)
        reaction = message.reactions.get(emoji.key)
        if reaction is None:
            raise Refusal(400, 10014, "Unknown Emoji")
        if reaction.users.pop(who.id, None) is None:
            return
        if not reaction.users:
            del message.reactions[emoji.key]
        self._publish("MESSAGE_REACTION_REMOVE", message.channel, _reaction_body(message, who, reaction))

    def clear_reactions(self, message: Message, text: str | None = None) -> None:
        """All reactions, or all with one emoji."""
        body: Payload = {"channel_id": str(message.channel.id), "message_id": str(message.id)}
        if text is None:
            message.reactions.clear()
            self._publish("MESSAGE_REACTION_REMOVE_ALL", message.channel, body)
            return
        emoji = self.known_emoji(message.channel, text)
        if message.reactions.pop(emoji.key, None) is None:
            raise Refusal(400, 10014, "Unknown Emoji")
        self._publish("MESSAGE_REACTION_REMOVE_EMOJI", message.channel, {**body, "emoji": emoji.payload()})

    def typing(self, who: User, channel: Channel) -> None:
        self._world.note_typing(who, channel)
        body: Payload = {
            "channel_id": str(channel.id),
            "user_id": str(who.id),
            "timestamp": int(self._world.clock.now()),
        }
        if channel.guild is not None and who.id in channel.guild.members:
            body["member"] = payloads.member(channel.guild.members[who.id])
        self._publish("TYPING_START", channel, body)

    def _publish(self, name: str, channel: Channel, body: Payload) -> None:
        if channel.guild is not None:
            body["guild_id"] = str(channel.guild.id)
        self._world.publish(name, body, guild=channel.guild, channel=channel)


def _told_in(message: Message) -> Guild | None:
    """The guild that an event about a message names. Of an ephemeral one it is left out, so that it goes where
    direct messages go (https://discord.com/developers/docs/events/gateway-events#message-create).
    """
    return None if message.ephemeral else message.channel.guild


def _reference(to: Message) -> Reference:
    guild = to.channel.guild
    return Reference(to.channel.id, to.id, None if guild is None else guild.id)


def _reaction_body(message: Message, who: User, reaction: Reaction) -> Payload:
    return {
        "user_id": str(who.id),
        "channel_id": str(message.channel.id),
        "message_id": str(message.id),
        "emoji": reaction.emoji.payload(),
        "burst": False,
        "type": 0,
    }


def tidy(filename: str) -> str:
    """As Discord keeps it: with an underscore for whatever would need escaping in an address."""
    return _UNTIDY.sub("_", filename)


def valid_nonce(nonce: str | int) -> bool:
    """A string of at most 25 characters, or a number that a snowflake could be."""
    return len(nonce) <= 25 if isinstance(nonce, str) else looks_like_snowflake(str(nonce))
