"""The smallest value that a JSON Schema admits: what the practice model answers where it must answer in JSON."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.model.fields import Json

_DEEPEST = 32  # a schema may refer to itself; real answers are never that deep


def specimen(schema: Mapping[str, Json]) -> Json:
    """An instance of `schema` with empty arrays, empty strings and zeros wherever its bounds allow them.

    Knows the keywords that structured output admits ($ref, anyOf, enum, const, bounds); `pattern` and `format` are
    not looked at. Raises RecursionError for a schema that only an endless value could satisfy.
    """
    return _specimen(dict(schema), schema, 0)


def _specimen(schema: Json, root: Mapping[str, Json], depth: int) -> Json:
    if depth > _DEEPEST:
        raise RecursionError("the schema requires a value inside itself")
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return schema["const"]
    match schema:
        case {"$ref": str(reference)}:
            return _specimen(_referred(reference, root), root, depth + 1)
        case {"enum": [first, *_]}:
            return first
        case {"anyOf": [first, *others]} | {"oneOf": [first, *others]}:
            null = any(isinstance(option, dict) and option.get("type") == "null" for option in [first, *others])
            return None if null else _specimen(first, root, depth + 1)
        case _:
            return _typed(schema, root, depth)


def _typed(schema: dict[str, Json], root: Mapping[str, Json], depth: int) -> Json:
    named = schema.get("type")
    if isinstance(named, list):
        named = "null" if "null" in named else next(iter(named), None)
    match named:
        case "object":
            required, properties = schema.get("required"), schema.get("properties")
            if not isinstance(required, list) or not isinstance(properties, dict):
                return {}
            names = [name for name in required if isinstance(name, str)]
            return {name: _specimen(properties.get(name), root, depth + 1) for name in names}
        case "array":
            return [_specimen(schema.get("items"), root, depth + 1) for _ in range(_bound(schema, "minItems"))]
        case "string":
            return "-" * _bound(schema, "minLength")
        case "integer" | "number":
            return max(0, _bound(schema, "minimum")) if _bound(schema, "maximum", 0) >= 0 else schema["maximum"]
        case "boolean":
            return False
        case _:
            return None


def _bound(schema: dict[str, Json], name: str, absent: int = 0) -> int:
    value = schema.get(name)
    return int(value) if isinstance(value, int | float) else absent


def _referred(reference: str, root: Mapping[str, Json]) -> Json:
    found: Json = dict(root)
    for step in reference.removeprefix("#").strip("/").split("/"):
        if not step:
            continue
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found
