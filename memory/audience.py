"""Who can read a place, and whether everybody who can read one can read another too (I7).

A place's reading rule is what Discord's permission arithmetic leaves of roles and overwrites for the few permissions
that reading takes. One rule is within another only where that is certain for every member that could be: whatever roles
he holds, and whoever he is. Administrators and the owner read everything, so they never stand in the way.

Source: https://discord.com/developers/docs/topics/permissions (permission overwrites; the order in which they apply).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from typing import Final, cast

import orjson

from memory.ids import PlaceId, SpaceId, UserId

ADMINISTRATOR: Final = 1 << 3
VIEW_CHANNEL: Final = 1 << 10
READ_MESSAGE_HISTORY: Final = 1 << 16
CONNECT: Final = 1 << 20

OF_AGE: Final = 0
"""A role that Discord does not have: of those who are shown what is age-restricted. Nobody else is known to be."""

VOICE_KINDS: Final = frozenset({2, 13})
THREAD_KINDS: Final = frozenset({10, 11, 12})
PRIVATE_THREAD: Final = 12

MOST_CASES: Final = 50_000
"""Sets of roles that are tried for one pair of rules; where it would take more, nothing is proven."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role of a guild and its permission bits. The one whose id is the guild's is everybody's."""

    role_id: int
    permissions: int


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A place's exception for a role or (`is_member`) for one member."""

    target_id: int
    is_member: bool
    allow: int
    deny: int


@dataclass(frozen=True, slots=True)
class Place:
    """A channel or thread as far as reading it goes. `kind` is Discord's channel type; a thread reads as its parent."""

    place_id: PlaceId
    kind: int
    parent_id: PlaceId | None = None
    overwrites: tuple[Overwrite, ...] = ()
    age_restricted: bool = False


@dataclass(frozen=True, slots=True)
class BitRule:
    """Who has one permission in a place: the first line that says something decides, from the last field upwards.

    `everybody` is what @everyone has here by its own overwrite, or else in the guild; `roles` have it in the guild.
    """

    everybody: bool
    roles: frozenset[int]
    denied: frozenset[int]
    allowed: frozenset[int]
    members_denied: frozenset[UserId]
    members_allowed: frozenset[UserId]

    def holds(self, roles: frozenset[int], member: UserId | None) -> bool:
        """Whether a member with these roles has it; `member` is None for somebody that no overwrite names."""
        if member is not None and member in self.members_allowed:
            return True
        if member is not None and member in self.members_denied:
            return False
        if roles & self.allowed:
            return True
        if roles & self.denied:
            return False
        return self.everybody or bool(roles & self.roles)


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """Who can read a place: whoever has all of `bits`, and administrators."""

    bits: tuple[BitRule, ...]

    @property
    def digest(self) -> bytes:
        """Equal rules have equal digests: the name of an audience class."""
        plain = [
            [
                bit.everybody,
                sorted(bit.roles),
                sorted(bit.denied),
                sorted(bit.allowed),
                sorted(bit.members_denied),
                sorted(bit.members_allowed),
            ]
            for bit in self.bits
        ]
        return blake2b(orjson.dumps(plain), digest_size=16).digest()

    def reads(self, roles: frozenset[int], member: UserId | None) -> bool:
        """Whether a member who is no administrator can read the place."""
        return all(bit.holds(roles, member) for bit in self.bits)

    def roles_named(self) -> frozenset[int]:
        """The roles that make a difference."""
        return frozenset[int]().union(*(bit.roles | bit.denied | bit.allowed for bit in self.bits))

    def members_named(self) -> frozenset[UserId]:
        """The members that make a difference."""
        return frozenset[UserId]().union(*(bit.members_denied | bit.members_allowed for bit in self.bits))


def reading_rule(space_id: SpaceId, roles: Iterable[Role], place: Place) -> ReadingRule:
    """The rule of a channel of the guild `space_id`, whose @everyone must be among `roles`; not for a thread.

    Without @everyone's permissions nobody can say what members may do: raises LookupError.
    """
    known = {role.role_id: role.permissions for role in roles}
    if space_id not in known:
        raise LookupError(f"the guild {space_id} has no @everyone role")
    wanted = (VIEW_CHANNEL, READ_MESSAGE_HISTORY, *((CONNECT,) if place.kind in VOICE_KINDS else ()))
    # An administrator is asked for nothing, so that his roles are no part of any rule.
    ordinary = {role_id: bits for role_id, bits in known.items() if role_id != space_id and not bits & ADMINISTRATOR}
    bits = tuple(_bit_rule(bit, space_id, known[space_id], ordinary, place.overwrites) for bit in wanted)
    # Not who may open it, but who is shown it: what was said there is not for whoever reads an ordinary place.
    return ReadingRule((*bits, _ADULTS) if place.age_restricted else bits)


_ADULTS: Final = BitRule(False, frozenset({OF_AGE}), frozenset(), frozenset(), frozenset(), frozenset())


def _bit_rule(
    bit: int, space_id: SpaceId, everyones: int, ordinary: Mapping[int, int], overwrites: Sequence[Overwrite]
) -> BitRule:
    if everyones & ADMINISTRATOR:
        nobody = frozenset[UserId]()
        return BitRule(True, frozenset(), frozenset(), frozenset(), nobody, nobody)
    everybody, base = bool(everyones & bit), frozenset(role for role, bits in ordinary.items() if bits & bit)
    for overwrite in overwrites:
        if overwrite.target_id == space_id and not overwrite.is_member and (overwrite.allow | overwrite.deny) & bit:
            everybody = bool(overwrite.allow & bit)
            base = base if everybody else frozenset[int]()
    of_roles = [each for each in overwrites if not each.is_member and each.target_id in ordinary]
    of_members = [each for each in overwrites if each.is_member]
    allowed = frozenset(each.target_id for each in of_roles if each.allow & bit)
    members_allowed = frozenset(UserId(each.target_id) for each in of_members if each.allow & bit)
    return BitRule(
        everybody=everybody,
        roles=frozenset() if everybody else base,
        denied=frozenset(each.target_id for each in of_roles if each.deny & bit) - allowed,
        allowed=allowed,
        members_denied=frozenset(UserId(each.target_id) for each in of_members if each.deny & bit) - members_allowed,
        members_allowed=members_allowed,
    )


def is_within(inner: ReadingRule, outer: ReadingRule) -> bool:
    """Whether it is certain that whoever can read by `inner` can read by `outer`.

    Exact: a member who shows the contrary needs at most one role for each permission that he has by `inner`, and one by
    which he lacks something in `outer`; any further role can be left out. So the sets up to that size are all there is
    to try, with one role of those that every rule treats alike.
    """
    if inner == outer:
        return True
    roles = _representatives(inner, outer)
    most = len(inner.bits) + 1
    members = _member_representatives(inner, outer)
    if len(members) * _count_sets(len(roles), most) > MOST_CASES:
        return False
    return not any(
        inner.reads(held, member) and not outer.reads(held, member) for member in members for held in _sets(roles, most)
    )


def _representatives(inner: ReadingRule, outer: ReadingRule) -> list[int]:
    alike: dict[tuple[bool, ...], int] = {}
    bits = inner.bits + outer.bits
    for role in sorted(inner.roles_named() | outer.roles_named()):
        stands = tuple(role in part for bit in bits for part in (bit.roles, bit.denied, bit.allowed))
        alike.setdefault(stands, role)
    return list(alike.values())


def _member_representatives(inner: ReadingRule, outer: ReadingRule) -> list[UserId | None]:
    alike: dict[tuple[bool, ...], UserId] = {}
    bits = inner.bits + outer.bits
    for member in sorted(inner.members_named() | outer.members_named()):
        stands = tuple(member in part for bit in bits for part in (bit.members_denied, bit.members_allowed))
        alike.setdefault(stands, member)
    return [None, *alike.values()]


def _sets(roles: Sequence[int], most: int) -> Iterator[frozenset[int]]:
    for size in range(min(most, len(roles)) + 1):
        yield from (frozenset(each) for each in combinations(roles, size))


def _count_sets(roles: int, most: int) -> int:
    total = count = 1
    for size in range(1, min(most, roles) + 1):
        count = count * (roles - size + 1) // size
        total += count
    return total


def write_overwrites(overwrites: Sequence[Overwrite]) -> str:
    """Overwrites as JSON text, the same for the same ones in any order."""
    plain = sorted([each.target_id, each.is_member, each.allow, each.deny] for each in overwrites)
    return orjson.dumps(plain).decode()


def read_overwrites(stored: str) -> tuple[Overwrite, ...]:
    """What write_overwrites wrote."""
    return tuple(Overwrite(*each) for each in cast("list[tuple[int, bool, int, int]]", orjson.loads(stored)))
