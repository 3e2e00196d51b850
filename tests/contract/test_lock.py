"""The hashed requirements are what `pyproject.toml` asks for, everywhere the same, and name no index."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCKS = ("run", "dev", "uv")


def _pins(lock: str) -> dict[str, list[tuple[Version, Marker | None]]]:
    """The versions that a lock has of each package, with the systems they are for."""
    pins: dict[str, list[tuple[Version, Marker | None]]] = {}
    for line in (ROOT / "requirements" / f"{lock}.txt").read_text().splitlines():
        if re.match(r"[A-Za-z0-9]", line):
            wanted = Requirement(line.rstrip("\\ "))
            (specifier,) = wanted.specifier
            pins.setdefault(canonicalize_name(wanted.name), []).append((Version(specifier.version), wanted.marker))
    return pins


def _wanted(group: str | None = None) -> list[Requirement]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    entries: list[Any] = project["dependency-groups"][group] if group else project["project"]["dependencies"]
    found: list[Requirement] = []
    for entry in entries:
        found += [Requirement(entry)] if isinstance(entry, str) else _wanted(str(entry["include-group"]))
    return found


@pytest.mark.parametrize(("lock", "groups"), [("run", (None, "build")), ("dev", (None, "dev"))])
def test_the_lock_has_what_is_wanted(lock: str, groups: tuple[str | None, ...]) -> None:
    """Where it has not: make lock."""
    pins = _pins(lock)
    for group in groups:
        for wanted in _wanted(group):
            found = pins.get(canonicalize_name(wanted.name), [])
            assert found, f"{wanted.name} is not in {lock}.txt; run `make lock`"
            assert all(wanted.specifier.contains(version) for version, _ in found), f"{wanted}; run `make lock`"


def test_tests_run_with_what_is_shipped() -> None:
    """dev.txt has the very versions of run.txt."""
    run, dev = _pins("run"), _pins("dev")
    assert {name: {version for version, _ in found} for name, found in run.items()} == {
        name: {version for version, _ in dev[name]} for name in run
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_every_file_has_a_hash_and_no_address(lock: str) -> None:
    """So any index will do that serves the same files."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    assert "://" not in text
    assert "index-url" not in text
    assert "find-links" not in text
    for block in re.split(r"\n(?=[A-Za-z0-9])", text)[1:]:
        assert "--hash=sha256:" in block, block.splitlines()[0]
