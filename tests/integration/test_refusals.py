"""Discord bans who makes too many requests that it refuses: so they are counted, whoever makes them."""

from uuid import uuid4

import pytest
from discord import RateLimited
from discord.http import Route
from redis.asyncio import Redis

from bot import refusals
from bot.errors import ReadFailed, ReadRefused
from bot.refusals import Refusals
from bot.rest import Reads, Rest
from sandbox.discord import Discord
from tests.harness.rest import open_client, open_reads


@pytest.mark.parametrize("why", ["a ban at the edge", "a token that is refused"])
async def test_one_answer_that_wants_silence_holds_everybody(why: str) -> None:
    """Whoever asks next, on any route and by any door, is told when to come again, and nothing goes out."""
    async with Discord.start() as discord, open_client(discord) as http:
        hall = discord.create_guild("Atlas").create_channel("hall")
        reads = Reads(Rest(http))
        fault = discord.faults.rest("GET", "/channels/*")
        _ = fault.rate_limit(30, via=False) if "edge" in why else fault.status(401, b'{"code": 0}', html=False)
        with pytest.raises(ReadFailed):
            await reads.get(Route("GET", "/channels/{channel_id}", channel_id=hall.id))
        asked = len(discord.requests)
        with pytest.raises(ReadFailed) as caught:
            await reads.get(Route("GET", "/users/@me"))
        assert caught.value.retry_after_s == pytest.approx(30, abs=5)
        with pytest.raises(RateLimited):
            await http.logs_from(hall.id, 100)  # as a backfill asks
        assert len(discord.requests) == asked


async def test_after_too_many_refusals_nothing_is_asked_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing goes out any more, and who asks is told when to come again."""
    monkeypatch.setattr(refusals, "MOST_ALONE", 3)
    async with Discord.start() as discord, open_reads(discord) as reads:
        hall = discord.create_guild("Atlas").create_channel("hall")
        route = Route("GET", "/channels/{channel_id}", channel_id=hall.id)
        discord.faults.rest("GET", "/channels/*", times=3).status(403, b'{"code": 50001}', html=False)
        for _ in range(3):
            with pytest.raises(ReadRefused):
                await reads.get(route)
        with pytest.raises(ReadFailed) as caught:
            await reads.get(route)
        assert len(discord.requests_to("GET", "/channels/*")) == 3
        assert caught.value.retry_after_s == pytest.approx(600, abs=30)
        monkeypatch.setattr(refusals, "WITHIN_S", 0.0)
        assert (await reads.get(route))["id"] == str(hall.id)


@pytest.mark.parametrize("redis_is", ["there", "away"])
async def test_processes_on_one_redis_share_what_discord_takes(
    redis_url: str, redis_is: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the last of them holds, and so does the next who has one; without Redis each has a share of its
    own."""
    monkeypatch.setattr(refusals, "MOST_ALONE", 3)
    url, key = redis_url if redis_is == "there" else "redis://127.0.0.1:9/0", f"test:{uuid4().hex}"
    async with Discord.start() as discord, open_client(discord) as one, open_client(discord) as other:
        hall = discord.create_guild("Atlas").create_channel("hall")
        discord.faults.rest("GET", "/channels/*", times=None).status(403, b'{"code": 50001}', html=False)
        async with Redis.from_url(url) as redis, Redis.from_url(url) as another:
            gateway = Reads(Rest(one, Refusals(redis, key=key, most=5)))
            worker = Reads(Rest(other, Refusals(another, key=key, most=5)))

            async def refused_by(reads: Reads) -> int:
                for count in range(9):
                    try:
                        await reads.get(Route("GET", "/channels/{channel_id}", channel_id=hall.id))
                    except ReadRefused:
                        continue
                    except ReadFailed:
                        return count
                raise AssertionError("nobody held it")

            counts = [await refused_by(gateway), await refused_by(worker)]
            await redis.delete(key) if redis_is == "there" else None
    assert counts == ([5, 1] if redis_is == "there" else [3, 3])
