"""Settings that a guild makes for itself: read through the door, and honoured where they apply."""

import asyncio

import asyncpg
import pytest

from bot.guild_settings import (
    WHOLE_SPACE,
    Ground,
    GuildSettings,
    GuildSettingsDoor,
    Name,
    Value,
    change,
    changes,
)
from bot.kept import Kept
from bot.settings import Settings
from memory.ids import PlaceId, SpaceId, UserId
from sandbox.model import call, say
from tests.harness.stage import Stage

HERE, CHANNEL, CATEGORY, THREAD = SpaceId(70), PlaceId(71), PlaceId(72), PlaceId(73)
OLIVE = UserId(7)
GROUND = Ground.of(Settings(model="big", models="small, other", space_daily_tokens=1_000, retention_days=100))


async def put(
    pool: asyncpg.Pool, name: Name, value: Value | None, place: PlaceId = WHOLE_SPACE, space: SpaceId = HERE
) -> None:
    async with pool.acquire() as conn:
        await change(conn, space, place, name, value, by=OLIVE)


async def test_a_place_takes_what_is_nearest(pool: asyncpg.Pool) -> None:
    """Thread, channel, category, guild, operator: the nearest that was set holds, and no other guild hears of it."""
    await pool.execute(
        "INSERT INTO places (space_id, place_id, kind, parent_id) "
        "VALUES ($1, $2, 4, NULL), ($1, $3, 0, $2), ($1, $4, 11, $3)",
        HERE, CATEGORY, CHANNEL, THREAD,
    )  # fmt: skip
    expected: list[tuple[PlaceId, str]] = [(WHOLE_SPACE, "a"), (CATEGORY, "b"), (CHANNEL, "c"), (THREAD, "d")]
    for place, language in expected:
        await put(pool, "language", language, place)
        door = GuildSettingsDoor(pool, GROUND)
        assert (await door.of(HERE, THREAD)).language == language
    for place, language in reversed(expected):
        door = GuildSettingsDoor(pool, GROUND)
        assert (await door.of(HERE, THREAD)).language == language
        await put(pool, "language", None, place)
    assert await GuildSettingsDoor(pool, GROUND).of(HERE, THREAD) == GROUND.defaults
    await put(pool, "language", "de", CHANNEL, SpaceId(99))
    assert (await GuildSettingsDoor(pool, GROUND).of(HERE, CHANNEL)).language is None


async def test_the_defaults_are_careful() -> None:
    """Nothing is listened to unasked, nobody is answered unasked, and nothing is kept for ever."""
    careful = GuildSettings()
    assert (careful.listening, careful.ambient, careful.streaming, careful.retention_days) == (
        "mentions",
        False,
        False,
        365,
    )


@pytest.mark.parametrize(
    ("name", "value", "held"),
    [
        ("daily_tokens", 5_000, 1_000), ("daily_tokens", 10, 10), ("daily_tokens", 0, 1_000),
        ("retention_days", 0, 100), ("retention_days", 7, 7), ("retention_days", 400, 100),
        ("model", "small", "small"), ("model", "dearest", "big"),
    ],
)  # fmt: skip
async def test_a_guild_stays_within_what_the_operator_set(
    pool: asyncpg.Pool, name: Name, value: Value, held: Value
) -> None:
    """Budgets and retention are limits, models a choice: no guild spends or keeps more than the operator allows."""
    await put(pool, name, value)
    assert getattr(await GuildSettingsDoor(pool, GROUND).of(HERE), name) == held


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("listening", "loudly", CHANNEL), ("memory", 1, CHANNEL), ("retention_days", True, WHOLE_SPACE),
        ("retention_days", -1, WHOLE_SPACE), ("admin_role_ids", ["1"], WHOLE_SPACE), ("language", "", CHANNEL),
        ("language", "two\nlines", CHANNEL), ("retention_days", 7, CHANNEL), ("admin_role_ids", [1], CHANNEL),
        ("colour", "red", WHOLE_SPACE),
    ],
)  # fmt: skip
async def test_what_does_not_fit_is_not_set(pool: asyncpg.Pool, name: Name, value: Value, place: PlaceId) -> None:
    """A value is checked before it is kept; what is for the whole guild cannot be set for one channel."""
    with pytest.raises(ValueError, match=r"\."):
        await put(pool, name, value, place)
    assert await pool.fetchval("SELECT count(*) FROM guild_setting_changes") == 0


async def test_a_value_of_another_version_counts_as_not_set(pool: asyncpg.Pool) -> None:
    """What cannot be understood is as if it were not there, and breaks nothing."""
    await pool.execute(
        "INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by) "
        "VALUES ($1, 0, 'listening', '\"never\"', 1, 1), ($1, 0, 'telepathy', 'true', 1, 1), "
        "($1, 0, 'ambient', 'true', 1, 1)",
        HERE,
    )
    found = await GuildSettingsDoor(pool, GROUND).of(HERE)
    assert (found.listening, found.ambient) == ("mentions", True)


async def test_every_change_is_on_record(pool: asyncpg.Pool) -> None:
    """Who changed what to what, in order; a change that changes nothing is none."""
    for value in (True, True, False, None):
        await put(pool, "ambient", value, CHANNEL)
    async with pool.acquire() as conn:
        found = await changes(conn, HERE)
    assert [(each.version, each.value, each.set_by) for each in sorted(found, key=lambda c: c.version)] == [
        (1, True, OLIVE),
        (2, False, OLIVE),
        (3, None, OLIVE),
    ]


async def test_the_door_reads_anew_when_it_is_told(pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read is kept for a moment, and forgotten where a change is made."""
    monkeypatch.setattr("bot.kept.KEPT_S", 600.0)
    door = GuildSettingsDoor(pool, GROUND)
    assert not (await door.of(HERE, CHANNEL)).ambient
    await put(pool, "ambient", True)
    assert not (await door.of(HERE, CHANNEL)).ambient
    door.forget(HERE)
    assert (await door.of(HERE, CHANNEL)).ambient


async def test_what_was_read_while_a_change_was_made_is_not_kept() -> None:
    """The change holds at once where it was made, also where an older value was just being read."""
    words, begun, go_on = ["old"], asyncio.Event(), asyncio.Event()

    async def read(space_id: SpaceId, place_id: PlaceId) -> str:
        found = words[0]
        begun.set()
        await go_on.wait()
        return found

    kept = Kept(read, most=5)
    reading = asyncio.create_task(kept.of(HERE, CHANNEL))
    await begun.wait()
    words[0] = "new"
    kept.forget(HERE)
    go_on.set()
    assert await reading == "old"
    assert await kept.of(HERE, CHANNEL) == "new"


async def test_the_reading_that_began_last_is_kept() -> None:
    """Also where one that began before it ends after it."""
    slow, answers = asyncio.Event(), ["old", "new"]

    async def read(space_id: SpaceId, place_id: PlaceId) -> str:
        found = answers.pop(0)
        if found == "old":
            await slow.wait()
        return found

    kept = Kept(read, most=5)
    first = asyncio.create_task(kept.of(HERE, CHANNEL))
    await asyncio.sleep(0)
    assert await kept.of(HERE, CHANNEL) == "new"
    slow.set()
    assert await first == "old"
    assert await kept.of(HERE, CHANNEL) == "new"


async def test_where_it_is_switched_off_it_answers_nobody(stage: Stage) -> None:
    """listening off: what is said there is journalled, and ends without a word."""
    await put(stage.pool, "listening", "off", PlaceId(stage.general.id), SpaceId(stage.guild.id))
    other = stage.guild.create_channel("open")
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello?")
        stage.model.script(say("Here I am."))
        asked = await stage.ada.says(other, f"{stage.discord.bot.mention} hello?")
        await stage.discord.wait_for_message(reply_to=asked)
    assert stage.discord.bot_messages(stage.general) == []
    assert sorted((t["state"], t["end_reason"]) for t in await stage.turns())[1] == ("cancelled", "not_listening")


async def test_a_guild_chooses_its_model_and_its_budget(stage: Stage) -> None:
    """The run uses the model that the guild chose of those offered, and none begins over the guild's own budget."""
    space = SpaceId(stage.guild.id)
    await put(stage.pool, "model", stage.model.name, space=space)
    await put(stage.pool, "daily_tokens", 1, space=space)
    async with stage.muninn(model="another", models=stage.model.name):
        stage.model.script(say("By the one of our choice."))
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello?")
        await stage.discord.wait_for_message(reply_to=asked)
        again = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} and now?")
        told = await stage.discord.wait_for_message(reply_to=again)
    assert await stage.pool.fetchval("SELECT model FROM agent_runs") == stage.model.name
    assert "may spend here in a day" in told.content


async def test_a_named_role_governs(stage: Stage) -> None:
    """A role that the guild named may write for the whole guild; it may not where it was not named."""
    role = stage.guild.create_role("Librarians")
    stage.ada.give(role)
    wish = call("memory_remember", content="The library is on the second floor.", kind="fact", scope="guild")
    words = "remember for the server that the library is on the second floor"
    async with stage.muninn():
        stage.model.script(wish, say("Noted."), wish, say("Noted then."))
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} {words}")
        await stage.discord.wait_for_message(reply_to=asked)
        assert "not_yours" in stage.model.requests[-1].tool_results[-1].text
        await put(stage.pool, "admin_role_ids", [role.id], space=SpaceId(stage.guild.id))
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} {words}")
        await stage.discord.wait_for_message(reply_to=asked)
        assert "not_yours" not in stage.model.requests[-1].tool_results[-1].text


async def test_a_guild_keeps_others_out_of_answers_and_chooses_a_language(stage: Stage) -> None:
    """The model is shown what the asker and the bot said, what was replied to, and nothing else."""
    space = SpaceId(stage.guild.id)
    async with stage.pool.acquire() as conn:
        await change(conn, space, WHOLE_SPACE, "context_of_others", value=False, by=OLIVE)
        await change(conn, space, WHOLE_SPACE, "language", "de", by=OLIVE)
    stage.model.default(say("Ja."))
    async with stage.muninn():
        heard = await stage.bob.says(stage.general, "The password is swordfish.")
        pointed = await stage.bob.says(stage.general, "The fence is green.")
        own = await stage.ada.says(stage.general, "My own words.")
        for message in (heard, pointed, own):
            await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", message.id)
        asked = await stage.ada.says(
            stage.general, f"{stage.discord.bot.mention} is the password here?", reply_to=pointed
        )
        await stage.discord.wait_for_message(reply_to=asked)
    request = stage.model.requests[-1]
    assert 'in the language "de"' in request.system_text
    assert "swordfish" not in str(request.body)
    assert "My own words." in str(request.body)
    assert "The fence is green." in str(request.body)
