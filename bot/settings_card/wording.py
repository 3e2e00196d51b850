"""How a setting and its value are said, wherever one is shown: on the card, and in what was changed.

Channels, roles and emoji stand as Discord shows them, and never as numbers.
"""

from collections.abc import Collection, Mapping
from typing import Final, Literal, cast

from bot.guild_settings import Listening, Name, fault_in
from bot.speech.forms import AnswerForm

Switch = Literal["ambient", "actions", "memory", "streaming", "images", "context_of_others", "reply_ping"]
SWITCHES: Final[Mapping[Switch, str]] = {
    "ambient": "Speaking unasked",
    "actions": "Acting for members",
    "memory": "Memory",
    "streaming": "Answers that grow",
    "images": "Looking at pictures",
    "context_of_others": "Reading what others wrote",
    "reply_ping": "Replies that ping",
}
LISTENING: Final[Mapping[Listening, str]] = {
    "mentions": "When I am addressed",
    "free": "To everything",
    "off": "Nobody",
}
FORMS: Final[Mapping[AnswerForm, str]] = {"plain": "plain text", "embed": "an embed", "panel": "a panel"}
TITLES: Final[Mapping[Name, str]] = {
    **SWITCHES,
    "listening": "Listening",
    "language": "Language",
    "model": "Model",
    "ack_reaction": "Messages are seen with",
    "answer_form": "Form of answers",
    "quiet_hours": "Quiet hours",
    "ambient_hourly": "How often unasked",
    "retention_days": "Messages are kept",
    "daily_tokens": "Tokens a day for all",
    "member_daily_tokens": "Tokens a day for each member",
    "mod_log_id": "Cases",
    "admin_role_ids": "Admins",
}
_ROLES_SHOWN: Final = 5

_SHAPES: Final[Mapping[Name, tuple[str, str]]] = {
    "language": ("`{}`", "that of who asks"),
    "model": ("`{}`", "that of who runs me"),
    "quiet_hours": ("{}", "none"),
    "ambient_hourly": ("at most {} times an hour", "never"),
    "retention_days": ("for {} days", "for ever"),
    "daily_tokens": ("{:,}", "no budget"),
    "member_daily_tokens": ("{:,}", "no budget"),
    "mod_log_id": ("<#{}>", "told nowhere"),
}
"""How a value stands, and what stands where there is none, or nothing."""


def titled(name: str) -> str:
    """What a setting is called; its bare name where another version made it."""
    return TITLES.get(cast("Name", name), f"`{name}`")


def said(name: str, value: object, *, most_roles: int = _ROLES_SHOWN) -> str:
    """A value in words, as it is kept or as it holds; None is none, and one that does not fit stands as it is."""
    if isinstance(value, frozenset):
        value = sorted(cast("frozenset[int]", value))
    if value not in (None, "") and fault_in(name, value) is not None:
        return f"`{str(value).replace('`', '')[:100]}`"
    match name:
        case "listening":
            words = LISTENING[cast("Listening", value)]
            return words[:1].lower() + words[1:]
        case "answer_form":
            return FORMS[cast("AnswerForm", value)]
        case "ack_reaction":
            return _emoji(cast("str | None", value))
        case "admin_role_ids":
            return _roles(cast("Collection[int]", value or ()), most_roles)
        case _ if name in _SHAPES:
            shape, otherwise = _SHAPES[name]
            return shape.format(value) if value else otherwise
        case _:
            return "on" if value else "off"


def _roles(role_ids: Collection[int], most: int) -> str:
    shown = [f"<@&{each}>" for each in list(role_ids)[:most]]
    more = [f"{len(role_ids) - most} more"] if len(role_ids) > most else []
    return ", ".join([*shown, *more]) or "Discord's administrators"


def _emoji(reaction: str | None) -> str:
    if not reaction:
        return "nothing"
    return f"<:{reaction}>" if ":" in reaction else reaction
