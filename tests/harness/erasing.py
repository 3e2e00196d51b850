"""What an erasure left: everything that is kept, searched for an id or for words."""

from collections.abc import Sequence

import asyncpg


async def tables(pool: asyncpg.Pool) -> list[str]:
    """All tables of the schema."""
    rows = await pool.fetch(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY 1"
    )
    return [row["relname"] for row in rows]


async def found_in(pool: asyncpg.Pool, needles: Sequence[str]) -> dict[str, int]:
    """How many rows of each table have any of the needles in any column, whatever its type. A number stands alone: as
    a part of a longer one, or of a digest, it is nobody's id."""
    patterns = [f"(^|[^0-9a-f]){n}([^0-9a-f]|$)" if n.isdecimal() else f"***={n}" for n in needles]
    found: dict[str, int] = {}
    for table in await tables(pool):
        count = await pool.fetchval(
            f'SELECT count(*) FROM "{table}" AS t, unnest($1::text[]) AS n WHERE t::text ~ n',
            patterns,
        )
        if count:
            found[table] = count
    return found
