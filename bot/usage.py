"""The command /usage: what one used today and this week, what is left, and for who governs, what everybody did."""

from typing import Final

from bot.commands.declaration import Slash
from bot.governing import Governing
from bot.guild_settings import GuildSettingsDoor
from bot.interactions import Command, Reply
from memory.database import BORROW_S, Pool

USAGE: Final = Slash("usage", "What you used of my language model today and this week, and what is left.")
MOST_MEMBERS: Final = 5

# What somebody, and everybody, used in a space today (UTC) and in the last seven days.
USED_SQL: Final = """
SELECT coalesce(sum(tokens) FILTER (WHERE member_id = $2 AND day = today), 0)::bigint AS mine_today,
       coalesce(sum(tokens) FILTER (WHERE member_id = $2), 0)::bigint AS mine_week,
       coalesce(sum(tokens) FILTER (WHERE day = today), 0)::bigint AS all_today,
       coalesce(sum(tokens), 0)::bigint AS all_week,
       count(DISTINCT member_id) FILTER (WHERE day = today AND member_id <> 0) AS members_today
FROM token_spend CROSS JOIN (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS t
WHERE space_id = $1 AND day > today - 7
"""

# Who used most in a space today.
MOST_USED_SQL: Final = """
SELECT member_id, tokens FROM token_spend
WHERE space_id = $1 AND day = (now() AT TIME ZONE 'UTC')::date AND member_id <> 0
ORDER BY tokens DESC, member_id LIMIT $2
"""


class Usage:
    """Answers the command."""

    def __init__(self, pool: Pool, governing: Governing, settings: GuildSettingsDoor) -> None:
        self._pool = pool
        self._governing = governing
        self._settings = settings

    async def asked(self, command: Command, reply: Reply) -> None:
        """Say it to the person alone."""
        space_id = command.scope.space_id
        settings = await self._settings.of(space_id, command.scope.place_id)
        governs = await self._governing.governs(command.scope, command.user_id)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            row = await conn.fetchrow(USED_SQL, space_id, command.user_id)
            most = await conn.fetch(MOST_USED_SQL, space_id, MOST_MEMBERS) if governs else ()
        assert row is not None  # noqa: S101 - an aggregate has one row
        lines = [
            f"**You** used {_tokens(row['mine_today'])} today{_left(row['mine_today'], settings.member_daily_tokens)}, "
            f"and {_tokens(row['mine_week'])} in seven days."
        ]
        if governs:
            lines.append(
                f"**Everybody here** used {_tokens(row['all_today'])} today"
                f"{_left(row['all_today'], settings.daily_tokens)}, and {_tokens(row['all_week'])} in seven days; "
                f"{row['members_today']} asked me today."
            )
            lines.extend(f"- <@{each['member_id']}>: {_tokens(each['tokens'])}" for each in most)
        lines.append("A day is UTC's. A token is about three quarters of an English word, in or out.")
        await reply.say("\n".join(lines))


def _tokens(many: int) -> str:
    return f"{many:,} token{'' if many == 1 else 's'}"


def _left(used: int, budget: int) -> str:
    if not budget:
        return " (there is no limit)"
    return f" of {budget:,} ({max(budget - used, 0):,} left)"
