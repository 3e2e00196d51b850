"""A guild's own emoji and stickers.

Source: https://discord.com/developers/docs/resources/sticker and https://discord.com/developers/docs/resources/emoji.
Since 2026-02-23 making them needs Create Expressions; changing what others made needs Manage Expressions:
https://discord.com/developers/docs/change-log, "Permission Changes Going into Effect February 2026".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from . import payloads
from .audit import Action, changes_between
from .errors import Refusal, missing_permissions, unknown
from .permissions import Permission

if TYPE_CHECKING:
    from .events import Payload
    from .people import Member, User
    from .places import Channel, Guild
    from .world import World

MAX_EMOJI: Final = (50, 100, 150, 250)
MAX_STICKERS: Final = (5, 15, 30, 60)
"""By boost tier."""


@dataclass(slots=True, eq=False)
class Sticker:
    """A guild's sticker. ``tags`` is the emoji that suggests it; ``format`` 1 is a PNG."""

    id: int
    guild: Guild
    name: str
    description: str = ""
    tags: str = ""
    format: int = 1
    maker: User | None = None

    def item(self) -> Payload:
        """As a message shows it."""
        return {"id": str(self.id), "name": self.name, "format_type": self.format}

    def payload(self) -> Payload:
        body: Payload = {
            **self.item(),
            "description": self.description,
            "tags": self.tags,
            "type": 2,
            "available": True,
            "guild_id": str(self.guild.id),
        }
        if self.maker is not None:
            body["user"] = payloads.user(self.maker)
        return body


class Expressions:
    """``by`` is the member who does it, under Discord's rules, which raise a Refusal; None is by fiat, unlogged."""

    def __init__(self, world: World) -> None:
        self._world = world

    # emoji

    def create_emoji(self, guild: Guild, name: str, *, by: Member | None = None, reason: str | None = None) -> int:
        """The new emoji's id."""
        if by is not None:
            by.must(Permission.CREATE_GUILD_EXPRESSIONS)
            if len(guild.emojis) >= MAX_EMOJI[guild.premium_tier]:
                raise Refusal(400, 30008, f"Maximum number of emojis reached ({MAX_EMOJI[guild.premium_tier]})")
        emoji_id = self._world.ids.next()
        guild.emojis[emoji_id] = name
        if by is not None:
            guild.emoji_makers[emoji_id] = by.id
        self._emoji_changed(guild)
        self._log(Action.EMOJI_CREATE, guild, emoji_id, {}, {"name": name}, by, reason)
        return emoji_id

    def rename_emoji(self, guild: Guild, emoji_id: int, name: str, *, by: Member, reason: str | None = None) -> None:
        self._must_have_made(by, guild.emoji_makers.get(emoji_id))
        before, guild.emojis[emoji_id] = guild.emojis[emoji_id], name
        self._emoji_changed(guild)
        self._log(Action.EMOJI_UPDATE, guild, emoji_id, {"name": before}, {"name": name}, by, reason)

    def delete_emoji(self, guild: Guild, emoji_id: int, *, by: Member, reason: str | None = None) -> None:
        self._must_have_made(by, guild.emoji_makers.get(emoji_id))
        name = guild.emojis.pop(emoji_id)
        self._emoji_changed(guild)
        self._log(Action.EMOJI_DELETE, guild, emoji_id, {"name": name}, {}, by, reason)

    def _emoji_changed(self, guild: Guild) -> None:
        body: Payload = {"guild_id": str(guild.id), "emojis": payloads.guild(guild)["emojis"]}
        self._world.publish("GUILD_EMOJIS_UPDATE", body, guild=guild)

    # stickers

    def create_sticker(
        self,
        guild: Guild,
        name: str,
        *,
        description: str = "",
        tags: str = "",
        by: Member | None = None,
        reason: str | None = None,
    ) -> Sticker:
        if by is not None:
            by.must(Permission.CREATE_GUILD_EXPRESSIONS)
            if len(guild.stickers) >= MAX_STICKERS[guild.premium_tier]:
                raise Refusal(400, 30039, f"Maximum number of stickers reached ({MAX_STICKERS[guild.premium_tier]})")
        maker = None if by is None else by.user
        sticker = Sticker(self._world.ids.next(), guild, name, description, tags, maker=maker)
        guild.stickers[sticker.id] = sticker
        self._stickers_changed(guild)
        self._log(Action.STICKER_CREATE, guild, sticker.id, {}, _logged(sticker), by, reason)
        return sticker

    def edit_sticker(
        self,
        sticker: Sticker,
        *,
        name: str | None = None,
        description: str | None = None,
        tags: str | None = None,
        by: Member,
        reason: str | None = None,
    ) -> None:
        self._must_have_made(by, None if sticker.maker is None else sticker.maker.id)
        before = _logged(sticker)
        sticker.name = sticker.name if name is None else name
        sticker.description = sticker.description if description is None else description
        sticker.tags = sticker.tags if tags is None else tags
        self._stickers_changed(sticker.guild)
        self._log(Action.STICKER_UPDATE, sticker.guild, sticker.id, before, _logged(sticker), by, reason)

    def delete_sticker(self, sticker: Sticker, *, by: Member, reason: str | None = None) -> None:
        self._must_have_made(by, None if sticker.maker is None else sticker.maker.id)
        del sticker.guild.stickers[sticker.id]
        self._stickers_changed(sticker.guild)
        self._log(Action.STICKER_DELETE, sticker.guild, sticker.id, _logged(sticker), {}, by, reason)

    def find(self, sticker_id: int) -> Sticker:
        """Of any guild. Raises 10060."""
        for guild in self._world.guilds.values():
            if sticker_id in guild.stickers:
                return guild.stickers[sticker_id]
        raise unknown("Sticker")

    def sent(self, sticker_id: int, channel: Channel, by: User) -> Payload:
        """The sticker of a message. Raises 50081 for none, 50600 for another guild's without the permission."""
        owner = next((guild for guild in self._world.guilds.values() if sticker_id in guild.stickers), None)
        if owner is None:
            raise Refusal(400, 50081, "Invalid sticker sent")
        if owner is not channel.guild and Permission.USE_EXTERNAL_STICKERS not in channel.permissions_of(by):
            raise Refusal(403, 50600, "You do not have permission to send this sticker.")
        return owner.stickers[sticker_id].item()

    def _stickers_changed(self, guild: Guild) -> None:
        body: Payload = {"guild_id": str(guild.id), "stickers": [s.payload() for s in guild.stickers.values()]}
        self._world.publish("GUILD_STICKERS_UPDATE", body, guild=guild)

    def _must_have_made(self, by: Member, maker_id: int | None) -> None:
        """One's own with either permission, another's only with Manage Expressions."""
        own = maker_id == by.id and Permission.CREATE_GUILD_EXPRESSIONS in by.permissions
        if not own and Permission.MANAGE_GUILD_EXPRESSIONS not in by.permissions:
            raise missing_permissions(Permission.MANAGE_GUILD_EXPRESSIONS)

    def _log(
        self,
        action: Action,
        guild: Guild,
        target_id: int,
        before: Payload,
        after: Payload,
        by: Member | None,
        reason: str | None,
    ) -> None:
        changes = changes_between(before, after)
        if by is not None and changes:
            self._world.audit.record(guild, action, by.user, target_id, changes=changes, reason=reason)


def _logged(sticker: Sticker) -> Payload:
    return {"name": sticker.name, "description": sticker.description, "tags": sticker.tags}
