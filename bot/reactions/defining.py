"""The commands by which administrators define what reactions do."""

import re
from collections.abc import Mapping
from typing import Final

import discord
from discord.http import Route

from bot.commands.declaration import Declaration, Family, Slash
from bot.commands.options import role, text
from bot.errors import CommandRefused, ReadRefused
from bot.governing import Governing
from bot.interactions import Command, Interactions, Reply
from bot.memories.ledger import MemoryLedger
from bot.memories.wording import within
from memory.database import BORROW_S, Borrowed, Pool
from memory.ids import MessageId, UserId

REACTIONS: Final = Family(
    "reactions", "What reactions do here.", where="guilds", offered_to=discord.Permissions(manage_guild=True)
)
MESSAGE: Final = text("message", "A link to the message in this channel, or its number.", required=True, most=120)
EMOJI: Final = text("emoji", "The emoji.", required=True, most=80)
ROLE: Final = role("role", "The role that who reacts so has.", required=True)
DOES: Final = text("does", "What it does.", required=True, choices=("remember", "pin"))

ROLE_ADD: Final = Slash("role-add", "Let a reaction to a message give a role.", (MESSAGE, EMOJI, ROLE), REACTIONS)
ROLE_REMOVE: Final = Slash("role-remove", "Let it give no role any more.", (MESSAGE, EMOJI), REACTIONS)
SHORTCUT_ADD: Final = Slash("shortcut-add", "Let an emoji do something on any message.", (EMOJI, DOES), REACTIONS)
SHORTCUT_REMOVE: Final = Slash("shortcut-remove", "Let it do nothing any more.", (EMOJI,), REACTIONS)
SHOW_REACTIONS: Final = Slash("show", "Show what reactions do here.", family=REACTIONS)
REACTION_COMMANDS: Final[tuple[Declaration, ...]] = (
    ROLE_ADD,
    ROLE_REMOVE,
    SHORTCUT_ADD,
    SHORTCUT_REMOVE,
    SHOW_REACTIONS,
)

_LINK: Final = re.compile(r"(?:https://(?:\w+\.)?discord(?:app)?\.com/channels/(?:\d+)/(\d+)/)?(\d{15,20})")
_CUSTOM: Final = re.compile(r"<a?:\w{2,32}:(\d{15,20})>")

# Define, take back, and show.
PUT_ROLE_SQL: Final = """
INSERT INTO reaction_roles (space_id, place_id, message_id, emoji, role_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (space_id, message_id, emoji) DO UPDATE SET role_id = EXCLUDED.role_id
"""
DROP_ROLE_SQL: Final = """
DELETE FROM reaction_roles WHERE space_id = $1 AND message_id = $2 AND emoji = $3 RETURNING true
"""
PUT_SHORTCUT_SQL: Final = """
INSERT INTO reaction_shortcuts (space_id, emoji, deed) VALUES ($1, $2, $3)
ON CONFLICT (space_id, emoji) DO UPDATE SET deed = EXCLUDED.deed
"""
DROP_SHORTCUT_SQL: Final = "DELETE FROM reaction_shortcuts WHERE space_id = $1 AND emoji = $2 RETURNING true"
ALL_ROLES_SQL: Final = """
SELECT place_id, message_id, emoji, role_id FROM reaction_roles WHERE space_id = $1 ORDER BY message_id, emoji LIMIT 20
"""
ALL_SHORTCUTS_SQL: Final = "SELECT emoji, deed FROM reaction_shortcuts WHERE space_id = $1 ORDER BY emoji LIMIT 20"


class Defining:
    """Answers the commands."""

    def __init__(self, pool: Pool, governing: Governing, own_id: UserId) -> None:
        self._pool = pool
        self._ledger = MemoryLedger(pool)
        self._governing = governing
        self._own_id = own_id

    def register(self, interactions: Interactions) -> None:
        """Offer the commands."""
        interactions.on_command(ROLE_ADD, self.add_role)
        interactions.on_command(ROLE_REMOVE, self.remove_role)
        interactions.on_command(SHORTCUT_ADD, self.add_shortcut)
        interactions.on_command(SHORTCUT_REMOVE, self.remove_shortcut)
        interactions.on_command(SHOW_REACTIONS, self.show)

    async def add_role(self, command: Command, reply: Reply) -> None:
        """Let a reaction give a role that the one who asks, and the bot, could give by hand."""
        await self._require(command)
        role_id = command.need(ROLE)
        await self._require_rank(command, role_id)
        message_id, emoji = _message(command), _emoji(command.need(EMOJI))
        scope = command.scope
        await self._require_message(command, message_id)
        about = {"message_id": str(message_id), "emoji": emoji, "role_id": str(role_id)}
        values = (scope.space_id, scope.place_id, message_id, emoji, role_id)
        await self._put(command, "reaction_role_add", about, PUT_ROLE_SQL, *values)
        await reply.say(f"Whoever reacts with {_shown(emoji)} there has <@&{role_id}> from now on.")

    async def remove_role(self, command: Command, reply: Reply) -> None:
        """Who has the role keeps it."""
        await self._require(command)
        emoji = _emoji(command.need(EMOJI))
        message_id = _message(command)
        about = {"message_id": str(message_id), "emoji": emoji}
        await self._drop(command, "reaction_role_remove", about, DROP_ROLE_SQL, message_id, emoji)
        await reply.say(f"{_shown(emoji)} gives no role there any more; who has it keeps it.")

    async def add_shortcut(self, command: Command, reply: Reply) -> None:
        """Let an emoji do something, for who may do it anyway."""
        await self._require(command)
        emoji, deed = _emoji(command.need(EMOJI)), command.need(DOES)
        about = {"emoji": emoji, "does": deed}
        await self._put(command, "reaction_shortcut_add", about, PUT_SHORTCUT_SQL, command.scope.space_id, emoji, deed)
        meant = (
            "remembers the message for who reacts, until they take it back"
            if deed == "remember"
            else "pins it, for who may pin there"
        )
        await reply.say(f"{_shown(emoji)} {meant}.")

    async def remove_shortcut(self, command: Command, reply: Reply) -> None:
        """Let it do nothing."""
        await self._require(command)
        emoji = _emoji(command.need(EMOJI))
        await self._drop(command, "reaction_shortcut_remove", {"emoji": emoji}, DROP_SHORTCUT_SQL, emoji)
        await reply.say(f"{_shown(emoji)} does nothing any more.")

    async def show(self, command: Command, reply: Reply) -> None:
        """What there is."""
        await self._require(command)
        space_id = command.scope.space_id
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            roles = await conn.fetch(ALL_ROLES_SQL, space_id)
            shortcuts = await conn.fetch(ALL_SHORTCUTS_SQL, space_id)
        lines = [
            f"- {_shown(each['emoji'])} on https://discord.com/channels/{space_id}/{each['place_id']}/"
            f"{each['message_id']} gives <@&{each['role_id']}>"
            for each in roles
        ]
        lines += [f"- {_shown(each['emoji'])} on any message: {each['deed']}" for each in shortcuts]
        await reply.say(within("\n".join(lines or ["Reactions do nothing here, but on my own answers."])))

    async def _put(
        self, command: Command, action: str, about: Mapping[str, object], statement: str, *args: object
    ) -> None:
        """Define it, under its receipt."""

        async def change(conn: Borrowed) -> tuple[None, int | None]:
            await conn.execute(statement, *args)
            return None, None

        await self._ledger.run(command, action, about, change)

    async def _drop(
        self, command: Command, action: str, about: Mapping[str, object], statement: str, *args: object
    ) -> None:
        """Take it back, under its receipt. Raises CommandRefused where there is nothing to take back."""

        async def change(conn: Borrowed) -> tuple[None, int | None]:
            if not await conn.fetchval(statement, command.scope.space_id, *args):
                raise CommandRefused("It does nothing there already; nothing was changed.")
            return None, None

        await self._ledger.run(command, action, about, change)

    async def _require(self, command: Command) -> None:
        if not await self._governing.governs(command.scope, command.user_id):
            raise CommandRefused("What reactions do here is for administrators to say; nothing was changed.")

    async def _require_rank(self, command: Command, role_id: int) -> None:
        facts = self._governing.facts(command.scope.space_id)
        wanted = await facts.role(role_id)
        if wanted is None or role_id == command.scope.space_id:
            raise CommandRefused("There is no such role to give; nothing was changed.")
        for who, name in ((command.user_id, "You"), (self._own_id, "I")):
            member = await facts.member(who)
            if member is None or not member.permissions.manage_roles:
                raise CommandRefused(f"{name} may not manage roles here; nothing was changed.")
            if not member.is_owner and member.top_position <= wanted.position:
                raise CommandRefused(f"{name} cannot give a role as high as one's own; nothing was changed.")

    async def _require_message(self, command: Command, message_id: MessageId) -> None:
        path = "/channels/{channel_id}/messages/{message_id}"
        route = Route("GET", path, channel_id=command.scope.place_id, message_id=message_id)
        try:
            await self._governing.reads.get(route)
        except ReadRefused as refusal:
            raise CommandRefused("I see no such message in this channel; nothing was changed.") from refusal


def _message(command: Command) -> MessageId:
    found = _LINK.fullmatch(command.need(MESSAGE).strip())
    if found is None or (found[1] is not None and int(found[1]) != command.scope.place_id):
        raise CommandRefused("That is no link to a message of this channel, nor its number; nothing was changed.")
    return MessageId(int(found[2]))


def _emoji(written: str) -> str:
    """The emoji as the journal knows it: a custom one by its id, any other by itself."""
    written = written.strip()
    custom = _CUSTOM.fullmatch(written)
    if custom is not None:
        return custom[1]
    if not written or len(written) > 16 or any(each.isalnum() and each.isascii() for each in written) or " " in written:
        raise CommandRefused("That is no emoji; nothing was changed.")
    return written


def _shown(emoji: str) -> str:
    return f"<:emoji:{emoji}>" if emoji.isdecimal() else emoji
