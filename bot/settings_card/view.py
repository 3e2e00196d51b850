"""What the card of settings shows: what holds in a place, and what changes it.

Each button and menu says what it changes, to what, and for which place, so that it works after every restart.
"""

from collections.abc import Collection, Mapping
from typing import Final, Literal

from bot.bodies import Component, button, choose_places, choose_roles, menu, row
from bot.guild_settings import MOST_ROLES, WHOLE_SPACE, Change, GuildSettings, Listening, Name
from memory.ids import PlaceId

PREFIX: Final = "settings"

Switch = Literal["ambient", "actions", "memory", "streaming", "images", "context_of_others"]
SWITCHES: Final[Mapping[Switch, str]] = {
    "ambient": "Speaking unasked",
    "actions": "Acting for members",
    "memory": "Memory",
    "streaming": "Answers that grow",
    "images": "Looking at pictures",
    "context_of_others": "Reading what others wrote",
}
LISTENING: Final[Mapping[Listening, str]] = {
    "mentions": "When I am addressed",
    "free": "To everything",
    "off": "Nobody",
}
AROUND: Final = "inherit"
_NAMES: Final[Mapping[Name, str]] = {
    **SWITCHES, "listening": "Listening", "language": "Language", "model": "Model", "ack_reaction": "Seen",
    "quiet_hours": "Quiet hours", "ambient_hourly": "How often unasked",
}  # fmt: skip
"""What may be set for one place, in words."""

_IN_ROW: Final = 5


def words(held: GuildSettings, place_id: PlaceId) -> str:
    """What holds, line by line."""
    where = f"in <#{place_id}>" if place_id != WHOLE_SPACE else "in this server"
    lines = [
        f"**How I behave {where}**",
        f"Listening: {_lowered(LISTENING[held.listening])}",
        *(f"{said}: {'on' if getattr(held, name) else 'off'}" for name, said in SWITCHES.items()),
        f"Language: {held.language or 'that of who asks'} · Model: `{held.model}`",
        f"Unasked at most {held.ambient_hourly} times an hour · Quiet hours: {held.quiet_hours or 'none'}",
        f"Messages are seen with: {_emoji(held.ack_reaction)}",
        f"Messages are kept for {f'{held.retention_days} days' if held.retention_days else 'ever'}",
        f"Tokens a day: {_tokens(held.daily_tokens)} for all, {_tokens(held.member_daily_tokens)} for each member",
        f"Cases: {f'<#{held.mod_log_id}>' if held.mod_log_id else 'told nowhere'} · Admins: "
        + (", ".join(f"<@&{each}>" for each in sorted(held.admin_role_ids)) or "Discord's administrators"),
    ]
    return "\n".join(lines)[:2000]


def components(held: GuildSettings, place_id: PlaceId, own: Collection[Name]) -> list[Component]:
    """What changes it. `own`: what is set for this very place, and can be taken back to what is around it."""
    flips = [_flip(held, place_id, name, said) for name, said in SWITCHES.items()]
    more = [button("Answers…", f"{PREFIX}:answers:{place_id}", "primary")]
    if place_id == WHOLE_SPACE:
        more.append(button("Limits…", f"{PREFIX}:limits:{place_id}", "primary"))
        roles, logs = f"{PREFIX}:admins:{place_id}", f"{PREFIX}:mod-log:{place_id}"
        log_ids = [held.mod_log_id] if held.mod_log_id else []
        rows = [
            [choose_places(logs, log_ids, hint="Where cases of moderation are told")],
            [choose_roles(roles, sorted(held.admin_role_ids), most=MOST_ROLES, hint="Who governs me, too")],
        ]
    else:
        back = [(f"{said}: as around it", f"{name}={AROUND}") for name, said in _NAMES.items() if name in own]
        rows = [[menu(f"{PREFIX}:back:{place_id}", back, hint="Let hold again what is around it")]] if back else []
    listening = [(said, f"listening={meant}") for meant, said in LISTENING.items()]
    return [
        row(menu(f"{PREFIX}:listening:{place_id}", listening, chosen=f"listening={held.listening}")),
        row(*flips[:_IN_ROW]),
        row(*flips[_IN_ROW:], *more),
        *(row(*each) for each in rows),
    ]


def history_line(each: Change) -> str:
    """Who changed what, where and when."""
    who = f"<@{each.set_by}>" if each.set_by else "somebody"
    where = f"in <#{each.place_id}>" if each.place_id else "for the server"
    value = "as around it" if each.value is None else f"`{each.value}`"
    return f"<t:{int(each.set_at.timestamp())}:f> {who}: `{each.name}` {where} = {value}"


def _flip(held: GuildSettings, place_id: PlaceId, name: Switch, said: str) -> Component:
    is_on = bool(getattr(held, name))
    becomes = f"{name}={'off' if is_on else 'on'}"
    return button(
        f"{said}: {'on' if is_on else 'off'}",
        f"{PREFIX}:flip:{place_id}:{becomes}",
        "success" if is_on else "secondary",
    )


def _lowered(said: str) -> str:
    return said[:1].lower() + said[1:]


def _tokens(many: int) -> str:
    return f"{many:,}" if many else "no budget"


def _emoji(reaction: str | None) -> str:
    if reaction is None:
        return "nothing"
    return f"<:{reaction}>" if ":" in reaction else reaction
