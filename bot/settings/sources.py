"""Where settings are read from: the environment, `.env`, and files that hold a secret."""

import os
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values
from pydantic import AliasChoices, BaseModel
from pydantic_settings import EnvSettingsSource

from bot.errors import SettingsFault

PREFIX = "MUNINN_"
ENV_FILE = Path(".env")


class Environment(EnvSettingsSource):
    """The environment over `.env`; in each, a variable over the file that its `_FILE` variable names."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in given(self.settings_cls).items()}


def given(model: type[BaseModel]) -> dict[str, str]:
    """What is set, by variable."""
    return {**_with_secret_files(model, dotenv()), **_with_secret_files(model, os.environ)}


def dotenv() -> Mapping[str, str | None]:
    """What `.env` of the working directory says, if there is one."""
    return dotenv_values(ENV_FILE, interpolate=False) if ENV_FILE.is_file() else {}


def _with_secret_files(model: type[BaseModel], layer: Mapping[str, str | None]) -> dict[str, str]:
    """The variables that are set, those read from files included. Raises SettingsFault for a file that is not there."""
    found: dict[str, str] = {}
    for variable in variables_of(model):
        value = layer.get(variable)
        named = layer.get(f"{variable}_FILE")
        if value:
            found[variable] = value
        elif named:
            try:
                value = Path(named).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as exc:
                reason = exc.strerror if isinstance(exc, OSError) else "it is not text"
                raise SettingsFault(f"{variable}_FILE names {named}, which cannot be read: {reason}.") from None
            if value:
                found[variable] = value
    return found


def variables_of(model: type[BaseModel]) -> dict[str, str]:
    """Every environment variable that is a setting, and the field it sets."""
    known: dict[str, str] = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        names = (
            [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else [PREFIX + name.upper()]
        )
        known.update(dict.fromkeys(names, name))
    return known
