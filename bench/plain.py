"""The other side of the journal's benchmark: each event in a transaction of its own, by plain statements.

It keeps what the journal keeps (event, message, revision, reaction, cursor, target, inbox), in tables of the same
schema. It does not look for duplicates beyond the keys and does not order states, so it does a little less.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final, cast

import asyncpg
import orjson

from bench.traffic import DISCORD_EPOCH_MS, ME
from bot.events import Dispatch
from migrations.runner import FOLDER

SCHEMA: Final = "plain"
_SEARCH_PATH: Final = {"search_path": f"{SCHEMA},public"}

# The event as it came.
EVENT_SQL: Final = """
INSERT INTO discord_events (space_id, place_id, kind, event_key, message_id, subject_ids, source, payload)
VALUES ($1, $2, $3, $4, $5, $6, 'gateway', $7::text::jsonb) ON CONFLICT DO NOTHING
"""
# A new message.
MESSAGE_SQL: Final = """
INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_kind, author_name, content, reply_to_id,
                           created_at, version_at)
VALUES ($1, $2, $3, $4, 'member', $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING
"""
# How far the place's journal reaches.
CURSOR_SQL: Final = """
INSERT INTO place_cursors AS c (space_id, place_id, newest_id) VALUES ($1, $2, $3)
ON CONFLICT (space_id, place_id) DO UPDATE SET newest_id = EXCLUDED.newest_id WHERE c.newest_id < EXCLUDED.newest_id
"""
# What memory has yet to read.
TARGET_SQL: Final = """
INSERT INTO ingestion_targets AS t (space_id, place_id, target) VALUES ($1, $2, $3)
ON CONFLICT (space_id, place_id) DO UPDATE SET target = EXCLUDED.target WHERE t.target < EXCLUDED.target
"""
# An addressed message.
INBOX_SQL: Final = """
INSERT INTO discord_inbox (space_id, place_id, message_id, author_id, reason) VALUES ($1, $2, $3, $4, 'mention')
ON CONFLICT DO NOTHING
"""
# The words that an edit replaces.
REVISION_SQL: Final = """
INSERT INTO chat_message_revisions (space_id, message_id, version_at, content)
SELECT space_id, message_id, version_at, content FROM chat_messages WHERE space_id = $1 AND message_id = $2
ON CONFLICT DO NOTHING
"""
# The new words.
EDIT_SQL: Final = """
UPDATE chat_messages SET content = $3, edited_at = $4, version_at = $4 WHERE space_id = $1 AND message_id = $2
"""
# A deleted message.
DELETE_SQL: Final = "UPDATE chat_messages SET deleted_at = now() WHERE space_id = $1 AND message_id = $2"
# A reaction.
REACT_SQL: Final = """
INSERT INTO message_reactions (space_id, message_id, user_id, emoji, place_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
"""
# A reaction taken back.
UNREACT_SQL: Final = """
DELETE FROM message_reactions WHERE space_id = $1 AND message_id = $2 AND user_id = $3 AND emoji = $4
"""

Body = Mapping[str, Any]


class PlainJournal:
    """Writes events one by one on one connection."""

    def __init__(self, conn: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._conn = conn

    @classmethod
    @asynccontextmanager
    async def connect(cls, database_url: str) -> AsyncGenerator["PlainJournal"]:
        """Make the tables if they are missing, and hold a connection while the block runs."""
        conn = await asyncpg.connect(database_url, server_settings=_SEARCH_PATH)
        try:
            await _make_tables(conn)
            yield cls(conn)
        finally:
            await conn.close()

    async def write(self, dispatch: Dispatch) -> None:
        """Keep one event and what it changes, committed."""
        body = cast("Body", dispatch.data)
        async with self._conn.transaction():
            await self._event(dispatch, body)
            match dispatch.kind:
                case "MESSAGE_CREATE":
                    await self._message(body)
                case "MESSAGE_UPDATE":
                    await self._edit(body)
                case "MESSAGE_DELETE":
                    await self._conn.execute(DELETE_SQL, int(body["guild_id"]), int(body["id"]))
                case "MESSAGE_REACTION_ADD":
                    await self._conn.execute(REACT_SQL, *_reaction(body), int(body["channel_id"]))
                case "MESSAGE_REACTION_REMOVE":
                    await self._conn.execute(UNREACT_SQL, *_reaction(body))
                case _:
                    raise ValueError(f"the benchmark makes no {dispatch.kind}")

    async def _event(self, dispatch: Dispatch, body: Body) -> None:
        author = body.get("author")
        await self._conn.execute(
            EVENT_SQL,
            int(body["guild_id"]),
            int(body["channel_id"]),
            dispatch.kind,
            f"{dispatch.session}:{dispatch.sequence}",
            int(body.get("id") or body["message_id"]),
            [int(author["id"] if author else body.get("user_id") or 0)],
            orjson.dumps(body).decode(),
        )

    async def _message(self, body: Body) -> None:
        space, place, message = int(body["guild_id"]), int(body["channel_id"]), int(body["id"])
        author = int(body["author"]["id"])
        answered = body.get("message_reference")
        await self._conn.execute(
            MESSAGE_SQL,
            space,
            message,
            place,
            author,
            body["author"]["global_name"],
            body["content"],
            int(answered["message_id"]) if answered else None,
            datetime.fromtimestamp(((message >> 22) + DISCORD_EPOCH_MS) / 1000, UTC),
        )
        await self._conn.execute(CURSOR_SQL, space, place, message)
        await self._conn.execute(TARGET_SQL, space, place, message)
        if any(int(user["id"]) == ME.user_id for user in body["mentions"]):
            await self._conn.execute(INBOX_SQL, space, place, message, author)

    async def _edit(self, body: Body) -> None:
        space, message = int(body["guild_id"]), int(body["id"])
        await self._conn.execute(REVISION_SQL, space, message)
        edited_at = datetime.fromisoformat(body["edited_timestamp"])
        await self._conn.execute(EDIT_SQL, space, message, body["content"], edited_at)


def _reaction(body: Body) -> tuple[int, int, int, str]:
    return int(body["guild_id"]), int(body["message_id"]), int(body["user_id"]), body["emoji"]["name"]


async def _make_tables(conn: "asyncpg.Connection[asyncpg.Record]") -> None:
    if await conn.fetchval("SELECT true FROM pg_namespace WHERE nspname = $1", SCHEMA):
        return
    async with conn.transaction():
        await conn.execute(f"CREATE SCHEMA {SCHEMA}")
        for path in sorted(FOLDER.glob("*.sql")):
            await conn.execute(path.read_text())
