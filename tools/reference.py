"""docs/reference/tools.md, written from the declarations by `python -m tools.reference` (`make docs`)."""

from pathlib import Path
from typing import Any, Final, cast

from tools.registry import AnyTool, collect

PAGE: Final = Path("docs/reference/tools.md")

_HEAD: Final = """# Tools

Written by `make docs` from the declarations in `tools/`; do not edit.

What the model may call. A write happens only where the member's message plainly asks for it, or after they confirmed it
by a button; requester and bot need the permissions that are named. Every call is bounded in time and size, and what
others wrote reaches the model as a quotation. [How to add one](../how-to/add-a-tool.md).

"""
_NEEDS: Final = {
    "guild": "in a server",
    "discord": "",
    "web": "where Firecrawl is configured",
    "activity": "",
}


def reference() -> str:
    """The page."""
    tools = collect()
    parts = [_HEAD]
    for effect, title in (("read", "Reading"), ("write", "Writing")):
        parts.append(f"## {title}\n\n")
        parts.extend(_section(tool) for tool in tools if tool.effect == effect)
    return "".join(parts).rstrip() + "\n"


def _section(tool: AnyTool) -> str:
    lines = [f"### `{tool.name}`\n", _plain(tool.description), ""]
    properties = cast("dict[str, dict[str, Any]]", tool.spec().parameters["properties"])
    required = cast("list[str]", tool.spec().parameters.get("required", []))
    if properties:
        lines += ["| argument | | |", "|---|---|---|"]
        lines += [_row(name, schema, required=name in required) for name, schema in properties.items()]
        lines.append("")
    notes = [f"Permissions: {', '.join(f'`{each}`' for each in tool.permissions)}."] if tool.permissions else []
    where = [text for need in sorted(tool.needs) if (text := _NEEDS[need])]
    notes += [f"Offered {', '.join(where)}."] if where else []
    return "\n".join([*lines, *([" ".join(notes), ""] if notes else [])]) + "\n"


def _row(name: str, schema: dict[str, Any], *, required: bool) -> str:
    kind = " or ".join(f"`{each}`" for each in schema["enum"]) if "enum" in schema else str(schema.get("type", "text"))
    default = schema.get("default")
    shown = str(default).lower() if isinstance(default, bool) else default
    given = "needed" if required else "may be left out" if default is None else f"default `{shown}`"
    return f"| `{name}` | {kind}, {given} | {_plain(schema.get('description', ''))} |"


def _plain(text: str) -> str:
    """Text that Markdown takes for no tag."""
    return text.replace("<", "\\<")


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
