"""What is said where Discord shows it to adults alone stays there (I7)."""

from sandbox.model import call, say
from tests.harness.stage import Stage

COMPUTED = "SELECT 1 FROM audience_guilds WHERE computed = version AND confirmed"
SEEN = "SELECT 1 FROM places WHERE place_id = $1 AND age_restricted = $2"


async def test_what_was_said_in_an_age_restricted_channel_shows_nowhere_else(stage: Stage) -> None:
    """I7: the same members can open both; what is said in the ordinary one may show in the other. When the
    channel's mark goes, and is computed, it shows like any other's."""
    cellar = stage.guild.create_channel("cellar", nsfw=True)

    async def shown(where: str) -> str:
        place = cellar if where == "cellar" else stage.general
        stage.model.script(call("memory_search", query="heron"), say("Noted."))
        asked = await stage.ada.says(place, f"{stage.discord.bot.mention} what do we know?")
        await stage.discord.wait_for_message(reply_to=asked)
        return stage.model.requests[-1].tool_results[-1].text

    async with stage.muninn():
        await stage.bob.says(cellar, "the heron drinks absinthe")
        last = await stage.bob.says(stage.general, "the heron eats frogs")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", last.id)
        await stage.until(COMPUTED)
        assert "absinthe" not in await shown("general")
        assert "frogs" in await shown("cellar")
        cellar.edit(nsfw=False)
        await stage.until(SEEN, cellar.id, False)
        await stage.until(COMPUTED)
        assert "absinthe" in await shown("general")
