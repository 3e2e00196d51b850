"""Settings: from the environment, `.env` and secret files; read once, frozen, and handed down.

A setting NAME is read from `MUNINN_NAME`, or from the file that `MUNINN_NAME_FILE` names (a mounted secret), or from
the line `MUNINN_NAME=` of `.env`; the first of these wins. Two also answer to the names that OpenAI's own client uses.
docs/reference/settings.md is written from the fields below by `python -m bot.settings`.
"""

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import AfterValidator, AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from bot.errors import SettingsFault
from bot.quiet_hours import QuietHours

PREFIX = "MUNINN_"
ENV_FILE = Path(".env")
DEFAULT_MODEL = "gpt-4.1-mini"
DEFAULT_MODEL_CONTEXT = 128_000
"""As much of the default model's window as Muninn uses unasked; it takes more."""


def _check_address(value: str, schemes: tuple[str, ...]) -> str:
    parts = urlsplit(value)
    # unix:///path and postgresql:///name have no host, and are whole. The message never repeats the value.
    if parts.scheme not in schemes or not (parts.netloc or parts.path):
        raise ValueError(f"it should be an address that begins with {' or '.join(f'{name}://' for name in schemes)}")
    return value


def _http(value: str) -> str:
    return _check_address(value, ("http", "https")).rstrip("/")


def _origins(value: str) -> str:
    return ",".join(_http(each.strip()) for each in value.split(",") if each.strip())


def _websocket(value: str) -> str:
    return _check_address(value, ("ws", "wss")).rstrip("/") + "/"


def _postgres(value: SecretStr) -> SecretStr:
    return SecretStr(_check_address(value.get_secret_value(), ("postgresql", "postgres")))


def _ids(value: str) -> str:
    wrong = [each for each in value.replace(" ", "").split(",") if each and not each.isdecimal()]
    if wrong:
        raise ValueError("it should be ids of digits, separated by commas")
    return value


def _hours(value: str) -> str:
    QuietHours.of(value)
    return value


def _redis(value: SecretStr) -> SecretStr:
    return SecretStr(_check_address(value.get_secret_value(), ("redis", "rediss", "unix")))


Seconds = Annotated[float, Field(gt=0, le=86_400)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Tokens = Annotated[int, Field(ge=0, le=1_000_000_000_000)]
Price = Annotated[Decimal, Field(ge=0, le=1_000_000)]


class Settings(BaseSettings):
    """Everything that an operator can set. Make it with `load`, which turns what is wrong into one sentence."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True
    )

    discord_token: SecretStr = Field(
        default=SecretStr(""), description="The bot's token, from the Discord Developer Portal. Needed by `muninn run`."
    )
    discord_api_url: Annotated[str, AfterValidator(_http)] = Field(
        default="https://discord.com/api/v10", description="Discord's REST API, or a proxy of it."
    )
    discord_gateway_url: Annotated[str, AfterValidator(_websocket)] = Field(
        default="wss://gateway.discord.gg/", description="Discord's gateway, or a proxy of it."
    )
    discord_cdn_urls: Annotated[str, AfterValidator(_origins)] = Field(
        default="https://cdn.discordapp.com,https://media.discordapp.net,https://images-ext-1.discordapp.net,"
        "https://images-ext-2.discordapp.net",
        description="Where files that people attach are fetched from, separated by commas; from nowhere else.",
    )
    message_content: bool = Field(
        default=True,
        description="Ask Discord for the Message Content intent. Off: Muninn reads only what mentions it, replies to "
        "it with a ping, or is written to it directly, and remembers no more than that.",
    )
    guild_notice: bool = Field(
        default=True, description="Tell each guild that Muninn joins, once, what is kept and how to change it."
    )
    shard_id: Annotated[int, Field(ge=0)] = Field(default=0, description="This process's shard, from 0.")
    shard_count: Count = Field(default=1, description="How many shards the bot has in all.")

    database_url: Annotated[SecretStr, AfterValidator(_postgres)] | None = Field(
        default=None,
        description="PostgreSQL 17 or newer with pgvector 0.8 or newer. Not set: Muninn starts one in its data folder.",
    )
    redis_url: Annotated[SecretStr, AfterValidator(_redis)] | None = Field(
        default=None, description="Valkey or Redis. Not set: Muninn starts one in its data folder."
    )
    data_dir: Path = Field(
        default=Path(".muninn"),
        description="Where the embedded services keep their files; relative to the working directory.",
    )

    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("MUNINN_OPENAI_API_KEY", "OPENAI_API_KEY"),
        description="The model provider's key. A model of your own often needs none.",
    )
    openai_base_url: Annotated[str, AfterValidator(_http)] | None = Field(
        default=None,
        validation_alias=AliasChoices("MUNINN_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
        description="An endpoint that speaks OpenAI's API (Ollama, vLLM, llama.cpp, OpenRouter); not set: OpenAI.",
    )
    model: Annotated[str, Field(min_length=1)] = Field(default=DEFAULT_MODEL, description="The chat model's name.")
    model_context: Annotated[int, Field(ge=2_000, le=10_000_000)] | None = Field(
        default=None,
        description=(
            "Tokens that the model takes, request and reply together. Must be set for every model but the default one "
            f"({DEFAULT_MODEL}: {DEFAULT_MODEL_CONTEXT:,} are used)."
        ),
    )
    reply_tokens: Annotated[int, Field(ge=100, le=1_000_000)] = Field(
        default=2_000, description="Tokens of the model's window that are kept free for its reply."
    )
    model_stream: bool = Field(default=False, description="Ask for streamed replies; some servers answer only so.")
    model_timeout_s: Seconds = Field(default=60, description="Seconds for one model call.")
    vision_model: str = Field(
        default="",
        description="A model at the same endpoint that sees pictures, and answers where there are some; it may be the "
        "chat model itself. Not set: Muninn says that it does not see them.",
    )
    fallback_model: str = Field(
        default="", description="A model that replies while the first one cannot be had. Not set: nobody does."
    )
    fallback_base_url: Annotated[str, AfterValidator(_http)] | None = Field(
        default=None, description="Where the fallback model is; not set: where the first one is."
    )
    fallback_api_key: SecretStr | None = Field(
        default=None,
        description="The key for MUNINN_FALLBACK_BASE_URL; not set: the first one's, if it is the same place.",
    )
    fallback_context: Annotated[int, Field(ge=2_000, le=10_000_000)] | None = Field(
        default=None,
        description="Tokens that the fallback model takes, request and reply together; not set: as many as the first.",
    )
    price_prompt: Price | None = Field(
        default=None, description="What a million tokens of a prompt cost, in your currency. Only for the audit."
    )
    price_completion: Price | None = Field(default=None, description="What a million tokens of a reply cost.")
    context_tokens: Annotated[int, Field(ge=1_000)] = Field(
        default=8_000,
        description="Tokens of the recent messages that a prompt shows, by Muninn's own careful estimate.",
    )
    working_set_messages: Count = Field(default=30, description="Recent messages of the place that a prompt shows.")

    firecrawl_api_key: SecretStr | None = Field(
        default=None, description="Firecrawl's key, for research on the web. Without it that tool is not offered."
    )
    firecrawl_api_url: Annotated[str, AfterValidator(_http)] | None = Field(
        default=None, description="A Firecrawl of your own; not set: Firecrawl's service, if there is a key."
    )
    web_keep_days: Annotated[int, Field(ge=1, le=3_650)] = Field(
        default=30, description="Days for which pages that research brought are kept."
    )

    max_steps: Count = Field(default=6, description="Model calls in one run, the last one without tools included.")
    max_calls: Count = Field(default=12, description="Tool calls in one run.")
    max_writes: Annotated[int, Field(ge=0, le=1_000)] = Field(
        default=8, description="Tool calls in one run that change something; each runs alone, in the model's order."
    )
    run_s: Seconds = Field(default=120, description="Seconds for one run, the time to say the end included.")
    final_reserve_s: Seconds | None = Field(
        default=None,
        description="Of those, the seconds that only the last step may use. Not set: a quarter, at most 20.",
    )
    tool_s: Seconds = Field(default=20, description="Seconds for one tool call.")
    parallel_reads: Count = Field(default=4, description="Reading tools that may run at the same time in one run.")
    identical_calls: Count = Field(default=2, description="How often one run may repeat the same call.")

    member_daily_tokens: Tokens = Field(
        default=1_000_000, description="Tokens that one member may use in a guild or DM in a day (UTC); 0: no budget."
    )
    space_daily_tokens: Tokens = Field(
        default=10_000_000, description="Tokens that a guild or a DM may use in a day (UTC); 0: no budget."
    )
    stopped: bool = Field(
        default=False,
        description="Journal everything and answer nobody but by saying so. `muninn stop` does the same while it runs.",
    )

    tool_result_chars: Annotated[int, Field(ge=1_000, le=200_000)] = Field(
        default=12_000, description="Characters of a tool's result that the model sees; the rest is kept with the run."
    )
    transcript_days: Annotated[int, Field(ge=1, le=3_650)] = Field(
        default=14,
        description="Days for which prompts, replies and tool results are kept; after them the audit remains.",
    )
    ai_event_days: Annotated[int, Field(ge=1, le=3_650)] = Field(
        default=90, description="Days for which a row a model request is kept."
    )
    actions: bool = Field(
        default=True,
        description="Whether the model may act in Discord where nothing else was set; each act is still one that the "
        "member plainly asked for, or confirmed, and may do themselves.",
    )
    actions_off_in: Annotated[str, AfterValidator(_ids)] = Field(
        default="", description="Guilds (or DM channels) in which the model may not act, by id, separated by commas."
    )
    owner_ids: Annotated[str, AfterValidator(_ids)] = Field(
        default="",
        description="Who owns this bot, by user id, separated by commas; they may do with it what administrators may.",
    )
    card_s: Seconds = Field(default=600, description="Seconds for which a member may confirm an action by a button.")

    retention_days: Annotated[int, Field(ge=0, le=3_650)] = Field(
        default=365,
        description="Days for which messages and what was done are kept, unless a guild sets fewer; 0: without end. "
        "Memories stay, and say that what they rest on is gone.",
    )
    privacy_key: SecretStr | None = Field(
        default=None,
        description="What receipts of deletions are sealed with, 32 random characters or more. Not set: made from the "
        "bot's token, and receipts can no longer be checked when that changes.",
    )
    erasure_again_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=60,
        description="Seconds after which what was deleted is looked for once more: what was under way may have written "
        "since.",
    )
    raw_event_days: Annotated[int, Field(ge=1, le=3_650)] = Field(
        default=30, description="Days for which raw events of Discord's are kept, or fewer where a guild keeps fewer."
    )
    guild_grace_days: Annotated[int, Field(ge=0, le=3_650)] = Field(
        default=30, description="Days for which the data of a guild is kept that the bot was removed from."
    )
    models: str = Field(
        default="",
        description="Further chat models of the same endpoint that a guild may choose, separated by commas. Each "
        "should take as much as MUNINN_MODEL_CONTEXT says.",
    )

    workers: Count = Field(default=32, description="Turns that this process works on at the same time.")
    answer_window_s: Seconds = Field(
        default=1_800, description="Seconds after which a message still unanswered stays so; one reaction says it."
    )
    nonce_window_s: Seconds = Field(
        default=120, description="Seconds for which Discord is trusted to recognise a message that is sent again."
    )
    turn_lease_s: Seconds = Field(default=20, description="Seconds after which a silent worker's turn is taken over.")
    turn_heartbeat_s: Seconds = Field(default=5, description="Seconds between a worker's signs of life.")
    reconcile_s: Seconds = Field(
        default=60.0,
        description="Seconds between looks for effects that nobody recorded, and of silence before one is looked up.",
    )
    poll_s: Seconds = Field(default=2.0, description="Seconds between looks for work that no notification announced.")
    progress_s: Annotated[float, Field(ge=0, le=3_600)] = Field(
        default=8.0,
        description="Seconds after which a place is shown what is worked on, with a button to stop it; 0: never.",
    )
    drain_s: Seconds = Field(default=10, description="Seconds that a stop gives to what is under way.")

    member_turns: Count = Field(default=10, description="Turns a member may start in one window.")
    place_turns: Count = Field(default=30, description="Turns a channel may start in one window.")
    space_turns: Count = Field(default=120, description="Turns a guild may start in one window.")
    rate_window_s: Seconds = Field(default=60, description="Seconds of that window.")

    answered_bots: Annotated[str, AfterValidator(_ids)] = Field(
        default="",
        description="Other bots that are answered when they name Muninn in their words, by user id, separated by "
        "commas. All others never are.",
    )
    bot_turns: Count = Field(
        default=2,
        description="How often such a bot is answered in one place in ten minutes while no member says anything there.",
    )
    ambient_hourly: Count = Field(
        default=4,
        description="Where a guild lets Muninn speak unasked: how often in an hour it considers it, in one place. "
        "A guild may set less.",
    )
    ambient_pause_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=300, description="Seconds between two such considerations in one place."
    )
    ambient_lull_s: Annotated[float, Field(ge=0, le=300)] = Field(
        default=20, description="Seconds for which others may answer first; who does keeps Muninn silent."
    )
    ambient_quiet_hours: Annotated[str, AfterValidator(_hours)] = Field(
        default="",
        description="Hours of the day in which Muninn says nothing unasked, such as `22-7` (until 6:59, UTC) or "
        "`22-7 Europe/Berlin`. A guild may set its own.",
    )
    ambient_daily_tokens: Tokens = Field(
        default=100_000, description="Tokens that this may cost a guild in a day (UTC); 0: no budget of its own."
    )

    ingress_queue: Count = Field(default=10_000, description="Events that wait in memory while PostgreSQL is away.")
    ingress_group: Annotated[int, Field(ge=1, le=64)] = Field(
        default=64, description="Events in one transaction, at most."
    )
    backfill_messages: Count = Field(default=500, description="Messages fetched again after a gap, for each place.")
    backfill_places: Count = Field(
        default=200, description="Places that are fetched in one go after a gap, the most recently active first."
    )

    memory_model: str | None = Field(
        default=None, description="The model that reads for durable memory and sums up. Not set: the chat model."
    )
    memory_quiet_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=60, description="Seconds of silence after which what was said in a place is read for memory."
    )
    memory_longest_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=300, description="Seconds after which it is read even if talk goes on."
    )
    memory_lease_s: Annotated[float, Field(ge=1, le=300)] = Field(
        default=300, description="Seconds after which a silent memory worker's job is taken over."
    )
    memory_workers: Count = Field(default=1, description="Places that this process reads at the same time.")
    memory_items: Count = Field(
        default=10_000, description="Memories that a member, a channel or a guild may have at most."
    )
    memory_writes: Count = Field(
        default=120, description="Memories that may be written or forgotten in an hour, for each of those."
    )
    summary_messages: Count = Field(
        default=30, description="Messages after which a place's running summary is written again."
    )

    recall_items: Annotated[int, Field(ge=1, le=50)] = Field(
        default=8, description="Memories that an answer is shown at most."
    )
    recall_chars: Annotated[int, Field(ge=500, le=200_000)] = Field(
        default=24_000, description="Characters that they may have together."
    )
    recall_alone: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="The cosine that makes a memory relevant by itself. Not set: as measured for the embedding model.",
    )
    recall_low: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The cosine below which a vector says nothing. Not set: as measured."
    )
    recall_terms: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="The share of a question's words, by rarity, that makes a memory relevant by itself. Not set: 0.4.",
    )
    recall_few: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The share that is enough beside a cosine of at least recall_low. Not set: 0.15."
    )
    recall_copy: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The cosine from which two memories say the same. Not set: 0.95, or as measured."
    )
    recall_used: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The cosine from which a memory counts as used. Not set: 0.6, or as measured."
    )

    episode_days: Count = Field(default=90, description="Days for which what was asked and answered is kept whole.")
    episodes: Count = Field(
        default=5_000, description="Of those, how many a guild or direct conversation has at most; the newest stay."
    )

    embeddings: Literal["embedded", "off"] = Field(
        default="embedded",
        description="Without an endpoint of your own: the model that comes with Muninn, or none at all.",
    )
    embedding_url: Annotated[str, AfterValidator(_http)] | None = Field(
        default=None, description="An endpoint for embeddings that speaks OpenAI's API."
    )
    embedding_key: SecretStr | None = Field(default=None, description="Its key; any word where it needs none.")
    embedding_model: str | None = Field(default=None, description="Its model's name.")
    embedding_dimensions: Annotated[int, Field(ge=1, le=4_000)] = Field(
        default=1_024, description="How many numbers that model's vectors have."
    )
    embedding_batch: Annotated[int, Field(ge=1, le=256)] = Field(
        default=16, description="Memories in one request for embeddings."
    )

    http_host: Annotated[str, Field(min_length=1)] = Field(
        default="127.0.0.1",
        description="Where /healthz, /readyz and /metrics are served; `0.0.0.0` in a container that others ask.",
    )
    http_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        default=8741, description="Their port; 0 serves them nowhere."
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least that is logged."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto", description="`auto` is for people on a terminal and JSON elsewhere."
    )

    def ids(self, name: Literal["actions_off_in", "answered_bots", "owner_ids"]) -> frozenset[int]:
        """The ids of a setting that lists some."""
        value: str = getattr(self, name)
        return frozenset(int(each) for each in value.replace(" ", "").split(",") if each)

    @property
    def offered_models(self) -> tuple[str, ...]:
        """The models that a guild may choose from, beside the one that all have."""
        return tuple(name for each in self.models.split(",") if (name := each.strip()))

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

    @model_validator(mode="after")
    def _embeddings_whole(self) -> Self:
        together = {
            "MUNINN_EMBEDDING_URL": self.embedding_url,
            "MUNINN_EMBEDDING_KEY": self.embedding_key,
            "MUNINN_EMBEDDING_MODEL": self.embedding_model,
        }
        missing = [variable for variable, value in together.items() if value is None]
        if 0 < len(missing) < len(together):
            raise ValueError(
                f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set: the three settings of an "
                "embedding endpoint (URL, KEY, MODEL) come together or not at all"
            )
        return self

    @field_validator("discord_token")
    @classmethod
    def _one_word(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value().split()) > 1:
            raise ValueError("it should be the token alone, without spaces and without `Bot` before it")
        return value

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
        return init_settings, _Environment(settings_cls)


class _Environment(EnvSettingsSource):
    """The environment over `.env`; in each, a variable over the file that its `_FILE` variable names."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in _given().items()}


def _given() -> dict[str, str]:
    """What is set, by variable."""
    return {**_with_secret_files(_dotenv()), **_with_secret_files(os.environ)}


def _dotenv() -> Mapping[str, str | None]:
    return dotenv_values(ENV_FILE, interpolate=False) if ENV_FILE.is_file() else {}


def _with_secret_files(layer: Mapping[str, str | None]) -> dict[str, str]:
    """The variables that are set, those read from files included. Raises SettingsFault for a file that is not there."""
    found: dict[str, str] = {}
    for variable in variables():
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


def variables() -> dict[str, str]:
    """Every environment variable that is a setting, and the field it sets."""
    known: dict[str, str] = {}
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        names = (
            [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else [PREFIX + name.upper()]
        )
        known.update(dict.fromkeys(names, name))
    return known


def unknown_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """MUNINN_ variables of the environment or of `.env` that set nothing: misspelt, or of another version."""
    known = {name for variable in variables() for name in (variable, f"{variable}_FILE")}
    # The tests' own.
    internal = ("MUNINN_TEST_", "MUNINN_CRASH_")
    given = {**_dotenv(), **(os.environ if environ is None else environ)}
    return sorted(
        name for name in given if name.startswith(PREFIX) and name not in known and not name.startswith(internal)
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
    given = _given()
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
        variable = next((candidate for candidate in candidates if candidate in given), candidates[0])
        problems.append(f"{variable} is wrong: {message}")
    return "; ".join(problems) + "."


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
    return _REFERENCE_HEAD + "\n".join(rows) + "\n"


_REFERENCE_HEAD = """# Settings

Written by `make docs` from `bot/settings.py`; do not edit.

Each setting is an environment variable, or a line of `.env` in the working directory, or, with `_FILE` at the end of
its name, the path of a file that holds the value (a mounted secret): `MUNINN_DISCORD_TOKEN_FILE=/run/secrets/token`.
The environment goes before `.env`. An empty value is the same as none. A wrong value ends Muninn with exit code 2 and
a sentence that names the variable.

| variable | default | what it is |
|---|---|---|
"""


if __name__ == "__main__":
    Path("docs/reference/settings.md").write_text(reference(), encoding="utf-8")
