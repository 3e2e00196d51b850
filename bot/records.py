"""What is on record, as the page of the sandbox shows it: bot.inspect's reports as JSON."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, cast

import asyncpg

from bot.inspect import message_report, run_report
from memory.database import PASSING_ERRORS, Pool
from memory.ids import MessageId, RunId, SpaceId
from sandbox.page import RecordsUnavailable

_WITHIN_S: Final = 5.0
_CONNECTIONS: Final = 2


class DatabaseRecords:
    """A sandbox.page.Records over a database. It only reads."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def message(self, space_id: int, message_id: int) -> dict[str, object]:
        """Raises RecordsUnavailable while the database does not answer."""
        async with self._moment() as conn:
            return _as_object(await message_report(conn, SpaceId(space_id), MessageId(message_id)))

    async def run(self, space_id: int, run_id: int) -> dict[str, object] | None:
        """Raises RecordsUnavailable while the database does not answer."""
        async with self._moment() as conn:
            report = await run_report(conn, SpaceId(space_id), RunId(run_id))
        return None if report is None else {**_as_object(report), "place_id": str(report.run.place_id)}

    @asynccontextmanager
    async def _moment(self) -> AsyncGenerator[Any]:
        """A connection on which all statements see the same moment."""
        try:
            async with (
                self._pool.acquire(timeout=_WITHIN_S) as conn,
                conn.transaction(isolation="repeatable_read", readonly=True),
            ):
                yield conn
        except PASSING_ERRORS as error:
            raise RecordsUnavailable("The database does not answer right now.") from error


@asynccontextmanager
async def database_records(database_url: str) -> AsyncGenerator[DatabaseRecords]:
    """Records of the database at that address, on connections of their own, until the block ends."""
    async with asyncpg.create_pool(database_url, min_size=0, max_size=_CONNECTIONS, command_timeout=_WITHIN_S) as pool:
        yield DatabaseRecords(pool)


def _as_object(report: Any) -> dict[str, object]:
    """A dataclass as JSON has it: times as ISO 8601, ids as text, which JavaScript's numbers cannot hold."""
    return {field.name: _as_json(field.name, getattr(report, field.name)) for field in fields(report)}


def _as_json(name: str, value: object) -> object:
    if is_dataclass(value):
        return _as_object(value)
    if isinstance(value, tuple):
        return [_as_json("", item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return str(value) if isinstance(value, int) and name.endswith("_id") else value
