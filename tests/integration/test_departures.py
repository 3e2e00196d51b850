"""Guilds, places and permissions that go away, also in the middle of a run: each turn has its one end (I3)."""

import pytest

from sandbox.discord import Channel, Permission
from sandbox.model import Gate, call, say
from tests.harness.stage import Stage


async def _asked(stage: Stage, gate: Gate) -> None:
    await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
    await gate.reached()


async def _goes_on(stage: Stage) -> None:
    """Somebody in another guild is answered."""
    other = stage.discord.create_guild("Elsewhere")
    hall = other.create_channel("hall")
    eve = other.add_member("Eve")
    stage.model.default(say("Here."))
    asked = await eve.says(hall, f"{stage.discord.bot.mention} hello")
    await stage.discord.wait_for_message(reply_to=asked)


@pytest.mark.parametrize("kicked", [True, False], ids=["kicked", "deleted"])
async def test_what_goes_away_in_the_middle_of_a_run_ends_it_at_once(stage: Stage, kicked: bool) -> None:
    """A channel, a thread, a channel with the thread in it, or the whole guild. The model need not finish, nothing is
    posted, and nobody waits: neither the run nor the next in line."""
    gates: list[Gate] = []
    places: list[Channel] = []
    async with stage.muninn(member_turns=100):
        for how in ("kicked",) if kicked else ("channel", "thread", "thread of a channel"):
            room = stage.guild.create_channel("room")
            place = room if "thread" not in how else await stage.ada.starts_thread(room, "Thread")
            places.append(place)
            gates.append(stage.model.hold())
            await stage.ada.says(place, f"{stage.discord.bot.mention} hello")
            await gates[-1].reached()
            last = await stage.bob.says(place, f"{stage.discord.bot.mention} and me?")
            await stage.until("SELECT 1 FROM turns WHERE trigger_id = $1", last.id)
            match how:
                case "kicked":
                    stage.guild.remove_bot()
                case "thread":
                    place.delete()
                case _:
                    room.delete()
            assert await stage.settled(2 * len(places), within=5) == ["cancelled"] * 2 * len(places)
        await _goes_on(stage)
    reasons = [row["end_reason"] for row in await stage.turns()][: 2 * len(places)]
    assert set(reasons) == {"guild_left" if kicked else "place_gone"}
    assert await stage.pool.fetchval("SELECT state FROM agent_runs ORDER BY run_id LIMIT 1") == "cancelled"
    assert [m for m in stage.discord.bot_messages() if m.channel in places] == []
    for gate in gates:
        gate.release(say("to nobody"))


async def test_permissions_taken_away_in_the_middle_of_a_run_end_it_with_the_reason(stage: Stage) -> None:
    """I16: Discord refuses once, the record says why, and it is not asked again."""
    rooms: list[Channel] = []
    async with stage.muninn():
        for lost in (Permission.SEND_MESSAGES, Permission.VIEW_CHANNEL):
            room = stage.guild.create_channel("room")
            gate = stage.model.hold()
            await stage.ada.says(room, f"{stage.discord.bot.mention} hello")
            await gate.reached()
            room.set_permissions(stage.guild.me, deny=lost)
            gate.release(say("too late"))
            rooms.append(room)
            assert await stage.settled(len(rooms)) == ["cancelled"] * len(rooms)
            assert len(stage.discord.requests_to("POST", f"/channels/{room.id}/messages")) == 1
        await _goes_on(stage)
    reasons = [row["end_reason"] for row in await stage.turns()][:2]
    assert reasons == ["undeliverable:discord_50013", "undeliverable:discord_50001"]


async def test_a_permission_taken_away_before_a_tool_acts_is_told_to_the_model(stage: Stage) -> None:
    """I5, I16: facts are read when it acts; the answer says what could not be done, and arrives."""
    gate = stage.model.hold()
    stage.model.script(say("I may not react here."))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} react with 👍")
        await gate.reached()
        stage.general.set_permissions(stage.guild.me, deny=Permission.ADD_REACTIONS)
        gate.release(call("discord_react", emoji="👍"))
        await stage.discord.wait_for_message(reply_to=asked)
    assert '"ok":false' in stage.model.requests[-1].tool_results[-1].text.replace(" ", "")
    assert stage.discord.reactions_on(asked) == {}


async def test_an_outage_of_the_guild_in_the_middle_of_a_run_only_delays_the_answer(stage: Stage) -> None:
    """Unavailable is not gone: nothing is cancelled or forgotten, and what was composed arrives when it is back."""
    gate = stage.model.hold()
    async with stage.muninn():
        await _asked(stage, gate)
        await stage.pool.execute(
            "INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by) "
            "VALUES ($1, 0, 'streaming', 'true', 1, 1)",
            stage.guild.id,
        )
        away = stage.discord.faults.rest("POST", f"/channels/{stage.general.id}/messages", times=None).status(503)
        stage.guild.goes_down()
        gate.release(say("there you are"))
        await away.hit()
        await _goes_on(stage)
        stage.discord.faults.clear()
        stage.guild.comes_back()
        await stage.discord.wait_for_message(in_=stage.general, within=15)
        assert await stage.settled(2) == ["answered"] * 2
    assert [m.content for m in stage.discord.bot_messages(stage.general)] == ["there you are"]
    for table in ("guild_settings", "chat_messages", "guild_joinings"):
        assert await stage.pool.fetchval(f"SELECT count(*) FROM {table} WHERE space_id = $1", stage.guild.id), table
    assert await stage.pool.fetchval("SELECT count(*) FROM erasures") == 0


async def test_a_guild_that_was_left_while_muninn_was_down_ends_what_waited_there(stage: Stage) -> None:
    """The next session does not list it: neither the run that was cut off nor the next in line goes on."""
    first, second = stage.model.hold(), stage.model.hold()
    async with stage.muninn(drain_s=0.2):
        await _asked(stage, first)
        await stage.bob.says(stage.general, f"{stage.discord.bot.mention} and me?")
        await stage.until("SELECT 1 FROM turns HAVING count(*) = 2")
        await stage.until("SELECT 1 FROM guild_joinings")
    stage.guild.remove_bot()
    async with stage.muninn():
        assert await stage.settled(2, within=8) == ["cancelled"] * 2
    assert [row["end_reason"] for row in await stage.turns()] == ["guild_left"] * 2
    assert stage.discord.bot_messages() == []
    for gate in (first, second):
        gate.release(say("to nobody"))
