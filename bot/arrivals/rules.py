"""Which messages are answered: the deterministic routes, in a fixed order. What none of them claims is a turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import structlog

from bot.arrivals.ambience import Ambience
from bot.arrivals.items import (
    ASKED,
    Claims,
    Decision,
    Fate,
    Ignored,
    Item,
    Joined,
    Journalled,
    PutOff,
    TurnReason,
)
from bot.arrivals.proxies import speaker_of
from bot.guild_settings import GuildSettingsDoor
from bot.limiter import Limiter, Verdict, Wish
from memory.database import Db

log = structlog.get_logger(__name__)

LATE_S: Final = 60.0
"""What is older when it is looked at came while the bot was away: whether it still wants an answer is looked into."""

BACKFILL_S: Final = 60.0
"""So long at most such a message waits for what else its place missed: the question may have been asked again."""

LATE_PAUSE_S: Final = 0.5
PASTE_S: Final = 1.5
"""A turn on a message that may go on waits so long for the rest; an order that code carries out does not."""

ROUTED: Final = frozenset({"mention", "reply", "edit"})
"""What routes are asked about: no bot, no webhook and nobody who did not speak to the bot."""

PROXY_S: Final = 8.0
PROXY_PAUSE_S: Final = 0.4
PAIR_S: Final = 600.0

_UNREAD: Final = (
    "You chose that my language model does not read what you write, so I have no answer; `/privacy` changes it."
)


@dataclass(frozen=True, slots=True)
class Company:
    """Which other bots are answered, and how often within ten minutes in one place while no member says anything."""

    bots: frozenset[int] = frozenset()
    pair_turns: int = 2


# Whether the place still lacks messages that are being fetched.
BEHIND_SQL: Final = """
SELECT backfill_after IS NOT NULL FROM place_cursors WHERE space_id = $1 AND place_id = $2
"""

# Why a message that came late wants no answer any more: it was answered, by a message of ours that replies to it; or
# its author asked the same again later.
STALE_SQL: Final = """
SELECT CASE
    WHEN EXISTS (SELECT FROM chat_messages a WHERE a.space_id = $1 AND a.place_id = $2 AND a.message_id > $3
                   AND a.author_kind = 'self' AND a.reply_to_id = $3) THEN 'already_answered'
    WHEN EXISTS (SELECT FROM discord_inbox j JOIN chat_messages n USING (space_id, message_id)
                 WHERE j.space_id = $1 AND j.place_id = $2 AND j.author_id = m.author_id AND j.message_id > $3
                   AND j.reason NOT IN ('joined', 'left', 'room') AND n.deleted_at IS NULL
                   AND similarity(n.content, m.content) >= 0.6) THEN 'asked_again'
    END
FROM chat_messages m WHERE m.space_id = $1 AND m.message_id = $3
"""

# How often this bot was answered in this place lately, since a member last said something there.
PAIR_SQL: Final = """
SELECT count(*) FROM turns t
WHERE t.space_id = $1 AND t.place_id = $2 AND t.author_id = $3 AND t.queued_at > now() - make_interval(secs => $4)
  AND t.trigger_id > coalesce((
    SELECT m.message_id FROM chat_messages m
    WHERE m.space_id = $1 AND m.place_id = $2 AND m.author_kind = 'member' ORDER BY m.message_id DESC LIMIT 1), 0)
"""

# Whether the bot takes part in the thread.
TAKES_PART_SQL: Final = "SELECT takes_part($1, $2)"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A turn, if there are not too many."""

    decision: Decision


class Rules:
    """Decides on items, in their order, on a connection of the router's."""

    def __init__(
        self,
        limiter: Limiter,
        settings: GuildSettingsDoor,
        company: Company,
        ambience: Ambience,
        routes: Claims | None = None,
    ) -> None:
        self._limiter = limiter
        self._settings = settings
        self._company = company
        self._ambience = ambience
        self._routes = routes

    async def fates(self, conn: Db, items: Sequence[Item]) -> list[Fate]:
        """What becomes of each item. Raises what PostgreSQL raises."""
        fates = [await self._fate(conn, item) for item in items]
        admitted = iter(await self.admitted([each.decision for each in fates if isinstance(each, _Wanted)]))
        return [next(admitted) if isinstance(each, _Wanted) else each for each in fates]

    async def admitted(self, decisions: Sequence[Decision]) -> list[Decision]:
        """The turns, as far as there are not too many: then a notice once, else silence."""
        wishes = [
            Wish(each.item.space_id, each.item.place_id, each.author_id or each.item.author_id, each.item.message_id)
            for each in decisions
        ]
        verdicts = await self._limiter.admit(wishes)
        return [self._admitted(*each) for each in zip(decisions, verdicts, strict=True)]

    async def _fate(self, conn: Db, item: Item) -> "Fate | _Wanted":
        if item.reason in ("joined", "left"):
            return Ignored(item)
        if item.gone:
            return _over(item, "trigger_deleted")
        if (await self._settings.of(item.space_id, item.place_id)).listening == "off":
            return _over(item, "not_listening")
        match item.reason:
            case "room" | "thread":
                if item.unread:
                    return Ignored(item)
                return await self._overheard(conn, item)
            case "proxy":
                return await self._proxied(conn, item)
            case "bot":
                if not await self._may_pair(conn, item):
                    return Ignored(item)
            case _:
                pass
        return await self._asked(conn, Decision(item, cast("TurnReason", item.reason)))

    async def _asked(self, conn: Db, decision: Decision) -> "Fate | _Wanted":
        """Somebody waits for an answer."""
        item = decision.item
        if item.age_s > LATE_S:
            if item.waited_s < BACKFILL_S and await conn.fetchval(BEHIND_SQL, item.space_id, item.place_id):
                return PutOff(item, LATE_PAUSE_S)
            stale = await conn.fetchval(STALE_SQL, item.space_id, item.place_id, item.message_id)
            if stale is not None:
                return Decision(item, decision.reason, cancelled=str(stale))
        if item.before_id is not None:
            return Joined(item, item.before_id)
        return _Wanted(decision)

    def _admitted(self, decision: Decision, verdict: Verdict) -> Decision:
        item = decision.item
        if verdict == "go":
            notice = _UNREAD if item.unread else None
            route = self._claimed(decision)
            delay_s = PASTE_S if item.cut and item.age_s < LATE_S and route is None else 0.0
            return Decision(item, decision.reason, None, notice, decision.author_id, delay_s, route)
        told = verdict == "tell" and decision.reason in ASKED
        log.info("router.held_back", space_id=item.space_id, place_id=item.place_id, told=told)
        if told:
            return Decision(item, decision.reason, notice=_slow_down(self._limiter.window_s))
        return Decision(item, decision.reason, cancelled="rate_limited")

    def _claimed(self, decision: Decision) -> str | None:
        """The deterministic route of what a member said to the bot in their own name."""
        item = decision.item
        if self._routes is None or decision.reason not in ROUTED:
            return None
        ids = (item.space_id, item.place_id, item.message_id, item.author_id)
        return self._routes.claim(Journalled(*ids, item.words, item.reply_to_id))

    async def _overheard(self, conn: Db, item: Item) -> "Fate | _Wanted":
        """Plain talk: answered where the bot takes part or listens, else perhaps something is worth saying."""
        settings = await self._settings.of(item.space_id, item.place_id)
        part = item.reason == "thread" and await conn.fetchval(TAKES_PART_SQL, item.space_id, item.place_id)
        if part or settings.listening == "free":
            return await self._asked(conn, Decision(item, "thread" if part else "room"))
        if settings.ambient:
            return await self._ambience.fate(conn, item, settings)
        return Ignored(item)

    async def _proxied(self, conn: Db, item: Item) -> "Fate | _Wanted":
        """A webhook that may speak for a member whose own message was taken away for it."""
        speaker = await speaker_of(conn, item)
        if speaker is not None:
            if speaker.answered:
                return Ignored(item)
            return await self._asked(conn, Decision(item, "proxy", author_id=speaker.author_id))
        # The member's message may be taken away a moment later.
        return PutOff(item, PROXY_PAUSE_S) if item.waited_s < PROXY_S and item.age_s < LATE_S else Ignored(item)

    async def _may_pair(self, conn: Db, item: Item) -> bool:
        """Whether this bot is answered, and not one time too often."""
        if item.author_id not in self._company.bots:
            return False
        had = await conn.fetchval(PAIR_SQL, item.space_id, item.place_id, item.author_id, PAIR_S)
        if had >= self._company.pair_turns:
            log.info("router.pair_over_budget", space_id=item.space_id, place_id=item.place_id, bot_id=item.author_id)
            return False
        return True


def _over(item: Item, why: str) -> Fate:
    """An end without a word. What nobody asked for leaves no turn."""
    if item.reason in ASKED and item.reason not in ("proxy", "bot"):
        return Decision(item, cast("TurnReason", item.reason), cancelled=why)
    return Ignored(item)


def _slow_down(window_s: float) -> str:
    return (
        "That is more than I may answer at once; everything you wrote is kept, so "
        f"please ask again in {round(window_s)} seconds."
    )
