"""What the statements need of PostgreSQL, and what its errors mean."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

import asyncpg
import asyncpg.pool

if TYPE_CHECKING:
    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
    Borrowed: TypeAlias = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:  # only the stubs are generic
    Pool, Connection, Borrowed = asyncpg.Pool, asyncpg.Connection, asyncpg.pool.PoolConnectionProxy


BORROW_S: Final = 30.0
"""Seconds that anybody waits for a connection of the pool."""


class Db(Protocol):
    """Runs statements: an asyncpg connection, or one borrowed from a pool."""

    async def fetch(self, query: str, *args: object, timeout: float | None = None) -> Sequence[asyncpg.Record]: ...

    async def fetchrow(self, query: str, *args: object, timeout: float | None = None) -> asyncpg.Record | None: ...

    async def fetchval(self, query: str, *args: object, column: int = 0, timeout: float | None = None) -> Any: ...

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str: ...


# The server or the way to it is in trouble, and not the statement: the same again may succeed later.
PASSING_ERRORS = (
    OSError,
    asyncio.TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InsufficientResourcesError,  # disk full, out of memory, too many connections
    asyncpg.OperatorInterventionError,  # shutdown, crash, cannot connect now
    asyncpg.TransactionRollbackError,  # deadlock, serialisation
    asyncpg.PostgresSystemError,  # I/O error of the server
    asyncpg.InternalServerError,
    asyncpg.ReadOnlySQLTransactionError,  # a standby that has not been promoted yet
    asyncpg.LockNotAvailableError,
)


def is_passing(error: BaseException) -> bool:
    """Whether the same statement may succeed later, as it is."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return all(map(is_passing, group.exceptions))
    # asyncpg's complaint about an argument is an InterfaceError too, and would be the same again.
    return isinstance(error, PASSING_ERRORS) and not isinstance(error, ValueError)
