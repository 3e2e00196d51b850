"""The state of one Discord: accounts, guilds, places, and the hook by which events leave it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import payloads
from .acts import Acts
from .audit import Audit
from .cdn import Cdn
from .clock import Clock, Snowflakes
from .commands import Commands
from .errors import Misuse
from .events import PRIVILEGED, Dispatch, Intent, Payload
from .expressions import Expressions
from .governance import Governance
from .interactions import Interactions
from .layout import Layout
from .memberships import Memberships
from .moderation import Moderation
from .people import User, Webhook
from .pins import Pins
from .polls import Polls
from .roles import Roles
from .rooms import Rooms
from .speech import Speech
from .threads import Threads
from .waiting import Changes
from .webhooks import Webhooks

if TYPE_CHECKING:
    from .messages import Ping
    from .places import Channel, Guild


@dataclass(slots=True)
class Application:
    """The bot's application. ``privileged`` are the intents switched on in its portal page."""

    id: int
    owner: User
    privileged: Intent = PRIVILEGED

    @property
    def flags(self) -> int:
        """The *limited* flags, which an application in fewer than 100 guilds has."""
        flags = 1 << 13 if Intent.GUILD_PRESENCES in self.privileged else 0
        flags |= 1 << 15 if Intent.GUILD_MEMBERS in self.privileged else 0
        return flags | (1 << 19 if Intent.MESSAGE_CONTENT in self.privileged else 0)


@dataclass(frozen=True, slots=True)
class Typing:
    """One start of the typing indicator; ``at`` in seconds on the sandbox's clock. ``id`` orders it among messages,
    whose times are exact to a millisecond only: what was said since has a greater one."""

    by: User
    place: Channel
    at: float
    id: int


class World:
    """Everything that a Discord remembers. ``on_event`` is set by the gateway."""

    def __init__(self, clock: Clock, *, bot_name: str, nonce_window: float) -> None:
        self.clock = clock
        self.ids = Snowflakes(clock)
        self.changes = Changes()
        self.users: dict[int, User] = {}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.webhooks: dict[int, Webhook] = {}
        self.pings: list[Ping] = []
        self.typing_log: list[Typing] = []
        self.on_event: Callable[[Dispatch], None] = _nobody_listens
        self.rooms = Rooms(self)
        self.layout = Layout(self)
        self.memberships = Memberships(self)
        self.roles = Roles(self)
        self.threads = Threads(self)
        self.moderation = Moderation(self)
        self.pins = Pins(self)
        self.audit = Audit(self)
        self.speech = Speech(self, nonce_window)
        self.polls = Polls(self)
        self.expressions = Expressions(self)
        self.governance = Governance(self)
        self.hooks = Webhooks(self)
        self.commands = Commands(self)
        self.interactions = Interactions(self)
        self.acts = Acts(self)
        self.cdn = Cdn(self)
        self.bot = self.create_user(bot_name, bot=True)
        # A bot made since 2016 shares its id with its application.
        self.application = Application(self.bot.id, owner=self.create_user("owner"))

    def create_user(self, name: str, *, bot: bool = False) -> User:
        """A new account. The handle is made from the name, as Discord's are: lower case, no spaces, unique."""
        if not 1 <= len(name) <= 32:
            raise Misuse(f"a display name has 1 to 32 characters, this one has {len(name)}")
        handle = name.lower().replace(" ", "_")
        taken = {user.name for user in self.users.values()}
        while handle in taken:
            handle += "_"
        user = User(self, self.ids.next(), name if bot else handle, name, bot=bot)
        self.users[user.id] = user
        return user

    def publish(
        self,
        name: str,
        payload: Payload,
        *,
        guild: Guild | None,
        channel: Channel | None = None,
        intents: Intent | None = None,
    ) -> None:
        """Send an event to the sessions, unless the bot may not see the place or the guild is away.

        ``intents`` replaces those that the event's name asks for.
        """
        if guild is not None and (guild.unavailable or self.bot.id not in guild.members):
            self.changes.happened()
            return
        if channel is None or channel.visible_to(self.bot):
            guild_id = None if guild is None else guild.id
            self.on_event(Dispatch(name, payload, guild_id=guild_id, bot_id=self.bot.id, intents=intents))
        self.changes.happened()

    @contextmanager
    def sight(self, guild: Guild) -> Generator[None]:
        """Around a change of rights: THREAD_LIST_SYNC for the channels that the bot can see after it and not before.

        https://discord.com/developers/docs/topics/threads#channel-access. Of what it loses the bot is told nothing.
        """
        before = {channel.id for channel in guild.channels.values() if channel.visible_to(self.bot)}
        yield
        gained = [c for c in guild.channels.values() if c.id not in before and c.visible_to(self.bot)]
        if gained:
            self.publish("THREAD_LIST_SYNC", payloads.thread_list(guild, gained), guild=guild)

    def note_typing(self, who: User, channel: Channel) -> None:
        self.typing_log.append(Typing(who, channel, self.clock.now(), self.ids.next()))

    async def breathe(self) -> None:
        """Let the sessions' writers run once."""
        await asyncio.sleep(0)


def _nobody_listens(dispatch: Dispatch) -> None:
    """Before the gateway is there, events have nobody to go to."""
