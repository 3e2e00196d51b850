"""What the doctor finds: one sentence each, how bad it is, and what to do next.

A finding's `name` is stable, so that a script may look for it; its words are for people and may change.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import asyncpg

Level = Literal["ok", "warn", "fault", "skip"]
Group = Literal[
    "settings", "database", "records", "redis", "model", "embeddings", "discord", "guilds", "clocks", "live"
]

GROUPS: Final[tuple[Group, ...]] = get_args(Group)

HEALTHY: Final = 0
FAULTY: Final = 1
"""Exit codes: nothing is at fault; something is. 2 stands for settings that cannot even be read."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`says` and `next_step` are one sentence each; `next_step` is there for each fault and warning.

    `skip` is what could not be looked at, because of another fault or because it is not set up. `subject` tells
    findings of one name apart: a guild's or a channel's id.
    """

    name: str
    level: Level
    says: str
    next_step: str | None = None
    subject: str | None = None

    @property
    def group(self) -> Group:
        """The part of Muninn that it is about: the first word of its name."""
        first = self.name.split(".", 1)[0]
        return next(group for group in GROUPS if group == first)


def ok(name: str, says: str, *, subject: str | None = None) -> Finding:
    """Nothing is wrong here."""
    return Finding(name, "ok", says, None, subject)


def warn(name: str, says: str, next_step: str, *, subject: str | None = None) -> Finding:
    """Muninn works, and could work better."""
    return Finding(name, "warn", says, next_step, subject)


def fault(name: str, says: str, next_step: str, *, subject: str | None = None) -> Finding:
    """Muninn does not work, or not as it promises."""
    return Finding(name, "fault", says, next_step, subject)


def skip(name: str, says: str) -> Finding:
    """This was not looked at."""
    return Finding(name, "skip", says)


def exit_code(findings: Sequence[Finding]) -> int:
    """FAULTY where anything is at fault, else HEALTHY."""
    return FAULTY if any(finding.level == "fault" for finding in findings) else HEALTHY


async def looked_at(name: str, look: Callable[[], Awaitable[Sequence[Finding]]]) -> list[Finding]:
    """What `look` finds; where PostgreSQL does not let it look, that is the finding, under `name`."""
    try:
        return list(await look())
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        reason = str(error).split("\n", 1)[0] or "no answer in time"
        return [
            fault(
                name,
                f"This could not be looked at: {type(error).__name__}: {reason.rstrip('.')}.",
                "Give Muninn's database user the right to read its own tables, or look into PostgreSQL's log.",
            )
        ]
