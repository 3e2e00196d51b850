"""The forms of the card of settings: words and numbers, read strictly, and only what differs is changed."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from bot.bodies import Field
from bot.errors import CommandRefused
from bot.guild_settings import GuildSettings, Name, Value, fault_in

Form: TypeAlias = Literal["answers", "limits"]
TITLES: Final[Mapping[Form, str]] = {"answers": "How I answer", "limits": "What is kept, and what may be spent"}

_CUSTOM: Final = re.compile(r"<a?:(\w{2,32}:\d{15,20})>")
_NUMBERS: Final[Mapping[Name, tuple[str, str]]] = {
    "retention_days": ("Days for which messages are kept", "0: as long as who runs me keeps them"),
    "daily_tokens": ("Tokens a day for all", "0: what who runs me allows"),
    "member_daily_tokens": ("Tokens a day for each member", "0: what who runs me allows"),
}


_OF_ANSWERS: Final[Sequence[Name]] = ("language", "ack_reaction", "quiet_hours", "ambient_hourly", "model")
_COUNTED: Final = frozenset({*_NUMBERS, "ambient_hourly"})


def fields(form: Form, held: GuildSettings, models: Sequence[str]) -> list[Field]:
    """What is asked, filled in with what holds."""
    if form == "limits":
        return [Field(name, label, str(getattr(held, name)), about) for name, (label, about) in _NUMBERS.items()]
    made = [
        Field("language", "Language", held.language or "", "Such as de; empty: that of who asks", False, 20),
        Field("ack_reaction", "Emoji that says: seen", _written(held.ack_reaction), "Empty: none", False, 60),
        Field(
            "quiet_hours",
            "Quiet hours",
            held.quiet_hours,
            "When nothing is said unasked, such as 22-7 Europe/Berlin",
            False,
            60,
        ),
        Field("ambient_hourly", "How often unasked", str(held.ambient_hourly), "Times an hour at most"),
    ]
    if len(models) > 1:
        made.append(Field("model", "Model", held.model, choices=[(each, each) for each in models[:25]]))
    return made


def read(form: Form, written: Mapping[str, tuple[str, ...]], held: GuildSettings) -> dict[Name, Value | None]:
    """What is to be changed, by name. Raises CommandRefused for what does not fit; nothing is changed then."""
    found: dict[Name, Value | None] = {}
    names: Sequence[Name] = tuple(_NUMBERS) if form == "limits" else _OF_ANSWERS
    for name in names:
        if name == "model" and name not in written:
            continue
        words = next(iter(written.get(name, ())), "").strip()
        value = _number(words) if name in _COUNTED else _emoji(words) if name == "ack_reaction" else words or None
        if value is not None and (fault := fault_in(name, value)) is not None:
            raise CommandRefused(f"{fault.rstrip('.')}; nothing was changed.")
        if value != getattr(held, name):
            found[name] = value
    return found


def _number(words: str) -> int:
    plain = re.sub(r"[\s.,_']", "", words)
    if not (plain.isascii() and plain.isdecimal() and len(plain) <= 15):
        raise CommandRefused(f"{words[:40]!r} is no whole number, so nothing was changed.")
    return int(plain)


def _emoji(words: str) -> str | None:
    """As Discord takes it in a reaction: an emoji itself, or a custom one as `name:id`."""
    custom = _CUSTOM.fullmatch(words)
    if custom is not None:
        return custom[1]
    is_word = words.isascii() or any(each.isalpha() and ord(each) < 0x2000 for each in words)
    if words and (is_word or len(words) > 16):
        raise CommandRefused("That is no emoji, so nothing was changed.")
    return words or None


def _written(reaction: str | None) -> str:
    return f"<:{reaction}>" if reaction is not None and ":" in reaction else reaction or ""
