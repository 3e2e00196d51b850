"""What may be spent: tokens a day for each space and each member, and whether anything may be spent at all.

Looked at before a run begins; a run that has begun is finished, so that a day ends at most one run over its budget for
each turn that was under way. Reading for memory and summing up spend of the space's day too, and wait for the next one
where it is used up. A day is UTC's. What a run used is booked by the statement that ends it (agent.ending),
everything else with its request's row (bot.ai_events).
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from bot.guild_settings import GuildSettings
from bot.turns import Turn
from memory.database import BORROW_S, Db, Pool
from memory.ids import SpaceId

Forbidden: TypeAlias = Literal["stopped", "budget_space", "budget_member"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens a day, prompts and replies together; 0 is no budget."""

    space_tokens: int = 0
    member_tokens: int = 0


# What was spent today in this space and by this member in it, and whether everything is switched off.
SPENT_SQL: Final = """
SELECT coalesce(sum(tokens), 0)::bigint AS space,
       coalesce(sum(tokens) FILTER (WHERE member_id = $2), 0)::bigint AS member,
       EXISTS (SELECT FROM operator_switches WHERE name = 'stop' AND is_on) AS stopped
FROM token_spend WHERE space_id = $1 AND day = (now() AT TIME ZONE 'UTC')::date
"""


# What was spent today in this space.
SPACE_SPENT_SQL: Final = """
SELECT coalesce(sum(tokens), 0)::bigint FROM token_spend
WHERE space_id = $1 AND day = (now() AT TIME ZONE 'UTC')::date
"""


async def is_used_up(pool: Pool, settings: GuildSettings, space_id: SpaceId) -> bool:
    """Whether a space has spent what it may today."""
    if not settings.daily_tokens:
        return False
    async with pool.acquire(timeout=BORROW_S) as conn:
        return int(await conn.fetchval(SPACE_SPENT_SQL, space_id)) >= settings.daily_tokens


def budget_of(settings: GuildSettings) -> Budget:
    """The budget that holds in a place: the guild's, which is at most the operator's."""
    return Budget(settings.daily_tokens, settings.member_daily_tokens)


async def forbidden(conn: Db, turn: Turn, budget: Budget, *, switched_off: bool = False) -> Forbidden | None:
    """Why no run may begin for this turn; None if one may. `switched_off` is the setting, which the switch adds to."""
    row = await conn.fetchrow(SPENT_SQL, turn.space_id, turn.author_id)
    if row is None:
        raise AssertionError("an aggregate has one row")
    if switched_off or row["stopped"]:
        return "stopped"
    if budget.member_tokens and row["member"] >= budget.member_tokens:
        return "budget_member"
    if budget.space_tokens and row["space"] >= budget.space_tokens:
        return "budget_space"
    return None
