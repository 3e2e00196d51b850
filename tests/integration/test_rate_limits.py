"""Rate limits count messages, and not how often somebody looked at them (I16)."""

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from bot.limiter import Limiter, Rates, Verdict, Wish
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from sandbox.model import say
from tests.harness.stage import Stage

SPACE, PLACE, ADA, BOB = SpaceId(1), PlaceId(2), UserId(3), UserId(4)
RATES = Rates(member=2, place=4, space=5, window_s=3600)


async def test_a_message_that_is_routed_again_counts_once(stage: Stage) -> None:
    """PostgreSQL refuses turns for a while; the router looks at the same message again and again."""
    stage.model.default(say("ok"))
    await stage.pool.execute(
        """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$"""
    )
    await stage.pool.execute("CREATE TRIGGER full_disk BEFORE INSERT ON turns EXECUTE FUNCTION full_disk()")
    with capture_logs() as logs:
        async with stage.muninn(member_turns=2, rate_window_s=3600):
            await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")

            def tried() -> int:
                return sum(entry["event"] == "task.interrupted" for entry in logs)

            while tried() < 3:
                await stage.until("SELECT pg_sleep(0.05)")
            await stage.pool.execute("DROP TRIGGER full_disk ON turns")
            await stage.until("SELECT 1 FROM turns", within=20)
            await stage.ada.says(stage.general, f"{stage.discord.bot.mention} two")
            assert await stage.settled(2, within=20) == ["answered"] * 2


async def admitted(limiter: Limiter, member: UserId, *numbers: int, place: PlaceId = PLACE) -> list[Verdict]:
    """The verdicts on messages that are looked at one after the other."""
    return [(await limiter.admit([Wish(SPACE, place, member, MessageId(n))]))[0] for n in numbers]


@pytest.mark.parametrize("redis_is", ["there", "away"])
async def test_two_routers_come_to_the_same_verdicts(redis_url: str, redis_is: str) -> None:
    """Each process with a router looks at each message; what one decides, the other decides too, whoever is first."""
    async with Redis.from_url(redis_url) as redis:
        one = Limiter(redis if redis_is == "there" else None, "t:", RATES)
        other = Limiter(redis, "t:", RATES) if redis_is == "there" else one
        first = await admitted(one, ADA, 0, 1, 2, 3)
        again = await admitted(other, ADA, 3, 2, 1, 0)
        assert first == ["go", "go", "tell", "hold"]
        assert again == first[::-1]
        assert await admitted(other, BOB, 4, 5) == ["tell", "hold"]
        assert await admitted(one, BOB, 6, place=PlaceId(9)) == ["tell"]


@pytest.mark.parametrize("redis_is", ["there", "away"])
async def test_messages_that_are_looked_at_together_are_counted_in_their_order(redis_url: str, redis_is: str) -> None:
    """As if they were looked at one by one."""
    wishes = [
        # An old message that was edited comes after a newer one.
        *(Wish(SPACE, PLACE, ADA, MessageId(n)) for n in (9, 7, 8, 1)),
        *(Wish(SPACE, PLACE, BOB, MessageId(n)) for n in (5, 4)),
        Wish(SPACE, PlaceId(9), BOB, MessageId(6)),
    ]
    async with Redis.from_url(redis_url) as redis:
        limiter = Limiter(redis if redis_is == "there" else None, "t:", RATES)
        together = await limiter.admit(wishes)
        assert together == ["go", "go", "tell", "hold", "tell", "hold", "tell"]
        assert [verdict for wish in wishes for verdict in await limiter.admit([wish])] == together
        assert await limiter.admit([]) == []
