"""Migrations: in order, once, whole, and refused in one sentence where the database is not what the files say."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from memory.errors import SchemaFault
from migrations.runner import FOLDER, Applied, migrate, read_migrations, verify

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes migration files into a folder of the test's own."""

    def files(**texts: str) -> Path:
        for name, text in texts.items():
            (tmp_path / f"{name.removeprefix('m')}.sql").write_text(text)
        return tmp_path

    return files


async def _tables(url: str) -> set[str]:
    conn = await asyncpg.connect(url)
    try:
        rows = await conn.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {row["tablename"] for row in rows}
    finally:
        await conn.close()


async def test_applies_the_real_files_once(empty_database_url: str) -> None:
    """The project's own files bring an empty database to their newest version, and a second call does nothing."""
    names = tuple(path.name for path in sorted(FOLDER.glob("*.sql")))
    assert await migrate(empty_database_url) == Applied(0, len(names), names)
    assert await migrate(empty_database_url) == Applied(len(names), len(names), ())
    conn = await asyncpg.connect(empty_database_url)
    try:
        assert await verify(conn) == len(names)
    finally:
        await conn.close()


async def test_goes_on_where_it_stood(empty_database_url: str, write: Write) -> None:
    """Only files that the database lacks run."""
    folder = write(m0001_one="CREATE TABLE one (a int);")
    await migrate(empty_database_url, folder=folder)
    write(m0002_two="CREATE TABLE two (a int); ALTER TABLE one ADD b int;")
    assert await migrate(empty_database_url, folder=folder) == Applied(1, 2, ("0002_two.sql",))


async def test_many_at_once_apply_each_file_once(empty_database_url: str, write: Write) -> None:
    """Processes that migrate at the same moment do no harm: one works, the others find nothing left."""
    folder = write(m0001_one="CREATE TABLE one (a int);", m0002_two="CREATE TABLE two (a int);")
    results = await asyncio.gather(*(migrate(empty_database_url, folder=folder) for _ in range(6)))
    assert sorted(len(result.names) for result in results) == [0, 0, 0, 0, 0, 2]
    assert {result.after for result in results} == {2}


async def test_a_failing_file_leaves_nothing(empty_database_url: str, write: Write) -> None:
    """A file that fails is undone whole, those before it stay, and the sentence names it."""
    folder = write(m0001_one="CREATE TABLE one (a int);", m0002_two="CREATE TABLE two (a int); SELECT nonsense;")
    with pytest.raises(SchemaFault, match=r"0002_two\.sql failed and nothing of it was kept: .*nonsense"):
        await migrate(empty_database_url, folder=folder)
    assert await _tables(empty_database_url) == {"schema_migrations", "one"}


async def test_drift_is_refused(empty_database_url: str, write: Write) -> None:
    """A file changed after it was applied is refused, and nothing after it runs."""
    folder = write(m0001_one="CREATE TABLE one (a int);")
    await migrate(empty_database_url, folder=folder)
    write(m0001_one="CREATE TABLE one (a bigint);", m0002_two="CREATE TABLE two (a int);")
    with pytest.raises(SchemaFault, match=r"0001_one\.sql was changed after it was applied"):
        await migrate(empty_database_url, folder=folder)
    assert "two" not in await _tables(empty_database_url)


async def test_line_ends_are_no_drift(empty_database_url: str, write: Write) -> None:
    """The same file with other line ends is the same file."""
    folder = write(m0001_one="CREATE TABLE one (\n a int);\n")
    await migrate(empty_database_url, folder=folder)
    (folder / "0001_one.sql").write_bytes(b"CREATE TABLE one (\r\n a int);\r\n")
    assert (await migrate(empty_database_url, folder=folder)).names == ()


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("0001_one", "0003_three"), "0003_three.sql is out of line"),
        (("0002_two",), "0002_two.sql is out of line"),
        (("0001_one", "0001_two"), "0001_two.sql is out of line"),
        (("0001_One",), "0001_One.sql is out of line"),
        (("one",), "one.sql is out of line"),
    ],
)
def test_a_gap_in_the_files_is_refused(write: Write, names: tuple[str, ...], told: str) -> None:
    """Files that are not numbered one by one are refused before anything runs."""
    folder = write(**dict.fromkeys(names, "SELECT 1;"))
    with pytest.raises(SchemaFault, match=re.escape(told)):
        read_migrations(folder)


async def test_a_gap_in_the_database_is_refused(empty_database_url: str, write: Write) -> None:
    """A database that lacks a migration before its newest is refused."""
    folder = write(m0001_one="CREATE TABLE one (a int);", m0002_two="CREATE TABLE two (a int);")
    await migrate(empty_database_url, folder=folder)
    conn = await asyncpg.connect(empty_database_url)
    try:
        await conn.execute("DELETE FROM schema_migrations WHERE version = 1")
        with pytest.raises(SchemaFault, match=r"lacks migration 0001 but has 0002_two\.sql"):
            await migrate(conn, folder=folder)
        # The lock is free again, and the connection of use.
        held = """SELECT count(*) FROM pg_locks JOIN pg_database ON oid = database
            WHERE locktype = 'advisory' AND datname = current_database()"""
        assert await conn.fetchval(held) == 0
    finally:
        await conn.close()


async def test_a_newer_database_is_refused(empty_database_url: str, write: Write) -> None:
    """A database that a newer Muninn used is left alone."""
    folder = write(m0001_one="CREATE TABLE one (a int);", m0002_two="CREATE TABLE two (a int);")
    await migrate(empty_database_url, folder=folder)
    (folder / "0002_two.sql").unlink()
    with pytest.raises(SchemaFault, match=r"0002_two\.sql, which this Muninn does not know"):
        await migrate(empty_database_url, folder=folder)


async def test_a_half_applied_file_is_refused(empty_database_url: str, write: Write) -> None:
    """A file that ends its own transaction is told at once, and the half that stayed is told at the next start."""
    folder = write(m0001_one="CREATE TABLE one (a int); COMMIT; CREATE TABLE two (a int); SELECT nonsense;")
    with pytest.raises(SchemaFault, match=r"0001_one\.sql ended its own transaction and then failed"):
        await migrate(empty_database_url, folder=folder)
    with pytest.raises(SchemaFault, match=r"0001_one\.sql was applied by half"):
        await migrate(empty_database_url, folder=folder)


async def test_a_file_that_commits_is_refused_though_it_succeeds(empty_database_url: str, write: Write) -> None:
    """Also where every statement of such a file succeeds."""
    folder = write(m0001_one="CREATE TABLE one (a int); COMMIT; CREATE TABLE two (a int);")
    with pytest.raises(SchemaFault, match="ends its own transaction"):
        await migrate(empty_database_url, folder=folder)


async def test_verify_changes_nothing(empty_database_url: str, write: Write) -> None:
    """A start without the right to migrate says what is missing and leaves the database alone."""
    folder = write(m0001_one="CREATE TABLE one (a int);")
    conn = await asyncpg.connect(empty_database_url)
    try:
        with pytest.raises(SchemaFault, match="has no Muninn schema yet; run `muninn migrate`"):
            await verify(conn, folder=folder)
        assert await _tables(empty_database_url) == set()
        await migrate(conn, folder=folder)
        write(m0002_two="CREATE TABLE two (a int);")
        with pytest.raises(SchemaFault, match="at version 1 and this Muninn needs 2"):
            await verify(conn, folder=folder)
    finally:
        await conn.close()
