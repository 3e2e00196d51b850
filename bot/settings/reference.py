"""docs/reference/settings.md, written from the fields."""

from pydantic import SecretStr

from bot.settings.whole import Settings, variables

_HEAD = """# Settings

Written by `make docs` from `bot/settings`; do not edit.

Each setting is an environment variable, or a line of `.env` in the working directory, or, with `_FILE` at the end of
its name, the path of a file that holds the value (a mounted secret): `MUNINN_DISCORD_TOKEN_FILE=/run/secrets/token`.
The environment goes before `.env`. An empty value is the same as none. A wrong value ends Muninn with exit code 2 and
a sentence that names the variable.

| variable | default | what it is |
|---|---|---|
"""


def reference() -> str:
    """docs/reference/settings.md."""
    rows: list[str] = []
    for name, field in Settings.model_fields.items():
        names = " or ".join(f"`{variable}`" for variable, own in variables().items() if own == name)
        default = field.default
        if isinstance(default, SecretStr) or default is None:
            shown = "not set"
        elif isinstance(default, bool):
            shown = f"`{str(default).lower()}`"
        else:
            shown = f"`{default}`"
        rows.append(f"| {names} | {shown} | {field.description} |")
    return _HEAD + "\n".join(rows) + "\n"
