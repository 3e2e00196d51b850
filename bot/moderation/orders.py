"""An order: what somebody asks to have done, with nothing left open but whether it may be."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from typing import Any, Final, cast

import orjson

from bot.moderation.deeds import DEEDS, Deed, DeedName

REASON_MOST: Final = 400
"""Characters of a reason: what is left of Discord's 512 when requester and case stand there."""


_IDS: Final = ("users", "messages", "overwrite")


@dataclass(frozen=True, slots=True)
class Order:
    """One deed and all that it needs. Ids are Discord's; times are seconds.

    `users`: whom it meets, in the order in which they were named. `place_id`: the channel or thread that it meets.
    `seconds`: how long it holds, or the slow mode; `delete_s`: how far back a ban deletes messages. `messages`: those
    that a purge deletes, the `old` of which go one by one. `name` is a nickname, or a channel's; `topic` and `kind` are
    a channel's. `overwrite`: what @everyone is allowed and denied in the channel again (undoing). `case_id`: the case
    that it undoes.
    """

    deed: DeedName
    users: tuple[int, ...] = ()
    place_id: int | None = None
    role_id: int | None = None
    seconds: int | None = None
    clamped: bool = False
    delete_s: int = 0
    messages: tuple[int, ...] = ()
    old: int = 0
    name: str | None = None
    topic: str | None = None
    kind: int | None = None
    overwrite: tuple[int, int] | None = None
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    case_id: int | None = None

    @property
    def declared(self) -> Deed:
        """What is declared of its deed."""
        return DEEDS[self.deed]

    @property
    def digest(self) -> bytes:
        """The same for the same order."""
        return blake2b(orjson.dumps(self.dump(), option=orjson.OPT_SORT_KEYS), digest_size=16).digest()

    def dump(self) -> dict[str, object]:
        """As JSON holds it: ids are strings, what is empty is left out."""
        written: dict[str, object] = {}
        for name, value in asdict(self).items():
            if value is None or (not value and name not in ("seconds", "topic", "name")):
                continue
            if name in _IDS:
                written[name] = [str(each) for each in cast("tuple[int, ...]", value)]
            else:
                written[name] = str(value) if name.endswith("_id") else value
        return written

    def for_one(self, object_id: int) -> "Order":
        """The same for one of the members that it meets."""
        return replace(self, users=(object_id,)) if object_id in self.users else self

    @property
    def objects(self) -> tuple[int, ...]:
        """What each of its cases is about: the members, else the place, else the case that it undoes."""
        if self.users:
            return self.users
        return (self.place_id or self.case_id or 0,)


_KNOWN: Final = frozenset(field.name for field in fields(Order))


def load(stored: Mapping[str, Any]) -> Order:
    """The order that `Order.dump` wrote. Raises KeyError, TypeError or ValueError for what is not known here."""
    given: dict[str, Any] = dict(stored)
    if unknown := given.keys() - _KNOWN:
        raise KeyError(", ".join(sorted(unknown)))
    for name in _IDS:
        if name in given:
            given[name] = tuple(int(each) for each in cast("list[str]", given[name]))
    for name in given:
        if name.endswith("_id"):
            given[name] = int(given[name])
    given["evidence"] = tuple(given.get("evidence", ()))
    order = Order(**given)
    assert order.deed in DEEDS  # noqa: S101 - written by ourselves
    return order


def load_text(stored: str) -> Order:
    """The same from JSON text."""
    return load(cast("dict[str, Any]", orjson.loads(stored)))
