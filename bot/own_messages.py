"""Our own messages: how what Discord answered to a POST becomes an event of the journal like any other."""

from collections.abc import Mapping
from typing import Any

from bot.addressing import Identity
from bot.events import Dispatch, read
from memory.database import Db
from memory.ids import SpaceId
from memory.journal import write_group


def own_dispatch(message: Mapping[str, Any], guild_id: SpaceId | None, kind: str = "MESSAGE_CREATE") -> Dispatch:
    """The dispatch that the gateway would send of `message`, which a response tells without its guild; `guild_id` is
    None in a direct conversation."""
    payload = dict(message)
    if guild_id is not None:
        payload.setdefault("guild_id", str(guild_id))
    return Dispatch(kind, payload, "rest", 0, "action")


async def journal_own(conn: Db, message: Mapping[str, Any], guild_id: SpaceId | None, me: Identity) -> None:
    """Journal a message of ours in the caller's transaction, which settles its receipt: it needs no nonce for that."""
    events = read(own_dispatch(message, guild_id), me)
    await write_group(conn, [event._replace(nonce=None) for event in events])
