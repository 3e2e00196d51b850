"""The gateway as a real discord.py client and a bare websocket meet it: identify, resume, op 7 and 9, close codes."""

import aiohttp
import discord as dpy
import pytest

from sandbox.discord import Discord, Intent, Workshop

from .bots import Bot, connected, rest_only, socket, wire


async def test_a_wrong_token_is_refused_over_rest(discord: Discord) -> None:
    """discord.py reports the 401 as a failed login."""
    bot = Bot(discord)
    async with bot:
        with pytest.raises(dpy.LoginFailure):
            await bot.login("wrong")


async def test_a_wrong_token_is_refused_by_the_gateway(discord: Discord) -> None:
    """4004, which discord.py does not retry."""
    async with rest_only(discord) as bot:
        bot.http.token = "wrong"
        with pytest.raises(dpy.ConnectionClosed) as refused:
            await bot.connect()
        assert refused.value.code == 4004


async def test_a_privileged_intent_that_is_switched_off_is_refused() -> None:
    """4014, which discord.py names."""
    async with Discord.start(privileged=Intent.GUILD_MEMBERS) as discord:
        with pytest.raises(dpy.PrivilegedIntentsRequired):
            async with connected(discord):
                pass


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"intents": 1 << 40}, 4013),
        ({"intents": "1"}, 4013),
        ({"shard": [3, 2]}, 4010),
        ({"shard": "0/1"}, 4010),
        ({"properties": None}, 4002),
    ],
)
async def test_a_bad_identify_is_closed_with_its_code(discord: Discord, fields: dict[str, object], code: int) -> None:
    async with socket(discord) as line:
        await line.identify(discord.token, **fields)
        assert await line.close_code() == code


async def test_what_is_not_the_protocol_is_closed_with_its_code(discord: Discord) -> None:
    for raw, code in (
        ("{", 4002),
        ('{"op":77,"d":{}}', 4001),
        ('{"op":8,"d":{}}', 4003),
        ('{"op":2,"d":{"x":"' + "y" * 5000 + '"}}', 4002),
    ):
        async with socket(discord) as line:
            await line.send_raw(raw)
            assert await line.close_code() == code, raw
    async with socket(discord) as line:
        await line.identify(discord.token)
        await line.identify(discord.token)
        assert await line.close_code() == 4005
    async with socket(discord, "?v=6&encoding=json") as line:
        assert await line.close_code() == 4012


async def test_ready_names_the_guilds_and_guild_create_fills_them(discord: Discord, shop: Workshop) -> None:
    async with socket(discord) as line:
        await line.identify(discord.token)
        ready, created = await line.until("GUILD_CREATE")
    assert ready["t"] == "READY"
    assert ready["s"] == 1
    assert ready["d"]["guilds"] == [{"id": str(shop.guild.id), "unavailable": True}]
    assert ready["d"]["resume_gateway_url"] == discord.gateway_url
    assert {channel["name"] for channel in created["d"]["channels"]} == {"general", "help", "staff", "ideas"}
    assert created["d"]["member_count"] == len(created["d"]["members"]) == 6


async def test_frames_come_as_one_zlib_stream_when_asked(discord: Discord, shop: Workshop) -> None:
    """One inflate context for the whole connection, each frame ended by a sync flush."""
    async with socket(discord, "?v=10&encoding=json&compress=zlib-stream") as line:
        await line.identify(discord.token)
        await line.until("GUILD_CREATE")
        for n in range(20):
            await shop.ada.says(shop.general, f"packed {n}")
        assert [(await line.until("MESSAGE_CREATE"))[-1]["d"]["content"] for _ in range(20)] == [
            f"packed {n}" for n in range(20)
        ]


@pytest.mark.parametrize("abort", [True, False])
async def test_a_lost_connection_is_resumed_with_what_was_missed(discord: Discord, shop: Workshop, abort: bool) -> None:
    """I1 rests on this: what is said while nobody listens is replayed, in order, once."""
    async with connected(discord) as bot:
        await shop.ada.says(shop.general, "one")
        await bot.until(1)
        await discord.disconnect_bots(abort=abort)
        await shop.ada.says(shop.general, "two")
        await shop.ada.says(shop.general, "three")
        await bot.until_event("RESUMED")
        await shop.ada.says(shop.general, "four")
        await bot.until(4)
        assert bot.contents == ["one", "two", "three", "four"]
        assert discord.identifies == 1


async def test_people_talk_on_while_the_gateway_is_down(discord: Discord, shop: Workshop) -> None:
    """The outage refuses connections; the client comes back and resumes."""
    async with connected(discord) as bot:
        async with discord.gateway_offline():
            await shop.ada.says(shop.general, "is it dark in here?")
            assert not discord.sessions
        await bot.until(1)
        assert discord.identifies == 1


async def test_a_session_that_is_gone_is_begun_anew(discord: Discord, shop: Workshop) -> None:
    """Op 9 false after a RESUME: what was said meanwhile comes by no gateway, only by history."""
    async with connected(discord) as bot:
        await discord.disconnect_bots(resumable=False)
        await shop.ada.says(shop.general, "lost")
        await discord.wait_until(lambda: discord.identifies == 2)
        await discord.wait_for_session()
        await shop.ada.says(shop.general, "heard")
        await bot.until(1)
        assert bot.contents == ["heard"]


async def test_op_7_makes_the_client_resume(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        await discord.request_reconnect()
        await bot.until_event("RESUMED")
        await shop.ada.says(shop.general, "still here")
        await bot.until(1)
        assert discord.identifies == 1


@pytest.mark.parametrize("resumable", [True, False])
async def test_op_9_says_whether_the_session_can_go_on(discord: Discord, resumable: bool) -> None:
    async with connected(discord) as bot:
        await discord.invalidate_sessions(resumable=resumable)
        if resumable:
            await bot.until_event("RESUMED")
        else:
            await bot.until_event("READY", 2)
        assert discord.identifies == (1 if resumable else 2)


async def test_a_resume_with_a_seq_from_the_future_is_closed(discord: Discord) -> None:
    async with socket(discord) as line:
        await line.identify(discord.token)
        session_id = (await line.until("READY"))[0]["d"]["session_id"]
        await line.close(4000)
    async with socket(discord) as line:
        await line.send(6, {"token": discord.token, "session_id": session_id, "seq": 999})
        assert await line.close_code() == 4007
    async with socket(discord) as line:
        await line.send(6, {"token": discord.token, "session_id": "unheard of", "seq": 1})
        assert (await line.frame())["op"] == 9


async def test_a_client_that_leaves_with_1000_gives_its_session_up(discord: Discord) -> None:
    async with socket(discord) as line:
        await line.identify(discord.token)
        session_id = (await line.until("READY"))[0]["d"]["session_id"]
        await line.close(1000)
    async with socket(discord) as line:
        await line.send(6, {"token": discord.token, "session_id": session_id, "seq": 1})
        assert await line.frame() == {"t": None, "s": None, "op": 9, "d": False}


async def test_heartbeats_are_acknowledged_until_they_are_not(discord: Discord) -> None:
    """A zombie: discord.py gives up after its heartbeat timeout and resumes."""
    discord.heartbeat_every(0.05)
    async with connected(discord, heartbeat_timeout=0.3) as bot:
        fault = discord.faults.stop_heartbeats()
        await fault.hit()
        await discord.wait_until(lambda: not discord.sessions)
        discord.faults.clear()
        await bot.until_event("RESUMED")


async def test_a_client_without_heartbeats_is_closed(discord: Discord) -> None:
    """4009 when one and a half intervals pass without a word."""
    discord.heartbeat_every(0.05)
    async with socket(discord) as line:
        assert await line.close_code() == 4009


async def test_guilds_and_direct_messages_go_to_their_shards(discord: Discord, shop: Workshop) -> None:
    """Guild id >> 22 modulo the number of shards; DMs belong to shard 0."""
    home = (shop.guild.id >> 22) % 2
    async with socket(discord) as zero, socket(discord) as one:
        for number, line in enumerate((zero, one)):
            await line.identify(discord.token, shard=[number, 2])
            ready = (await line.until("READY"))[0]
            assert bool(ready["d"]["guilds"]) is (number == home)
        await discord.wait_for_session(2)
        await shop.ada.says(shop.general, "in the guild")
        await shop.ada.says(shop.ada, "in private")
        heard = [(await zero.until("MESSAGE_CREATE"))[-1]["d"]["content"]]
        assert heard == (["in the guild"] if home == 0 else ["in private"])


async def test_members_are_sent_in_chunks_on_request(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        assert len(await guild.chunk()) == 6
        assert [m.name for m in await guild.query_members("ad")] == ["ada"]
        assert [m.id for m in await guild.query_members(user_ids=[shop.mod.id])] == [shop.mod.id]


async def test_an_outage_of_a_guild_is_not_a_removal(discord: Discord, shop: Workshop) -> None:
    joined: list[int] = []
    async with connected(discord) as bot:

        @bot.event
        async def on_guild_join(guild: dpy.Guild) -> None:  # pyright: ignore[reportUnusedFunction]
            joined.append(guild.id)

        shop.guild.goes_down()
        await bot.until_event("GUILD_DELETE")
        assert bot.guilds[0].unavailable
        shop.guild.comes_back()
        await bot.until_event("GUILD_CREATE", 2)
        assert not bot.guilds[0].unavailable
        assert joined == []
        another = discord.create_guild("Another")
        await bot.until_event("GUILD_CREATE", 3)
        assert joined == [another.id]
        another.remove_bot()
        shop.guild.remove_bot()
        await bot.until_event("GUILD_DELETE", 3)
        assert not bot.guilds


async def test_an_outage_refuses_connections(discord: Discord) -> None:
    """The line is cut before a word; REST goes on."""
    with discord.gateway_offline():
        with pytest.raises(aiohttp.ClientError):
            async with socket(discord):
                pass
        async with wire(discord) as rest:
            assert (await rest.send("GET", "/users/@me")).status == 200
    async with socket(discord):
        pass


async def test_a_session_can_be_resumed_away_from_a_dead_connection(discord: Discord, shop: Workshop) -> None:
    """A half-open connection does not keep the session: the newcomer has it and what it had missed."""
    async with socket(discord) as old, socket(discord) as new:
        await old.identify(discord.token)
        ready = (await old.until("READY"))[0]
        await shop.ada.says(shop.general, "one")
        await new.send(6, {"token": f"Bot {discord.token}", "session_id": ready["d"]["session_id"], "seq": 2})
        replayed = await new.until("RESUMED")
        assert [(frame["t"], frame["s"]) for frame in replayed] == [("MESSAGE_CREATE", 3), ("RESUMED", 4)]
        assert await old.close_code() == 4000
        await shop.ada.says(shop.general, "two")
        assert (await new.until("MESSAGE_CREATE"))[-1]["d"]["content"] == "two"
        assert len(discord.sessions) == 1


async def test_who_sends_too_much_is_closed(discord: Discord) -> None:
    """4008 above 120 in a minute."""
    async with socket(discord) as line:
        for _ in range(121):
            await line.send(1, None)
        assert await line.close_code() == 4008


async def test_text_that_is_hardly_text_is_sent_as_it_is(discord: Discord, shop: Workshop) -> None:
    """Null bytes, right-to-left marks, and a lone surrogate as the escape that it is in JSON; over REST too."""
    texts = ["\x00", "\u202eabc", "z\u0351\u0351\u0351", "\ud800!", "🦅" * 2000]
    async with socket(discord, "?v=10&encoding=json&compress=zstd-stream") as line, wire(discord) as rest:
        await line.identify(discord.token)
        await line.until("GUILD_CREATE")
        for text in texts:
            await shop.ada.says(shop.general, text)
            assert (await line.raw_until(b'"MESSAGE_CREATE"'))["d"]["content"] == text
        assert (await rest.send("GET", f"/channels/{shop.general.id}/messages?limit=1")).body[0]["content"] == texts[-1]
