"""Settings: from the environment, `.env` and secret files; read once, frozen, and handed down.

A setting NAME is read from `MUNINN_NAME`, or from the file that `MUNINN_NAME_FILE` names (a mounted secret), or from
the line `MUNINN_NAME=` of `.env`; the first of these wins. Two also answer to the names that OpenAI's own client uses.
docs/reference/settings.md is written from the fields by `python -m bot.settings`.
"""

from bot.settings.models import DEFAULT_MODEL, DEFAULT_MODEL_CONTEXT
from bot.settings.reference import reference
from bot.settings.sources import PREFIX
from bot.settings.whole import (
    Settings,
    load,
    model_window,
    require_for_discord,
    require_shared_database,
    secrets,
    unknown_variables,
    variables,
)

__all__ = [
    "DEFAULT_MODEL",
    "DEFAULT_MODEL_CONTEXT",
    "PREFIX",
    "Settings",
    "load",
    "model_window",
    "reference",
    "require_for_discord",
    "require_shared_database",
    "secrets",
    "unknown_variables",
    "variables",
]
