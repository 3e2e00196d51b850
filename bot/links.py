"""Links to messages, as Discord's clients open them."""

from memory.ids import MessageId, PlaceId, SpaceId


def message_link(guild_id: SpaceId | None, place_id: PlaceId, message_id: MessageId) -> str:
    """The address of a message. `guild_id` is None in a direct conversation."""
    return f"https://discord.com/channels/{'@me' if guild_id is None else guild_id}/{place_id}/{message_id}"
