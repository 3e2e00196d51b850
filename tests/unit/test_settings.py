"""Settings: from environment, `.env` and secret files; a wrong one is a sentence that names the variable (I13)."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.errors import SettingsFault
from bot.settings import (
    Settings,
    load,
    model_window,
    reference,
    require_for_discord,
    secrets,
    unknown_variables,
    variables,
)

ROOT = Path(__file__).parents[2]
SECRET = "this-must-never-be-shown"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the surroundings is read."""
    for name in list(os.environ):
        if name.startswith("MUNINN_") or name in variables():
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_defaults_are_whole() -> None:
    """Without any setting there are settings: services are embedded, Discord is the real one."""
    settings = load()
    assert settings.database_url is None
    assert settings.redis_url is None
    assert settings.discord_api_url == "https://discord.com/api/v10"
    assert (settings.max_steps, settings.max_calls, settings.run_s, settings.tool_s) == (6, 12, 120, 20)


def test_they_are_frozen() -> None:
    """Nobody changes a setting at run time."""
    with pytest.raises(ValidationError, match="frozen"):
        load().workers = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_the_environment_goes_before_the_file_it_names_and_before_dotenv(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The order of the sources is as documented."""
    (tmp_path / "secret").write_text("from-secret-file\n")
    (tmp_path / "other").write_text("from-dotenv-secret-file\n")
    dotenv = tmp_path / ".env"
    dotenv.write_text("MUNINN_DISCORD_TOKEN_FILE=other\n")
    assert load().discord_token.get_secret_value() == "from-dotenv-secret-file"
    dotenv.write_text("MUNINN_DISCORD_TOKEN=from-$dotenv\nMUNINN_DISCORD_TOKEN_FILE=other\n")
    assert load().discord_token.get_secret_value() == "from-$dotenv"
    monkeypatch.setenv("MUNINN_DISCORD_TOKEN_FILE", str(tmp_path / "secret"))
    assert load().discord_token.get_secret_value() == "from-secret-file"
    monkeypatch.setenv("MUNINN_DISCORD_TOKEN", "from-environment")
    assert load().discord_token.get_secret_value() == "from-environment"


def test_an_empty_value_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`MUNINN_DATABASE_URL=` is the same as no such line, and so is a secret file with nothing in it."""
    (tmp_path / "key").write_text("\n")
    monkeypatch.setenv("MUNINN_FIRECRAWL_API_KEY_FILE", str(tmp_path / "key"))
    assert load().firecrawl_api_key is None
    monkeypatch.setenv("MUNINN_DATABASE_URL", "")
    monkeypatch.setenv("MUNINN_MAX_STEPS", "")
    assert load().database_url is None
    assert load().max_steps == 6


def test_the_names_of_openais_client_do_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENAI_API_KEY and OPENAI_BASE_URL are read, and Muninn's own names go before them."""
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1/")
    settings = load()
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == "theirs"
    assert settings.openai_base_url == "http://localhost:11434/v1"
    monkeypatch.setenv("MUNINN_OPENAI_BASE_URL", "http://localhost:8000/v1")
    assert load().openai_base_url == "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("MUNINN_MAX_STEPS", "many", "MUNINN_MAX_STEPS is wrong: it should be a valid integer"),
        ("MUNINN_MAX_STEPS", "0", "MUNINN_MAX_STEPS is wrong: it should be greater than or equal to 1"),
        ("MUNINN_RUN_S", "-1", "MUNINN_RUN_S is wrong: it should be greater than 0"),
        ("MUNINN_INGRESS_GROUP", "65", "MUNINN_INGRESS_GROUP is wrong: it should be less than or equal to 64"),
        ("MUNINN_LOG_LEVEL", "loud", "MUNINN_LOG_LEVEL is wrong: it should be 'debug', 'info', 'warning' or 'error'"),
        ("MUNINN_DISCORD_API_URL", "discord", "MUNINN_DISCORD_API_URL is wrong: it should be an address that begins"),
        ("MUNINN_DISCORD_GATEWAY_URL", "http://x", "MUNINN_DISCORD_GATEWAY_URL is wrong: it should be an address"),
        ("OPENAI_BASE_URL", "localhost", "OPENAI_BASE_URL is wrong: it should be an address"),
        ("MUNINN_SHARD_ID", "1", "MUNINN_SHARD_ID must be less than MUNINN_SHARD_COUNT"),
        ("MUNINN_TURN_HEARTBEAT_S", "7", "MUNINN_TURN_HEARTBEAT_S must be at most a third of MUNINN_TURN_LEASE_S"),
        ("MUNINN_TOOL_S", "600", "MUNINN_TOOL_S must not be more than MUNINN_RUN_S"),
        ("MUNINN_DISCORD_TOKEN_FILE", "/nowhere", "MUNINN_DISCORD_TOKEN_FILE names /nowhere, which cannot be read"),
        ("MUNINN_DATABASE_URL", SECRET, "MUNINN_DATABASE_URL is wrong: it should be an address that begins with"),
        ("MUNINN_REDIS_URL", f"http://:{SECRET}@x", "MUNINN_REDIS_URL is wrong: it should be an address that begins"),
        ("MUNINN_DISCORD_TOKEN", f"Bot {SECRET}", "MUNINN_DISCORD_TOKEN is wrong: it should be the token alone"),
    ],
)
def test_a_wrong_setting_is_one_sentence(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str) -> None:
    """The sentence names the variable as it was set, says what it should be, and repeats no secret."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsFault) as caught:
        load()
    sentence = str(caught.value)
    assert sentence.startswith(told)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert SECRET not in sentence
    assert caught.value.exit_code == 2
    assert caught.value.__cause__ is None


def test_what_discord_needs_is_named() -> None:
    """`muninn run` without a token or a model says which variable to set."""
    with pytest.raises(SettingsFault, match="MUNINN_DISCORD_TOKEN is not set"):
        require_for_discord(load())
    with pytest.raises(SettingsFault, match="MUNINN_OPENAI_API_KEY is not set"):
        require_for_discord(load(discord_token="t"))
    require_for_discord(load(discord_token="t", openai_base_url="http://127.0.0.1:1/v1"))


def test_misspelt_variables_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A MUNINN_ variable that sets nothing is told, from the environment and from `.env`."""
    monkeypatch.setenv("MUNINN_DISCORD_TOKE", "x")
    monkeypatch.setenv("MUNINN_MODEL", "x")
    monkeypatch.setenv("MUNINN_DISCORD_TOKEN_FILE", "x")
    (tmp_path / ".env").write_text("MUNINN_MODLE=x\n")
    assert unknown_variables() == ["MUNINN_DISCORD_TOKE", "MUNINN_MODLE"]


def test_secrets_are_not_shown() -> None:
    """No way of printing the settings shows a token, key or password; and the log is told which to hide (I13)."""
    settings = load(
        discord_token=SECRET,
        openai_api_key=SECRET,
        database_url=f"postgresql://muninn:{SECRET}@db/muninn",
        redis_url=f"redis://:{SECRET}@redis/0",
    )
    for shown in (repr(settings), str(settings), str(settings.model_dump()), settings.model_dump_json()):
        assert SECRET not in shown
    assert secrets(settings) == [SECRET] * 4


def test_every_setting_is_described() -> None:
    """Each has a description, and a default that a person can read."""
    assert all(field.description for field in Settings.model_fields.values())


def test_the_reference_is_current() -> None:
    """docs/reference/settings.md is what the code says. To write it again: make docs."""
    assert (ROOT / "docs/reference/settings.md").read_text() == reference()


def test_the_example_names_only_settings() -> None:
    """Every line of .env.example that is commented out is a setting, so that taking the # away works."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    named = {
        line.removeprefix("#").split("=")[0] for line in lines if line.startswith("#") and "=" in line.split(" ")[0]
    }
    assert named
    assert named <= set(variables())


def test_an_unknown_window_is_a_fault_with_the_setting_that_names_it() -> None:
    """Too high a guess loses the beginning of prompts without a word, too low a one makes every run fail."""
    assert model_window(load()) == 128_000
    assert model_window(load(model="qwen3:8b", model_context=16_384)) == 16_384
    assert model_window(load(model_context=32_000)) == 32_000
    with pytest.raises(SettingsFault, match=r"MUNINN_MODEL_CONTEXT is not set, and how many tokens qwen3:8b takes"):
        model_window(load(model="qwen3:8b"))
    with pytest.raises(SettingsFault, match="MUNINN_MODEL_CONTEXT"):
        require_for_discord(load(discord_token="t", openai_api_key="k", model="qwen3:8b"))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"model_context": 4_000}, "MUNINN_CONTEXT_TOKENS and MUNINN_REPLY_TOKENS"),
        ({"price_prompt": 1}, "MUNINN_PRICE_PROMPT"),
        ({"max_writes": -1}, "MUNINN_MAX_WRITES"),
        ({"member_daily_tokens": -1}, "MUNINN_MEMBER_DAILY_TOKENS"),
    ],
)
def test_limits_that_do_not_fit_together_are_named(fields: dict[str, int], named: str) -> None:
    with pytest.raises(SettingsFault, match=named):
        load(**fields)


def test_each_of_the_seven_limits_is_a_setting() -> None:
    """With a default that lets a run answer, and a bound below which it could not."""
    seven = ("max_steps", "max_calls", "max_writes", "run_s", "tool_s", "parallel_reads", "identical_calls")
    assert all(getattr(load(), name) > 0 for name in seven)
