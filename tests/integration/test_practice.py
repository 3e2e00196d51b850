"""The practice model with a whole bot: what a newcomer sees who has no key."""

from sandbox.model.practice import practice
from tests.harness.stage import Stage


async def test_a_newcomer_sees_memory_at_work(stage: Stage) -> None:
    """What Ada says of herself in passing becomes a memory that rests on her message; search and reactions work."""
    stage.model.default(practice)
    mention = stage.discord.bot.mention
    async with stage.muninn(memory_quiet_s=0.1, embeddings="off"):
        said = await stage.ada.says(stage.general, "I prefer tea over coffee, as everybody knows.")
        row = await stage.until(
            """SELECT i.kind, i.key, i.content, i.owner_id, e.message_id
               FROM memory_items i JOIN memory_evidence e USING (memory_id)"""
        )
        asked = await stage.bob.says(stage.general, f"{mention} what did Ada say about tea?")
        found = await stage.discord.wait_for_message(reply_to=asked)
        react = await stage.bob.says(stage.general, f"{mention} react with 👍")
        await stage.discord.wait_for_reaction(react, "👍")
        await stage.settled(2)
    assert (row["kind"], row["owner_id"], row["message_id"]) == ("preference", stage.ada.id, said.id)
    assert row["content"] == "Ada: I prefer tea over coffee, as everybody knows."
    assert "I prefer tea over coffee" in found.content
