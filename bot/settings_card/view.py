"""What the card of settings shows: what holds in a place, and what changes it.

Each button and menu says what it changes, to what, and for which place, so that it works after every restart.
"""

from collections.abc import Collection
from typing import Final

from bot.bodies import Component, button, choose_places, choose_roles, menu, row
from bot.guild_settings import MOST_ROLES, OF_SPACE_ALONE, WHOLE_SPACE, Change, GuildSettings, Name
from bot.settings_card.wording import FORMS, LISTENING, SWITCHES, TITLES, Switch, said, titled
from memory.ids import PlaceId

PREFIX: Final = "settings"
AROUND: Final = "inherit"
_IN_ROW: Final = 5


def words(held: GuildSettings, place_id: PlaceId) -> str:
    """What holds, line by line."""
    where = f"in <#{place_id}>" if place_id != WHOLE_SPACE else "in this server"

    def line(*names: Name) -> str:
        return " · ".join(f"{titled(name)}: {said(name, getattr(held, name), most_roles=MOST_ROLES)}" for name in names)

    lines = [
        f"**How I behave {where}**",
        line("listening"),
        *map(line, SWITCHES),
        line("answer_form"),
        line("language", "model"),
        line("ambient_hourly", "quiet_hours"),
        line("ack_reaction"),
        line("retention_days"),
        line("daily_tokens", "member_daily_tokens"),
        line("mod_log_id", "admin_role_ids"),
    ]
    return "\n".join(lines)[:2000]


def components(held: GuildSettings, place_id: PlaceId, own: Collection[Name]) -> list[Component]:
    """What changes it. `own`: what is set for this very place, and can be taken back to what is around it."""
    flips = [_flip(held, place_id, name, title) for name, title in SWITCHES.items()]
    more = [_next_form(held, place_id), button("Answers…", f"{PREFIX}:answers:{place_id}", "primary")]
    if place_id == WHOLE_SPACE:
        more.append(button("Limits…", f"{PREFIX}:limits:{place_id}", "primary"))
        roles, logs = f"{PREFIX}:admins:{place_id}", f"{PREFIX}:mod-log:{place_id}"
        log_ids = [held.mod_log_id] if held.mod_log_id else []
        rows = [
            [choose_places(logs, log_ids, hint="Where cases of moderation are told")],
            [choose_roles(roles, sorted(held.admin_role_ids), most=MOST_ROLES, hint="Who governs me, too")],
        ]
    else:
        back = [
            (f"{title}: as around it", f"{name}={AROUND}")
            for name, title in TITLES.items()
            if name in own and name not in OF_SPACE_ALONE
        ]
        rows = [[menu(f"{PREFIX}:back:{place_id}", back, hint="Let hold again what is around it")]] if back else []
    listening = [(heard, f"listening={meant}") for meant, heard in LISTENING.items()]
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
    value = "as around it" if each.value is None else said(each.name, each.value)
    return f"<t:{int(each.set_at.timestamp())}:f> {who}, {where}: {titled(each.name)}: {value}"


def _flip(held: GuildSettings, place_id: PlaceId, name: Switch, title: str) -> Component:
    is_on = bool(getattr(held, name))
    becomes = f"{name}={'off' if is_on else 'on'}"
    return button(
        f"{title}: {'on' if is_on else 'off'}",
        f"{PREFIX}:flip:{place_id}:{becomes}",
        "success" if is_on else "secondary",
    )


def _next_form(held: GuildSettings, place_id: PlaceId) -> Component:
    """One button for all forms: a press takes the next."""
    forms = list(FORMS)
    following = forms[(forms.index(held.answer_form) + 1) % len(forms)]
    return button(f"Answers as {FORMS[held.answer_form]}", f"{PREFIX}:flip:{place_id}:answer_form={following}")
