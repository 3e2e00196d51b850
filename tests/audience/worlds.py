"""Guilds at random as Discord tells of them, and who reads what in them, found by looking at everybody there could be.

The oracle shares no code with Muninn: it applies Discord's published order of overwrites to each set of roles.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from bot.addressing import Identity
from bot.events import Dispatch, read
from memory.incoming import Incoming

ME = Identity(application_id=10, user_id=10)
VIEW, HISTORY, CONNECT, ADMIN = 1 << 10, 1 << 16, 1 << 20, 1 << 3
OTHERS = (0, 1 << 11, 1 << 13, (1 << 35) | (1 << 38))
VOICE, PUBLIC_THREAD, PRIVATE_THREAD = 2, 11, 12

Person = tuple[frozenset[int], int, bool]
"""The roles that somebody holds, who they are (0: nobody whom any overwrite names), and whether they are of age."""


@dataclass
class World:
    """A guild. `roles`: bits by role; `channels` and `threads`: Discord's objects by id."""

    guild_id: int
    dice: random.Random
    roles: dict[int, int] = field(default_factory=dict[int, int])
    channels: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    threads: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    members: tuple[int, ...] = (501, 502, 503)
    sequence: int = 0

    @classmethod
    def make(cls, seed: int, *, channels: int = 30, threads: int = 12) -> "World":
        """The same world for the same seed: a guild gated by a role in a third of them."""
        dice = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
        world = cls(guild_id=1_000_000 + seed, dice=dice)
        gated = seed % 3 == 0
        world.roles[world.guild_id] = 0 if gated else VIEW | HISTORY | CONNECT
        for number in range(dice.randint(1, 5)):
            world.roles[100 + number] = world.role_bits(gated)
        for number in range(channels):
            world.channels[2_000 + number] = world.channel(2_000 + number)
        parents = [each for each, channel in world.channels.items() if channel["type"] != VOICE]
        for number in range(threads):
            if parents:
                world.threads[3_000 + number] = {
                    "id": str(3_000 + number),
                    "type": dice.choice((PUBLIC_THREAD, PRIVATE_THREAD)),
                    "parent_id": str(dice.choice(parents)),
                    "guild_id": str(world.guild_id),
                }
        return world

    def role_bits(self, gated: bool) -> int:
        bits = self.dice.choice(OTHERS)
        if self.dice.random() < (0.7 if gated else 0.3):
            bits |= self.dice.choice((VIEW | HISTORY, VIEW | HISTORY | CONNECT, VIEW, HISTORY))
        return bits | ADMIN if self.dice.random() < 0.12 else bits

    def channel(self, channel_id: int) -> dict[str, Any]:
        overwrites = {
            target: self.overwrite(target)
            for target in [*self.roles, *self.members]
            if self.dice.random() < (0.3 if target in self.roles else 0.08)
        }
        return {
            "id": str(channel_id),
            "type": self.dice.choice((0, 0, 0, 5, 15, VOICE)),
            "parent_id": "77",
            "guild_id": str(self.guild_id),
            "nsfw": self.dice.random() < 0.2,
            "permission_overwrites": list(overwrites.values()),
        }

    def overwrite(self, target: int) -> dict[str, Any]:
        allow = self.dice.choice((0, VIEW, HISTORY, VIEW | HISTORY, VIEW | HISTORY | CONNECT))
        deny = self.dice.choice((0, VIEW, HISTORY, CONNECT, VIEW | HISTORY)) & ~allow
        kind = 0 if target in self.roles else 1
        return {"id": str(target), "type": kind, "allow": str(allow), "deny": str(deny)}

    def told(self) -> Incoming:
        """The guild as GUILD_CREATE tells it."""
        return self.event(
            "GUILD_CREATE",
            {
                "id": str(self.guild_id),
                "roles": [self.role(role) for role in self.roles],
                "channels": list(self.channels.values()),
                "threads": list(self.threads.values()),
            },
        )

    def changed(self) -> Incoming:
        """Something changes at random, and is told."""
        match self.dice.choice(("role", "role", "channel", "channel", "lost role", "lost channel", "thread")):
            case "role":
                role = self.dice.choice(list(self.roles))
                self.roles[role] = self.role_bits(gated=True)
                return self.event("GUILD_ROLE_UPDATE", {"guild_id": str(self.guild_id), "role": self.role(role)})
            case "lost role" if len(self.roles) > 1:
                role = self.dice.choice([each for each in self.roles if each != self.guild_id])
                del self.roles[role]
                return self.event("GUILD_ROLE_DELETE", {"guild_id": str(self.guild_id), "role_id": str(role)})
            case "lost channel" if len(self.channels) > 1:
                gone = self.channels.pop(self.dice.choice(list(self.channels)))
                for thread in [t for t, each in self.threads.items() if each["parent_id"] == gone["id"]]:
                    del self.threads[thread]
                return self.event("CHANNEL_DELETE", gone)
            case "thread" if self.threads:
                thread = self.threads.pop(self.dice.choice(list(self.threads)))
                return self.event("THREAD_DELETE", thread)
            case _:
                channel_id = self.dice.choice(list(self.channels))
                kind = self.channels[channel_id]["type"]
                self.channels[channel_id] = self.channel(channel_id) | {"type": kind}
                return self.event("CHANNEL_UPDATE", self.channels[channel_id])

    def role(self, role: int) -> dict[str, Any]:
        return {"id": str(role), "name": f"role {role}", "permissions": str(self.roles[role])}

    def event(self, kind: str, data: dict[str, Any]) -> Incoming:
        self.sequence += 1
        (event,) = read(Dispatch(kind, data, f"world{self.guild_id}", self.sequence), ME)
        return event

    def places(self) -> list[int]:
        return [*self.channels, *self.threads]

    def may_show(self, place: int, origin: int) -> bool:
        """The oracle: whether everybody who can read `place` could have read `origin`."""
        if place == origin:
            return True
        if origin in self.threads and self.threads[origin]["type"] == PRIVATE_THREAD:
            return False
        return all(self.reads(person, origin) for person in self.people() if self.reads(person, place))

    def open(self, place: int) -> dict[str, Any]:
        """The channel of a place: a thread is read as its parent."""
        return self.channels[int(self.threads[place]["parent_id"]) if place in self.threads else place]

    def people(self) -> Iterator[Person]:
        """Everybody there could be, but for administrators, who read everything."""
        ordinary = [r for r, bits in self.roles.items() if r != self.guild_id and not bits & ADMIN]
        for size in range(len(ordinary) + 1):
            for held in combinations(ordinary, size):
                for who in (0, *self.members):
                    yield frozenset(held), who, True
                    yield frozenset(held), who, False

    def reads(self, person: Person, place: int) -> bool:
        channel = self.open(place)
        held, who, is_adult = person
        if channel.get("nsfw") and not is_adult:
            return False
        bits = self.roles[self.guild_id]
        for role in held:
            bits |= self.roles[role]
        if bits & ADMIN:
            return True
        overwrites = {int(each["id"]): each for each in channel["permission_overwrites"]}
        bits = _applied(bits, [overwrites[self.guild_id]] if self.guild_id in overwrites else [])
        bits = _applied(bits, [overwrites[role] for role in held if role in overwrites])
        bits = _applied(bits, [overwrites[who]] if who in overwrites else [])
        wanted = VIEW | HISTORY | (CONNECT if channel["type"] == VOICE else 0)
        return bits & wanted == wanted


def _applied(bits: int, overwrites: list[dict[str, Any]]) -> int:
    deny = allow = 0
    for each in overwrites:
        deny |= int(each["deny"])
        allow |= int(each["allow"])
    return bits & ~deny | allow
