"""A real chat in many guilds of the loopback Discord: said by their members, or dispatched as if it had been said."""

import itertools
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from sandbox.discord import Channel, Discord, Member
from sandbox.discord.events import Dispatch
from sandbox.discord.payloads.people import user

DISCORD_EPOCH_MS: Final = 1_420_070_400_000
CONVERSATION: Final = 50
"""Lines after which another guild is drawn."""


@dataclass(slots=True)
class Replay:
    """The guilds and who speaks in them: a few are busy, most are quiet. The same lines come in the same order."""

    discord: Discord
    rooms: list[tuple[Channel, list[Member]]]
    lines: list[tuple[str, str]]
    said: int = 0
    _rng: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311 - repeatable, guards nothing
    _like: dict[str, object] = field(default_factory=dict[str, object])
    _authors: dict[int, dict[str, object]] = field(default_factory=dict[int, dict[str, object]])
    _number: "itertools.count[int]" = field(default_factory=itertools.count)
    _room: int = 0

    async def say(self) -> None:
        """The next line of the chat, by its speaker, in the guild that this conversation is in."""
        heard = self.discord.world.on_event

        def hear(dispatch: Dispatch) -> None:
            if dispatch.name == "MESSAGE_CREATE":
                self._like = dict(dispatch.payload)
            heard(dispatch)

        room, speaker, text = self._next()
        self.discord.world.on_event = hear
        try:
            await speaker.says(room, text)
        finally:
            self.discord.world.on_event = heard

    def tell(self) -> None:
        """Dispatch the next line as the last one that was said was dispatched: as another message of somebody else."""
        room, speaker, text = self._next()
        assert room.guild is not None  # noqa: S101 - rooms are in guilds
        if (author := self._authors.get(speaker.id)) is None:
            author = self._authors[speaker.id] = user(speaker.user)
        now_ms = int(time.time() * 1000)
        message_id = (now_ms - DISCORD_EPOCH_MS) << 22 | next(self._number) & 0x3FFFFF
        body: dict[str, object] = {
            **self._like,
            "id": str(message_id),
            "channel_id": str(room.id),
            "guild_id": str(room.guild.id),
            "author": author,
            "content": text,
            "timestamp": datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="microseconds"),
            "nonce": str(message_id + 1),
        }
        dispatch = Dispatch("MESSAGE_CREATE", body, guild_id=room.guild.id, bot_id=self.discord.bot.id)
        self.discord.world.on_event(dispatch)

    def _next(self) -> tuple[Channel, Member, str]:
        if self.said % CONVERSATION == 0:
            self._room = int(len(self.rooms) * self._rng.random() ** 3)
        room, speakers = self.rooms[self._room]
        nick, text = self.lines[self.said % len(self.lines)]
        self.said += 1
        return room, speakers[sum(nick.encode()) % len(speakers)], text
