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
    """What `read` gives of a place: as it stands, or stood at most KEPT_S ago; of at most `most` places."""

    def __init__(self, read: Callable[[SpaceId, PlaceId], Awaitable[T]], *, most: int) -> None:
        self._read = read
        self._most = most
        # Each with when its reading began; the one whose reading ended first stands first.
        self._kept: OrderedDict[tuple[SpaceId, PlaceId], tuple[float, T]] = OrderedDict()
        self._changes = 0

    async def of(self, space_id: SpaceId, place_id: PlaceId) -> T:
        """What is known of the place. Raises what `read` raises."""
        key, now = (space_id, place_id), time.monotonic()
        kept = self._kept.get(key)
        if kept is not None and now - kept[0] < KEPT_S:
            return kept[1]
        changes = self._changes
        found = await self._read(space_id, place_id)
        kept = self._kept.get(key)
        # Else it may be what stood before a change, or before what another reading found.
        if changes == self._changes and (kept is None or kept[0] <= now):
            self._keep(key, now, found)
        return found

    def forget(self, space_id: SpaceId) -> None:
        """Read anew what is asked next: something was changed in this space."""
        self._changes += 1
        for key in [key for key in self._kept if key[0] == space_id]:
            del self._kept[key]

    def _keep(self, key: tuple[SpaceId, PlaceId], began: float, found: T) -> None:
        """Keep it, and let go of what is too old to be of use, or too much."""
        self._kept[key] = (began, found)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most or began - next(iter(self._kept.values()))[0] >= KEPT_S:
            self._kept.popitem(last=False)
