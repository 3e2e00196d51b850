"""compose.yaml and the Dockerfile keep to the rules that they are written by. No Docker runs here: this reads them."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.settings import Settings, load, secrets, variables
from tests.harness.plain_yaml import read

ROOT = Path(__file__).parents[2]
COMPOSE = read((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()

each_service = pytest.mark.parametrize("name", SERVICES)


def seconds(duration: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(s|m)", duration).groups()  # type: ignore[union-attr]
    return int(number) * {"s": 1, "m": 60}[unit]


def test_what_is_there() -> None:
    """A database with pgvector on PostgreSQL 17 or newer, Valkey, and Muninn."""
    assert set(SERVICES) == {"postgres", "valkey", "muninn"}
    image = re.fullmatch(r"pgvector/pgvector:(?:[\d.]+-)?pg(\d+)", SERVICES["postgres"]["image"])
    assert image is not None
    assert int(image[1]) >= 17
    assert SERVICES["valkey"]["image"].startswith("valkey/valkey:")


@each_service
def test_every_service_is_hardened(name: str) -> None:
    """Read-only root, no new privileges, a memory limit, a health check, and it comes back after a crash."""
    service = SERVICES[name]
    assert service["read_only"] is True
    assert "no-new-privileges:true" in service["security_opt"]
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert {"test", "interval", "timeout", "retries"} <= set(service["healthcheck"])
    assert service["restart"] == "unless-stopped"
    assert "privileged" not in service
    assert not service.get("ports"), "nothing is open to the outside"


@each_service
def test_secrets_are_files(name: str) -> None:
    """No password, token or key stands in the environment or on a command line; each secret that is named is a file."""
    service = SERVICES[name]
    for variable, value in service.get("environment", {}).items():
        if re.search("PASSWORD|TOKEN|KEY|DATABASE_URL", variable):
            assert variable.endswith("_FILE"), variable
            assert value.removeprefix("/run/secrets/") in service["secrets"], variable
        assert not re.search(r"://[^/]*:[^/]*@", str(value)), variable
    for secret in service.get("secrets", []):
        assert COMPOSE["secrets"][secret]["file"] == f"./secrets/{secret}"
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert "secrets/" in ignored
    assert (ROOT / ".dockerignore").read_text().splitlines()[0] == "*"


def test_muninns_settings_exist() -> None:
    """Each variable is a setting; those that are secret are given by file."""
    known = variables()
    for variable in SERVICES["muninn"]["environment"]:
        assert variable.removesuffix("_FILE") in known, variable
    given = {name.removesuffix("_FILE") for name in SERVICES["muninn"]["environment"] if name.endswith("_FILE")}
    assert {"MUNINN_DATABASE_URL", "MUNINN_DISCORD_TOKEN", "MUNINN_OPENAI_API_KEY"} <= given


def test_only_the_database_needs_to_last() -> None:
    """Its volume is declared and mounted where this image keeps its data; Valkey keeps nothing, Muninn neither."""
    assert SERVICES["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]
    assert set(COMPOSE["volumes"]) == {"postgres"}
    assert [name for name in SERVICES if "volumes" in SERVICES[name]] == ["postgres"]


def test_services_are_inside() -> None:
    """The database and Valkey are on a network without a way out; Muninn alone is on the other one, too."""
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert SERVICES["postgres"]["networks"] == SERVICES["valkey"]["networks"] == ["inside"]
    assert SERVICES["muninn"]["networks"] == ["inside", "outside"]


def test_the_database_knows_all_letters() -> None:
    """As `muninn doctor` asks for."""
    arguments = SERVICES["postgres"]["environment"]["POSTGRES_INITDB_ARGS"]
    for needed in ("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8"):
        assert needed in arguments


def test_valkey_throws_away_what_expires_anyway() -> None:
    """As `muninn doctor` asks for; within the container's limit."""
    command = SERVICES["valkey"]["command"]
    assert "--maxmemory-policy volatile-lru" in command
    assert '--save "" --appendonly no' in command


def test_a_stop_leaves_time_to_drain() -> None:
    """Compose waits longer than Muninn drains."""
    assert seconds(SERVICES["muninn"]["stop_grace_period"]) > Settings.model_fields["drain_s"].default + 5


def test_muninn_waits_for_the_database_and_asks_its_own_health() -> None:
    """By the command that asks /healthz: with nothing but what is in the image."""
    muninn = SERVICES["muninn"]
    assert muninn["depends_on"]["postgres"] == {"condition": "service_healthy"}
    assert muninn["healthcheck"]["test"] == "muninn health"
    assert muninn["cap_drop"] == ["ALL"]


def test_the_image() -> None:
    """Two stages, hashed requirements, certificates, no root, a health check, and no secret that is built in."""
    assert len(re.findall(r"^FROM ", DOCKERFILE, re.MULTILINE)) == 2
    installs = re.findall(r"pip install[^&\n]*", DOCKERFILE)
    assert len(installs) == 3
    assert all("--require-hashes" in each or "--no-deps" in each for each in installs)
    assert "ca-certificates" in DOCKERFILE
    user = re.search(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)
    assert user is not None
    assert int(user[1]) > 0
    assert re.search(r'^HEALTHCHECK .* CMD \["muninn", "health"\]$', DOCKERFILE, re.MULTILINE)
    assert not re.search(r"^(ARG|ENV).*(TOKEN|KEY|PASSWORD)", DOCKERFILE, re.MULTILINE)


def test_the_dockerfile_is_linted() -> None:
    """hadolint finds nothing; `make check` runs the same."""
    hadolint = Path(sys.executable).parent / "hadolint"
    linted = subprocess.run([hadolint, ROOT / "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (linted.returncode, linted.stdout) == (0, "")


def test_secret_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compose mounts is what Muninn reads: the address with its password, and no line break at its end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "database_url").write_text("postgresql://muninn:hunter2hunter2@postgres/muninn\n")
    monkeypatch.setenv("MUNINN_DATABASE_URL_FILE", str(tmp_path / "database_url"))
    assert "hunter2hunter2" in secrets(load())


@pytest.mark.parametrize(
    "text",
    ["a: &x 1", "a: *x", "a: |\n  b", "a: !t b", "a: 1\na: 2", "a:\n\tb: 1", "- a", "a: [1\n", "a b"],
)
def test_the_reader_refuses_what_it_does_not_know(text: str) -> None:
    """It would rather fail than read something else than Docker does."""
    with pytest.raises(ValueError, match=r"not understood|a tab"):
        read(text)


def test_the_reader_reads() -> None:
    """Blocks, lists, one-line forms, quotes, comments, numbers and truth."""
    text = 'a:\n  b: [x, "y z"]  # why\n  c: {d: e, f: 3}\n  # no\n  g:\n    - h:i\n    - 2\nj: true\nk: "#1"\nl:\n'
    assert read(text) == {
        "a": {"b": ["x", "y z"], "c": {"d": "e", "f": 3}, "g": ["h:i", 2]},
        "j": True,
        "k": "#1",
        "l": None,
    }
