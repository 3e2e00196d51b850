"""Why this answer? What an answer was made from and what was done for it, to whoever may read the place now.

Everybody who can read the place may see the sources, the tools and what was done, for the answer was made for that
audience (I7); what was done elsewhere shows only to those who can see it there. The run's inside, its model, times and
tokens, is for administrators. Nothing is shown to anybody but the person who asked.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from bot.addressing import Identity
from bot.commands.declaration import Menu, Slash
from bot.commands.options import text
from bot.errors import CommandRefused, ReadFault
from bot.facts import Facts
from bot.inspect import CallRecord, MessageReport, ReceiptRecord, RunReport, message_report, run_report
from bot.interactions import Command, Interaction, Reply
from bot.links import message_link
from bot.rest import Reads
from bot.sight import Policy
from memory.database import BORROW_S, Db, Pool
from memory.ids import MessageId, PlaceId, SpaceId

log = structlog.get_logger(__name__)

WHY: Final = Menu("Why this answer?", "What an answer of mine was made from, and what was done for it.", on="message")

MESSAGE: Final = text("message", "A link to the answer, or its number; your newest one here if left out.", most=120)
WHY_HERE: Final = Slash("why", "Why I answered as I did: what it was made from, and what was done.", (MESSAGE,))
_LINK: Final = re.compile(r"(?:https://(?:\w+\.)?discord(?:app)?\.com/channels/(?:@me|\d+)/\d+/)?(\d{15,20})")

MOST_CHARACTERS: Final = 2000
MOST_SOURCES: Final = 12
MOST_PLACES: Final = 12
"""How many places are looked at for whether the viewer can read them: what is elsewhere is not shown."""

_URL: Final = re.compile(r'"url":"(https?://[^"\\\s<>]{1,300})"')
# Ids of other things than messages are found in no journal.
_MESSAGE: Final = re.compile(r'"(?:message_)?id":"(\d{15,20})"')

# Writes by the words of a person; what is not named here is named by its tool.
_DEEDS: Final[Mapping[str, str]] = {
    "react": "reacted",
    "remove_own_reaction": "took back a reaction",
    "send_message": "posted a message",
    "reply_to_message": "replied to a message",
    "create_thread": "started a thread",
    "edit_thread": "changed a thread",
    "edit_own_message": "changed a message of mine",
    "delete_own_message": "deleted a message of mine",
    "pin_message": "pinned a message",
    "unpin_message": "unpinned a message",
    "remember": "kept a memory",
    "forget": "forgot a memory",
    "ask": "asked back by a card",
}
_ENDS: Final[Mapping[str, str]] = {
    "intended": "begun, and not recorded yet",
    "applied": "done",
    "refused": "not done",
    "unknown": "not certain",
}


class Why:
    """Answers the command."""

    def __init__(self, pool: Pool, reads: Reads, me: Identity, policy: Policy) -> None:
        self._pool = pool
        self._reads = reads
        self._me = me
        self._policy = policy

    async def asked(self, command: Command, reply: Reply) -> None:
        """Show what is on record for the message of the menu."""
        await self.explain(command, reply, MessageId(command.target_id or 0))

    async def asked_in_words(self, command: Command, reply: Reply) -> None:
        """The same for a message that is named, or for the newest answer to the person here."""
        named = command.get(MESSAGE)
        if named is None:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                scope = command.scope
                found = await conn.fetchval(LAST_ANSWERED_SQL, scope.space_id, scope.place_id, command.user_id)
            if found is None:
                raise CommandRefused("I have answered nothing of yours here that I have a record of.")
            await self.explain(command, reply, MessageId(found))
            return
        number = _LINK.fullmatch(named.strip())
        if number is None:
            raise CommandRefused("That is neither a link to a message nor its number, so there is nothing to show.")
        await self.explain(command, reply, MessageId(int(number[1])))

    async def explain(self, who: Interaction, reply: Reply, message_id: MessageId) -> None:
        """Show what is on record for an answer of ours, or for what was answered, to the person alone."""
        await reply.defer()
        facts = Facts(self._reads, who.scope.space_id, self._me.user_id)
        if not await facts.can_read(who.user_id, who.scope.place_id):
            raise CommandRefused("You cannot read this channel, so I show you nothing of it.")
        inside = await self._may_look_inside(facts, who)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            report = await message_report(conn, who.scope.space_id, message_id)
            if report.turn is None or report.turn.place_id != who.scope.place_id or not _is_ours(report):
                raise CommandRefused("I have no record of that message as an answer of mine.")
            run = await run_report(conn, who.scope.space_id, report.runs[-1].run_id) if report.runs else None
            places = await _places(conn, who.scope.space_id, report.receipts)
            said = await _said_where(conn, who.scope.space_id, _messages(run))
            recalled = await _recalled(conn, who, run)
        readable = await self._readable(facts, who, {*places.values(), *said.values()})
        behind = Behind(
            tuple(e for e in report.receipts if places.get(e.receipt_id, who.scope.place_id) in readable),
            {message_id: place_id for message_id, place_id in said.items() if place_id in readable},
            recalled,
        )
        guild_id = None if who.is_direct else who.scope.space_id
        await reply.say(explanation(report, run, behind, guild_id=guild_id, inside=inside))

    async def _may_look_inside(self, facts: Facts, who: Interaction) -> bool:
        if who.user_id in self._policy.owners:
            return True
        member = None if who.is_direct else await facts.member(who.user_id)
        return member is not None and member.is_administrator

    async def _readable(self, facts: Facts, who: Interaction, places: Collection[PlaceId]) -> frozenset[PlaceId]:
        """Which of these places the viewer can read, with the one in which he asks."""
        found = {who.scope.place_id}
        for place_id in sorted(set(places) - found)[:MOST_PLACES]:
            try:
                if await facts.can_read(who.user_id, place_id):
                    found.add(place_id)
            except ReadFault:
                # Unknown is not yes.
                log.info("why.place_unknown", place_id=place_id)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind an answer, as far as the viewer may see it: what was done, messages that were read with where
    they were said, and memories that were recalled."""

    receipts: Sequence[ReceiptRecord] = ()
    messages: Mapping[MessageId, PlaceId] = field(default_factory=dict[MessageId, PlaceId])
    memories: Sequence[int] = ()


# The newest message of somebody's here that was answered.
LAST_ANSWERED_SQL: Final = """
SELECT trigger_id FROM turns WHERE space_id = $1 AND place_id = $2 AND author_id = $3 AND state = 'answered'
ORDER BY turn_id DESC LIMIT 1
"""

# Where effects were made.
RECEIPT_PLACES_SQL: Final = """
SELECT receipt_id, place_id FROM action_receipts WHERE space_id = $1 AND receipt_id = ANY($2::bigint[])
"""


async def _places(conn: Db, space_id: SpaceId, receipts: Sequence[ReceiptRecord]) -> dict[int, PlaceId]:
    rows = await conn.fetch(RECEIPT_PLACES_SQL, space_id, [each.receipt_id for each in receipts])
    return {row["receipt_id"]: PlaceId(row["place_id"]) for row in rows}


# Where messages were said.
SAID_WHERE_SQL: Final = """
SELECT message_id, place_id FROM chat_messages
WHERE space_id = $1 AND message_id = ANY($2::bigint[]) AND deleted_at IS NULL
"""


async def _said_where(conn: Db, space_id: SpaceId, messages: Sequence[MessageId]) -> dict[MessageId, PlaceId]:
    rows = {row["message_id"]: row["place_id"] for row in await conn.fetch(SAID_WHERE_SQL, space_id, list(messages))}
    return {each: PlaceId(rows[each]) for each in messages if each in rows}


# Memories that the recalls of a run surfaced; of members' own, only the viewer's.
RECALLED_SQL: Final = """
SELECT DISTINCT i.memory_id
FROM recalls r JOIN recall_items i USING (recall_id) JOIN memory_items m ON m.memory_id = i.memory_id
WHERE r.space_id = $1 AND r.run_id = $2 AND (m.scope <> 'user' OR m.owner_id = $3)
ORDER BY i.memory_id
"""


async def _recalled(conn: Db, who: Interaction, run: RunReport | None) -> tuple[int, ...]:
    if run is None:
        return ()
    rows = await conn.fetch(RECALLED_SQL, who.scope.space_id, run.run.run_id, who.user_id)
    return tuple(row["memory_id"] for row in rows)


def _is_ours(report: MessageReport) -> bool:
    return report.message is None or report.message.author_kind in ("self", "member")


def explanation(
    report: MessageReport,
    run: RunReport | None,
    behind: Behind,
    *,
    guild_id: SpaceId | None,
    inside: bool,
) -> str:
    """The text, within Discord's limit. `guild_id` is None in a direct conversation."""
    turn = report.turn
    assert turn is not None  # noqa: S101 - the caller looked
    trigger = message_link(guild_id, turn.place_id, turn.trigger_id)
    calls = [call for step in run.steps for call in step.calls] if run is not None else []
    lines = [
        f"**Why this answer?** It answers {trigger} of <@{turn.author_id}>.",
        *_tools(calls),
        *_sources(run, guild_id, behind.messages),
        *_memories(behind.memories),
        *_deeds(behind.receipts),
    ]
    if run is None:
        lines.append("No run of my language model is on record for it (any more).")
    elif inside:
        lines.append(_inside(run))
    hidden = len(report.receipts) - len(behind.receipts)
    if hidden:
        lines.append(f"({hidden} more happened where you cannot see it.)")
    return _within("\n".join(lines))


def _tools(calls: Sequence[CallRecord]) -> list[str]:
    if not calls:
        return ["I looked nothing up for it: it rests on the recent messages here."]
    shown = ", ".join(f"`{call.tool}`" + (f" ({call.error_code})" if call.error_code else "") for call in calls)
    return [f"**Tools**: {shown}"]


def _reads(run: RunReport | None) -> Iterator[str]:
    """What its reads brought, each as compact JSON."""
    for step in run.steps if run is not None else ():
        for call in step.calls:
            if call.effect == "read" and call.result is not None:
                yield call.result.text.replace('": "', '":"')


def _messages(run: RunReport | None) -> list[MessageId]:
    return list(dict.fromkeys(MessageId(int(each)) for text in _reads(run) for each in _MESSAGE.findall(text)))


def _sources(run: RunReport | None, guild_id: SpaceId | None, messages: Mapping[MessageId, PlaceId]) -> list[str]:
    """Pages and messages that its reads brought."""
    pages = dict.fromkeys(f"<{url}>" for text in _reads(run) for url in _URL.findall(text))
    found = [*pages, *(message_link(guild_id, place_id, each) for each, place_id in messages.items())]
    shown = found[:MOST_SOURCES]
    more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return [f"**Sources**: {' '.join(shown)}{more}"] if shown else []


def _memories(memories: Sequence[int]) -> list[str]:
    if not memories:
        return []
    more = f" and {len(memories) - MOST_SOURCES} more" if len(memories) > MOST_SOURCES else ""
    shown = ", ".join(f"{each}" for each in memories[:MOST_SOURCES])
    return [f"**Remembered**: memory {shown}{more} (`/memory why` tells where each comes from)"]


def _deeds(receipts: Sequence[ReceiptRecord]) -> list[str]:
    told = [
        f"{_DEEDS[each.action]}: {_ENDS[each.state]}" + (f" ({each.failure})" if each.failure else "")
        for each in receipts
        if each.action in _DEEDS
    ]
    return [f"**Done for it**: {'; '.join(told)}"] if told else []


def _inside(run: RunReport) -> str:
    summary = run.run
    took = f"{(summary.ended_at - summary.started_at).total_seconds():.1f} s" if summary.ended_at else "still running"
    return (
        f"**Run {summary.run_id}**: {summary.model}, {summary.how}, "
        f"{summary.prompt_tokens} + {summary.completion_tokens} tokens, {took}"
    )


def _within(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
