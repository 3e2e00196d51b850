"""The pool of connections to PostgreSQL, as Muninn uses it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import asyncpg

from memory.database import Connection

POOL_MOST: Final = 16
COMMAND_S: Final = 30.0
"""Seconds for one statement: nothing that Muninn asks takes longer while the server is well."""

CONNECT_S: Final = 10.0

# Ends whatever the server takes for one transaction with what comes next, by being the whole of it.
END_EXCHANGE_SQL: Final = "SELECT"


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
        connection_class=PooledConnection,
        init=init,
        reset=_give_back,
        # Most arguments are arrays, whose length makes a plan of their own look cheaper than it is to make.
        server_settings={"application_name": "muninn", "jit": "off", "plan_cache_mode": "force_generic_plan"},
    )


if TYPE_CHECKING:
    _Connection = asyncpg.Connection[asyncpg.Record]
else:
    _Connection = asyncpg.Connection


class PooledConnection(_Connection):
    """A connection that knows whether a statement was cut off before it ran.

    asyncpg asks the server to prepare a statement and leaves it to the execution to end that exchange. A task that is
    cancelled in between leaves the server in a transaction which nobody opened: whoever has the connection next would
    be in it, at a time that has passed.
    """

    cut_off: bool = False

    async def _get_statement(self, *args: Any, **options: Any) -> Any:
        try:
            return await super()._get_statement(*args, **options)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownVariableType]
        except asyncio.CancelledError:
            self.cut_off = True
            raise


async def _give_back(conn: Connection) -> None:
    """Give a connection back without a round trip: nobody leaves anything on it, but for a statement that was cut off.

    Settings are local to a transaction; listening and session locks have connections of their own. The pool itself
    still rolls back a transaction that was left open.
    """
    if isinstance(conn, PooledConnection) and conn.cut_off:
        conn.cut_off = False
        await conn.execute(END_EXCHANGE_SQL)
