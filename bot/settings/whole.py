"""All settings of a process, read once and frozen."""

import os
from collections.abc import Mapping
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.errors import SettingsFault
from bot.settings.arrivals import Company, Rates
from bot.settings.connections import Discord, Stores
from bot.settings.keeping import Keeping
from bot.settings.models import DEFAULT_MODEL, DEFAULT_MODEL_CONTEXT, Models, Research
from bot.settings.remembering import Embeddings, Episodes, Memory, Recall
from bot.settings.runs import Acting, Budgets, Runs
from bot.settings.serving import Logs, Serving
from bot.settings.sources import PREFIX, Environment, dotenv, given, variables_of
from bot.settings.work import Intake, Work


# Pydantic takes the fields of the last one first, and so does docs/reference/settings.md. Its two libraries have a type
# each for one and the same `model_config`.
class Settings(  # pyright: ignore[reportIncompatibleVariableOverride]
    BaseSettings,
    Logs,
    Serving,
    Embeddings,
    Episodes,
    Recall,
    Memory,
    Intake,
    Company,
    Rates,
    Work,
    Keeping,
    Acting,
    Budgets,
    Runs,
    Research,
    Models,
    Stores,
    Discord,
):
    """Everything that an operator can set. Make it with `load`, which turns what is wrong into one sentence."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True
    )

    def ids(self, name: Literal["actions_off_in", "answered_bots", "owner_ids"]) -> frozenset[int]:
        """The ids of a setting that lists some."""
        value: str = getattr(self, name)
        return frozenset(int(each) for each in value.replace(" ", "").split(",") if each)

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.shard_id >= self.shard_count:
            raise ValueError("MUNINN_SHARD_ID must be less than MUNINN_SHARD_COUNT: shards count from 0")
        if self.turn_heartbeat_s * 3 > self.turn_lease_s:
            raise ValueError("MUNINN_TURN_HEARTBEAT_S must be at most a third of MUNINN_TURN_LEASE_S")
        if self.tool_s > self.run_s:
            raise ValueError("MUNINN_TOOL_S must not be more than MUNINN_RUN_S")
        if self.final_reserve_s is not None and self.final_reserve_s >= self.run_s:
            raise ValueError("MUNINN_FINAL_RESERVE_S must be less than MUNINN_RUN_S")
        if self.fallback_context is not None and self.reply_tokens >= self.fallback_context:
            raise ValueError("MUNINN_REPLY_TOKENS must be less than MUNINN_FALLBACK_CONTEXT")
        if self.model_context is not None and self.context_tokens + self.reply_tokens > self.model_context:
            raise ValueError(
                "MUNINN_CONTEXT_TOKENS and MUNINN_REPLY_TOKENS together must not be more than MUNINN_MODEL_CONTEXT"
            )
        if (self.price_prompt is None) != (self.price_completion is None):
            raise ValueError("MUNINN_PRICE_PROMPT and MUNINN_PRICE_COMPLETION are set together or not at all")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments (tests), then what the environment and `.env` say."""
        return init_settings, Environment(settings_cls)


def variables() -> dict[str, str]:
    """Every environment variable that is a setting, and the field it sets."""
    return variables_of(Settings)


def unknown_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """MUNINN_ variables of the environment or of `.env` that set nothing: misspelt, or of another version."""
    known = {name for variable in variables() for name in (variable, f"{variable}_FILE")}
    # The tests' own.
    internal = ("MUNINN_TEST_", "MUNINN_CRASH_")
    found = {**dotenv(), **(os.environ if environ is None else environ)}
    return sorted(
        name for name in found if name.startswith(PREFIX) and name not in known and not name.startswith(internal)
    )


def load(**overrides: Any) -> Settings:
    """Read the settings; `overrides` are fields that go before everything else. Raises SettingsFault."""
    try:
        return Settings(**overrides)
    except ValidationError as exc:
        raise SettingsFault(_sentence(exc)) from None


def require_for_discord(settings: Settings) -> None:
    """Raises SettingsFault where what `muninn run` cannot do without is not set."""
    if not settings.discord_token.get_secret_value():
        raise SettingsFault(
            "MUNINN_DISCORD_TOKEN is not set: take the bot's token from https://discord.com/developers/applications, "
            "or try Muninn without Discord by `muninn sandbox`."
        )
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise SettingsFault(
            "MUNINN_OPENAI_API_KEY is not set: set it (OPENAI_API_KEY does too), "
            "or name an endpoint of your own in MUNINN_OPENAI_BASE_URL."
        )
    model_window(settings)


def require_shared_database(settings: Settings) -> None:
    """Raises SettingsFault where several processes are to share what only one can have."""
    if settings.database_url is None:
        raise SettingsFault(
            "MUNINN_DATABASE_URL is not set: gateways and workers are processes apart and share one PostgreSQL; "
            "set it for all of them, or run everything in one process by `muninn run`."
        )


def model_window(settings: Settings) -> int:
    """Tokens that the model takes. Raises SettingsFault where nobody has said so: by a guess that is too high, servers
    cut off the beginning of a prompt without a word, and by one that is too low every run fails."""
    if settings.model_context is not None:
        return settings.model_context
    if settings.model == DEFAULT_MODEL:
        return DEFAULT_MODEL_CONTEXT
    raise SettingsFault(
        f"MUNINN_MODEL_CONTEXT is not set, and how many tokens {settings.model} takes is not known: set it to the "
        "model's context length, as its provider or your server's configuration gives it."
    )


def secrets(settings: Settings) -> list[str]:
    """The values that no log may show: tokens, keys, and the passwords of addresses."""
    found: list[str] = []
    for name in Settings.model_fields:
        value: object = getattr(settings, name)
        if isinstance(value, SecretStr):
            text = value.get_secret_value()
            found.append(urlsplit(text).password or "" if "://" in text else text)
    return [secret for secret in found if secret]


def _sentence(error: ValidationError) -> str:
    told = given(Settings)
    problems: list[str] = []
    for detail in error.errors(include_url=False, include_input=False):
        message = detail["msg"].removeprefix("Value error, ").replace("Input should", "it should")
        if not detail["loc"]:
            problems.append(message)
            continue
        field = str(detail["loc"][0])
        # A field with aliases is reported by one of them, whichever was set.
        names = variables()
        own = names.get(field.upper(), field)
        candidates = [variable for variable, name in names.items() if name == own]
        variable = next((candidate for candidate in candidates if candidate in told), candidates[0])
        problems.append(f"{variable} is wrong: {message}")
    return "; ".join(problems) + "."
