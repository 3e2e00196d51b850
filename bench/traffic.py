"""Dispatches as a busy guild makes them: mostly messages, some edits, deletes and reactions, a few addressed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from bot.addressing import Identity
from bot.events import Dispatch

ME: Final = Identity(application_id=900_000_000_000_000_001, user_id=900_000_000_000_000_001)
DISCORD_EPOCH_MS: Final = 1_420_070_400_000
GUILDS: Final = 3
CHANNELS: Final = 8
MEMBERS: Final = 40
EMOJI: Final = ("👍", "🎉", "😂", "👀", "❤️")
WORDS: Final = (
    "the of and to in is that for it on with as was at by this are be from or have an they which one you were all her "
    "she there would their we him been has when who will no more if out so up said what its about than into them can "
    "only other time new some could these two may first then do any like my now over such our man me even most made "
    "atlas database thursday server meeting deploy raven memory channel weekend release party question answer photo"
).split()

# Shares of one hundred events.
CREATE, ADDRESSED, EDIT, DELETE, REACT, UNREACT = 66, 3, 8, 4, 15, 4


@dataclass(slots=True)
class Traffic:
    """Endless traffic of one application, the same for the same seed. Ids rise, as Discord's do."""

    seed: int
    session: str = "benchsession"
    _random: random.Random = field(init=False)
    _last_id: int = field(init=False)
    _sequence: int = 0
    _said: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list[tuple[int, int, dict[str, Any]]])
    _reactions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 - repeatable, guards nothing
        self._last_id = ((1_760_000_000_000 + self.seed * 10_000_000 - DISCORD_EPOCH_MS) << 22) + 1

    def take(self, count: int) -> list[Dispatch]:
        """The next `count` dispatches."""
        events = self._events()
        return [next(events) for _ in range(count)]

    def messages(self, count: int) -> list[Dispatch]:
        """The next `count` new messages, without what else happens to messages."""
        share = ADDRESSED / (CREATE + ADDRESSED)
        return [
            self._dispatch("MESSAGE_CREATE", self._message(addressed=self._random.random() < share))
            for _ in range(count)
        ]

    def _events(self) -> Iterator[Dispatch]:
        kinds = ("create", "addressed", "edit", "delete", "react", "unreact")
        weights = (CREATE, ADDRESSED, EDIT, DELETE, REACT, UNREACT)
        while True:
            (kind,) = self._random.choices(kinds, weights)
            if kind == "addressed" or kind == "create" or not self._said:
                yield self._dispatch("MESSAGE_CREATE", self._message(addressed=kind == "addressed"))
            elif kind == "edit":
                yield self._dispatch("MESSAGE_UPDATE", self._edited())
            elif kind == "delete":
                guild, channel, message = self._said.pop(self._random.randrange(len(self._said)))
                body = {"id": message["id"], "channel_id": str(channel), "guild_id": str(guild)}
                yield self._dispatch("MESSAGE_DELETE", body)
            elif kind == "react" or not self._reactions:
                yield self._dispatch("MESSAGE_REACTION_ADD", self._reaction())
            else:
                body = self._reactions.pop(self._random.randrange(len(self._reactions)))
                removed = {k: v for k, v in body.items() if k not in ("member", "message_author_id")}
                yield self._dispatch("MESSAGE_REACTION_REMOVE", removed)

    def _dispatch(self, kind: str, data: dict[str, Any]) -> Dispatch:
        self._sequence += 1
        return Dispatch(kind, data, f"{self.session}{self.seed}", self._sequence)

    def _id(self) -> int:
        self._last_id += self._random.randrange(1 << 22, 50 << 22)
        return self._last_id

    def _place(self) -> tuple[int, int]:
        guild = 800_000_000_000_000_000 + self._random.randrange(GUILDS)
        # A few channels are much busier than the others.
        return guild, guild + 1_000 * (1 + int(CHANNELS * self._random.random() ** 2))

    def _text(self) -> str:
        return " ".join(self._random.choices(WORDS, k=min(1 + int(self._random.expovariate(1 / 14)), 120)))

    def _member(self) -> dict[str, Any]:
        number = self._random.randrange(MEMBERS)
        return _user(700_000_000_000_000_000 + number, f"member{number}")

    def _message(self, *, addressed: bool) -> dict[str, Any]:
        guild, channel = self._place()
        message_id = self._id()
        text = self._text()
        body: dict[str, Any] = {
            "id": str(message_id),
            "channel_id": str(channel),
            "guild_id": str(guild),
            "author": self._member(),
            "member": {"roles": ["811", "812"], "joined_at": "2024-05-01T10:00:00.000000+00:00", "nick": None,
                       "premium_since": None, "deaf": False, "mute": False, "flags": 0, "pending": False,
                       "avatar": None, "banner": None, "communication_disabled_until": None},
            "content": f"<@{ME.user_id}> {text}" if addressed else text,
            "timestamp": _iso(message_id),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [{**_user(ME.user_id, "Muninn"), "bot": True, "member": {"roles": []}}] if addressed else [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "pinned": False,
            "type": 0,
            "flags": 0,
            "channel_type": 0,
            "nonce": str(message_id + 1),
        }  # fmt: skip
        if self._said and self._random.random() < 0.15:
            _, answered_in, answered = self._random.choice(self._said[-50:])
            body |= {
                "type": 19,
                "message_reference": {"type": 0, "message_id": answered["id"], "channel_id": str(answered_in)},
                "referenced_message": {k: v for k, v in answered.items() if k != "member"},
            }
        self._said.append((guild, channel, body))
        del self._said[:-500]
        return body

    def _edited(self) -> dict[str, Any]:
        _, _, message = self._said[self._random.randrange(len(self._said))]
        edited = {k: v for k, v in message.items() if k not in ("nonce", "referenced_message")}
        return edited | {"content": self._text(), "edited_timestamp": _iso(self._id())}

    def _reaction(self) -> dict[str, Any]:
        guild, channel, message = self._random.choice(self._said[-100:])
        member = self._member()
        body: dict[str, Any] = {
            "user_id": member["id"],
            "channel_id": str(channel),
            "guild_id": str(guild),
            "message_id": message["id"],
            "message_author_id": message["author"]["id"],
            "emoji": {"id": None, "name": self._random.choice(EMOJI)},
            "member": {"user": member, "roles": ["811"], "joined_at": "2024-05-01T10:00:00.000000+00:00"},
            "burst": False,
            "type": 0,
        }
        self._reactions.append(body)
        del self._reactions[:-100]
        return body


def _user(user_id: int, name: str) -> dict[str, Any]:
    return {
        "id": str(user_id),
        "username": name,
        "global_name": name.title(),
        "discriminator": "0",
        "avatar": "0123456789abcdef0123456789abcdef",
        "avatar_decoration_data": None,
        "clan": None,
        "primary_guild": None,
        "public_flags": 0,
    }


def _iso(snowflake: int) -> str:
    milliseconds = (snowflake >> 22) + DISCORD_EPOCH_MS
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="microseconds")
