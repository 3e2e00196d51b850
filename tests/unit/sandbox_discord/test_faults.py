"""The fault script does what it says, on the gateway and over REST, as often as it says."""

import asyncio

import aiohttp
import discord as dpy
import pytest

from sandbox.discord import Discord, Misuse, Workshop

from .bots import Bot, connected, rest_only, wire


async def _hear(bot: Bot, shop: Workshop, *texts: str) -> None:
    for text in texts:
        await shop.ada.says(shop.general, text)


async def test_a_dropped_event_is_lost_until_a_resume_from_before_it(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        discord.faults.gateway("MESSAGE_CREATE", skip=1).drop()
        await _hear(bot, shop, "one", "two", "three")
        await bot.until(2)
        assert bot.contents == ["one", "three"]


@pytest.mark.parametrize("new_seq", [True, False])
async def test_a_duplicate_comes_twice(discord: Discord, shop: Workshop, new_seq: bool) -> None:
    """Same message id, under the same or a new sequence number."""
    async with connected(discord) as bot:
        discord.faults.gateway("MESSAGE_CREATE").duplicate(new_seq=new_seq)
        await _hear(bot, shop, "one", "two")
        await bot.until(3)
        assert bot.contents == ["one", "one", "two"]
        assert bot.seen[0].id == bot.seen[1].id


async def test_a_reordered_event_comes_after_the_next(discord: Discord, shop: Workshop) -> None:
    """A delete can so overtake its create."""
    async with connected(discord) as bot:
        discord.faults.gateway("MESSAGE_CREATE").reorder()
        said = await shop.ada.says(shop.general, "one")
        await shop.ada.deletes(said)
        await bot.until(1)
        assert [name for name in bot.events if name.startswith("MESSAGE_")] == ["MESSAGE_DELETE", "MESSAGE_CREATE"]


async def test_a_held_event_waits_and_others_pass_it(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        fault = discord.faults.gateway(where=lambda d: d.get("content") == "one").hold()
        discord.faults.gateway(where=lambda d: d.get("content") == "two").delay(0.2)
        await _hear(bot, shop, "one", "two", "three")
        await bot.until(2)
        fault.release()
        await bot.until(3)
        assert bot.contents == ["three", "two", "one"]


async def test_a_malformed_event_is_sent_as_it_was_made(discord: Discord, shop: Workshop) -> None:
    """discord.py's handler raises on it; the client reconnects, which is what a supervisor has to survive."""
    async with connected(discord) as bot:
        discord.faults.gateway("TYPING_START").malform({"nothing": True})
        await shop.ada.types(shop.general)
        with pytest.raises(KeyError):
            await asyncio.wait_for(_died(bot), 5)


async def _died(bot: Bot) -> None:
    """discord.py ends ``connect`` with the error of a handler; find the task that has it."""
    (task,) = (t for t in asyncio.all_tasks() if "Client.connect" in repr(t.get_coro()))
    await task


async def test_an_event_can_close_or_cut_the_connection(discord: Discord, shop: Workshop) -> None:
    """Instead of the event or after it; a RESUME brings what was not sent."""
    async with connected(discord) as bot:
        discord.faults.gateway("MESSAGE_CREATE").close(4000)
        await _hear(bot, shop, "one")
        await bot.until(1)
        discord.faults.gateway("MESSAGE_CREATE").abort(after=True)
        await _hear(bot, shop, "two")
        await bot.until_event("RESUMED", 2)
        await _hear(bot, shop, "three")
        await bot.until(3)
        assert bot.contents[0] == "one"
        assert bot.contents[-1] == "three"


async def test_a_rate_limit_with_via_is_waited_for(discord: Discord, shop: Workshop) -> None:
    """discord.py sleeps and sends again; the world saw the message once."""
    async with rest_only(discord) as bot:
        fault = discord.faults.rest("POST", "/channels/*/messages").rate_limit(0.01)
        await bot.place(shop.general).send("hi")
        assert fault.hits == 1
    assert [r.status for r in discord.requests_to("POST", "/channels/*/messages")] == [429, 200]
    assert len(discord.bot_messages()) == 1


async def test_a_rate_limit_without_via_is_raised_at_once(discord: Discord, shop: Workshop) -> None:
    """Cloudflare's page; discord.py does not try again."""
    async with rest_only(discord) as bot:
        discord.faults.rest("POST", "/channels/*/messages").rate_limit(via=False)
        with pytest.raises(dpy.HTTPException) as refused:
            await bot.place(shop.general).send("hi")
        assert refused.value.status == 429
    assert not discord.bot_messages()


async def test_a_post_is_accepted_and_then_fails(discord: Discord, shop: Workshop) -> None:
    """The ways in which a client does not learn that its message is there."""
    async with wire(discord) as rest:
        discord.faults.rest("POST", "/channels/*/messages").accept_then_status(502)
        assert (await rest.post(shop.general, content="one")).status == 502
        discord.faults.rest("POST", "/channels/*/messages").accept_then_reset()
        with pytest.raises(aiohttp.ClientError):
            await rest.post(shop.general, content="two")
        held = discord.faults.rest("POST", "/channels/*/messages").accept_then_hold()
        waiting = asyncio.create_task(rest.post(shop.general, content="three"))
        await held.hit()
        assert [m.content for m in discord.bot_messages()] == ["one", "two", "three"]
        assert not waiting.done()
        held.release()
        assert (await waiting).status == 200
    log = discord.requests_to("POST", "/channels/*/messages")
    assert [(r.status, r.accepted) for r in log] == [(502, True), (-1, True), (200, True)]


async def test_a_post_fails_before_it_is_accepted(discord: Discord, shop: Workshop) -> None:
    async with wire(discord) as rest:
        discord.faults.rest("POST", "/channels/*/messages").status(503)
        assert (await rest.post(shop.general, content="one")).status == 503
        discord.faults.rest("POST", "/channels/*/messages").reset()
        with pytest.raises(aiohttp.ClientError):
            await rest.post(shop.general, content="two")
        stall = discord.faults.rest("POST", "/channels/*/messages").stall(30)
        waiting = asyncio.create_task(rest.post(shop.general, content="three"))
        await stall.hit()
        assert not discord.bot_messages()
        stall.release()
        assert (await waiting).status == 200
    log = discord.requests_to("POST", "/channels/*/messages")
    assert [(r.status, r.accepted) for r in log] == [(503, False), (-1, False), (200, True)]


async def test_a_slow_body_arrives_whole(discord: Discord, shop: Workshop) -> None:
    async with wire(discord) as rest:
        discord.faults.rest("POST", "/channels/*/messages").slow_body(0.02)
        assert (await rest.post(shop.general, content="drip")).body["content"] == "drip"


async def test_faults_choose_by_path_count_and_order(discord: Discord, shop: Workshop) -> None:
    """``nth`` lets earlier ones through, ``times`` says how many, ``*`` is one segment and ``**`` any number."""
    async with wire(discord) as rest:
        discord.faults.rest("POST", f"/channels/{shop.help.id}/messages").status(500)
        discord.faults.rest("POST", "/channels/*/messages", nth=2, times=2).status(502)
        discord.faults.rest("PUT", "/**/reactions/👍/@me").status(504)
        statuses = [(await rest.post(shop.general, content=str(n))).status for n in range(4)]
        assert statuses == [200, 502, 502, 200]
        assert (await rest.post(shop.help, content="x")).status == 500
        message = discord.bot_messages(shop.general)[0]
        path = f"/channels/{shop.general.id}/messages/{message.id}/reactions/%F0%9F%91%8D/@me"
        assert (await rest.send("PUT", path)).status == 504
        assert (await rest.send("PUT", path)).status == 204


async def test_a_fault_does_one_thing_and_says_when_it_did_not(discord: Discord) -> None:
    fault = discord.faults.gateway("MESSAGE_CREATE").drop()
    with pytest.raises(Misuse):
        fault.duplicate()
    with pytest.raises(AssertionError, match="0 times"):
        await fault.hit(within=0.01)


async def test_narrow_limits_are_kept_and_told(discord: Discord, shop: Workshop) -> None:
    """Headers count down; over it 429 with Via, JSON and the time to wait; the clock opens the next window."""
    discord.rates.limit("POST", "/channels/*/messages", 2, per=60)
    async with wire(discord) as rest:
        first = await rest.post(shop.general, content="1")
        assert (first.headers["X-RateLimit-Limit"], first.headers["X-RateLimit-Remaining"]) == ("2", "1")
        assert first.headers["X-RateLimit-Bucket"]
        await rest.post(shop.general, content="2")
        over = await rest.post(shop.general, content="3")
        assert (over.status, over.body["global"]) == (429, False)
        assert 0 < over.body["retry_after"] <= 60
        assert over.headers["Via"]
        assert (await rest.post(shop.help, content="another bucket")).status == 200
        discord.clock.advance(61)
        assert (await rest.post(shop.general, content="3")).status == 200


async def test_the_global_limit_counts_everything(discord: Discord, shop: Workshop) -> None:
    discord.rates.limit_all(1, per=60)
    async with wire(discord) as rest:
        assert (await rest.send("GET", "/users/@me")).status == 200
        over = await rest.post(shop.general, content="x")
        assert (over.status, over.body["global"], over.headers["X-RateLimit-Scope"]) == (429, True, "global")


async def test_the_library_obeys_a_narrow_limit(discord: Discord, shop: Workshop) -> None:
    """discord.py reads the headers and slows down by itself: no 429 is ever seen."""
    discord.rates.limit("POST", "/channels/*/messages", 2, per=0.05)
    async with rest_only(discord) as bot:
        for n in range(6):
            await bot.place(shop.general).send(str(n))
    assert discord.rates.refused == 0
    assert [m.content for m in discord.bot_messages()] == list("012345")
