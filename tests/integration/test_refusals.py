"""Discord bans who makes too many requests that it refuses: so they are counted, whoever makes them."""

import pytest
from discord import RateLimited
from discord.http import Route

from bot import rest
from bot.errors import ReadFailed, ReadRefused
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
    monkeypatch.setattr(rest, "MOST_REFUSALS", 3)
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
        monkeypatch.setattr(rest, "REFUSALS_WITHIN_S", 0.0)
        assert (await reads.get(route))["id"] == str(hall.id)
