"""What a member chooses in a select menu, a group of boxes or a row of radio buttons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from .components import Part, number, options_of
from .errors import Misuse
from .people import Member, Role, User
from .places import Channel

if TYPE_CHECKING:
    from .events import Payload
    from .invocation import Resolvable
    from .options import Value

_TAKES: Final[Mapping[int, tuple[type, ...]]] = {
    Part.USER_SELECT: (User, Member),
    Part.ROLE_SELECT: (Role,),
    Part.MENTIONABLE_SELECT: (User, Member, Role),
    Part.CHANNEL_SELECT: (Channel,),
}


def chosen(
    part: Payload, given: Sequence[Value], channel: Channel, *, required: bool = True
) -> tuple[list[str], list[Resolvable]]:
    """The ``values`` of a menu and the things that they name.

    ``required`` False lets nothing at all be chosen, as in a form's optional field. Raises Misuse for what the menu
    does not offer, for too few and for too many.
    """
    name = part.get("placeholder") or part.get("custom_id")
    least, most = number(part, "min_values", 1), number(part, "max_values", _most(part))
    if not (least <= len(given) <= most or (not given and not required)):
        raise Misuse(f"{name!r} takes {least} to {most} values, not {len(given)}")
    wanted = _TAKES.get(cast("int", part["type"]))
    if wanted is None:
        return [_option(part, value) for value in given], []
    things: list[Resolvable] = []
    for value in given:
        if not isinstance(value, wanted):
            raise Misuse(f"{name!r} takes {' or '.join(w.__name__ for w in wanted)}, not {value!r}")
        thing = value
        _must_offer(part, thing, channel)
        things.append(thing)
    return [str(thing.id) for thing in things], things


def _most(part: Payload) -> int:
    return len(options_of(part)) if part["type"] == Part.CHECKBOX_GROUP else 1


def _option(part: Payload, value: Value) -> str:
    options = options_of(part)
    for option in options:
        if value in (option["value"], option["label"]):
            return str(option["value"])
    raise Misuse(f"there is no option {value!r}; there are {', '.join(str(option['label']) for option in options)}")


def _must_offer(part: Payload, thing: User | Member | Role | Channel, channel: Channel) -> None:
    guild = channel.guild
    if isinstance(thing, Channel):
        kinds = cast("list[int] | None", part.get("channel_types"))
        if thing.guild is not guild or (kinds and thing.kind not in kinds):
            raise Misuse(f"the menu does not offer {thing}")
    elif isinstance(thing, Role):
        if thing.guild is not guild:
            raise Misuse(f"the menu does not offer the role {thing.name}")
    elif guild is not None and thing.id not in guild.members:
        raise Misuse(f"the menu does not offer {thing}, who is not in {guild.name}")
