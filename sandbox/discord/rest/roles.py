"""Roles of a guild and of its members."""

from __future__ import annotations

from sandbox.discord import payloads
from sandbox.discord.errors import unknown
from sandbox.discord.fields import RoleFields
from sandbox.discord.people import Role
from sandbox.discord.places import Guild

from .router import Call, Reply, Routes

routes = Routes()
_MEMBER_ROLE = "/guilds/{guild_id}/members/{user_id}/roles/{role_id}"


def _role(call: Call, guild: Guild) -> Role:
    found = guild.roles.get(call.id("role_id"))
    if found is None:
        raise unknown("Role")
    return found


@routes.get("/guilds/{guild_id}/roles")
def roles(call: Call) -> Reply:
    return Reply(200, [payloads.role(role) for role in call.guild().roles.values()])


@routes.get("/guilds/{guild_id}/roles/member-counts")
def counts(call: Call) -> Reply:
    """How many members have each role; @everyone is left out."""
    guild = call.guild()
    held = [role.id for member in guild.members.values() for role in member.roles]
    return Reply(200, {str(role_id): held.count(role_id) for role_id in guild.roles if role_id != guild.id})


@routes.get("/guilds/{guild_id}/roles/{role_id}")
def role(call: Call) -> Reply:
    return Reply(200, payloads.role(_role(call, call.guild())))


@routes.post("/guilds/{guild_id}/roles")
def create(call: Call) -> Reply:
    guild, fields = call.guild(), _fields(call)
    made = call.world.roles.create(guild, fields, by=call.me(guild), reason=call.reason)
    return Reply(200, payloads.role(made))


@routes.patch("/guilds/{guild_id}/roles", takes_list=True)
def sort(call: Call) -> Reply:
    guild = call.guild()
    positions: dict[Role, int] = {}
    for form in call.form.spread(call.items):
        role_id, position = form.snowflake("id", required=True), form.integer("position")
        found = guild.roles.get(role_id or 0)
        if role_id is not None and found is None:
            raise unknown("Role")
        if found is not None and position is not None:
            positions[found] = position
    call.form.done()
    call.world.roles.sort(guild, positions, by=call.me(guild), reason=call.reason)
    return Reply(200, [payloads.role(role) for role in guild.roles.values()])


@routes.patch("/guilds/{guild_id}/roles/{role_id}")
def change(call: Call) -> Reply:
    guild = call.guild()
    found, fields = _role(call, guild), _fields(call)
    call.world.roles.edit(found, fields, by=call.me(guild), reason=call.reason)
    return Reply(200, payloads.role(found))


@routes.delete("/guilds/{guild_id}/roles/{role_id}")
def delete(call: Call) -> Reply:
    guild = call.guild()
    call.world.roles.delete(_role(call, guild), by=call.me(guild), reason=call.reason)
    return Reply(204)


@routes.put(_MEMBER_ROLE)
def give(call: Call) -> Reply:
    guild = call.guild()
    member, found = call.member(guild), _role(call, guild)
    call.world.roles.assign(member, add=(found,), by=call.me(guild), reason=call.reason)
    return Reply(204)


@routes.delete(_MEMBER_ROLE)
def take(call: Call) -> Reply:
    guild = call.guild()
    member, found = call.member(guild), _role(call, guild)
    call.world.roles.assign(member, remove=(found,), by=call.me(guild), reason=call.reason)
    return Reply(204)


def _fields(call: Call) -> RoleFields:
    """``colors`` is the newer way to say ``color``; gradients need a feature that the sandbox's guilds have not."""
    form = call.form
    color, colors = form.integer("color", most=0xFFFFFF), form.child("colors")
    if colors is not None:
        color = colors.integer("primary_color", most=0xFFFFFF)
    fields = RoleFields(
        form.text("name", most=100),
        form.bits("permissions"),
        color,
        form.flag("hoist") if form.has("hoist") else None,
        form.flag("mentionable") if form.has("mentionable") else None,
    )
    form.done()
    return fields
