"""Reading the arguments that a model wrote: strictly, and never by guessing."""

import hashlib
import json
from typing import NoReturn, cast

from agent.contracts import ToolCall
from agent.limits import MAX_ARGUMENTS_CHARS
from agent.storable import storable

_SHOWN_CHARS = 200


class MalformedArguments(ValueError):
    """The message says, for the model, what is wrong with them."""


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Two values for one name: readers differ in which they take, so none is taken."""
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return read


def parse_arguments(text: str) -> dict[str, object]:
    """The JSON object in `text`. Raises MalformedArguments if it is anything else, or longer than the bound."""
    if len(text) > MAX_ARGUMENTS_CHARS:
        raise MalformedArguments(f"The arguments are longer than {MAX_ARGUMENTS_CHARS} characters.")
    try:
        read: object = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats)
        text.encode()
    except RecursionError:
        raise MalformedArguments("The arguments are nested too deeply.") from None
    except ValueError as fault:
        raise MalformedArguments(f"The arguments are not valid JSON: {fault}.") from None
    if not isinstance(read, dict):
        raise MalformedArguments("The arguments must be one JSON object.")
    arguments = cast("dict[str, object]", read)
    if not _is_storable(arguments):
        raise MalformedArguments("The arguments hold U+0000 or half a surrogate pair.")
    return arguments


def _is_storable(read: object) -> bool:
    """Whether every text in it is one: escapes can spell characters that no database or file takes."""
    left: list[object] = [read]
    while left:
        each = left.pop()
        if isinstance(each, str):
            if storable(each) is not each:
                return False
        elif isinstance(each, list):
            left.extend(cast("list[object]", each))
        elif isinstance(each, dict):
            left.extend(cast("dict[str, object]", each).keys())
            left.extend(cast("dict[str, object]", each).values())
    return True


def wire_arguments(text: str) -> str:
    """Arguments that may stand in a request: `text` itself if it is a JSON object, else one that quotes its start.

    A provider that parses the history would otherwise refuse every later request of the run.
    """
    try:
        parse_arguments(text)
    except MalformedArguments:
        return json.dumps({"malformed_arguments": text[:_SHOWN_CHARS]})
    return text


def call_key(call: ToolCall) -> str:
    """What makes two calls identical: tool and canonical arguments, whatever the order of names, the spacing or the
    spelling of texts and numbers."""
    try:
        canonical = json.dumps(_canonical(parse_arguments(call.arguments)), sort_keys=True, separators=(",", ":"))
    except (MalformedArguments, RecursionError):
        canonical = call.arguments
    digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{call.tool}:{digest}"


def _canonical(value: object) -> object:
    """The same value with 1.0 as 1, since both are one number in JSON."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_canonical(each) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: _canonical(each) for name, each in cast("dict[str, object]", value).items()}
    return value
