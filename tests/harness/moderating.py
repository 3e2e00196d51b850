"""A guild with moderators, for tests of moderation: who stands where, and how an action is asked for and confirmed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import asyncpg

from sandbox.discord import Channel, Member, Message, Permission, Role
from tests.harness.stage import Stage

MODERATES = (
    Permission.KICK_MEMBERS
    | Permission.BAN_MEMBERS
    | Permission.MODERATE_MEMBERS
    | Permission.MANAGE_MESSAGES
    | Permission.MANAGE_CHANNELS
    | Permission.MANAGE_THREADS
    | Permission.MANAGE_ROLES
    | Permission.MANAGE_NICKNAMES
)
WRITES = frozenset({"PUT", "PATCH", "DELETE"})


@dataclass(slots=True)
class Court:
    """From the bottom: Bob (no role), Mia and Max (Mods), Sam (Seniors), Amy (an administrator), the bot, Chief, Olive.

    Robot is another bot. `colour` and `badge` are roles that stand under all of them.
    """

    stage: Stage
    general: Channel
    log: Channel
    bob: Member
    mia: Member
    max: Member
    sam: Member
    amy: Member
    chief: Member
    robot: Member
    olive: Member
    mods: Role
    bots: Role
    colour: Role
    badge: Role
    high: Role

    @asynccontextmanager
    async def muninn(self, **settings: Any) -> AsyncGenerator[None]:
        """Muninn, with its commands told to Discord."""
        async with self.stage.muninn(**settings):
            await self.stage.until("SELECT 1 FROM application_commands")
            yield

    async def asks(self, who: Member, command: str, /, *, place: Channel | None = None, **options: Any) -> Message:
        """The card that a command brings."""
        said = await self.says_no(who, command, place=place, **options)
        assert said.startswith("Look at the card below"), said
        return await self.card(place)

    async def says_no(self, who: Member, command: str, /, *, place: Channel | None = None, **options: Any) -> str:
        """What a command is answered with, to who used it alone."""
        use = await who.slash(place or self.general, f"mod {command}", **options)
        told = await use.message(within=15)
        assert use.ephemeral
        return told.content

    async def card(self, place: Channel | None = None) -> Message:
        """The newest card that is open."""
        found = [m for m in self.stage.discord.bot_messages(place or self.general) if m.components]
        return found[-1]

    async def confirms(self, who: Member, card: Message, *, button: str | None = None) -> str:
        """Press the card's first button, and wait for what it says then."""
        await who.press(card, button or _first(card))
        await self.ends(card)
        return card.content

    async def ends(self, card: Message, *, within: float = 20) -> None:
        """Wait until a card shows its end."""
        await self.stage.discord.wait_until(lambda: not card.components and "⏳" not in card.content, within=within)

    async def does(self, who: Member, command: str, /, **options: Any) -> str:
        """Ask, confirm, and give what the card says."""
        return await self.confirms(who, await self.asks(who, command, **options))

    async def cases(self) -> list[asyncpg.Record]:
        """All cases, in the order in which they were begun."""
        return await self.stage.pool.fetch("SELECT * FROM mod_cases ORDER BY case_id")

    async def logs_to(self, channel: Channel) -> None:
        """Let the guild list its cases in a channel."""
        await self.stage.pool.execute(
            """INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by)
            VALUES ($1, 0, 'mod_log_id', $2, 1, 1)""",
            self.stage.guild.id,
            channel.id,
        )

    def changes(self) -> list[str]:
        """What was asked of Discord that changes members, roles, channels or messages, as "METHOD path"."""
        asked = [r for r in self.stage.discord.requests if r.method in WRITES or r.path.endswith("/bulk-delete")]
        return [
            f"{r.method} {r.path}"
            for r in asked
            if "/webhooks/" not in r.path
            and "/applications/" not in r.path
            and not (r.method == "PATCH" and "/messages/" in r.path)
        ]


def _first(card: Message) -> str:
    row = cast("dict[str, list[dict[str, str]]]", card.components[0])
    return row["components"][0]["custom_id"]


def court(stage: Stage) -> Court:
    """The guild, with the bot's role in the middle."""
    guild = stage.guild
    colour, badge = guild.create_role("Colour"), guild.create_role("Badge")
    mods = guild.create_role("Mods", permissions=MODERATES)
    seniors = guild.create_role("Seniors", permissions=MODERATES)
    admins = guild.create_role("Admins", permissions=Permission.ADMINISTRATOR)
    bots = guild.create_role("Keepers", permissions=MODERATES)
    chiefs = guild.create_role("Chiefs", permissions=MODERATES)
    guild.members[stage.discord.bot.id].give(bots)

    def member(name: str, *roles: Role) -> Member:
        return guild.add_member(name, roles=roles)

    return Court(
        stage=stage,
        general=stage.general,
        log=guild.create_channel("mod-log"),
        bob=stage.bob,
        mia=member("Mia", mods),
        max=member("Max", mods),
        sam=member("Sam", seniors),
        amy=member("Amy", admins),
        chief=member("Chief", chiefs),
        robot=guild.add_bot("Robot"),
        olive=guild.member("Olive"),
        mods=mods,
        bots=bots,
        colour=colour,
        badge=badge,
        high=chiefs,
    )
