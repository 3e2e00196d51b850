"""Application commands: what the bot has registered, and who may use what where.

Source: https://discord.com/developers/docs/interactions/application-commands
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from .errors import Misuse, NotPermitted, Refusal
from .permissions import EVERYTHING, NOTHING, Permission

if TYPE_CHECKING:
    from .events import Payload
    from .people import Member, Role, User
    from .places import Channel, Guild
    from .world import World

MOST: Final[Mapping[int, int]] = {1: 100, 2: 15, 3: 15}
"""Commands of each type, for the application and again for each guild."""
DAILY_CREATES: Final = 200
_DAY: Final = 24 * 3600
IN_GUILD, IN_BOT_DM, IN_OTHER_DM = 0, 1, 2
_AGE_RESTRICTED: Final = (1, 3)


class CommandKind(IntEnum):
    SLASH = 1
    USER = 2
    MESSAGE = 3


@dataclass(frozen=True, slots=True)
class Command:
    """One registered command. ``guild_id`` is None for a global one.

    ``needs`` is None where anybody may use it by default, and NOTHING where only administrators may.
    """

    id: int
    kind: CommandKind
    name: str
    description: str
    guild_id: int | None
    options: Sequence[Payload] = ()
    needs: Permission | None = None
    contexts: frozenset[int] | None = None
    installs: frozenset[int] = frozenset({0})
    nsfw: bool = False
    names: Mapping[str, str] | None = None
    descriptions: Mapping[str, str] | None = None
    version: int = 0

    def same_as(self, other: Command) -> bool:
        """Whether nothing but id and version differs."""
        return replace(self, id=0, version=0) == replace(other, id=0, version=0)

    def here(self, context: int) -> bool:
        return self.contexts is None or context in self.contexts

    def __str__(self) -> str:
        return f"/{self.name}" if self.kind is CommandKind.SLASH else f"{self.name!r}"


@dataclass(slots=True)
class _Scope:
    """The commands of the application (guild None) or of one guild."""

    by_key: dict[tuple[int, str], Command] = field(default_factory=dict[tuple[int, str], Command])
    created: list[float] = field(default_factory=list[float])


class Commands:
    """The registry. Commands are found by scope (a guild's id or None), type and name."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._scopes: dict[int | None, _Scope] = {}
        self._exceptions: dict[tuple[int, int], dict[tuple[int, int], bool]] = {}

    def of(self, guild_id: int | None) -> list[Command]:
        """All commands of a scope, in the order of their making."""
        return list(self._scope(guild_id).by_key.values())

    def get(self, guild_id: int | None, command_id: int) -> Command | None:
        return next((command for command in self.of(guild_id) if command.id == command_id), None)

    def put(self, command: Command) -> tuple[Command, bool]:
        """Create, or replace the command of the same type and name; with whether it is new.

        Raises 400/30032 for one too many, 400/30034 for the 201st that is new within a day.
        """
        scope = self._scope(command.guild_id)
        key = (command.kind, command.name)
        before = scope.by_key.get(key)
        if before is None:
            self._must_fit(scope, command.kind)
            self._count_create(scope, 1)
            made = replace(command, id=self._world.ids.next(), version=self._world.ids.next())
        else:
            made = before if before.same_as(command) else self._next_version(command, before.id)
        scope.by_key[key] = made
        return made, before is None

    def edit(self, before: Command, after: Command) -> Command:
        """Replace a command that is there. Raises 50035 when the new name is another command's."""
        scope = self._scope(before.guild_id)
        other = scope.by_key.get((after.kind, after.name))
        if other is not None and other.id != before.id:
            raise duplicate_name()
        made = before if before.same_as(after) else self._next_version(after, before.id)
        scope.by_key = {(c.kind, c.name): c for c in (made if c.id == before.id else c for c in scope.by_key.values())}
        return made

    def overwrite(self, guild_id: int | None, commands: Sequence[Command]) -> list[Command]:
        """Make these the scope's only commands; those of the same type and name keep their id. Raises as ``put``."""
        scope = self._scope(guild_id)
        for kind, most in MOST.items():
            if sum(command.kind == kind for command in commands) > most:
                raise too_many(most)
        self._count_create(scope, sum((command.kind, command.name) not in scope.by_key for command in commands))
        made: dict[tuple[int, str], Command] = {}
        for command in commands:
            key = (command.kind, command.name)
            before = scope.by_key.get(key)
            if before is not None and before.same_as(command):
                made[key] = before
            else:
                made[key] = self._next_version(command, self._world.ids.next() if before is None else before.id)
        scope.by_key = made
        return list(made.values())

    def delete(self, command: Command) -> None:
        scope = self._scope(command.guild_id)
        scope.by_key = {key: kept for key, kept in scope.by_key.items() if kept.id != command.id}

    def set_permission(
        self, command: Command, guild: Guild, target: Role | Member | Channel, allow: bool | None
    ) -> None:
        """What an administrator chooses in the guild's settings under *Integrations*; None takes the choice back."""
        from .people import Role  # people needs the places, whose world needs this module
        from .places import Channel

        kind = 1 if isinstance(target, Role) else 3 if isinstance(target, Channel) else 2
        chosen = self._exceptions.setdefault((guild.id, command.id), {})
        if allow is None:
            chosen.pop((kind, target.id), None)
        else:
            chosen[kind, target.id] = allow
        body: Payload = {**self.permissions_body(guild.id, command.id)}
        self._world.publish("APPLICATION_COMMAND_PERMISSIONS_UPDATE", body, guild=guild)

    def permissions_body(self, guild_id: int, command_id: int) -> Payload:
        chosen = self._exceptions.get((guild_id, command_id), {})
        return {
            "id": str(command_id),
            "application_id": str(self._world.application.id),
            "guild_id": str(guild_id),
            "permissions": [{"id": str(i), "type": kind, "permission": allow} for (kind, i), allow in chosen.items()],
        }

    def with_permissions(self, guild_id: int) -> list[Payload]:
        return [
            self.permissions_body(*key) for key, chosen in self._exceptions.items() if key[0] == guild_id and chosen
        ]

    # who may use what

    def offered(self, user: User, channel: Channel, kind: CommandKind) -> list[Command]:
        """What Discord shows a user in a place: the guild's own commands, then the global ones."""
        guild_id = None if channel.guild is None else channel.guild.id
        scopes = [None] if guild_id is None else [guild_id, None]
        found = [command for scope in scopes for command in self.of(scope) if command.kind is kind]
        return [command for command in found if self._refusal(command, user, channel) is None]

    def usable(self, user: User, channel: Channel, kind: CommandKind, name: str) -> Command:
        """The command by its name (a slash command's first word).

        Raises Misuse when there is none of that name, NotPermitted when it is not offered to this user here.
        """
        guild_id = None if channel.guild is None else channel.guild.id
        everywhere = [*self.of(guild_id), *([] if guild_id is None else self.of(None))]
        named = [command for command in everywhere if command.kind is kind and command.name == name]
        if not named:
            there = ", ".join(str(command) for command in everywhere) or "none"
            raise Misuse(f"there is no command {name!r} in {channel}; the bot has registered: {there}")
        refusals = [self._refusal(command, user, channel) for command in named]
        for command, refusal in zip(named, refusals, strict=True):
            if refusal is None:
                return command
        raise NotPermitted(f"{user} cannot use {named[0]} in {channel}: {refusals[0]}")

    def _refusal(self, command: Command, user: User, channel: Channel) -> str | None:
        """Why a user is not offered a command in a place; None when they are."""
        context = IN_BOT_DM if channel.guild is None else IN_GUILD
        if not command.here(context):
            return "it is not for direct messages" if context == IN_BOT_DM else "it is not for guilds"
        if channel.guild is None:
            return None if user in channel.recipients else "the direct message is not theirs"
        member = channel.guild.members.get(user.id)
        if member is None or not channel.visible_to(user):
            return "they do not see the channel"
        if self._world.bot.id not in channel.guild.members or 0 not in command.installs:
            return "the application is not installed there"
        restricted = channel.nsfw or channel.guild.nsfw_level in _AGE_RESTRICTED
        if command.nsfw and not restricted:
            return "it is age-restricted, and the channel is not"
        return self._missing(command, member, channel)

    def _missing(self, command: Command, member: Member, channel: Channel) -> str | None:
        """https://discord.com/developers/docs/interactions/application-commands#permissions"""
        granted = channel.permissions_of(member)
        if granted == EVERYTHING or Permission.ADMINISTRATOR in granted:
            return None
        if Permission.USE_APPLICATION_COMMANDS not in granted:
            return "USE_APPLICATION_COMMANDS is missing"
        chosen = self._exceptions.get((member.guild.id, command.id), {})
        trunk = channel.parent if channel.is_thread and channel.parent else channel
        if not chosen.get((3, trunk.id), chosen.get((3, member.guild.id - 1), True)):
            return "it is switched off in this channel"
        own = chosen.get((2, member.id))
        roles = [chosen[1, role.id] for role in member.roles if (1, role.id) in chosen]
        decided = own if own is not None else any(roles) if roles else chosen.get((1, member.guild.id))
        if decided is not None:
            return None if decided else "it is switched off for them"
        if command.needs is None or (command.needs and command.needs in granted):
            return None
        if command.needs == NOTHING:
            return "only administrators may"
        return " and ".join(str(need.name) for need in Permission if need in command.needs & ~granted) + " is missing"

    def _scope(self, guild_id: int | None) -> _Scope:
        return self._scopes.setdefault(guild_id, _Scope())

    def _next_version(self, command: Command, command_id: int) -> Command:
        return replace(command, id=command_id, version=self._world.ids.next())

    def _must_fit(self, scope: _Scope, kind: CommandKind) -> None:
        if sum(command.kind is kind for command in scope.by_key.values()) >= MOST[kind]:
            raise too_many(MOST[kind])

    def _count_create(self, scope: _Scope, n: int) -> None:
        now = self._world.clock.now()
        scope.created = [at for at in scope.created if at > now - _DAY]
        if len(scope.created) + n > DAILY_CREATES:
            text = f"Max number of daily application command creates has been reached ({DAILY_CREATES})"
            raise Refusal(429, 30034, text)
        scope.created += [now] * n


def too_many(most: int) -> Refusal:
    return Refusal(400, 30032, f"Maximum number of application commands reached ({most})")


def duplicate_name() -> Refusal:
    error = {"code": "APPLICATION_COMMANDS_DUPLICATE_NAME", "message": "Application command names must be unique"}
    return Refusal(400, 50035, "Invalid Form Body", {"name": {"_errors": [error]}})
