"""What members do to the bot's commands, components and forms: whether they may, and what the bot is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import options
from .choosing import chosen
from .commands import Command, CommandKind
from .components import LINK, PREMIUM, SELECTS, Part, names, walk
from .errors import Misuse, NotPermitted
from .filling import submission
from .interactions import Interaction, InteractionKind, Modal
from .invocation import Resolvable, resolved
from .messages import Attachment, File, Message
from .options import Filled, Value
from .people import Member, Role, User
from .permissions import Permission, in_guild
from .places import Channel, Guild, Place, Thread
from .uses import Use

if TYPE_CHECKING:
    from .events import Payload
    from .world import World


class Acts:
    """Behind the methods of Invoker, where they are described."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def slash(self, user: User, place: Place, line: str, given: Mapping[str, Value]) -> Use:
        return await self._command(user, place.as_channel(), line, given, None)

    async def autocomplete(self, user: User, place: Place, line: str, focused: str, given: Mapping[str, Value]) -> Use:
        return await self._command(user, place.as_channel(), line, given, focused)

    async def _command(
        self, user: User, channel: Channel, line: str, given: Mapping[str, Value], focused: str | None
    ) -> Use:
        name, *words = line.removeprefix("/").split()
        command = self._usable(user, channel, CommandKind.SLASH, name)
        filled = options.filled(command, words, given, focused=focused)
        self._upload(channel, filled)
        data = _about(command, channel)
        if filled.options:
            data["options"] = filled.options
        if filled.things and focused is None:  # Discord resolves nothing for an autocompletion
            data["resolved"] = resolved(filled.things, channel)
        kind = InteractionKind.COMMAND if focused is None else InteractionKind.AUTOCOMPLETE
        return await self._use(self._world.interactions.begin(kind, user, channel, data, command=command))

    def _usable(self, user: User, channel: Channel, kind: CommandKind, name: str) -> Command:
        """The command, in a place where the user can write one: in a locked thread only who manages threads can."""
        _must_be_person(user)
        command = self._world.commands.usable(user, channel, kind, name)
        closed = isinstance(channel, Thread) and channel.locked
        if closed and Permission.MANAGE_THREADS not in channel.permissions_of(user):
            raise NotPermitted(f"{channel} is locked")
        return command

    def _upload(self, channel: Channel, filled: Filled) -> None:
        for option, file in filled.files:
            attachment = self._world.speech.attach(channel, file)
            option["value"] = str(attachment.id)
            filled.things.append(attachment)

    async def context_menu(self, user: User, name: str, target: Message | Member | User, place: Place | None) -> Use:
        thing = target.user if isinstance(target, Member) else target
        if isinstance(thing, Message):
            channel, kind = thing.channel, CommandKind.MESSAGE
            _must_see(user, thing)
        elif place is None:
            raise Misuse("a member is clicked in a place: context_menu(name, member, in_=place)")
        else:
            channel, kind = place.as_channel(), CommandKind.USER
        command = self._usable(user, channel, kind, name)
        data = {**_about(command, channel), "target_id": str(thing.id), "resolved": resolved([thing], channel)}
        begin = self._world.interactions.begin
        return await self._use(begin(InteractionKind.COMMAND, user, channel, data, command=command, target=thing))

    async def press(self, user: User, message: Message, name: str) -> Use:
        part = self._component(user, message, name, frozenset({Part.BUTTON}))
        if part.get("style") in (LINK, PREMIUM):
            raise Misuse(f"the button {name!r} opens an address; the bot hears nothing of it")
        return await self._component_used(user, message, part)

    async def choose(self, user: User, message: Message, name: str, values: Sequence[Value] | Value) -> Use:
        part = self._component(user, message, name, SELECTS)
        texts, things = chosen(part, _sequence(values), message.channel)
        return await self._component_used(user, message, part, texts, things)

    def _component(self, user: User, message: Message, name: str, kinds: frozenset[Part]) -> Payload:
        """The component as the message now has it. Raises as Invoker says."""
        _must_be_person(user)
        _must_see(user, message)
        if message.author is not self._world.bot:
            raise Misuse("only the bot's own components tell the bot anything")
        parts = [part for part in walk(message.components) if part.get("type") in kinds]
        part = next((p for key in ("custom_id", "label", "placeholder") for p in parts if p.get(key) == name), None)
        if part is None:
            there = ", ".join(names(message.components)) or "none"
            raise Misuse(f"the message has no such component {name!r} now; it has {there}")
        if part.get("disabled"):
            raise NotPermitted(f"{name!r} is disabled")
        return part

    async def _component_used(
        self,
        user: User,
        message: Message,
        part: Payload,
        values: Sequence[str] | None = None,
        things: Sequence[Resolvable] = (),
    ) -> Use:
        data: Payload = {"component_type": part["type"], "custom_id": part["custom_id"], "id": part.get("id", 0)}
        if values is not None:
            data["values"] = list(values)
        if things:
            data["resolved"] = resolved(things, message.channel)
        begin = self._world.interactions.begin
        return await self._use(begin(InteractionKind.COMPONENT, user, message.channel, data, source=message))

    async def submit(self, user: User, modal: Modal, values: Mapping[str, Value | Sequence[Value]]) -> Use:
        shown_by = modal.shown_by
        if shown_by.user is not user:
            raise NotPermitted(f"the form {modal.title!r} was shown to {shown_by.user}, not to {user}")
        if modal.submitted:
            raise Misuse(f"the form {modal.title!r} was sent and accepted; it is no longer open")
        channel = shown_by.channel

        def upload(file: File) -> Attachment:
            return self._world.speech.attach(channel, file)

        components, things = submission(modal, values, channel, upload)
        data: Payload = {"custom_id": modal.custom_id, "components": components}
        if things:
            data["resolved"] = resolved(things, channel)
        begin = self._world.interactions.begin
        made = begin(InteractionKind.MODAL, user, channel, data, source=shown_by.source, opened_by=shown_by)
        made.form = modal
        return await self._use(made)

    async def set_command(
        self, user: User, guild: Guild, name: str, target: Role | Member | Channel, allow: bool | None
    ) -> None:
        needed = Permission.MANAGE_GUILD | Permission.MANAGE_ROLES
        member = guild.members.get(user.id)
        if member is None or needed not in in_guild(member, self._world.clock.now()):
            raise NotPermitted(f"{user} cannot manage the integrations of {guild.name}")
        commands = [*self._world.commands.of(guild.id), *self._world.commands.of(None)]
        command = next((command for command in commands if command.name == name), None)
        if command is None:
            raise Misuse(f"there is no command {name!r} in {guild.name}")
        self._world.commands.set_permission(command, guild, target, allow)
        await self._world.breathe()

    async def _use(self, interaction: Interaction) -> Use:
        await self._world.breathe()
        return Use(interaction)

    def spellings(self, user: User, channel: Channel) -> list[str]:
        offered = self._world.commands.offered(user, channel, CommandKind.SLASH)
        return sorted({spelling for command in offered for spelling in options.spellings(command)})


def _about(command: Command, channel: Channel) -> Payload:
    data: Payload = {"id": str(command.id), "name": command.name, "type": int(command.kind)}
    if command.guild_id is not None and channel.guild is not None:
        data["guild_id"] = str(command.guild_id)
    return data


def _must_see(user: User, message: Message) -> None:
    if message.deleted:
        raise Misuse("that message is deleted")
    if not message.channel.visible_to(user) or message.seen_by not in (None, user):
        raise NotPermitted(f"{user} does not see that message")


def _must_be_person(user: User) -> None:
    if user.bot:
        raise Misuse(f"{user} is a bot, and bots use no commands and press no buttons")


def _sequence(values: Sequence[Value] | Value) -> list[Value]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        return [values]
    return list(values)
