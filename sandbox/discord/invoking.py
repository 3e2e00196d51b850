"""What members do with the bot's commands, buttons, menus and forms. User and Member have these methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .messages import Message
    from .options import Value
    from .people import Member, Role, User
    from .places import Channel, Guild, Place
    from .uses import ModalShown, Use


class Invoker:
    """Mixed into User and Member. Every method raises NotPermitted for what Discord would not let them do."""

    __slots__ = ()

    def as_user(self) -> User:
        raise NotImplementedError

    async def slash(self, place: Place, command: str, /, **options: Value) -> Use:
        """Use a slash command in a place: ``await ada.slash(general, "memory add", text="...")``.

        ``command`` names subcommands too. Options are text, numbers, truth values, or a Member, Role, Channel or File.
        Raises Misuse for a command or an option that is not registered so.
        """
        return await self.as_user().world.acts.slash(self.as_user(), place, command, options)

    async def autocomplete(self, place: Place, command: str, /, focused: str, **options: Value) -> Use:
        """What an option suggests while it is typed: ``await ada.autocomplete(general, "find", "what", what="mo")``.

        ``focused`` names the option that has the cursor; wait with ``choices()``.
        """
        return await self.as_user().world.acts.autocomplete(self.as_user(), place, command, focused, options)

    async def context_menu(self, name: str, target: Message | Member | User, *, in_: Place | None = None) -> Use:
        """*Apps* in the menu of a message, or of a member (who was clicked in the place ``in_``)."""
        return await self.as_user().world.acts.context_menu(self.as_user(), name, target, in_)

    async def press(self, message: Message, button: str) -> Use:
        """Press a button of a message as it stands now, named by its custom_id or label."""
        return await self.as_user().world.acts.press(self.as_user(), message, button)

    async def choose(self, message: Message, select: str, values: Sequence[Value] | Value) -> Use:
        """Choose in a select menu of a message, named by its custom_id or placeholder.

        Values are those of its options (or their labels); of a user, role or channel select, Members, Roles, Channels.
        """
        return await self.as_user().world.acts.choose(self.as_user(), message, select, values)

    async def submit(self, modal: ModalShown, values: Mapping[str, Value | Sequence[Value]]) -> Use:
        """Fill in a form and send it. Fields are named by custom_id or label; those left out stay as they were."""
        return await self.as_user().world.acts.submit(self.as_user(), modal, values)

    async def sets_command(
        self, guild: Guild, command: str, target: Role | Member | Channel, *, allow: bool | None
    ) -> None:
        """Choose under *Server Settings > Integrations* who may use a command, or where; None takes the choice back.

        It outweighs the command's ``default_member_permissions``. Needs Manage Server and Manage Roles.
        """
        await self.as_user().world.acts.set_command(self.as_user(), guild, command, target, allow)

    def sees(self, place: Place) -> list[Message]:
        """What stands in a place for them, oldest first: with the ephemeral messages that are theirs."""
        user, channel = self.as_user(), place.as_channel()
        if not channel.visible_to(user):
            return []
        hidden = user.world.interactions.hidden(channel, user)
        return sorted([*channel.shelf.live(), *hidden], key=lambda message: message.id)

    def commands_in(self, place: Place) -> list[str]:
        """The slash commands that Discord offers them in a place, subcommands by their whole name."""
        return self.as_user().world.acts.spellings(self.as_user(), place.as_channel())
