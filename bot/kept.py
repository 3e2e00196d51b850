"""What was read of places a moment ago, so that not each message reads it again."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from memory.ids import PlaceId, SpaceId

KEPT_S: Final = 2.0
"""Seconds for which what was read is taken as it stands: what another process changes holds here after them."""

T = TypeVar("T")


class Kept(Generic[T]):
    """What `read` gives of a place: as it stands, or stood at most KEPT_S ago; of the `most` places asked for last."""

    def __init__(self, read: Callable[[SpaceId, PlaceId], Awaitable[T]], *, most: int) -> None:
        self._read = read
        self._most = most
        self._kept: OrderedDict[tuple[SpaceId, PlaceId], tuple[float, T]] = OrderedDict()
        self._changes = 0

    async def of(self, space_id: SpaceId, place_id: PlaceId) -> T:
        """What is known of the place. Raises what `read` raises."""
        kept = self._kept.get((space_id, place_id))
        if kept is not None and time.monotonic() - kept[0] < KEPT_S:
            return kept[1]
        changes = self._changes
        found = await self._read(space_id, place_id)
        if changes == self._changes:  # else it may be what stood before
            self._kept[(space_id, place_id)] = (time.monotonic(), found)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found

    def at_hand(self, space_id: SpaceId, place_id: PlaceId) -> T | None:
        """What was read last, however long ago, for who cannot wait; None where it was never read."""
        kept = self._kept.get((space_id, place_id))
        return None if kept is None else kept[1]

    def forget(self, space_id: SpaceId) -> None:
        """Read anew what is asked next: something was changed in this space."""
        self._changes += 1
        for key in [key for key in self._kept if key[0] == space_id]:
            del self._kept[key]
