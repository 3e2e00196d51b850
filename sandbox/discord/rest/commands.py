"""Application commands, the application's and each guild's.

Source: https://discord.com/developers/docs/interactions/application-commands#endpoints
"""

from __future__ import annotations

from typing import Final, cast

from sandbox.discord.commands import Command
from sandbox.discord.errors import Refusal, missing_access, unknown
from sandbox.discord.events import Payload

from .command_forms import read_command
from .forms import Form, pruned
from .router import Call, Reply, Routes

routes = Routes()
_GLOBAL: Final = "/applications/{application_id}/commands"
_GUILD: Final = "/applications/{application_id}/guilds/{guild_id}/commands"
_ONE: Final = "/{command_id}"


def _scope(call: Call) -> int | None:
    """The guild's id, or None. Raises 403/20012 for another application, 403/50001 where the bot is not."""
    if call.id("application_id") != call.world.application.id:
        raise Refusal(403, 20012, "You are not authorized to perform this action on this application")
    if "guild_id" not in call.params:
        return None
    guild = call.world.guilds.get(call.id("guild_id"))
    if guild is None or call.world.bot.id not in guild.members:
        raise missing_access()
    return guild.id


def _command(call: Call) -> Command:
    found = call.world.commands.get(_scope(call), call.id("command_id"))
    if found is None:
        raise unknown("application command")
    return found


@routes.get(_GLOBAL)
@routes.get(_GUILD)
def listing(call: Call) -> Reply:
    """Localisations only with ``with_localizations``."""
    whole = call.query.get("with_localizations") in ("true", "True", "1")
    return Reply(200, [shown(call, command, localised=whole) for command in call.world.commands.of(_scope(call))])


@routes.post(_GLOBAL)
@routes.post(_GUILD)
def create(call: Call) -> Reply:
    """201, or 200 where a command of that type and name was there and is replaced."""
    command = read_command(call.form, _scope(call))
    call.form.done()
    made, new = call.world.commands.put(command)
    return Reply(201 if new else 200, shown(call, made))


@routes.put(_GLOBAL, takes_list=True)
@routes.put(_GUILD, takes_list=True)
def overwrite(call: Call) -> Reply:
    """Errors nest under the index of the command."""
    scope = _scope(call)
    errors: dict[str, object] = {}
    commands: list[Command] = []
    taken: set[tuple[int, str]] = set()
    for index, item in enumerate(call.items):
        node = cast("dict[str, object]", errors.setdefault(str(index), {}))
        form = Form(cast("Payload", item) if isinstance(item, dict) else {}, node)
        if not isinstance(item, dict):
            form.reject("DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
            continue
        command = read_command(form, scope)
        if (command.kind, command.name) in taken:
            form.reject("APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
        taken.add((command.kind, command.name))
        commands.append(command)
    wrong = pruned(errors)
    if wrong:
        raise Refusal(400, 50035, "Invalid Form Body", wrong)
    return Reply(200, [shown(call, command) for command in call.world.commands.overwrite(scope, commands)])


@routes.get(_GLOBAL + _ONE)
@routes.get(_GUILD + _ONE)
def get(call: Call) -> Reply:
    return Reply(200, shown(call, _command(call)))


@routes.patch(_GLOBAL + _ONE)
@routes.patch(_GUILD + _ONE)
def edit(call: Call) -> Reply:
    before = _command(call)
    after = read_command(call.form, before.guild_id, before)
    call.form.done()
    return Reply(200, shown(call, call.world.commands.edit(before, after)))


@routes.delete(_GLOBAL + _ONE)
@routes.delete(_GUILD + _ONE)
def delete(call: Call) -> Reply:
    call.world.commands.delete(_command(call))
    return Reply(204)


@routes.get(_GUILD + "/permissions")
def all_permissions(call: Call) -> Reply:
    return Reply(200, call.world.commands.with_permissions(_scope(call) or 0))


@routes.get(_GUILD + _ONE + "/permissions")
def permissions(call: Call) -> Reply:
    """Raises 404/10066 where nothing was ever chosen for the command."""
    guild_id, command_id = _scope(call) or 0, call.id("command_id")
    body = call.world.commands.permissions_body(guild_id, command_id)
    if not body["permissions"]:
        raise Refusal(404, 10066, "Unknown application command permissions")
    return Reply(200, body)


@routes.put(_GUILD + _ONE + "/permissions")
def set_permissions(call: Call) -> Reply:
    """Discord takes this only from somebody who manages the guild, by a token of theirs."""
    _scope(call)
    raise Refusal(403, 20001, "Bots cannot use this endpoint")


def shown(call: Call, command: Command, *, localised: bool = True) -> Payload:
    body: Payload = {
        "id": str(command.id),
        "application_id": str(call.world.application.id),
        "version": str(command.version),
        "default_member_permissions": None if command.needs is None else str(command.needs.value),
        "type": int(command.kind),
        "name": command.name,
        "description": command.description,
        "nsfw": command.nsfw,
        "integration_types": sorted(command.installs),
    }
    if command.guild_id is not None:
        body["guild_id"] = str(command.guild_id)
    else:
        body["contexts"] = None if command.contexts is None else sorted(command.contexts)
        body["dm_permission"] = command.here(1)
    if command.options:
        body["options"] = list(command.options) if localised else [_plain(option) for option in command.options]
    if localised:
        body |= {"name_localizations": command.names, "description_localizations": command.descriptions}
    return body


def _plain(option: Payload) -> Payload:
    kept = {name: value for name, value in option.items() if not name.endswith("_localizations")}
    for nested in ("options", "choices"):
        if nested in kept:
            kept[nested] = [_plain(inner) for inner in cast("list[Payload]", kept[nested])]
    return kept
