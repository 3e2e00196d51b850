"""The command /rules: a guild's persona and instructions for the bot, and a channel's; every version is kept.

They go into the prompt's stable beginning as the guild's wishes. They can authorise nothing: what may be done is
decided by code from Discord's facts, whatever they say (I5).
"""

import difflib
from dataclasses import dataclass
from typing import Final

import discord
import structlog

from bot.bodies import Attached, Field
from bot.commands.declaration import Family, Slash
from bot.commands.options import place, whole
from bot.errors import CommandRefused
from bot.governing import Governing
from bot.guild_settings import WHOLE_SPACE
from bot.interactions import Command, Interaction, Interactions, Reply, Submission
from bot.kept import Kept
from memory.credentials import caught_by
from memory.database import BORROW_S, Db, Pool
from memory.ids import PlaceId, SpaceId, UserId

log = structlog.get_logger(__name__)

PREFIX: Final = "rules"
MOST: Final = 4_000
SHOWN: Final = 1_900
RULES: Final = Family("rules", "Who I am here, and what I am to do.", "guilds", discord.Permissions(manage_guild=True))
CHANNEL: Final = place("channel", "For one channel; left out: for the whole server.")
VERSION: Final = whole("version", "Which version counts again.", required=True, least=1, most=1_000_000)
SHOW: Final = Slash("show", "See the rules that I follow.", (CHANNEL,), RULES, where="guilds")
EDIT: Final = Slash("edit", "Write the rules that I follow.", (CHANNEL,), RULES, where="guilds")
DIFF: Final = Slash("diff", "See what the newest version changed.", (CHANNEL,), RULES, where="guilds")
REVERT: Final = Slash("revert", "Let an earlier version count again.", (VERSION, CHANNEL), RULES, where="guilds")
RULES_COMMANDS: Final = (SHOW, EDIT, DIFF, REVERT)

_MAY_NOT: Final = "Only who administers this server may see and change its rules; nothing was changed."


@dataclass(frozen=True, slots=True)
class Rules:
    """One version."""

    version: int
    content: str
    set_by: int


# The versions of a place, newest first.
VERSIONS_OF_SQL: Final = """
SELECT version, content, set_by FROM guild_rules WHERE space_id = $1 AND place_id = $2 ORDER BY version DESC LIMIT $3
"""


async def newest(db: Db, space_id: SpaceId, place_id: PlaceId, *, limit: int = 1) -> tuple[Rules, ...]:
    """The newest versions, the one that counts first."""
    return tuple(Rules(**dict(row)) for row in await db.fetch(VERSIONS_OF_SQL, space_id, place_id, limit))


# An earlier version.
VERSION_OF_SQL: Final = "SELECT content FROM guild_rules WHERE space_id = $1 AND place_id = $2 AND version = $3"

# Add a version, unless these words count already.
ADD_RULES_SQL: Final = """
INSERT INTO guild_rules (space_id, place_id, version, content, set_by)
SELECT $1, $2, coalesce(max(version), 0) + 1, $3, $4 FROM guild_rules WHERE space_id = $1 AND place_id = $2
RETURNING version
"""

# What counts in a place: the guild's, then its channel's (of a thread), then its own.
RULES_IN_SQL: Final = """
SELECT DISTINCT ON (r.place_id) r.place_id, r.content
FROM (SELECT 1) AS one
LEFT JOIN places p ON p.space_id = $1 AND p.place_id = $2
JOIN guild_rules r ON r.space_id = $1 AND r.place_id IN (0, $2, CASE WHEN p.kind IN (10, 11, 12) THEN p.parent_id END)
ORDER BY r.place_id, r.version DESC
"""


async def rules_in(db: Db, space_id: SpaceId, place_id: PlaceId) -> tuple[str, ...]:
    """What a place's answers are to follow, the more particular after the more general."""
    rows = {row["place_id"]: row["content"] for row in await db.fetch(RULES_IN_SQL, space_id, place_id)}
    order = sorted(rows, key=lambda each: (each != WHOLE_SPACE, each == place_id))
    return tuple(rows[each] for each in order if rows[each])


MOST_KEPT: Final = 500


class RulesDoor(Kept[tuple[str, ...]]):
    """Where turns read what they are to follow (`rules_in`). Raises what PostgreSQL raises."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        super().__init__(self._rules, most=MOST_KEPT)

    async def _rules(self, space_id: SpaceId, place_id: PlaceId) -> tuple[str, ...]:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return await rules_in(conn, space_id, place_id)


@dataclass(frozen=True, slots=True)
class RulesDesk:
    """Answers the commands."""

    pool: Pool
    door: RulesDoor
    governing: Governing

    def open(self, interactions: Interactions) -> None:
        """Offer the commands."""
        interactions.on_command(SHOW, self.show)
        interactions.on_command(EDIT, self.edit)
        interactions.on_command(DIFF, self.diff)
        interactions.on_command(REVERT, self.revert)
        interactions.on_submit(PREFIX, self.written)

    async def show(self, command: Command, reply: Reply) -> None:
        """The version that counts."""
        found = await self._versions(command, 1)
        if not found or not found[0].content:
            await reply.say("There are no rules here. `/rules edit` writes some.")
            return
        by = f"<@{found[0].set_by}>" if found[0].set_by else "somebody"
        said = f"Version {found[0].version}, by {by}:"
        if len(found[0].content) <= SHOWN:
            await reply.say(f"{said}\n{found[0].content}")
            return
        attached = Attached("rules.txt", found[0].content.encode())
        if not await reply.say(f"{said} they are long, so here is a file.", attached=attached):
            raise CommandRefused("Discord did not take the file with the rules; please try again in a minute.")

    async def edit(self, command: Command, reply: Reply) -> None:
        """A form with what counts now. Who may not is told when they send it: a form must come first."""
        place_id = command.get(CHANNEL) or WHOLE_SPACE
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            found = await newest(conn, command.scope.space_id, place_id)
        await self._require(command, place_id)
        field = Field("words", "Rules", found[0].content if found else "", "", required=False, most=MOST, long=True)
        if not await reply.ask(f"{PREFIX}:{place_id}", "What am I to do here?", [field]):
            raise CommandRefused("That took too long; please use the command again.")

    async def written(self, submission: Submission, reply: Reply) -> None:
        """The form was sent."""
        _, _, place = submission.custom_id.partition(":")
        if not place.isdecimal():
            raise CommandRefused("This form has expired, so nothing was changed; please use the command again.")
        place_id = PlaceId(int(place))
        await self._require(submission, place_id)
        version = await self._add(submission, place_id, submission.written("words"))
        await reply.say(f"Version {version} counts from now on. `/rules diff` shows what it changed.")

    async def diff(self, command: Command, reply: Reply) -> None:
        """What the newest version changed."""
        found = [*await self._versions(command, 2), Rules(0, "", 0), Rules(0, "", 0)]
        lines = difflib.unified_diff(
            found[1].content.split("\n"), found[0].content.split("\n"), lineterm="", n=1,
            fromfile=f"version {found[1].version}", tofile=f"version {found[0].version}",
        )  # fmt: skip
        said = "\n".join(lines).replace("```", "'''")[:SHOWN]
        await reply.say(f"```diff\n{said}\n```" if said else "Nothing was changed.")

    async def revert(self, command: Command, reply: Reply) -> None:
        """An earlier version counts again, as a new one."""
        place_id = command.get(CHANNEL) or WHOLE_SPACE
        await self._require(command, place_id)
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            content = await conn.fetchval(VERSION_OF_SQL, command.scope.space_id, place_id, command.need(VERSION))
        if content is None:
            raise CommandRefused("There is no such version, so nothing was changed.")
        version = await self._add(command, place_id, content)
        await reply.say(f"Version {command.need(VERSION)} counts again, as version {version}.")

    async def _versions(self, command: Command, limit: int) -> tuple[Rules, ...]:
        place_id = command.get(CHANNEL) or WHOLE_SPACE
        await self._require(command, place_id)
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            return await newest(conn, command.scope.space_id, place_id, limit=limit)

    async def _add(self, by: Interaction, place_id: PlaceId, content: str) -> int:
        if caught_by(content) is not None:
            raise CommandRefused("That looks like a password or a key, so nothing was changed.")
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            args = (by.scope.space_id, place_id, content[:MOST], UserId(by.user_id))
            version = int(await conn.fetchval(ADD_RULES_SQL, *args))
        self.door.forget(by.scope.space_id)
        log.info("guild_rules.changed", guild_id=by.scope.space_id, place_id=place_id, version=version)
        return version

    async def _require(self, interaction: Interaction, place_id: PlaceId) -> None:
        place = None if place_id == WHOLE_SPACE else place_id
        await self.governing.require(
            interaction.scope, interaction.user_id, _MAY_NOT, is_direct=interaction.is_direct, place_id=place
        )
