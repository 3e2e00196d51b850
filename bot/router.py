"""The router: claims what the journal left in the inbox, and makes each addressed message a turn (I3).

What was decided is one statement, which claims the item by its row lock and makes its turn, so that a crash leaves the
message in the inbox, and of two routers that looked at the same moment one makes the turn.
Rate limits act here; a message over a limit is a turn too, told so once a window and else ended in silence.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from asyncpg import UniqueViolationError

from bot.arrivals.items import Decision, Fate, Ignored, Item, Joined, PutOff, TurnReason, waiting
from bot.arrivals.rules import PASTE_S, Rules
from bot.crash import crash_point
from bot.turns import Turn
from bot.worker import Worker
from memory.database import BORROW_S, Db, Pool

BATCH: Final = 64


# Claim what still waits, make a turn of each item with its trigger, and mark it routed. At most $9 of them begin here
# at once, under a lease of $10 seconds: the first of each place where nothing waits and nothing runs. For the others
# one notification wakes the workers. Where none begins, the commit need not wait for the disk: lost with a crash of the
# server, the items wait in the inbox again, and the claim of a turn, which does wait, takes this with it.
ADD_TURNS_SQL: Final = """
WITH held AS MATERIALIZED (
    SELECT g.*, set_config('synchronous_commit', CASE WHEN $9 > 0 THEN 'on' ELSE 'off' END, true)
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::bigint[], $7::float8[],
                $8::text[])
      AS d (inbox_id, cancelled, notice, triggered_at, reason, author_id, delay_s, route)
    CROSS JOIN LATERAL (
        SELECT i.inbox_id, i.space_id, i.place_id, coalesce(d.author_id, i.author_id) AS author_id, i.message_id,
               d.cancelled, d.notice, d.triggered_at, d.reason, d.delay_s, d.route
        FROM discord_inbox i WHERE i.inbox_id = d.inbox_id AND i.state = 'waiting'
        FOR UPDATE SKIP LOCKED
    ) AS g
), begun AS MATERIALIZED (
    SELECT inbox_id FROM (
        SELECT DISTINCT ON (space_id, place_id) h.inbox_id, h.delay_s FROM held h
        WHERE h.cancelled IS NULL AND NOT EXISTS (  -- one look each: OFFSET keeps it from being joined
            SELECT FROM turns w
            WHERE w.space_id = h.space_id AND w.place_id = h.place_id AND w.state = 'queued' OFFSET 0)
          AND NOT EXISTS (
            SELECT FROM turns w WHERE w.space_id = h.space_id AND w.place_id = h.place_id
              AND w.state IN ('running', 'composed', 'delivering') OFFSET 0)
        ORDER BY space_id, place_id, inbox_id
    ) AS first WHERE delay_s = 0 ORDER BY inbox_id LIMIT $9
), decided AS (
    SELECT h.*, h.inbox_id IN (SELECT inbox_id FROM begun) AS begins FROM held h
), added AS (
    INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, end_reason, notice, triggered_at, ended_at,
                       reason, available_at, route, lease_no, lease_until, attempts, started_at)
    SELECT space_id, place_id, author_id, message_id,
           CASE WHEN cancelled IS NOT NULL THEN 'cancelled' WHEN begins THEN 'running' ELSE 'queued' END,
           cancelled, notice, triggered_at, CASE WHEN cancelled IS NULL THEN NULL ELSE now() END,
           reason, now() + make_interval(secs => delay_s), route, begins::int,
           CASE WHEN begins THEN now() + make_interval(secs => $10) END, begins::int, CASE WHEN begins THEN now() END
    FROM decided ORDER BY inbox_id
    ON CONFLICT (space_id, trigger_id) DO NOTHING
    RETURNING turn_id, space_id, place_id, author_id, trigger_id, state, notice, lease_no, attempts,
              triggered_at < now() - make_interval(secs => $11) AS overdue, reason, route,
              CASE WHEN state = 'running' THEN nextval('agent_runs_run_id_seq') END AS run_id
), triggers AS (
    INSERT INTO turn_triggers (space_id, message_id, turn_id) SELECT space_id, trigger_id, turn_id FROM added
), routed AS (
    UPDATE discord_inbox i SET state = 'routed' FROM held WHERE i.inbox_id = held.inbox_id
), woken AS MATERIALIZED (
    SELECT pg_notify('muninn_turns', '') FROM (SELECT FROM added WHERE state = 'queued' LIMIT 1) AS waits
)
SELECT added.* FROM added WHERE state = 'running'
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, 'woken', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM woken
"""

# Nothing comes of these.
IGNORE_SQL: Final = """
UPDATE discord_inbox SET state = 'ignored' WHERE inbox_id = ANY($1::bigint[]) AND state = 'waiting'
"""

# These are looked at again later.
PUT_OFF_SQL: Final = """
UPDATE discord_inbox i SET due_at = now() + make_interval(secs => p.after_s)
FROM unnest($1::bigint[], $2::float8[]) AS p (inbox_id, after_s)
WHERE i.inbox_id = p.inbox_id AND i.state = 'waiting'
"""

# The rest of a long message belongs to the turn of its beginning, as long as that has not begun; it waits a little for
# what may follow still. Gives the items that found their turn.
JOIN_SQL: Final = """
WITH held AS MATERIALIZED (
    SELECT i.inbox_id, i.space_id, i.message_id, t.turn_id
    FROM unnest($1::bigint[], $2::bigint[]) AS d (inbox_id, before_id)
    JOIN discord_inbox i ON i.inbox_id = d.inbox_id AND i.state = 'waiting'
    JOIN turn_triggers g ON g.space_id = i.space_id AND g.message_id = d.before_id
    JOIN turns t ON t.turn_id = g.turn_id AND t.state = 'queued' AND t.author_id = i.author_id
    FOR UPDATE OF i, t
), added AS (
    INSERT INTO turn_triggers (space_id, message_id, turn_id) SELECT space_id, message_id, turn_id FROM held
    ON CONFLICT DO NOTHING
), longer AS (
    UPDATE turns t SET available_at = greatest(t.available_at, now() + make_interval(secs => $3))
    FROM held WHERE t.turn_id = held.turn_id
)
UPDATE discord_inbox i SET state = 'routed' FROM held WHERE i.inbox_id = held.inbox_id RETURNING i.inbox_id
"""


class Router:
    """Routes the inbox whenever it is woken, and at least every `poll_s` seconds.

    With `worker`, turns begin there at once, as many as it takes; the others are begun by whoever claims them.
    """

    def __init__(
        self,
        pool: Pool,
        rules: Rules,
        woken: asyncio.Event,
        on_turns: Callable[[], None],
        *,
        poll_s: float,
        worker: Worker | None = None,
    ) -> None:
        self._worker = worker
        self._pool = pool
        self._rules = rules
        self._woken = woken
        self._on_turns = on_turns
        self._poll_s = poll_s

    async def run(self) -> None:
        """Route for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            while await self.route() == BATCH:
                pass
            try:
                async with asyncio.timeout(self._poll_s):
                    await self._woken.wait()
            except TimeoutError:
                continue
            self._woken.clear()

    async def route(self) -> int:
        """Route one batch; gives how many items it had."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            items = await waiting(conn, BATCH)
            if items:
                fates = await self._rules.fates(conn, items)
                crash_point("before_route")
                await self._settle(conn, fates)
        if items:
            crash_point("after_route")
        return len(items)

    async def _settle(self, conn: Db, fates: Sequence[Fate]) -> None:
        """Record what becomes of each. The rest of a long message comes after its beginning, which makes the turn."""
        decisions = [fate for fate in fates if isinstance(fate, Decision)]
        if decisions:
            await self._add_turns(conn, decisions)
        if joining := [fate for fate in fates if isinstance(fate, Joined)]:
            own = await _join(conn, joining)
            # Their beginning is no turn, or one that has begun already.
            decisions += (late := await self._rules.admitted([Decision(item, _reason(item)) for item in own]))
            if late:
                await self._add_turns(conn, late)
        if ignored := [fate.item.inbox_id for fate in fates if isinstance(fate, Ignored)]:
            await conn.execute(IGNORE_SQL, ignored)
        if put_off := [fate for fate in fates if isinstance(fate, PutOff)]:
            after = [fate.after_s for fate in put_off]
            await conn.execute(PUT_OFF_SQL, [fate.item.inbox_id for fate in put_off], after)
            self._later(after, self._woken.set)
        self._later([PASTE_S for _ in joining], self._on_turns)
        self._later([decision.delay_s for decision in decisions if decision.delay_s], self._on_turns)

    async def _add_turns(self, conn: Db, decisions: Sequence[Decision]) -> None:
        """Make turns of these: those that may begin here do, for the others the workers are woken."""
        columns: list[list[Any]] = [
            [d.item.inbox_id for d in decisions],
            [d.cancelled for d in decisions],
            [d.notice for d in decisions],
            [d.triggered_at for d in decisions],
            [d.reason for d in decisions],
            [d.author_id for d in decisions],
            [d.delay_s for d in decisions],
            [d.route for d in decisions],
        ]
        worker, rows = self._worker, None
        if worker is not None and worker.free > 0:
            # Where another process began in the same place in the same instant, nothing was done.
            with contextlib.suppress(UniqueViolationError):
                rows = await conn.fetch(ADD_TURNS_SQL, *columns, worker.free, worker.lease_s, worker.window_s)
        if rows is None:
            rows = await conn.fetch(ADD_TURNS_SQL, *columns, 0, 0.0, 0.0)
        begun = [Turn(outcome=None, **dict(row)) for row in rows if row["state"] == "running"]
        if worker is not None:
            worker.begin(begun)
        if len(begun) < len(rows):
            self._on_turns()

    def _later(self, after_s: Sequence[float], wake: Callable[[], None]) -> None:
        """Look again when the first and the last of these are due; a poll finds the others."""
        for pause_s in {min(after_s), max(after_s)} if after_s else ():
            asyncio.get_running_loop().call_later(pause_s + 0.02, wake)


def _reason(item: Item) -> TurnReason:
    return cast("TurnReason", item.reason)


async def _join(conn: Db, joining: Sequence[Joined]) -> list[Item]:
    """Add these to the turns of their beginnings; gives those that found none. In order, for each may go on."""
    left: list[Item] = []
    for each in joining:
        found = await conn.fetch(JOIN_SQL, [each.item.inbox_id], [each.before_id], PASTE_S)
        if not found:
            left.append(each.item)
    return left
