"""/rules: versions with a difference and a way back, in the prompt of each answer; who does not govern changes none."""

import pytest

from sandbox.discord import Permission
from sandbox.model import say
from tests.harness.stage import Stage


async def test_rules_are_written_followed_and_taken_back(stage: Stage) -> None:
    """The guild's words stand in the stable beginning, quoted; every version is kept."""
    olive = stage.guild.member("Olive")
    stage.ada.give(stage.guild.create_role("Clerks", permissions=Permission.MANAGE_GUILD))
    hall = stage.guild.create_channel("hall")
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        for words in ("Speak like a pirate.", "Speak like a judge."):
            form = await (await olive.slash(stage.general, "rules edit")).modal()
            await (await olive.submit(form, {"words": words})).message()
        told = await (await olive.slash(stage.general, "rules diff")).message()
        assert "-Speak like a pirate." in told.content
        assert "+Speak like a judge." in told.content
        await (await olive.slash(stage.general, "rules revert", version=1)).message()
        stage.model.script(say("Arr."))
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
        refused = await (await stage.ada.slash(stage.general, "rules revert", version=2)).message()
        assert "> Speak like a pirate." in stage.model.requests[-1].system_text
        # A channel's own words come after the server's, and count there alone.
        long = "Speak of the sea.\n" * 200
        form = await (await olive.slash(stage.general, "rules edit", channel=hall)).modal()
        await (await olive.submit(form, {"words": long})).message()
        shown = await (await olive.slash(stage.general, "rules show", channel=hall)).message()
        assert shown.attachments[0].file.content.decode() == long
        for place, heard in ((hall, True), (stage.general, False)):
            stage.model.script(say("Arr."))
            asked = await stage.ada.says(place, f"{stage.discord.bot.mention} hello")
            await stage.discord.wait_for_message(reply_to=asked)
            words = stage.model.requests[-1].system_text
            assert ("> Speak of the sea." in words[words.index("> Speak like a pirate.") :]) is heard
    assert "Only who administers" in refused.content
    assert await stage.pool.fetchval("SELECT count(*) FROM guild_rules") == 4


async def test_new_rules_count_in_the_next_answer(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the ones before were read for an answer a moment ago."""
    monkeypatch.setattr("bot.kept.KEPT_S", 600.0)
    olive = stage.guild.member("Olive")
    stage.model.default(say("Arr."))
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        for words in ("pirate", "judge"):
            form = await (await olive.slash(stage.general, "rules edit")).modal()
            await (await olive.submit(form, {"words": f"Speak like a {words}."})).message()
            asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
            await stage.discord.wait_for_message(reply_to=asked)
            assert f"> Speak like a {words}." in stage.model.requests[-1].system_text


async def test_a_form_outlives_a_restart_and_one_that_nobody_knows_says_so(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was opened before is sent after it; one of a version whose forms had other names changes nothing."""
    olive = stage.guild.member("Olive")
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        form = await (await olive.slash(stage.general, "rules edit")).modal()
        old = await (await olive.slash(stage.general, "rules edit")).modal()
    async with stage.muninn():
        told = await (await olive.submit(form, {"words": "Speak like a judge."})).message()
        assert "Version 1 counts" in told.content
    monkeypatch.setattr("bot.guild_rules.PREFIX", "laws")
    async with stage.muninn():
        told = await (await olive.submit(old, {"words": "Speak like a king."})).message()
    assert told.content == "This form has expired, so nothing was done; please use the command again."
    assert await stage.pool.fetchval("SELECT count(*) FROM guild_rules") == 1
