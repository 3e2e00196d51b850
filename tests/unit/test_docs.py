"""The documentation holds together: each link leads somewhere, and what a newcomer is told to type is there."""

import re
from pathlib import Path

import pytest

from bot.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(p for p in ROOT.glob("*.md") if p.name != "README.md"),
    *sorted(ROOT.glob("docs/**/*.md")),
]
_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
_CODE = re.compile(r"```.*?```", re.DOTALL)


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links name files that are there."""
    text = _CODE.sub("", _text(page))
    missing = [link for link in _LINK.findall(text) if not (page.parent / link).exists()]
    assert missing == []


def test_commands_that_are_named_exist() -> None:
    """Each `muninn ...` in the documentation is a command of this version."""
    commands = {info.name or (info.callback.__name__ if info.callback else "") for info in app.registered_commands}
    named = {
        name for page in PAGES for name in re.findall(r"(?:`|bin/|^    )muninn ([a-z]+)\b", _text(page), re.MULTILINE)
    }
    assert "doctor" in named & commands
    assert named - commands == set()


def test_make_targets_that_are_named_exist() -> None:
    """Each `make ...` too; `make bench-...` takes the name of a benchmark."""
    targets = set(re.findall(r"^([a-z-]+):", _text(ROOT / "Makefile"), re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"(?:^    |`)make ([a-z-]+)", _text(page), re.MULTILINE)}
    assert "run" in named & targets
    assert {name for name in named if not name.startswith("bench-")} - targets == set()
