"""How a tool says what it is: a declaration beside a short function."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict

from agent.contracts import ToolSpec
from tools.errors import ToolMisdeclared
from tools.ports import TurnContext

Promise: TypeAlias = Literal["transaction", "key", "idempotent", "uncertain"]
"""What a write can promise when it is done again after a crash.

It commits with its receipt; its receiver knows its key; again changes nothing; or nobody can tell whether it happened.
"""

Payload: TypeAlias = Mapping[str, object]


class Arguments(BaseModel):
    """The base of all arguments: nothing but what is declared, and no type in place of another."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One tool. `function` gets the turn's trusted facts and the arguments; it returns the payload of a success, or
    raises Refused. `timeout_s` is in seconds; None means the run's limit.

    A read may be `parallel_safe`; a write is always a barrier and must name its `promise`.
    """

    name: str
    description: str
    arguments: type[A]
    function: Callable[[TurnContext, A], Awaitable[Payload]]
    effect: Literal["read", "write"]
    parallel_safe: bool = False
    promise: Promise | None = None
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        """Raise ToolMisdeclared if effect, promise and parallel_safe contradict each other."""
        if self.effect == "write" and (self.promise is None or self.parallel_safe):
            raise ToolMisdeclared(f"{self.name}: a write names its promise and is never parallel-safe")
        if self.effect == "read" and self.promise is not None:
            raise ToolMisdeclared(f"{self.name}: a read promises nothing")

    def spec(self) -> ToolSpec:
        """As the model sees it."""
        schema = _plain(self.arguments.model_json_schema())
        return ToolSpec(self.name, self.description, schema, self.effect, self.parallel_safe, self.timeout_s)


def _plain(schema: dict[str, Any]) -> dict[str, object]:
    """The schema without what is for people only: titles, and the docstring of the class."""
    properties = cast("dict[str, dict[str, Any]]", schema.get("properties", {}))
    kept = {name: {key: value for key, value in each.items() if key != "title"} for name, each in properties.items()}
    rest: dict[str, object] = {
        key: value for key, value in schema.items() if key not in ("title", "description", "properties")
    }
    return rest | {"properties": kept}
