"""/rules: versions with a difference and a way back, in the prompt of each answer; who does not govern changes none."""

from sandbox.discord import Permission
from sandbox.model import say
from tests.harness.stage import Stage


async def test_rules_are_written_followed_and_taken_back(stage: Stage) -> None:
    """The guild's words stand in the stable beginning, quoted; every version is kept."""
    olive = stage.guild.member("Olive")
    stage.ada.give(stage.guild.create_role("Clerks", permissions=Permission.MANAGE_GUILD))
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
    assert "Only who administers" in refused.content
    assert await stage.pool.fetchval("SELECT count(*) FROM guild_rules") == 3
