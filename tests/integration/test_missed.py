"""What happened while nobody listened, beside what was said: deletes, edits, outages, silent places (I1, I2)."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.backfill import Backfill
from bot.events import Dispatch
from memory.database import Pool
from memory.gaps import caught_up, open_gap, places_behind
from sandbox.discord import Message, Permission
from sandbox.model import say
from tests.harness.stage import Stage
from tests.integration.test_journal import GENERAL, GUILD, create, ingress, message, put, snowflake

GONE = "SELECT 1 FROM chat_messages WHERE message_id = $1 AND deleted_at IS NOT NULL"
CLOSED = "SELECT 1 FROM gateway_gaps HAVING count(*) = $1 AND count(*) = count(closed_at)"


async def _journalled(stage: Stage, *messages: Message) -> None:
    for one in messages:
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", one.id)


async def test_what_was_deleted_and_edited_while_muninn_was_down_is_seen(stage: Stage) -> None:
    """I1, I2: one page of history before each cursor is compared with the journal; the rest stays as it is."""
    async with stage.muninn():
        said = [await stage.ada.says(stage.general, f"number {n}") for n in range(5)]
        await _journalled(stage, *said)
        await stage.until(CLOSED, 1)
    await stage.ada.deletes(said[1])
    await stage.ada.edits(said[2], "number two")
    await stage.ada.deletes(said[4])
    async with stage.muninn():
        await stage.until(CLOSED, 2)
        rows = await stage.pool.fetch("SELECT content, deleted_at FROM chat_messages ORDER BY message_id")
    assert [(row["content"], row["deleted_at"] is not None) for row in rows] == [
        ("number 0", False),
        ("number 1", True),
        ("number two", False),
        ("number 3", False),
        ("number 4", True),
    ]
    revisions = await stage.pool.fetch("SELECT content FROM chat_message_revisions")
    assert [row["content"] for row in revisions] == ["number 2"]
    looks = stage.discord.requests_to("GET", f"/channels/{stage.general.id}/messages")
    assert len(looks) <= 4


async def test_the_only_message_of_a_place_that_was_deleted_is_seen(stage: Stage) -> None:
    """I1: an empty page alone proves nothing; that the message is unknown to Discord does."""
    async with stage.muninn():
        said = await stage.ada.says(stage.general, "only this")
        await _journalled(stage, said)
        await stage.until(CLOSED, 1)
    await stage.ada.deletes(said)
    async with stage.muninn():
        await stage.until(GONE, said.id)


async def test_our_own_answer_that_was_deleted_meanwhile_is_seen(stage: Stage) -> None:
    """I1: it stands after the cursor, which only others' messages move."""
    stage.model.default(say("yes"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        answer = await stage.discord.wait_for_message(reply_to=asked)
        await stage.settled(1)
        await stage.until(CLOSED, 1)
    await stage.guild.member("Olive").deletes(answer)
    async with stage.muninn():
        await stage.until(GONE, answer.id)
    assert await stage.pool.fetchval("SELECT deleted_at FROM chat_messages WHERE message_id = $1", asked.id) is None


async def test_a_place_whose_history_is_closed_to_us_loses_nothing(stage: Stage) -> None:
    """I1: without Read Message History Discord shows an empty page, which must not pass for deletions."""
    async with stage.muninn():
        said = await stage.ada.says(stage.general, "still there")
        await _journalled(stage, said)
        await stage.until(CLOSED, 1)
    stage.general.set_permissions(stage.guild.me, deny=Permission.READ_MESSAGE_HISTORY)
    async with stage.muninn():
        await stage.until(CLOSED, 2)
    assert await stage.pool.fetchval("SELECT deleted_at FROM chat_messages WHERE message_id = $1", said.id) is None


async def test_a_trigger_deleted_while_muninn_was_down_is_not_answered(stage: Stage) -> None:
    """I3: its turn waited, and is cancelled by what the look around the cursor finds."""
    first, second = stage.model.hold(), stage.model.hold()
    async with stage.muninn(drain_s=0.2):
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await first.reached()
        later = await stage.bob.says(stage.general, f"{stage.discord.bot.mention} me too")
        await stage.until("SELECT 1 FROM turns WHERE trigger_id = $1", later.id)
        await stage.until(CLOSED, 1)
    await stage.bob.deletes(later)
    async with stage.muninn():
        await stage.until("SELECT 1 FROM turns WHERE trigger_id = $1 AND state = 'cancelled'", later.id)
        second.release(say("here"))
        await stage.discord.wait_for_message(reply_to=asked, within=15)
        assert await stage.settled(2) == ["answered", "cancelled"]
    first.release(say("to nobody"))


async def test_a_place_is_not_called_whole_when_a_newer_gap_opened_meanwhile(pool: Pool) -> None:
    """I1: a new session in the middle of a backfill; what it missed is fetched, though the page before was whole."""
    async with ingress(pool) as (one, _), pool.acquire() as conn:
        await put(one, create(1))
        await open_gap(conn, shard=(0, 1), reason="start", since=None, dropped=0)
        (place,) = await places_behind(conn, limit=10)
        await open_gap(conn, shard=(0, 1), reason="identify", since=None, dropped=0)
        await caught_up(conn, place)
        (again,) = await places_behind(conn, limit=10)
        assert again.after <= snowflake(1)
        await caught_up(conn, again)
        assert await places_behind(conn, limit=10) == ()


async def test_one_place_that_answers_nonsense_holds_up_no_other(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """I1: the others are fetched, and it is asked again."""
    monkeypatch.setattr("bot.backfill.RETRY_S", 0.2)
    places = [stage.guild.create_channel(f"place-{n}") for n in range(3)]
    async with stage.muninn():
        await _journalled(stage, *[await stage.ada.says(place, "hello") for place in places])
        await stage.until(CLOSED, 1)
    missed = [await stage.bob.says(place, "nobody listens") for place in places]
    broken = f"/channels/{places[1].id}/messages"
    nonsense = stage.discord.faults.rest("GET", broken, times=None).status(200, b'[{"id": "x"}, null]', html=False)
    async with stage.muninn():
        await _journalled(stage, missed[0], missed[2])
        await nonsense.hit(2)
        stage.discord.faults.clear()
        await _journalled(stage, missed[1])
        await stage.until(CLOSED, 2)


async def test_what_was_said_during_an_outage_of_a_guild_is_fetched(stage: Stage) -> None:
    """I1: Discord sends nothing of a guild while it is unavailable, and replays nothing when it is back."""
    other = stage.discord.create_guild("Elsewhere")
    hall = other.create_channel("hall")
    eve = other.add_member("Eve")
    async with stage.muninn():
        await _journalled(stage, await stage.ada.says(stage.general, "hello"), await eve.says(hall, "hello"))
        await stage.until(CLOSED, 1)
        stage.guild.goes_down()
        new = stage.guild.create_channel("new")
        missed = [await stage.bob.says(place, "is anybody there?") for place in (stage.general, new)]
        stage.guild.comes_back()
        await _journalled(stage, *missed)
        assert stage.discord.identifies == 1
        await stage.until(CLOSED, 2)


async def test_what_was_dropped_in_a_silent_place_is_fetched(pool: Pool) -> None:
    """I1: it has no cursor and no session tells of it; the gap itself remembers where it lost something."""
    silent: dict[str, Any] = {"channel_id": str(GENERAL + 1)}
    async with ingress(pool, most_queued=2, writing=False) as (one, _):
        for n in range(2):
            one.accept(create(n))
        for n in (5, 4):
            one.accept(create(n, **silent))
        task = asyncio.create_task(one.run())
        assert await one.drain(within_s=10)
        task.cancel()
    async with pool.acquire() as conn:
        behind = {place.place_id: place.after for place in await places_behind(conn, limit=10)}
    assert behind == {GENERAL: snowflake(1), GENERAL + 1: snowflake(4) - 1}


class _History:
    """Discord's history of one place, as far as a backfill asks for it."""

    def __init__(self, *pages: list[dict[str, Any]]) -> None:
        self._pages = list(pages)

    async def logs_from(self, *_: object, before: int | None = None, **__: object) -> list[dict[str, Any]]:
        return [] if before is not None or not self._pages else self._pages.pop(0)

    async def get_message(self, *_: object) -> dict[str, Any]:
        return {}


async def test_the_channel_that_has_its_guilds_id_is_no_direct_message(pool: Pool) -> None:
    """Old guilds' first channel has the guild's own id: what is fetched from it must not pass for a DM, in which
    everything is answered."""
    fetched = {k: v for k, v in message(2, "by the way", channel_id=str(GUILD)).items() if k != "guild_id"}
    async with ingress(pool) as (one, told):
        await put(one, Dispatch("MESSAGE_CREATE", message(1, channel_id=str(GUILD)), "s", 1))
        async with pool.acquire() as conn:
            await open_gap(conn, shard=(0, 1), reason="start", since=datetime.now(UTC), dropped=0)
        backfill = Backfill(
            pool,
            _History([fetched]),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
            one.offer,
            is_guild=lambda space: space == GUILD,
            shard_id=0,
            most_messages=10,
            most_places=10,
        )
        backfill.wake()
        task = asyncio.create_task(backfill.run())
        async with asyncio.timeout(10):
            await backfill.idle.wait()
        task.cancel()
    assert await pool.fetchval("SELECT count(*) FROM chat_messages") == 2
    assert await pool.fetchval("SELECT count(*) FROM discord_inbox") == 0
    assert told.inbox == 0


async def test_an_edit_of_a_known_message_that_a_page_shows_is_journalled(stage: Stage) -> None:
    """I1: the message came live after an older gap had opened, and was edited in a newer one."""
    stage.discord.faults.rest("GET", "/channels/*/messages", times=None).status(503)
    async with stage.muninn():
        first = await stage.ada.says(stage.general, "before")
        await _journalled(stage, first)
        async with stage.discord.gateway_offline(resumable=False):
            pass
        await stage.until("SELECT 1 FROM gateway_gaps HAVING count(*) = 2", within=20)
        second = await stage.ada.says(stage.general, "helo")
        await _journalled(stage, second)
    await stage.ada.edits(second, "hello")
    stage.discord.faults.clear()
    async with stage.muninn():
        await stage.until("SELECT 1 FROM chat_messages WHERE content = 'hello'")
        revision = await stage.pool.fetchval("SELECT content FROM chat_message_revisions")
    assert revision == "helo"
