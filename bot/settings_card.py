"""The command /settings: what holds here, as one card with menus, for who governs the guild.

The card is for the person alone. Its menus say what they change and for which place, so that they work after every
restart; whether the person may is decided from Discord's facts when it is shown and again with each change (I5).
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import discord
import structlog

from bot.bodies import Component, menu, row
from bot.commands.declaration import Family, Slash
from bot.commands.options import place, role, text, whole
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
)
from bot.interactions import Command, Interaction, Interactions, Press, Reply
from memory.database import BORROW_S, Pool
from memory.ids import PlaceId

log = structlog.get_logger(__name__)

PREFIX: Final = "settings"
SETTINGS: Final = Family(
    "settings", "How I behave in this server.", where="guilds", offered_to=discord.Permissions(manage_guild=True)
)
CHANNEL: Final = place("channel", "For one channel; left out: for the whole server.")
DAYS: Final = whole("days", "Days; 0: as long as who runs me keeps them.", required=True, least=0, most=3_650)
LOG: Final = place("log", "Where cases of moderation are told; left out: nowhere.")
ROLE: Final = role("role", "Who may do with me what administrators may.", required=True)
LANGUAGE: Final = text("language", "Such as de or pt-BR; left out: that of who asks.", most=20)
TOKENS: Final = whole("tokens", "Tokens a day for the server; 0: the operator's.", required=True, least=0, most=10**12)

SHOW: Final = Slash("show", "See and change how I behave here.", (CHANNEL,), SETTINGS, where="guilds")
RETENTION: Final = Slash("retention", "How long messages are kept.", (DAYS,), SETTINGS, where="guilds")
MOD_LOG: Final = Slash("mod-log", "Where cases of moderation are told.", (LOG,), SETTINGS, where="guilds")
ADMIN_ROLE: Final = Slash("admin-role", "Name a role, or take it back.", (ROLE,), SETTINGS, where="guilds")
LANGUAGE_OF: Final = Slash("language", "The language that I answer in.", (LANGUAGE, CHANNEL), SETTINGS, where="guilds")
BUDGET: Final = Slash("budget", "What may be spent here in a day.", (TOKENS,), SETTINGS, where="guilds")
HISTORY: Final = Slash("history", "Who changed what, and when.", (), SETTINGS, where="guilds")
SETTINGS_COMMANDS: Final = (SHOW, RETENTION, MOD_LOG, ADMIN_ROLE, LANGUAGE_OF, BUDGET, HISTORY)

Switch = Literal["ambient", "actions", "memory", "streaming", "images", "context_of_others"]
_SWITCHES: Final[dict[Switch, str]] = {
    "ambient": "Speaking unasked",
    "actions": "Acting for members",
    "memory": "Memory",
    "streaming": "Answers that grow",
    "images": "Looking at pictures",
    "context_of_others": "Reading what others wrote",
}
_LISTENING: Final = {"mentions": "When I am addressed", "free": "To everything", "off": "Nobody"}
_MAY_NOT: Final = "Only who administers this server may change its settings, so nothing was changed."


@dataclass(frozen=True, slots=True)
class SettingsCard:
    """Answers the command, and its menus."""

    pool: Pool
    settings: GuildSettingsDoor
    governing: Governing

    def open(self, interactions: Interactions) -> None:
        """Offer the commands."""
        interactions.on_command(SHOW, self.show)
        interactions.on_command(RETENTION, self.retention)
        interactions.on_command(MOD_LOG, self.mod_log)
        interactions.on_command(ADMIN_ROLE, self.admin_role)
        interactions.on_command(LANGUAGE_OF, self.language)
        interactions.on_command(BUDGET, self.budget)
        interactions.on_command(HISTORY, self.history)
        interactions.on_press(PREFIX, self.chosen)

    async def show(self, command: Command, reply: Reply) -> None:
        """The card of a channel, or of the whole guild."""
        place_id = command.get(CHANNEL) or WHOLE_SPACE
        await self._require(command, place_id)
        said, components = await self._card(command, place_id)
        await reply.say(said, components=components)

    async def chosen(self, press: Press, reply: Reply) -> None:
        """A menu was used: `settings:<menu>:<place>`, with `<name>=<value>`."""
        parts = press.custom_id.split(":")
        name, _, picked = (press.values[0] if press.values else "").partition("=")
        if len(parts) != 3 or not parts[2].isdecimal() or name not in get_args(Name):
            raise CommandRefused("This card has expired, so nothing was changed; please use the command again.")
        place_id = PlaceId(int(parts[2]))
        value: Value | None = {"on": True, "off": False, "inherit": None}.get(picked, picked)
        if name == "listening":
            value = None if picked == "inherit" else picked
        await self._put(press, place_id, _name(name), value)
        said, components = await self._card(press, place_id)
        await reply.update(said, components=components)

    async def retention(self, command: Command, reply: Reply) -> None:
        """How long messages are kept."""
        await self._put(command, WHOLE_SPACE, "retention_days", command.need(DAYS))
        kept = (await self.settings.of(command.scope.space_id)).retention_days
        await reply.say(f"Messages are kept for {kept} days." if kept else "Messages are kept without end.")

    async def mod_log(self, command: Command, reply: Reply) -> None:
        """Where cases are told."""
        log_id = command.get(LOG)
        if log_id is not None and await self.governing.facts(command.scope.space_id).place(log_id) is None:
            raise CommandRefused("I cannot see that channel, so nothing was changed.")
        await self._put(command, WHOLE_SPACE, "mod_log_id", log_id)
        await reply.say(f"Cases are told in <#{log_id}>." if log_id else "Cases are told nowhere.")

    async def admin_role(self, command: Command, reply: Reply) -> None:
        """Who counts as admin: named by Discord administrators alone, so that no role can name others."""
        if not await self.governing.administers(command.scope, command.user_id):
            raise CommandRefused("Only Discord administrators may name roles, so nothing was changed.")
        named = set((await self._here(command, WHOLE_SPACE)).admin_role_ids) ^ {command.need(ROLE)}
        await self._put(command, WHOLE_SPACE, "admin_role_ids", sorted(named))
        roles = ", ".join(f"<@&{each}>" for each in sorted(named)) or "nobody"
        await reply.say(f"Beside administrators, these govern me: {roles}.")

    async def language(self, command: Command, reply: Reply) -> None:
        """The language that answers are in."""
        language = command.get(LANGUAGE)
        await self._put(command, command.get(CHANNEL) or WHOLE_SPACE, "language", language)
        await reply.say(f"I answer in `{language}`." if language else "I answer in the language of who asks.")

    async def budget(self, command: Command, reply: Reply) -> None:
        """What may be spent in a day."""
        await self._put(command, WHOLE_SPACE, "daily_tokens", command.need(TOKENS))
        tokens = (await self.settings.of(command.scope.space_id)).daily_tokens
        await reply.say(f"{tokens:,} tokens may be used here in a day." if tokens else "There is no budget.")

    async def history(self, command: Command, reply: Reply) -> None:
        """The newest changes."""
        await self._require(command, WHOLE_SPACE)
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            found = await changes(conn, command.scope.space_id, limit=15)
        lines = [
            f"<t:{int(each.set_at.timestamp())}:f> {f'<@{each.set_by}>' if each.set_by else 'somebody'}: `{each.name}` "
            f"{f'in <#{each.place_id}>' if each.place_id else 'for the server'} = "
            f"{'as around it' if each.value is None else f'`{each.value}`'}"
            for each in found
        ]
        await reply.say("\n".join(lines)[:2000] or "Nothing was changed yet.")

    async def _put(self, interaction: Interaction, place_id: PlaceId, name: Name, value: Value | None) -> None:
        """Let it hold. Raises CommandRefused where they may not, or where it does not fit."""
        await self._require(interaction, place_id)
        try:
            async with self.pool.acquire(timeout=BORROW_S) as conn:
                made = await change(conn, interaction.scope.space_id, place_id, name, value, by=interaction.user_id)
        except ValueError as error:
            raise CommandRefused(f"{str(error).rstrip('.')}; nothing was changed.") from error
        self.settings.forget(interaction.scope.space_id)
        if made is not None:
            log.info("guild_settings.changed", guild_id=interaction.scope.space_id, place_id=place_id, name=name)

    async def _require(self, interaction: Interaction, place_id: PlaceId) -> None:
        """Raises CommandRefused where they may not, and ReadFailed where Discord cannot say."""
        facts = self.governing.facts(interaction.scope.space_id)
        if interaction.is_direct or not await self.governing.governs(interaction.scope, interaction.user_id, facts):
            raise CommandRefused(_MAY_NOT)
        if place_id != WHOLE_SPACE and await facts.place(place_id) is None:
            raise CommandRefused("I see no such channel in this server, so nothing was changed.")

    async def _here(self, interaction: Interaction, place_id: PlaceId) -> GuildSettings:
        return await self.settings.of(interaction.scope.space_id, place_id)

    async def _card(self, interaction: Interaction, place_id: PlaceId) -> tuple[str, list[Component]]:
        held = await self._here(interaction, place_id)
        where = f"in <#{place_id}>" if place_id != WHOLE_SPACE else "in this server"
        lines = [
            f"**How I behave {where}**",
            f"Listening: {_lowered(_LISTENING[held.listening])}",
            *(f"{said}: {'on' if getattr(held, name) else 'off'}" for name, said in _SWITCHES.items()),
            f"Language: {held.language or 'that of who asks'} · Model: `{held.model}`",
            f"Messages are kept for {f'{held.retention_days} days' if held.retention_days else 'ever'} · "
            f"Tokens a day: {f'{held.daily_tokens:,}' if held.daily_tokens else 'no budget'}",
            f"Cases: {f'<#{held.mod_log_id}>' if held.mod_log_id else 'told nowhere'} · Admins: "
            + (", ".join(f"<@&{each}>" for each in sorted(held.admin_role_ids)) or "Discord's administrators"),
        ]
        back = [("As around it", "inherit")] if place_id != WHOLE_SPACE else []
        listening = [(said, f"listening={meant}") for meant, said in _LISTENING.items()]
        switches = [
            (f"{said}: {'off' if getattr(held, name) else 'on'}", f"{name}={'off' if getattr(held, name) else 'on'}")
            for name, said in _SWITCHES.items()
        ]
        switches += [(f"{said}: as around it", f"{name}=inherit") for name, said in _SWITCHES.items() if back]
        listening += [(said, f"listening={meant}") for said, meant in back]
        menus = [
            menu(f"{PREFIX}:listening:{place_id}", listening, chosen=f"listening={held.listening}"),
            menu(f"{PREFIX}:switch:{place_id}", switches, hint="Switch something on or off"),
        ]
        models = sorted(self.settings.ground.models)
        if len(models) > 1:
            shown = [(each, f"model={each}") for each in models[:24]]
            menus.append(menu(f"{PREFIX}:model:{place_id}", shown, chosen=f"model={held.model}"))
        return "\n".join(lines), [row(each) for each in menus]


def _lowered(said: str) -> str:
    return said[:1].lower() + said[1:]


def _name(name: str) -> Name:
    found: Name = next(each for each in get_args(Name) if each == name)
    if found in OF_SPACE_ALONE:
        raise CommandRefused("This is set by a command of its own, so nothing was changed.")
    return found
