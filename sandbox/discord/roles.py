"""Roles: making, changing, sorting, deleting, giving and taking them, by fiat or by a member who needs the right to.

Source: https://discord.com/developers/docs/resources/guild#create-guild-role and the routes after it;
https://discord.com/developers/docs/topics/permissions#permission-hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from . import payloads, ranks
from .audit import Action, changes_between
from .errors import Refusal, missing_permissions
from .fields import RoleFields
from .people import Member, Role
from .permissions import Permission, of_roles

if TYPE_CHECKING:
    from .events import Payload
    from .places import Guild
    from .world import World

MAX_ROLES: Final = 250


class Roles:
    """``by`` is the member who does it, under Discord's rules, which raise a Refusal; None is by fiat, unlogged."""

    def __init__(self, world: World) -> None:
        self._world = world

    def create(
        self,
        guild: Guild,
        fields: RoleFields,
        *,
        position: int = 1,
        by: Member | None = None,
        reason: str | None = None,
    ) -> Role:
        """A new role at position 1, below all older ones there, or by fiat at another.

        Without permissions of its own it has those of @everyone, without a name *new role*.
        """
        granted = guild.everyone.permissions if fields.permissions is None else fields.permissions
        if by is not None:
            by.must(Permission.MANAGE_ROLES)
            self._must_have(by, granted if fields.permissions is not None else Permission(0))
            if len(guild.roles) >= MAX_ROLES:
                raise Refusal(400, 30005, f"Maximum number of guild roles reached ({MAX_ROLES})")
        role = Role(guild, self._world.ids.next(), "new role", granted, position)
        _apply(role, fields)
        guild.roles[role.id] = role
        self._world.publish("GUILD_ROLE_CREATE", _body(role), guild=guild)
        self._log(Action.ROLE_CREATE, role, {}, _logged(role), by, reason)
        return role

    def edit(self, role: Role, fields: RoleFields, *, by: Member | None = None, reason: str | None = None) -> None:
        """Change a role. A member can only add permissions that he has himself."""
        if by is not None:
            by.must(Permission.MANAGE_ROLES)
            self._must_stand_above(by, role)
            self._must_have(by, (fields.permissions or role.permissions) & ~role.permissions)
        before = _logged(role)
        with self._world.sight(role.guild):
            _apply(role, fields)
            self._world.publish("GUILD_ROLE_UPDATE", _body(role), guild=role.guild)
        self._log(Action.ROLE_UPDATE, role, before, _logged(role), by, reason)

    def sort(
        self, guild: Guild, positions: Mapping[Role, int], *, by: Member | None = None, reason: str | None = None
    ) -> None:
        """Give roles new positions, and whoever is in their way moves on. A member sorts below his highest role."""
        positions = {role: position for role, position in positions.items() if position != role.position}
        if by is not None:
            by.must(Permission.MANAGE_ROLES)
            top = ranks.highest_role(by).position
            is_owner = by.id == guild.owner_id
            for role, position in positions.items():
                self._must_stand_above(by, role)
                if not is_owner and position >= top:
                    raise missing_permissions()
        before = {role: role.position for role in guild.roles.values()}
        # Those that are moved come before those that stood there.
        order = sorted(
            (role for role in before if role is not guild.everyone),
            key=lambda role: (positions.get(role, role.position), _direction(role, positions), -role.id),
        )
        for place, role in enumerate(order, start=1):
            role.position = place
        for role, was in before.items():
            if role.position != was:
                self._world.publish("GUILD_ROLE_UPDATE", _body(role), guild=guild)
            if role in positions:
                self._log(Action.ROLE_UPDATE, role, {"position": was}, {"position": role.position}, by, reason)

    def delete(self, role: Role, *, by: Member | None = None, reason: str | None = None) -> None:
        guild = role.guild
        if by is not None:
            by.must(Permission.MANAGE_ROLES)
            self._must_stand_above(by, role)
            self._must_be_free(role)
        with self._world.sight(guild):
            del guild.roles[role.id]
            for member in guild.members.values():
                member.roles = [held for held in member.roles if held is not role]
            for channel in guild.channels.values():
                channel.overwrites.pop(role.id, None)
            body: Payload = {"guild_id": str(guild.id), "role_id": str(role.id)}
            self._world.publish("GUILD_ROLE_DELETE", body, guild=guild)
        self._log(Action.ROLE_DELETE, role, _logged(role), {}, by, reason)

    def assign(
        self,
        member: Member,
        *,
        add: tuple[Role, ...] = (),
        remove: tuple[Role, ...] = (),
        by: Member | None = None,
        reason: str | None = None,
    ) -> None:
        """Give and take roles. A member does so with those below his own highest, and with none that is managed."""
        added = [role for role in add if role not in member.roles]
        removed = [role for role in remove if role in member.roles]
        if by is not None:
            by.must(Permission.MANAGE_ROLES)
            for role in (*add, *remove):
                self._must_be_free(role)
                self._must_stand_above(by, role)
        if by is not None and not added and not removed:
            return
        with self._world.sight(member.guild):
            member.roles = [role for role in (*member.roles, *added) if role not in removed]
            self._world.memberships.changed(member)
        if by is not None:
            changes: list[Payload] = []
            for key, roles in (("$add", added), ("$remove", removed)):
                if roles:
                    changes.append({"key": key, "new_value": [{"id": str(r.id), "name": r.name} for r in roles]})
            self._world.audit.record(
                member.guild, Action.MEMBER_ROLE_UPDATE, by.user, member.id, changes=tuple(changes), reason=reason
            )

    def _must_stand_above(self, by: Member, role: Role) -> None:
        if not ranks.above_role(by, role):
            raise missing_permissions()

    def _must_have(self, by: Member, granted: Permission) -> None:
        if granted & ~of_roles(by):
            raise missing_permissions()

    def _must_be_free(self, role: Role) -> None:
        """@everyone and roles that belong to a bot or an integration are nobody's to give or to delete."""
        if role.managed or role is role.guild.everyone:
            raise Refusal(400, 50028, "Invalid Role")

    def _log(
        self, action: Action, role: Role, before: Payload, after: Payload, by: Member | None, reason: str | None
    ) -> None:
        changes = changes_between(before, after)
        if by is not None and changes:
            self._world.audit.record(role.guild, action, by.user, role.id, changes=changes, reason=reason)


def _apply(role: Role, fields: RoleFields) -> None:
    role.name = role.name if fields.name is None else fields.name
    role.permissions = role.permissions if fields.permissions is None else fields.permissions
    role.color = role.color if fields.color is None else fields.color
    role.hoist = role.hoist if fields.hoist is None else fields.hoist
    role.mentionable = role.mentionable if fields.mentionable is None else fields.mentionable


def _direction(role: Role, positions: Mapping[Role, int]) -> int:
    """At the same position: what moves down comes below what stands there, what moves up above it."""
    if role not in positions:
        return 0
    return -1 if positions[role] < role.position else 1


def _body(role: Role) -> Payload:
    return {"guild_id": str(role.guild.id), "role": payloads.role(role)}


def _logged(role: Role) -> Payload:
    shown = payloads.role(role)
    return {key: shown[key] for key in ("name", "permissions", "color", "hoist", "mentionable")}
