"""Interactions as they come from the gateway, read into what a handler wants to know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar, cast

from bot.commands.options import Option, given
from bot.payloads import clean, snowflake
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.scope import Scope

T = TypeVar("T")

_COMMAND: Final = 2
_COMPONENT: Final = 3
_TYPING: Final = 4
_SUBMISSION: Final = 5
_NAME_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class Interaction:
    """Who acted, and where; `is_direct`: in a direct conversation, and in no guild.

    `token` is good for fifteen minutes, and lives in memory alone (I13). `locale`: of the person's client.
    """

    interaction_id: int
    token: str = field(repr=False)
    scope: Scope
    user_id: UserId
    user_name: str
    locale: str
    is_direct: bool


@dataclass(frozen=True, slots=True)
class Press(Interaction):
    """A button or menu was used on the message `message_id`."""

    message_id: MessageId
    custom_id: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetMessage:
    """The message of a context menu, as Discord shows it to who clicked."""

    message_id: MessageId
    author_id: UserId
    author_name: str
    content: str


@dataclass(frozen=True, slots=True)
class Command(Interaction):
    """A command was used. `name`: all its words; `target_id`: the message or member of a context menu.

    `options` are as they came; read them by `get` and `need`. `names`: of people, roles and places that they name.
    """

    name: str
    target_id: int | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    message: TargetMessage | None = None

    def get(self, option: Option[T]) -> T | None:
        """What was given for the option, if it was. Raises CommandRefused where it is not what the option takes."""
        raw = self.options.get(option.name)
        return None if raw is None else option.value(raw)

    def need(self, option: Option[T]) -> T:
        """The same for one that is required: Discord lets nobody leave it out."""
        return option.value(self.options.get(option.name))


@dataclass(frozen=True, slots=True)
class Typing(Interaction):
    """An option is being typed: `focused` is its name, `text` what stands there so far."""

    name: str
    focused: str
    text: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Submission(Interaction):
    """A form was sent. `fields` by custom_id; `message_id`: of the message whose button opened it, if one did."""

    custom_id: str
    fields: Mapping[str, tuple[str, ...]]
    message_id: MessageId | None = None

    def written(self, name: str) -> str:
        """The words in a field; empty where there are none."""
        return next(iter(self.fields.get(name, ())), "")


Received: TypeAlias = Press | Command | Typing | Submission


def read_interaction(payload: Mapping[str, Any]) -> Received | None:
    """The interaction in a payload; None for a kind that nobody here handles. Raises as the readers of bot.payloads."""
    kind, data = int(payload["type"]), cast("Mapping[str, Any]", payload.get("data") or {})
    if kind not in (_COMMAND, _COMPONENT, _TYPING, _SUBMISSION):
        return None
    who = _who(payload)
    if kind == _COMPONENT:
        values = tuple(str(each) for each in data.get("values") or ())
        return Press(*who, MessageId(snowflake(payload["message"]["id"])), str(data["custom_id"]), values)
    if kind == _SUBMISSION:
        message = cast("Mapping[str, Any]", payload.get("message") or {})
        message_id = MessageId(snowflake(message["id"])) if message else None
        return Submission(*who, str(data["custom_id"]), dict(_fields(data.get("components"))), message_id)
    path, options, focused = given(data.get("options"))
    name = " ".join([str(data["name"]), *path])
    if kind == _TYPING:
        return Typing(*who, name, focused or "", clean(str(options.get(focused or "") or "")), options)
    target = data.get("target_id")
    target_id = snowflake(target) if target is not None else None
    resolved = cast("Mapping[str, Any]", data.get("resolved") or {})
    messages = cast("Mapping[str, Mapping[str, Any]]", resolved.get("messages") or {})
    shown = messages.get(str(target))
    return Command(*who, name, target_id, options, _names(resolved), None if shown is None else _target(shown))


def _who(payload: Mapping[str, Any]) -> tuple[int, str, Scope, UserId, str, str, bool]:
    place_id = PlaceId(snowflake(payload["channel_id"]))
    guild_id = payload.get("guild_id")
    scope = Scope(SpaceId(snowflake(guild_id)) if guild_id is not None else SpaceId(place_id), place_id)
    member = cast("Mapping[str, Any]", payload.get("member") or {})
    person = cast("Mapping[str, Any]", member.get("user") or payload["user"])
    return (
        snowflake(payload["id"]),
        str(payload["token"]),
        scope,
        UserId(snowflake(person["id"])),
        _name(person, member),
        str(payload.get("locale") or "en-US"),
        guild_id is None,
    )


def _name(person: Mapping[str, Any], member: Mapping[str, Any] | None = None) -> str:
    named = (member or {}).get("nick") or person.get("global_name") or person.get("username") or "somebody"
    return clean(str(named))[:_NAME_CHARS]


def _names(resolved: Mapping[str, Any]) -> dict[int, str]:
    found: dict[int, str] = {}
    members = cast("Mapping[str, Any]", resolved.get("members") or {})
    for user_id, user in cast("Mapping[str, Any]", resolved.get("users") or {}).items():
        found[snowflake(user_id)] = _name(user, members.get(user_id))
    for kind in ("roles", "channels"):
        for thing_id, thing in cast("Mapping[str, Any]", resolved.get(kind) or {}).items():
            found[snowflake(thing_id)] = clean(str(thing.get("name") or ""))[:_NAME_CHARS]
    return found


def _target(message: Mapping[str, Any]) -> TargetMessage:
    author = cast("Mapping[str, Any]", message["author"])
    return TargetMessage(
        MessageId(snowflake(message["id"])),
        UserId(snowflake(author["id"])),
        _name(author),
        clean(str(message.get("content") or "")),
    )


def _fields(components: object) -> Sequence[tuple[str, tuple[str, ...]]]:
    """What a form's inputs hold, whether they stand in rows or under labels."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for each in cast("Sequence[Mapping[str, Any]]", components or ()):
        inner = [*(each.get("components") or ()), *([each["component"]] if each.get("component") else [])]
        found.extend(_fields(inner))
        if "custom_id" in each:
            values = each.get("values")
            given_values = [each.get("value")] if values is None else values
            written = tuple(clean(str(value)) for value in given_values if value not in (None, ""))
            found.append((str(each["custom_id"]), written))
    return found
