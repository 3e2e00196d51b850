"""Identifiers.

Discord's are snowflakes: 64-bit integers whose high 42 bits are milliseconds since 2015. Ours are identity columns.
"""

from datetime import UTC, datetime, timedelta
from typing import NewType

SpaceId = NewType("SpaceId", int)
"""A guild, or one DM channel: the wall that nothing remembered crosses (I7). 0 is the application itself."""

PlaceId = NewType("PlaceId", int)
"""A channel, a thread or a DM channel within a space."""

MessageId = NewType("MessageId", int)
UserId = NewType("UserId", int)
TurnId = NewType("TurnId", int)
RunId = NewType("RunId", int)

APPLICATION_SPACE = SpaceId(0)

DISCORD_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)
_DISCORD_EPOCH_S = DISCORD_EPOCH.timestamp()


def snowflake_time(snowflake: int) -> datetime:
    """When Discord made this id, in UTC, to the millisecond."""
    return datetime.fromtimestamp((snowflake >> 22) / 1000 + _DISCORD_EPOCH_S, UTC)


def time_snowflake(moment: datetime) -> int:
    """The smallest id that Discord could have made at `moment` (aware)."""
    return int((moment - DISCORD_EPOCH) / timedelta(milliseconds=1)) << 22
