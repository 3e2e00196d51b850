"""`muninn doctor` and `muninn invite` as an operator runs them: text, JSON, exit codes, and no secret anywhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.doctor.findings import GROUPS, Finding, fault, ok, skip, warn
from bot.doctor.report import TITLES, as_json, as_text
from bot.invitation import invite_link
from sandbox.model import ChatRequest, Completion, call, say
from tests.harness.command import run_command
from tests.harness.process import environment
from tests.harness.stage import Stage


async def muninn(stage: Stage, folder: Path, *arguments: str, **overrides: Any) -> tuple[int, str, str]:
    """The command with the stage's settings, in an empty folder: exit code, what it printed, what it complained of."""
    given = environment(stage.settings()) | {name: str(value) for name, value in overrides.items()}
    ended = await run_command(*arguments, environment=given, folder=folder)
    return ended.code, ended.out, ended.err


def _follows(request: ChatRequest) -> Completion:
    """Calls the tool that it is told to call, and repeats what comes back."""
    return say(request.tool_results[0].text) if request.tool_results else call("doctor_word")


async def test_a_sound_set_up(stage: Stage, tmp_path: Path) -> None:
    """Exit code 0, JSON with stable ids and a live try; nothing is complained of and no secret is shown."""
    stage.model.default(_follows)
    embedding = {
        "MUNINN_EMBEDDING_URL": stage.model.base_url,
        "MUNINN_EMBEDDING_KEY": stage.model.api_key,
        "MUNINN_EMBEDDING_MODEL": stage.model.embedding_name,
        "MUNINN_EMBEDDING_DIMENSIONS": str(stage.model.embedding_dimensions),
    }
    code, out, err = await muninn(stage, tmp_path, "doctor", "--json", "--live", **embedding)
    told = json.loads(out)
    assert (code, told["exit_code"], told["faults"], err) == (0, 0, 0, ""), out
    assert set(told) == {"exit_code", "faults", "warnings", "findings"}
    ids = {finding["id"]: finding for finding in told["findings"]}
    for name in ("database.schema", "redis.writable", "model.key", "discord.token", "guilds.speaks", "clocks.discord"):
        assert ids[name]["level"] == "ok", name
    assert ids["live.model"]["level"] == ids["live.embedding"]["level"] == "ok"
    assert ids["guilds.speaks"]["subject"] == str(stage.guild.id)
    for secret in (stage.discord.token, stage.model.api_key):
        assert secret not in out
    assert stage.discord.identifies == 0


async def test_a_set_up_with_a_fault(stage: Stage, tmp_path: Path) -> None:
    """Exit code 1, and as text: the fault, below it what to do, and how many there are. Other parts are looked at."""
    code, out, err = await muninn(
        stage, tmp_path, "doctor", MUNINN_OPENAI_API_KEY="sk-of-somebody-else", MUNINN_WORKR=1
    )
    assert (code, err) == (1, "")
    lines = out.splitlines()
    faults = [n for n, line in enumerate(lines) if line.startswith("  FAULT")]
    assert len(faults) == 1
    assert "does not accept the key" in lines[faults[0]]
    assert lines[faults[0] + 1].strip() == "-> Correct MUNINN_OPENAI_API_KEY."
    assert lines[-1].startswith("1 fault, ")
    assert "MUNINN_WORKR" in out
    assert "sk-of-somebody-else" not in out
    assert "The schema is at version" in out


async def test_settings_that_cannot_be_read(stage: Stage, tmp_path: Path) -> None:
    """Exit code 2 and one sentence: nothing could be looked at."""
    code, out, err = await muninn(stage, tmp_path, "doctor", MUNINN_WORKERS="many")
    assert (code, out) == (2, "")
    assert err.startswith("muninn: MUNINN_WORKERS is wrong")


async def test_an_embedded_set_up_that_was_never_started(stage: Stage, tmp_path: Path) -> None:
    """Without data there is nothing to look at, and none is made."""
    code, out, _ = await muninn(
        stage, tmp_path, "doctor", "--json", MUNINN_DATABASE_URL="", MUNINN_REDIS_URL="", MUNINN_DATA_DIR="fresh"
    )
    levels = {finding["id"]: finding["level"] for finding in json.loads(out)["findings"]}
    assert code == 0
    assert levels["database.reachable"] == levels["redis.reachable"] == "skip"
    assert list(tmp_path.iterdir()) == []


async def test_the_invite_link(stage: Stage, tmp_path: Path) -> None:
    """The link for the bot that the token belongs to; a token that is not taken is one sentence."""
    assert await muninn(stage, tmp_path, "invite") == (0, invite_link(stage.discord.bot.id) + "\n", "")
    code, out, err = await muninn(stage, tmp_path, "invite", MUNINN_DISCORD_TOKEN="wrong-token")
    assert (code, out) == (1, "")
    assert err.startswith("muninn: Discord does not accept the token")


FINDINGS = (
    fault("model.key", "The key is not taken.", "Correct it."),
    ok("database.version", "PostgreSQL is version 18."),
    warn("guilds.listed", "No guild yet.", "Invite it.", subject="7"),
    skip("redis.version", "It does not tell."),
)


def test_text() -> None:
    """Grouped, in one order, marked by level, each next step below its finding."""
    assert as_text(FINDINGS) == (
        "Database\n  ok     PostgreSQL is version 18.\n\n"
        "Redis or Valkey\n  -      It does not tell.\n\n"
        "Model\n  FAULT  The key is not taken.\n         -> Correct it.\n\n"
        "Guilds\n  warn   No guild yet.\n         -> Invite it.\n\n"
        "1 fault, 1 warning.\n"
    )
    assert as_text(FINDINGS[1:2]).endswith("Nothing is at fault.\n")


def test_json() -> None:
    """The same, for scripts."""
    told = json.loads(as_json(FINDINGS))
    assert (told["exit_code"], told["faults"], told["warnings"]) == (1, 1, 1)
    assert [finding["id"] for finding in told["findings"]] == [
        "database.version",
        "redis.version",
        "model.key",
        "guilds.listed",
    ]
    assert told["findings"][3] == {
        "id": "guilds.listed",
        "group": "guilds",
        "level": "warn",
        "says": "No guild yet.",
        "next_step": "Invite it.",
        "subject": "7",
    }


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_has_a_title(group: str) -> None:
    """A finding of any group is shown."""
    assert group in TITLES
    assert "It works." in as_text([Finding(f"{group}.x", "ok", "It works.")])
