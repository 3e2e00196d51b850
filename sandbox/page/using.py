"""Commands, components and forms: what a person uses on the page, and what the application answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from sandbox.discord import Channel, Member, Role, User
from sandbox.discord.commands import Command, CommandKind
from sandbox.discord.components import Part, walk
from sandbox.discord.events import Payload
from sandbox.discord.filling import fields
from sandbox.discord.interactions import FIRST_ANSWER, Callback, Interaction, Modal
from sandbox.discord.options import OptionKind, Value, listed

from .asked import Asked
from .errors import Mistake
from .sight import member_of, message_of, place_of

if TYPE_CHECKING:
    from sandbox.discord.uses import Use

    from .feed import Feed

_GRACE_S: Final = 0.2
_KINDS: Final = {CommandKind.SLASH: "slash", CommandKind.USER: "user", CommandKind.MESSAGE: "message"}
_NESTING: Final = (OptionKind.SUBCOMMAND, OptionKind.GROUP)


def offered(viewer: Member, place: Channel) -> Payload:
    """The commands that the viewer may use in the place, by kind; a subcommand is one by itself."""
    registry = place.world.commands
    shown: Payload = {name: [] for name in _KINDS.values()}
    for kind, name in _KINDS.items():
        for command in registry.offered(viewer.user, place, kind):
            cast("list[Payload]", shown[name]).extend(_spelled(command))
    return shown


def _spelled(command: Command) -> list[Payload]:
    def below(name: str, about: str, options: Sequence[Payload]) -> list[Payload]:
        nested = [option for option in options if option["type"] in _NESTING]
        if not nested:
            return [{"name": name, "description": about, "options": list(options)}]
        return [
            one
            for option in nested
            for one in below(f"{name} {option['name']}", str(option.get("description", "")), listed(option))
        ]

    return below(command.name, command.description, command.options)


# --- using them ------------------------------------------------------------------------------------------------------


async def slash(feed: Feed, asked: Asked) -> object:
    """A slash command with its options."""
    place, line = place_of(feed, asked), asked.text("line")
    given = _options(feed, place, line, asked.mapping("options"))
    return await _outcome(feed, await feed.viewer.slash(place, line, **given))


async def complete(feed: Feed, asked: Asked) -> object:
    """What an option suggests while it is typed; a list of names and values."""
    place, line, focused = place_of(feed, asked), asked.text("line"), asked.text("focused")
    given = _options(feed, place, line, asked.mapping("options"), focused=focused)
    use = await feed.viewer.autocomplete(place, line, focused, **given)
    await _outcome(feed, use)
    return [{"name": choice.name, "value": choice.value} for choice in use.interaction.choices]


async def menu(feed: Feed, asked: Asked) -> object:
    """A command in the menu of a message or of a person."""
    name, place = asked.text("name"), place_of(feed, asked)
    target = message_of(feed, asked) if asked.has("message") else member_of(feed, asked)
    return await _outcome(feed, await feed.viewer.context_menu(name, target, in_=place))


async def press(feed: Feed, asked: Asked) -> object:
    """A button, by its custom_id."""
    return await _outcome(feed, await feed.viewer.press(message_of(feed, asked), asked.text("component")))


async def choose(feed: Feed, asked: Asked) -> object:
    """Values of a select menu, which is named by its custom_id."""
    message, name = message_of(feed, asked), asked.text("component")
    part = next((each for each in walk(message.components) if each.get("custom_id") == name), None)
    if part is None:
        raise Mistake("The message has changed; that menu is gone.")
    values = _chosen(feed, part, asked.texts("values"))
    return await _outcome(feed, await feed.viewer.choose(message, name, values))


async def submit(feed: Feed, asked: Asked) -> object:
    """A form that was shown to this person on this page."""
    modal = feed.modals.get(asked.text("modal"))
    if modal is None:
        raise Mistake("That form is no longer open.")
    parts, values = fields(modal), dict[str, Value | Sequence[Value]]()
    for name, given in asked.mapping("values").items():
        if name not in parts:
            raise Mistake("The form has no such field.")
        values[name] = _filled(feed, parts[name], given)
    outcome = await _outcome(feed, await feed.viewer.submit(modal, values))
    feed.modals.pop(asked.text("modal"), None)
    return outcome


async def dismiss(feed: Feed, asked: Asked) -> object:
    """Put an ephemeral answer away, on this page."""
    feed.dismissed.add(asked.id("message"))
    return None


async def _outcome(feed: Feed, use: Use) -> Payload:
    """Wait as long as Discord waits. Raises Mistake where the application says nothing in that time."""
    interaction = use.interaction
    done = await feed.discord.world.changes.until(lambda: interaction.callback, within=FIRST_ANSWER + _GRACE_S)
    if done is None:
        name = feed.discord.bot.display_name
        raise Mistake(f"{name} did not respond in the three seconds that Discord gives it. Nothing else is known.")
    return {"answer": Callback(done).name.lower(), "modal": _shown(feed, interaction)}


def _shown(feed: Feed, interaction: Interaction) -> Payload | None:
    modal: Modal | None = interaction.modal
    if modal is None:
        return None
    feed.modals[str(interaction.id)] = modal
    return {"id": str(interaction.id), "title": modal.title, "components": modal.components}


# --- values: from what the page sends to what Discord's client would -------------------------------------------------


def _options(
    feed: Feed, place: Channel, line: str, given: Mapping[str, Any], *, focused: str | None = None
) -> dict[str, Value]:
    known: dict[str, Payload] = {}
    for command in cast("list[Payload]", offered(feed.viewer, place)["slash"]):
        if command["name"] == line:
            known = {str(option["name"]): option for option in listed(command)}
    filled: dict[str, Value] = {}
    for name, value in given.items():
        option = known.get(name)
        if option is None:
            raise Mistake(f"/{line} has no option {name} (any more).")
        filled[name] = str(value) if name == focused else _option(feed, option, value)
    return filled


def _option(feed: Feed, option: Payload, value: object) -> Value:
    kind, name = option["type"], str(option["name"])
    if kind == OptionKind.ATTACHMENT:
        return _file(feed, value)
    if kind in (OptionKind.USER, OptionKind.CHANNEL, OptionKind.ROLE, OptionKind.MENTIONABLE):
        return _thing(feed, value)
    try:
        if kind == OptionKind.INTEGER:
            return int(str(value))
        if kind == OptionKind.NUMBER:
            return float(str(value))
    except ValueError:
        raise Mistake(f"{name} takes a number.") from None
    return value if isinstance(value, bool) else str(value)


def _chosen(feed: Feed, part: Payload, values: Sequence[str]) -> list[Value]:
    is_text = part["type"] in (Part.STRING_SELECT, Part.CHECKBOX_GROUP, Part.RADIO_GROUP)
    return [value if is_text else _thing(feed, value) for value in values]


def _filled(feed: Feed, part: Payload, given: object) -> Value | Sequence[Value]:
    if part["type"] == Part.TEXT_INPUT:
        return str(given)
    if part["type"] == Part.CHECKBOX:
        return given is True
    values = [str(value) for value in cast("list[object]", given)] if isinstance(given, list) else []
    if part["type"] == Part.FILE_UPLOAD:
        return [_file(feed, value) for value in values]
    return _chosen(feed, part, values)


def _thing(feed: Feed, value: object) -> User | Member | Role | Channel:
    """A member, a role or a place by its id; as in Discord, also somebody who is not in the guild."""
    number = int(str(value)) if str(value).isascii() and str(value).isdigit() else 0
    guild, world = feed.guild, feed.discord.world
    found = (
        guild.members.get(number) or guild.roles.get(number) or world.channels.get(number) or world.users.get(number)
    )
    if found is None or (isinstance(found, Channel) and not found.visible_to(feed.viewer)):
        raise Mistake("What was chosen is not there any more.")
    return found


def _file(feed: Feed, value: object) -> Any:
    try:
        return feed.uploads.take([str(value)])[0]
    except KeyError:
        raise Mistake("A file was lost on the way; attach it again.") from None
