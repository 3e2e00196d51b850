"""Where who governs a guild sees and changes its settings.

The card is for the person alone. Whether the person may is decided from Discord's facts when it is shown and again with
each change (I5), and each change is on record with who made it and when.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast, get_args

import structlog

from bot.bodies import Component
from bot.errors import CommandRefused
from bot.governing import Governing
from bot.guild_settings import (
    OF_SPACE_ALONE,
    WHOLE_SPACE,
    GuildSettings,
    GuildSettingsDoor,
    Name,
    Value,
    change,
    changes,
    count_changes,
    set_in,
)
from bot.interactions import EXPIRED_BUTTON, Command, Interaction, Interactions, Press, Reply, Submission
from bot.pages import Page, Pages, pages_of
from bot.settings_card.forms import TITLES, Form, fields, read
from bot.settings_card.slash import (
    ADMIN_ROLE,
    BUDGET,
    CHANNEL,
    DAYS,
    EACH,
    HISTORY,
    LANGUAGE,
    LANGUAGE_OF,
    LOG,
    MOD_LOG,
    RETENTION,
    ROLE,
    SHOW,
    TOKENS,
)
from bot.settings_card.view import AROUND, PREFIX, components, history_line, words
from memory.database import BORROW_S, Pool
from memory.ids import PlaceId

log = structlog.get_logger(__name__)

LIST: Final = "changes"
PAGE_SIZE: Final = 10

_MAY_NOT: Final = "Only who administers this server may change its settings, so nothing was changed."
_MAY_NOT_NAME: Final = "Only Discord administrators may name roles, so nothing was changed."


@dataclass(frozen=True, slots=True)
class SettingsCard:
    """Answers the commands, and the card's buttons, menus and forms."""

    pool: Pool
    settings: GuildSettingsDoor
    governing: Governing
    pages: Pages

    def open(self, interactions: Interactions) -> None:
        """Offer the commands."""
        interactions.on_command(SHOW, self.show)
        interactions.on_command(RETENTION, self.retention)
        interactions.on_command(MOD_LOG, self.mod_log)
        interactions.on_command(ADMIN_ROLE, self.admin_role)
        interactions.on_command(LANGUAGE_OF, self.language)
        interactions.on_command(BUDGET, self.budget)
        interactions.on_command(HISTORY, self.history)
        interactions.on_press(PREFIX, self.pressed)
        interactions.on_submit(PREFIX, self.written)
        self.pages.on_list(LIST, self._changes)

    async def show(self, command: Command, reply: Reply) -> None:
        """The card of a channel, or of the whole guild."""
        place_id = command.get(CHANNEL) or WHOLE_SPACE
        await self._require(command, place_id)
        said, parts = await self._card(command, place_id)
        await reply.say(said, components=parts)

    async def pressed(self, press: Press, reply: Reply) -> None:
        """A button or menu was used: `settings:<which>:<place>`, and `<name>=<value>` behind it or picked."""
        parts = press.custom_id.split(":", 3)
        if len(parts) < 3 or not parts[2].isdecimal():
            raise CommandRefused(EXPIRED_BUTTON)
        which, place_id = parts[1], PlaceId(int(parts[2]))
        match which:
            case "answers" | "limits":
                await self._ask(press, reply, which, place_id)
                return
            case "mod-log":
                await self._log_to(press, PlaceId(_id(press.values[0])) if press.values else None)
            case "admins":
                await self._name_roles(press, {_id(each) for each in press.values})
            case _:
                # Menus of earlier versions have other names, and say as much.
                await self._pick(press, place_id, parts[3] if len(parts) == 4 else "".join(press.values[:1]))
        said, shown = await self._card(press, place_id)
        await reply.update(said, components=shown)

    async def written(self, submission: Submission, reply: Reply) -> None:
        """A form was sent: `settings:<form>:<place>`."""
        _, _, rest = submission.custom_id.partition(":")
        which, _, place = rest.partition(":")
        if which not in get_args(Form) or not place.isdecimal():
            raise CommandRefused("This form has expired, so nothing was changed; please use the command again.")
        place_id = PlaceId(int(place))
        await self._require(submission, place_id)
        wanted = read(cast("Form", which), submission.fields, await self._here(submission, place_id))
        await self._change(submission, place_id, wanted)
        said, parts = await self._card(submission, place_id)
        await reply.update(said, components=parts)

    async def retention(self, command: Command, reply: Reply) -> None:
        """How long messages are kept."""
        await self._put(command, WHOLE_SPACE, "retention_days", command.need(DAYS))
        kept = (await self._here(command, WHOLE_SPACE)).retention_days
        await reply.say(f"Messages are kept for {kept} days." if kept else "Messages are kept without end.")

    async def mod_log(self, command: Command, reply: Reply) -> None:
        """Where cases are told."""
        log_id = command.get(LOG)
        await self._log_to(command, log_id)
        await reply.say(f"Cases are told in <#{log_id}>." if log_id else "Cases are told nowhere.")

    async def admin_role(self, command: Command, reply: Reply) -> None:
        """Who counts as admin: a role is named, or taken back."""
        named = set((await self._here(command, WHOLE_SPACE)).admin_role_ids) ^ {command.need(ROLE)}
        await self._name_roles(command, named)
        roles = ", ".join(f"<@&{each}>" for each in sorted(named)) or "nobody"
        await reply.say(f"Beside administrators, these govern me: {roles}.")

    async def language(self, command: Command, reply: Reply) -> None:
        """The language that answers are in."""
        language = command.get(LANGUAGE)
        await self._put(command, command.get(CHANNEL) or WHOLE_SPACE, "language", language)
        await reply.say(f"I answer in `{language}`." if language else "I answer in the language of who asks.")

    async def budget(self, command: Command, reply: Reply) -> None:
        """What may be spent in a day, by all and by each."""
        each = command.get(EACH)
        await self._require(command, WHOLE_SPACE)
        wanted: dict[Name, Value | None] = {"daily_tokens": command.need(TOKENS)}
        await self._change(command, WHOLE_SPACE, wanted if each is None else {**wanted, "member_daily_tokens": each})
        held = await self._here(command, WHOLE_SPACE)
        said = f"{held.daily_tokens:,} tokens may be used here in a day" if held.daily_tokens else "There is no budget"
        mine = f"{held.member_daily_tokens:,} by each member" if held.member_daily_tokens else "none for each member"
        await reply.say(f"{said}, {mine}.")

    async def history(self, command: Command, reply: Reply) -> None:
        """All changes on record, the newest first."""
        await self.pages.show(command, reply, LIST)

    async def _changes(self, who: Interaction, _: str, at: int) -> Page:
        await self._require(who, WHOLE_SPACE)
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            total = await count_changes(conn, who.scope.space_id)
            at = min(at, pages_of(total, PAGE_SIZE) - 1)
            found = await changes(conn, who.scope.space_id, limit=PAGE_SIZE, start=at * PAGE_SIZE)
        title = f"**{total} changes of settings are on record.**" if total else "Nothing was changed yet."
        return Page(title, [history_line(each) for each in found], at, pages_of(total, PAGE_SIZE))

    async def _ask(self, press: Press, reply: Reply, form: Form, place_id: PlaceId) -> None:
        await self._require(press, place_id)
        asked = fields(form, await self._here(press, place_id), sorted(self.settings.ground.models))
        if not await reply.ask(f"{PREFIX}:{form}:{place_id}", TITLES[form], asked):
            raise CommandRefused("That took too long; please press again.")

    async def _pick(self, press: Press, place_id: PlaceId, picked: str) -> None:
        """`<name>=<value>` was picked for a place."""
        name, _, value = picked.partition("=")
        if name not in get_args(Name):
            raise CommandRefused(EXPIRED_BUTTON)
        if name in OF_SPACE_ALONE:
            raise CommandRefused("This is set by a command of its own, so nothing was changed.")
        meant: Mapping[str, Value | None] = {AROUND: None}
        if name not in ("listening", "answer_form"):
            meant = {**meant, "on": True, "off": False}
        await self._put(press, place_id, cast("Name", name), meant.get(value, value))

    async def _log_to(self, who: Interaction, log_id: PlaceId | None) -> None:
        if log_id is not None and await self.governing.facts(who.scope.space_id).place(log_id) is None:
            raise CommandRefused("I cannot see that channel, so nothing was changed.")
        await self._put(who, WHOLE_SPACE, "mod_log_id", log_id)

    async def _name_roles(self, who: Interaction, named: set[int]) -> None:
        """Named by Discord administrators alone, so that no role can name others."""
        if who.is_direct or not await self.governing.administers(who.scope, who.user_id):
            raise CommandRefused(_MAY_NOT_NAME)
        await self._put(who, WHOLE_SPACE, "admin_role_ids", sorted(named))

    async def _put(self, who: Interaction, place_id: PlaceId, name: Name, value: Value | None) -> None:
        """Let it hold. Raises CommandRefused where they may not, or where it does not fit."""
        await self._require(who, place_id)
        await self._change(who, place_id, {name: value})

    async def _change(self, who: Interaction, place_id: PlaceId, wanted: Mapping[Name, Value | None]) -> None:
        """Let all of it hold, or none. Raises CommandRefused where something does not fit."""
        space_id = who.scope.space_id
        try:
            async with self.pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
                for name, value in wanted.items():
                    if await change(conn, space_id, place_id, name, value, by=who.user_id) is not None:
                        log.info("guild_settings.changed", guild_id=space_id, place_id=place_id, name=name)
        except ValueError as error:
            raise CommandRefused(f"{str(error).rstrip('.')}; nothing was changed.") from error
        self.settings.forget(space_id)

    async def _require(self, who: Interaction, place_id: PlaceId) -> None:
        place = None if place_id == WHOLE_SPACE else place_id
        await self.governing.require(who.scope, who.user_id, _MAY_NOT, is_direct=who.is_direct, place_id=place)

    async def _here(self, who: Interaction, place_id: PlaceId) -> GuildSettings:
        return await self.settings.of(who.scope.space_id, place_id)

    async def _card(self, who: Interaction, place_id: PlaceId) -> tuple[str, list[Component]]:
        held = await self._here(who, place_id)
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            own = await set_in(conn, who.scope.space_id, place_id)
        return words(held, place_id), components(held, place_id, own)


def _id(picked: str) -> int:
    if not (picked.isascii() and picked.isdecimal() and len(picked) < 20):
        raise CommandRefused(EXPIRED_BUTTON)
    return int(picked)
