"""The doctor's findings as text for people, and as JSON for scripts. No secret is in either (I13)."""

import re
from collections.abc import Sequence
from typing import Final

import orjson

from bot.doctor.findings import GROUPS, Finding, Group, exit_code
from bot.logs import hide

TITLES: Final[dict[Group, str]] = {
    "settings": "Settings",
    "database": "Database",
    "records": "What is on record",
    "redis": "Redis or Valkey",
    "model": "Model",
    "embeddings": "Embeddings",
    "discord": "Discord",
    "guilds": "Guilds",
    "clocks": "Clocks",
    "live": "Live",
}
_MARKS: Final = {"ok": "ok   ", "warn": "warn ", "fault": "FAULT", "skip": "-    "}
# Names of guilds and channels are other people's: nothing in them may look like a line of ours, or move the cursor.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def as_text(findings: Sequence[Finding]) -> str:
    """One block a group, one line a finding, and below each fault and warning what to do."""
    blocks: list[str] = []
    for group in GROUPS:
        lines = [line for finding in findings if finding.group == group for line in _lines(finding)]
        if lines:
            blocks.append("\n".join([TITLES[group], *lines]))
    return "\n\n".join([*blocks, _sum(findings)]) + "\n"


def _lines(finding: Finding) -> list[str]:
    lines = [f"  {_MARKS[finding.level]}  {_plain(finding.says)}"]
    if finding.next_step is not None:
        lines.append(f"         -> {_plain(finding.next_step)}")
    return lines


def _sum(findings: Sequence[Finding]) -> str:
    faults, warnings = _count(findings, "fault"), _count(findings, "warn")
    said = f"{faults} {'fault' if faults == 1 else 'faults'}, {warnings} {'warning' if warnings == 1 else 'warnings'}."
    return "Nothing is at fault." if faults == warnings == 0 else said


def as_json(findings: Sequence[Finding]) -> str:
    """`{"exit_code", "faults", "warnings", "findings": [{"id", "group", "level", "says", "next_step", "subject"}]}`.

    `id` is stable; `subject` is the id of the guild that the finding is about, else null.
    """
    return orjson.dumps(
        {
            "exit_code": exit_code(findings),
            "faults": _count(findings, "fault"),
            "warnings": _count(findings, "warn"),
            "findings": [
                {
                    "id": finding.name,
                    "group": finding.group,
                    "level": finding.level,
                    "says": _plain(finding.says),
                    "next_step": None if finding.next_step is None else _plain(finding.next_step),
                    "subject": finding.subject,
                }
                for group in GROUPS
                for finding in findings
                if finding.group == group
            ],
        },
        option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
    ).decode()


def _count(findings: Sequence[Finding], level: str) -> int:
    return sum(finding.level == level for finding in findings)


def _plain(text: str) -> str:
    return hide(_UNPRINTABLE.sub(" ", text))
