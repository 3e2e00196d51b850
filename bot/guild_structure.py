"""What dispatches tell of a guild's roles and places, as far as reading them goes (I7). Pure, like bot.events.

Field names are those of Discord's API v10. Raises ValueError, TypeError or KeyError for what Discord never sends.
"""

from collections.abc import Mapping
from typing import Final, cast

from bot.payloads import Payload, listed, snowflake
from memory.audience import THREAD_KINDS, Overwrite, Place, Role
from memory.ids import PlaceId, SpaceId
from memory.incoming import GuildLeft, GuildsUnconfirmed, GuildTold, PlaceGone, PlaceTold, RoleGone, RoleTold, Structure

MEMBER: Final = 1
"""The type of an overwrite that is a member's."""

CATEGORY: Final = 4


def structure(kind: str, data: Payload) -> Structure | None:
    """What a dispatch tells; None where it tells nothing of roles or places."""
    match kind:
        case "READY":
            return GuildsUnconfirmed(tuple(SpaceId(snowflake(guild["id"])) for guild in listed(data.get("guilds"))))
        case "GUILD_CREATE" if not data.get("unavailable"):
            places = (*listed(data.get("channels")), *listed(data.get("threads")))
            return GuildTold(
                SpaceId(snowflake(data["id"])),
                tuple(_role(role) for role in listed(data.get("roles"))),
                tuple(_place(place) for place in places if int(place["type"]) != CATEGORY),
            )
        case "GUILD_DELETE" if not data.get("unavailable"):
            return GuildLeft(SpaceId(snowflake(data["id"])))
        case "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE":
            return RoleTold(SpaceId(snowflake(data["guild_id"])), _role(cast("Payload", data["role"])))
        case "GUILD_ROLE_DELETE":
            return RoleGone(SpaceId(snowflake(data["guild_id"])), snowflake(data["role_id"]))
        case "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE":
            return _told(data)
        case "CHANNEL_DELETE" | "THREAD_DELETE" if data.get("guild_id") is not None:
            return PlaceGone(SpaceId(snowflake(data["guild_id"])), PlaceId(snowflake(data["id"])))
        case _:
            return None


def _told(data: Payload) -> PlaceTold | None:
    """A place of a guild; a direct conversation and a category are none."""
    if data.get("guild_id") is None or int(data["type"]) == CATEGORY:
        return None
    return PlaceTold(SpaceId(snowflake(data["guild_id"])), _place(data))


def _role(data: Payload) -> Role:
    return Role(snowflake(data["id"]), snowflake(data["permissions"]))


def _place(data: Mapping[str, object]) -> Place:
    kind = int(cast("int", data["type"]))
    parent = data.get("parent_id")
    return Place(
        PlaceId(snowflake(data["id"])),
        kind,
        # The category of a channel has no say: its overwrites are copied where they are the same.
        PlaceId(snowflake(parent)) if parent is not None and kind in THREAD_KINDS else None,
        tuple(_overwrite(each) for each in listed(data.get("permission_overwrites"))),
        bool(data.get("nsfw")),
    )


def _overwrite(data: Payload) -> Overwrite:
    return Overwrite(
        snowflake(data["id"]), int(data["type"]) == MEMBER, snowflake(data["allow"]), snowflake(data["deny"])
    )
