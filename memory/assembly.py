"""What a turn is shown beside its request, section by section, each within a budget of its own and in a fixed order:

    the place's summary, what is still to be done, durable memories, older messages, the working set

Only selection happens here; bot.prompt renders what was selected. A section that could not be read is left out, and the
model is told (I9).
"""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog

from memory.context import Line, WorkingSet, estimate_tokens, read_lines_beside
from memory.database import BORROW_S, Pool, is_passing
from memory.ids import UserId
from memory.kinds import Kind
from memory.places import SHOWN_PLACES, is_direct
from memory.questions import content_words, words_of
from memory.recall import Asking, Recall, Recalled
from memory.scope import Scope, fetch_scoped
from memory.search import search_words
from memory.summaries import Summary, read_summary

log = structlog.get_logger(__name__)

MOST_OPEN: Final = 3
MOST_OLDER: Final = 3
OLDER_TOKENS: Final = 1_200
SUMMARY_CHARS: Final = 4_000
OLDER_SHARE: Final = 0.6
"""The share of the request's words that an older message must have to be shown unasked."""

ABOUT_LINES: Final = 3
_SEARCH_S: Final = 4.0


@dataclass(frozen=True, slots=True)
class OpenItem:
    """A commitment or project of the member's, of the place's or of the guild's."""

    memory_id: int
    kind: Kind
    key: str | None
    content: str
    author_id: UserId
    author_name: str
    said_on: str


@dataclass(frozen=True, slots=True)
class Assembled:
    """The sections; `failed` names those that could not be read. `tokens` is what they are estimated to cost."""

    working: WorkingSet
    summary: Summary | None
    recalled: Recalled | None
    open_items: tuple[OpenItem, ...]
    older: tuple[Line, ...]
    failed: tuple[str, ...]
    tokens: int


async def assemble(
    pool: Pool,
    recall: Recall,
    scope: Scope,
    asker: UserId,
    working: WorkingSet,
    *,
    remembers: bool = True,
    others: bool = True,
) -> Assembled:
    """Read every section for the working set's trigger, side by side. What was recalled is still to be noted.

    Where the place does not remember (`remembers`), nothing shows but what was said in it: neither memories nor a
    summary are looked for.
    Without `others`, no older messages: they are other people's, too.
    """
    request = working.trigger.content if working.trigger is not None else ""
    if not remembers:
        return await _of_the_place(pool, scope, request, working, others=others)
    asking = Asking(
        scope,
        asker,
        request,
        about=about(working.lines),
        shown=[each.content for each in working.lines],
        shown_ids=frozenset(each.message_id for each in working.lines),
    )
    failed: list[str] = []
    async with asyncio.TaskGroup() as group:
        recalling = group.create_task(_tried("memory", recall.look(asking), failed))
        opening = group.create_task(_tried("open items", _open_items(pool, scope, asker), failed))
        summing = group.create_task(_tried("summary", _summary(pool, scope), failed))
        looking = group.create_task(
            _tried("older messages", _older(pool, scope, request, working, others=others), failed)
        )
    recalled = recalling.result()
    items = opening.result() or ()
    summary, older = summing.result(), looking.result() or ()
    quiet = recalled is not None and recalled.mode == "none"
    known = {each.candidate.memory_id for each in recalled.items} if recalled is not None else set[int]()
    shown = () if quiet else tuple(each for each in items if each.memory_id not in known)
    costs = [
        *(each.candidate.content for each in (recalled.items if recalled is not None else ())),
        *(f"{each.question}{each.answer}" for each in (recalled.episodes if recalled is not None else ())),
        *(each.content for each in (*shown, *older, *working.lines)),
        summary.content if summary is not None else "",
    ]
    tokens = sum(map(estimate_tokens, costs))
    return Assembled(working, summary, recalled, shown, older, tuple(sorted(failed)), tokens)


async def _of_the_place(pool: Pool, scope: Scope, request: str, working: WorkingSet, *, others: bool) -> Assembled:
    """What shows where nothing is remembered: what was said in the place, and neither a memory nor a summary."""
    failed: list[str] = []
    looking = _older(pool, scope, request, working, others=others, elsewhere=False)
    older = await _tried("older messages", looking, failed) or ()
    tokens = sum(estimate_tokens(each.content) for each in (*older, *working.lines))
    return Assembled(working, None, None, (), older, tuple(failed), tokens)


T = TypeVar("T")


async def _tried(section: str, reading: Awaitable[T], failed: list[str]) -> T | None:
    """What was read; None where the database is in trouble, noted in `failed`."""
    try:
        return await reading
    except Exception as error:
        if not is_passing(error):
            raise
        log.warning("context.section_failed", section=section, error=type(error).__name__)
        failed.append(section)
        return None


def about(lines: Sequence[Line]) -> str:
    """What the conversation was about last: its last few lines, the newest first."""
    return "\n".join(each.content for each in reversed(lines[-ABOUT_LINES:]))


async def _summary(pool: Pool, scope: Scope) -> Summary | None:
    async with pool.acquire(timeout=BORROW_S) as conn:
        found = await read_summary(conn, scope)
    if found is None or len(found.content) <= SUMMARY_CHARS:
        return found
    return Summary(found.content[: SUMMARY_CHARS - 1] + "…", found.through_id, found.written_at)


# What the member $3, this place and the guild have still to do, where it may show: the most important first.
OPEN_ITEMS_SQL: Final = f"""
WITH {SHOWN_PLACES}
SELECT l.memory_id, l.kind, l.key, l.content, l.author_id, l.author_name,
       to_char(l.said_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS said_on
FROM live_memories l
WHERE l.space_id = $1 AND l.kind IN ('commitment', 'project')
  AND ((l.scope = 'user' AND l.owner_id = $3) OR (l.scope = 'channel' AND l.owner_id = $2)
       OR l.scope = 'guild')
  AND l.place_id IN (SELECT place_id FROM shown_places)
ORDER BY l.importance DESC, l.said_id DESC LIMIT $4
"""


async def _open_items(pool: Pool, scope: Scope, asker: UserId) -> tuple[OpenItem, ...]:
    async with pool.acquire(timeout=BORROW_S) as conn:
        rows = await fetch_scoped(conn, OPEN_ITEMS_SQL, scope, asker, MOST_OPEN)
    return tuple(OpenItem(**dict(row)) for row in rows)


async def _older(
    pool: Pool, scope: Scope, request: str, working: WorkingSet, *, others: bool, elsewhere: bool = True
) -> tuple[Line, ...]:
    """Messages from before the working set, and of other places that may show here if `elsewhere`, which have most of
    the request's words, each with its neighbours; none where those of `others` are not to be shown."""
    wanted = set(content_words(request))
    if not others or len(wanted) < 2 or working.trigger is None:
        return ()
    elsewhere = elsewhere and not await is_direct(pool, scope)
    if working.whole and not elsewhere:
        return ()
    trigger_id = working.trigger.message_id
    first = min((trigger_id, *(each.message_id for each in working.lines)))
    async with pool.acquire(timeout=BORROW_S) as conn:
        found = await search_words(
            conn,
            scope,
            " ".join(sorted(wanted)),
            limit=MOST_OLDER,
            before_id=first,
            elsewhere_before_id=trigger_id,
            within_s=_SEARCH_S,
            content_only=True,
            elsewhere=elsewhere,
        )
        hits = [
            (each.message_id, each.place_id)
            for each in found.found
            if len(wanted & set(words_of(each.content))) >= OLDER_SHARE * len(wanted)
        ]
        lines = await read_lines_beside(conn, scope, hits, before_id=first, elsewhere_before_id=trigger_id)
    room, kept = OLDER_TOKENS, list[Line]()
    for line in lines:
        room -= estimate_tokens(line.content)
        if room >= 0:
            kept.append(line)
    return tuple(kept)
