"""Every SQL constant fits the migrated schema: one that names what is not there fails here, without any data."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, cast

import asyncpg
import orjson
import pytest

PACKAGES = ("agent", "bot", "memory", "migrations", "tools")
SUFFIX = "_SQL"


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        yield package
        path = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(path, f"{package}."):
            if not module.name.endswith("__main__"):
                yield module.name


def _statements() -> dict[str, str]:
    """Every constant named *_SQL, by module and name; where one module takes it from another, it stands once."""
    found: dict[str, str] = {}
    for name in _modules():
        for constant, value in vars(importlib.import_module(name)).items():
            if constant.endswith(SUFFIX) and isinstance(value, str) and value not in found.values():
                found[f"{name}.{constant}"] = value
    return found


STATEMENTS = _statements()


def test_statements_were_found() -> None:
    """The collection works: an empty one would let everything pass."""
    assert len(STATEMENTS) > 20
    assert any(name.startswith("memory.") for name in STATEMENTS)


async def test_every_statement_can_be_prepared(database_url: str) -> None:
    """PostgreSQL parses, names and types each of them against the schema of this version."""
    conn = await asyncpg.connect(database_url)
    wrong: list[str] = []
    try:
        for name, statement in STATEMENTS.items():
            try:
                await conn.prepare(statement)
            except asyncpg.PostgresError as exc:
                wrong.append(f"{name}: {exc}")
    finally:
        await conn.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_statement_is_hidden(package: str) -> None:
    """A text constant that looks like SQL is named *_SQL, so that it is prepared here; a leading underscore will do."""
    verbs = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "NOTIFY ", "LISTEN ")
    hidden = [
        f"{name}.{constant}"
        for name in _modules()
        if name.split(".")[0] == package
        for constant, value in vars(importlib.import_module(name)).items()
        if isinstance(value, str) and value.strip().startswith(verbs) and not constant.endswith(SUFFIX)
    ]
    assert hidden == []


# The tables that grow with what is said; reading one of them whole is never right on the way of a message.
GROWING = frozenset(
    {
        "action_cards",
        "action_receipts",
        "agent_runs",
        "agent_steps",
        "agent_tool_calls",
        "ai_events",
        "chat_message_revisions",
        "chat_messages",
        "discord_events",
        "discord_inbox",
        "embedding_jobs",
        "embedding_rechecks",
        "episode_messages",
        "ingestion_rereads",
        "memory_episodes",
        "memory_evidence",
        "memory_item_revisions",
        "memory_items",
        "memory_link_evidence",
        "memory_link_revisions",
        "memory_links",
        "memory_owners",
        "memory_postings",
        "memory_revocations",
        "memory_uses",
        "memory_vectors",
        "message_reactions",
        "recall_episodes",
        "recall_items",
        "recalls",
        "token_spend",
        "turn_parts",
        "turn_triggers",
        "turns",
    }
)


SWEEPS = "bot.erasure."
"""What erases looks everywhere, on purpose, once for each request, and beside everything else."""


async def test_no_statement_reads_a_growing_table_whole(database_url: str) -> None:
    """Each has an index to go by: with sequential scans made dear, the planner finds another way."""
    conn = await asyncpg.connect(database_url)
    whole: list[str] = []
    try:
        await conn.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
        for name, statement in STATEMENTS.items():
            reads = statement.strip().startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE"))
            if reads and not name.startswith(SWEEPS):
                plan = await _generic_plan(conn, statement)
                whole += [
                    f"{name} reads {table} whole" for table in _read_whole(orjson.loads(plan)) if table in GROWING
                ]
    finally:
        await conn.close()
    assert not whole, "\n".join(whole)


async def test_a_statement_without_an_index_is_found(database_url: str) -> None:
    """The check above can fail."""
    conn = await asyncpg.connect(database_url)
    try:
        await conn.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
        plan = await _generic_plan(conn, "SELECT 1 FROM turns WHERE end_reason = $1")
    finally:
        await conn.close()
    assert list(_read_whole(orjson.loads(plan))) == ["turns"]


async def _generic_plan(conn: asyncpg.Connection, statement: str) -> str:
    parameters = (await conn.prepare(statement)).get_parameters()
    arguments = f"({', '.join(['NULL'] * len(parameters))})" if parameters else ""
    await conn.execute(f"PREPARE checked AS {statement}")
    plan = await conn.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE checked{arguments}")
    await conn.execute("DEALLOCATE checked")
    return str(plan)


def _read_whole(plan: Any) -> Iterator[str]:
    if isinstance(plan, dict):
        node = cast("dict[str, Any]", plan)
        if node.get("Node Type") == "Seq Scan":
            yield str(node["Relation Name"])
        plan = list(node.values())
    if isinstance(plan, list):
        for inner in cast("list[Any]", plan):
            yield from _read_whole(inner)
