"""How a tool says what it is: a declaration beside a short function."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict

from agent.contracts import Audit, ToolSpec
from agent.limits import MAX_WHOLE_CHARS
from tools.errors import ToolMisdeclared
from tools.ports import TurnContext

Promise: TypeAlias = Literal["transaction", "key", "idempotent", "uncertain"]
"""What a write can promise when it is done again after a crash.

It commits with its receipt; its receiver knows its key; again changes nothing; or nobody can tell whether it happened.
"""

Need: TypeAlias = Literal["guild", "discord", "web", "activity"]
"""What must be there for a tool to be offered: a guild around the turn, or a port of tools.ports."""

Payload: TypeAlias = Mapping[str, object]

RESULT_CHARS: Final = 6_000
"""What a result may have unless its tool says otherwise: about 2,000 tokens."""

DESCRIPTION_CHARS: Final = 700
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")  # what every provider takes


class Arguments(BaseModel):
    """The base of all arguments: nothing but what is declared, and no type in place of another."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One tool. `function` gets the turn's trusted facts and the arguments; it returns the payload of a success, or
    raises Refused. `timeout_s` is in seconds; None means the run's limit.

    A read may be `parallel_safe`; a write is always a barrier and must name its `promise`. `permissions` are those of
    Discord's that requester and bot both need where the tool reads or writes, by discord.py's names; whoever performs
    it checks them (I5). `result_chars` bounds what the model sees of its result; `rows` names the list that is cut from
    its end for it. `audit` says whether the audit keeps words of arguments and results, or only ids and counts.
    """

    name: str
    description: str
    arguments: type[A]
    function: Callable[[TurnContext, A], Awaitable[Payload]]
    effect: Literal["read", "write"]
    parallel_safe: bool = False
    promise: Promise | None = None
    timeout_s: float | None = None
    needs: frozenset[Need] = frozenset()
    permissions: tuple[str, ...] = ()
    result_chars: int = RESULT_CHARS
    rows: str | None = None
    audit: Audit = "counts"

    def __post_init__(self) -> None:
        """Raise ToolMisdeclared for what contradicts itself, or what no provider or loop would take."""
        if not _NAME.fullmatch(self.name) or not 0 < len(self.description) <= DESCRIPTION_CHARS:
            raise ToolMisdeclared(f"{self.name!r}: a name of small letters, and one description that is not long")
        if self.effect == "write" and (self.promise is None or self.parallel_safe):
            raise ToolMisdeclared(f"{self.name}: a write names its promise and is never parallel-safe")
        if self.effect == "read" and self.promise is not None:
            raise ToolMisdeclared(f"{self.name}: a read promises nothing")
        if not 0 < self.result_chars <= MAX_WHOLE_CHARS or (self.timeout_s is not None and self.timeout_s <= 0):
            raise ToolMisdeclared(f"{self.name}: result_chars and timeout_s are above 0, and results within the loop's")

    def spec(self) -> ToolSpec:
        """As the model sees it."""
        schema = _schema(self.arguments)
        return ToolSpec(
            self.name,
            self.description,
            schema,
            self.effect,
            self.parallel_safe,
            self.timeout_s,
            self.result_chars,
            self.audit,
        )


@cache
def _schema(arguments: type[BaseModel]) -> dict[str, object]:
    """What these arguments are, made once for each class: it takes milliseconds. Not to be changed."""
    return _plain(arguments.model_json_schema())


def _plain(schema: dict[str, Any]) -> dict[str, object]:
    """The schema without what costs tokens and tells a model nothing: titles, docstrings, and that null is no value."""
    properties = cast("dict[str, dict[str, Any]]", schema.get("properties", {}))
    kept = {
        name: _optional({key: value for key, value in each.items() if key != "title"})
        for name, each in properties.items()
    }
    rest: dict[str, object] = {
        key: value for key, value in schema.items() if key not in ("title", "description", "properties")
    }
    return rest | {"properties": kept}


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    """What may be left out, without the null that stands for it."""
    choices = cast("list[dict[str, Any]]", schema.get("anyOf", []))
    given = [choice for choice in choices if choice != {"type": "null"}]
    if len(given) != 1 or schema.get("default", ...) is not None:
        return schema
    return given[0] | {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
