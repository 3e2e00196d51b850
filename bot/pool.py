"""The pool of connections to PostgreSQL, as Muninn uses it."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import asyncpg

from memory.database import Connection

POOL_MOST: Final = 16
COMMAND_S: Final = 30.0
"""Seconds for one statement: nothing that Muninn asks takes longer while the server is well."""

CONNECT_S: Final = 10.0


def open_pool(
    database_url: str,
    *,
    most: int = POOL_MOST,
    opened: Callable[[Connection], Awaitable[None]] | None = None,
) -> Any:
    """A pool to enter with `async with`, of at most `most` connections; `opened` is awaited for each new one, before
    anybody has it."""

    async def init(conn: Connection) -> None:
        if opened is not None:
            await opened(conn)

    return asyncpg.create_pool(
        database_url,
        min_size=2,
        max_size=most,
        command_timeout=COMMAND_S,
        timeout=CONNECT_S,
        init=init,
        reset=_as_it_is,
        # Most arguments are arrays, whose length makes a plan of their own look cheaper than it is to make.
        server_settings={"application_name": "muninn", "jit": "off", "plan_cache_mode": "force_generic_plan"},
    )


async def _as_it_is(_conn: Connection) -> None:
    """Give a connection back without a round trip: nobody leaves anything on it.

    Settings are local to a transaction; listening and session locks have connections of their own. The pool itself
    still rolls back a transaction that was left open.
    """
