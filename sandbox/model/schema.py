"""Tools and response formats of a request, with the rules for the JSON Schemas in them."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.model.errors import InvalidRequest
from sandbox.model.fields import Fields, Json, refuse_unknown
from sandbox.model.request import Message, ResponseFormat, Tool
from sandbox.model.transcript import LONGEST_NAME, NAME


def read_tool(value: Json, path: str) -> Tool:
    """One offered tool. Raises InvalidRequest for a schema that is no object, or not closed where it says strict."""
    fields = Fields(value, path)
    refuse_unknown(fields.value, frozenset({"type", "function"}), path)
    fields.need_text("type")
    fields.choice("type", ("function",))
    function = Fields(fields.need("function"), fields.at("function"))
    refuse_unknown(function.value, frozenset({"name", "description", "parameters", "strict"}), function.path)
    name = function.need_text("name", longest=LONGEST_NAME, pattern=NAME)
    strict = function.flag("strict") or False
    parameters: dict[str, Json] = {"type": "object", "properties": {}}
    if not function.absent("parameters"):
        parameters = Fields(function.value["parameters"], function.at("parameters")).value
    if parameters.get("type") != "object":
        raise _schema_error(
            f"function '{name}'",
            f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{parameters.get('type')}\"'",
            function.at("parameters"),
        )
    if strict:
        _check_closed(parameters, f"function '{name}'", function.at("parameters"))
    return Tool(name, function.text("description") or "", parameters, strict)


def read_tool_choice(fields: Fields, tools: tuple[Tool, ...]) -> str:
    """`auto`, `none`, `required` or a tool's name; without tools there is nothing to choose."""
    if fields.absent("tool_choice"):
        return "auto" if tools else "none"
    if not tools:
        raise InvalidRequest(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
            param="tool_choice",
        )
    if isinstance(fields.value["tool_choice"], str):
        return fields.choice("tool_choice", ("none", "auto", "required")) or "auto"
    chosen = Fields(fields.value["tool_choice"], "tool_choice")
    chosen.need_text("type")
    chosen.choice("type", ("function",))
    name = Fields(chosen.need("function"), "tool_choice.function").need_text("name")
    if name not in {tool.name for tool in tools}:
        raise InvalidRequest(f"Tool choice '{name}' not found in 'tools' parameter.", param="tool_choice.function.name")
    return name


def read_response_format(fields: Fields, messages: tuple[Message, ...]) -> ResponseFormat:
    """The form that the answer must have. Raises InvalidRequest where the provider could not promise it."""
    if fields.absent("response_format"):
        return ResponseFormat()
    wanted = Fields(fields.value["response_format"], "response_format")
    wanted.need_text("type")
    match wanted.choice("type", ("json_object", "json_schema", "text")):
        case "json_object":
            if not any("json" in message.text.casefold() for message in messages):
                raise InvalidRequest(
                    "'messages' must contain the word 'json' in some form, to use 'response_format' of type "
                    "'json_object'.",
                    param="messages",
                )
            return ResponseFormat("json_object")
        case "json_schema":
            return _read_json_schema(Fields(wanted.need("json_schema"), "response_format.json_schema"))
        case _:
            return ResponseFormat()


def _read_json_schema(fields: Fields) -> ResponseFormat:
    refuse_unknown(fields.value, frozenset({"name", "description", "schema", "strict"}), fields.path)
    name = fields.need_text("name", longest=LONGEST_NAME, pattern=NAME)
    strict = fields.flag("strict") or False
    schema = Fields(fields.need("schema"), fields.at("schema")).value
    if schema.get("type") != "object":
        raise _schema_error(
            f"response_format '{name}'",
            f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'",
            fields.at("schema"),
        )
    if strict:
        _check_closed(schema, f"response_format '{name}'", fields.at("schema"))
    return ResponseFormat("json_schema", name, schema, strict)


def _check_closed(schema: dict[str, Json], owner: str, path: str) -> None:
    """Strict mode: every object lists all its properties as required and admits no others."""
    for where, part in _objects(schema, ()):
        context = f"In context=({', '.join(repr(step) for step in where)})"
        if part.get("additionalProperties") is not False:
            raise _schema_error(
                owner, f"{context}, 'additionalProperties' is required to be supplied and to be false.", path
            )
        properties = part.get("properties")
        names = set(properties) if isinstance(properties, dict) else set[str]()
        required = part.get("required")
        listed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set[str]()
        if names != listed:
            odd = sorted(names ^ listed)[0]
            raise _schema_error(
                owner,
                f"{context}, 'required' is required to be supplied and to be an array including every key in "
                f"properties, and no other. Wrong or missing: '{odd}'.",
                path,
            )


def _objects(schema: Json, where: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Json]]]:
    if isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from _objects(part, (*where, str(index)))
        return
    if not isinstance(schema, dict):
        return
    named = schema.get("type")
    if named == "object" or (isinstance(named, list) and "object" in named):
        yield where, schema
    for key, part in schema.items():
        if key in ("properties", "$defs", "definitions") and isinstance(part, dict):
            for name, inner in part.items():
                yield from _objects(inner, (*where, key, name))
        elif key in ("items", "anyOf", "allOf", "oneOf"):
            yield from _objects(part, (*where, key))


def _schema_error(owner: str, message: str, path: str) -> InvalidRequest:
    code = "invalid_function_parameters" if owner.startswith("function") else "invalid_json_schema"
    return InvalidRequest(f"Invalid schema for {owner}: {message}", param=path, code=code)
