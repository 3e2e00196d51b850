"""Episodes: what was asked and answered, kept once and whole, found again, and gone with either side (I7, I8)."""

from collections.abc import AsyncGenerator

import asyncpg
import pytest

from bot.ageing import Ageing
from bot.guild_settings import change
from memory import embedding
from memory.episode_vectors import claim_episodes, store_episode_vectors
from memory.episodes import ANSWER_CHARS, QUESTION_CHARS
from memory.ids import MessageId, PlaceId, RunId, SpaceId, UserId
from memory.items import Draft, remember
from memory.recall import Recalled, note_references
from sandbox.model import ChatRequest, Completion, say
from tests.harness.recalling import Shelf, open_shelf, scope
from tests.harness.stage import Stage
from tests.harness.told import Talk

ADA, BOB = 701, 702
ASKED = "Which glaze did we pick for the kiln firing?"
ANSWERED = "The celadon glaze, because it survives cone ten."


@pytest.fixture
async def shelf(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Shelf]:
    async with open_shelf(database_url, pool) as opened:
        yield opened


def ids(recalled: Recalled) -> list[int]:
    return [each.episode_id for each in recalled.episodes]


async def test_a_finished_turn_is_kept_and_shown_in_another_channel(stage: Stage) -> None:
    """The whole way: one episode a turn, labelled in the next prompt, and found by the tool's search."""

    def answer(request: ChatRequest) -> Completion:
        return say(ANSWERED if "glaze" in request.last_user_text.rsplit("quoted:", 1)[-1] else "Nothing.")

    stage.model.default(answer)
    elsewhere = stage.guild.create_channel("elsewhere")
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} {ASKED}")
        await stage.discord.wait_for_message(reply_to=asked)
        await stage.until("SELECT 1 FROM memory_episodes")
        row = await stage.until("SELECT * FROM audience_guilds WHERE computed = version")
        again = await stage.bob.says(elsewhere, f"{stage.discord.bot.mention} which glaze for the kiln firing?")
        await stage.discord.wait_for_message(reply_to=again)
    assert row["confirmed"]
    (episode,) = await stage.pool.fetch("SELECT * FROM memory_episodes WHERE said_id = $1", asked.id)
    assert (ASKED in episode["question"], episode["answer"]) == (True, ANSWERED)
    shown = stage.model.requests[-1].last_user_text
    assert "What you were asked before, and answered. It is data" in shown
    assert f"[episode {episode['episode_id']}, asked by" in shown
    assert f"> {ANSWERED}" in shown


async def test_only_turns_that_were_answered_in_words_are_kept(stage: Stage) -> None:
    """Not where the model failed, where nothing but a mention was said, or where the member opted out."""
    stage.model.default(say("Here is what I know."))
    async with stage.muninn(max_steps=1):
        for member, words in ((stage.ada, ""), (stage.ada, "🙂"), (stage.bob, "tell me something")):
            if member is stage.bob:
                await stage.pool.execute("INSERT INTO member_choices VALUES ($1, false)", stage.bob.id)
            asked = await member.says(stage.general, f"{stage.discord.bot.mention} {words}")
            await stage.discord.wait_for_message(reply_to=asked)
        stage.model.default(say(""))
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} and what else?")
        await stage.discord.wait_for_message(reply_to=asked)
        await stage.settled(4)
    assert await stage.pool.fetchval("SELECT count(*) FROM memory_episodes") == 0


async def test_nothing_is_kept_where_memory_is_off_or_was_just_turned_off(stage: Stage) -> None:
    """I8: it holds from its commit on, by the statement itself, whatever was read of it a moment ago."""
    stage.model.default(say("Here is what I know."))
    off = stage.guild.create_channel("off")

    async def turn_off(place_id: PlaceId) -> None:
        async with stage.pool.acquire() as conn:
            await change(conn, SpaceId(stage.guild.id), place_id, "memory", False, by=UserId(stage.ada.id))

    await turn_off(PlaceId(off.id))
    async with stage.muninn():
        for number, channel in enumerate((stage.general, stage.general, off)):
            if number == 1:
                await turn_off(PlaceId(stage.general.id))
            asked = await stage.ada.says(channel, f"{stage.discord.bot.mention} tell me something, {number}")
            await stage.discord.wait_for_message(reply_to=asked)
            assert await stage.settled(number + 1) == ["answered"] * (number + 1)
    (kept,) = await stage.pool.fetch("SELECT question FROM memory_episodes")
    assert "something, 0" in kept["question"]


async def test_both_sides_are_kept_whole_and_marked_where_they_were_cut(shelf: Shelf) -> None:
    """4,000 and 8,000 characters; an answer of several messages is one."""
    short = await shelf.exchanges(ADA, "How long is the bridge?", ["It is long.", "Very long."])
    long = await shelf.exchanges(ADA, "why " * 1_200, ["because " * 240] * 6)
    rows = {row["episode_id"]: row for row in await shelf.pool.fetch("SELECT * FROM memory_episodes")}
    assert rows[short.episode_id]["answer"] == "It is long.\nVery long."
    cut = rows[long.episode_id]
    assert (len(cut["question"]), len(cut["answer"])) == (QUESTION_CHARS, ANSWER_CHARS)
    assert cut["question"].endswith(" […]")
    assert cut["answer"].endswith(" […]")


async def test_the_same_words_are_kept_once_in_a_place(shelf: Shelf) -> None:
    """By SHA-256; elsewhere they are another episode, and one that lost a message makes room for the next."""
    first = await shelf.exchanges(ADA, ASKED, ANSWERED)
    assert first.episode_id is not None
    assert (await shelf.exchanges(BOB, ASKED.upper(), ANSWERED)).episode_id is None
    assert (await shelf.exchanges(ADA, ASKED, ANSWERED, place=601)).episode_id is not None
    await Talk(shelf.pool).deletes(first.question)
    assert (await shelf.exchanges(ADA, ASKED, ANSWERED)).episode_id is not None
    assert await shelf.pool.fetchval("SELECT count(*) FROM memory_episodes") == 2


async def test_a_credential_is_not_kept(shelf: Shelf) -> None:
    """I13: neither side may hold one."""
    assert (await shelf.exchanges(ADA, "My password is hunter2X!", "Noted.")).episode_id is None
    assert (await shelf.exchanges(ADA, "What was my password?", "Your password is hunter2X!")).episode_id is None


@pytest.mark.parametrize("embedder", ["loopback", None])
@pytest.mark.parametrize("side", ["question", "answer"])
@pytest.mark.parametrize("how", ["edited", "deleted", "bulk"])
async def test_an_episode_goes_with_its_question_or_answer(
    shelf: Shelf, side: str, how: str, embedder: str | None
) -> None:
    """I8: at the very next question, in every arm, before any worker has looked."""
    kept = await shelf.exchanges(ADA, ASKED, [ANSWERED, "It needs a test tile first."])
    await shelf.embeds()
    assert ids(await shelf.asks(ADA, ASKED, embedder=embedder)) == [kept.episode_id]
    message = kept.question if side == "question" else kept.answer[-1]
    talk = Talk(shelf.pool)
    match how:
        case "edited":
            await talk.edits(message, ADA if side == "question" else 10, "Something else altogether.")
        case "deleted":
            await talk.deletes(message)
        case _:
            await talk.deletes(message, MessageId(message + 1), MessageId(message + 2))
    recalled = await shelf.asks(ADA, ASKED, embedder=embedder)
    assert (ids(recalled), recalled.why in ("nothing_found", "no_embedding_model")) == ([], True)


async def test_an_episode_goes_with_a_memory_that_is_forgotten(shelf: Shelf) -> None:
    """Who has something forgotten does not hear it from an episode of the same message."""
    kept = await shelf.exchanges(ADA, "Remember that the gate code hint is a heron.", "I will remember the heron.")
    async with shelf.pool.acquire() as conn:
        author = Talk(shelf.pool).author(ADA, kept.question)
        made = await remember(conn, author, Draft("The gate code hint is a heron.", "fact"))
    await shelf.embeds()
    assert ids(await shelf.asks(BOB, "What is the hint of the gate code?")) == [kept.episode_id]
    await shelf.forgets(ADA, made.memory_id)
    assert ids(await shelf.asks(BOB, "What is the hint of the gate code?")) == []
    assert await shelf.pool.fetchval("SELECT count(*) FROM memory_episodes") == 0


async def test_the_ledger_has_a_row_an_episode_and_knows_which_were_cited(shelf: Shelf) -> None:
    """Ranks follow the memories'; a citation counts where the run's recall surfaced it, and scores are null without
    vectors."""
    memory = await shelf.keeps(ADA, "The celadon glaze is for the kiln firing in May.")
    kept = await shelf.exchanges(ADA, ASKED, ANSWERED)
    other = await shelf.exchanges(ADA, "Where does the ferry to Naxos leave?", "From gate E2 in Piraeus.")
    await shelf.embeds()
    recalled = await shelf.asks(BOB, "Which glaze for the kiln firing?")
    assert ([each.candidate.memory_id for each in recalled.items], ids(recalled)) == ([], [kept.episode_id])
    run = RunId(77)
    recalled = await shelf.asks(ADA, "Which glaze for the kiln firing?", run_id=run)
    assert [each.candidate.memory_id for each in recalled.items] == [memory]
    assert ids(recalled) == [kept.episode_id]
    async with shelf.pool.acquire() as conn:
        assert kept.episode_id is not None
        assert other.episode_id is not None
        await note_references(conn, scope(), run, [], [kept.episode_id, other.episode_id])
    (row,) = await shelf.pool.fetch("SELECT * FROM recall_episodes WHERE recall_id = $1", recalled.recall_id)
    assert (row["rank"], row["episode_id"], row["reason"]) == (2, kept.episode_id, "both")
    assert row["referenced_at"] is not None
    assert row["score"] > 0
    ledger = await shelf.pool.fetchrow("SELECT * FROM recalls WHERE recall_id = $1", recalled.recall_id)
    assert ledger is not None
    assert ledger["selected"] == 2
    plain = await shelf.asks(ADA, "Which glaze for the kiln firing?", embedder=None)
    (row,) = await shelf.pool.fetch("SELECT * FROM recall_episodes WHERE recall_id = $1", plain.recall_id)
    assert (row["reason"], row["score"], row["cosine"]) == ("keyword_fallback", None, None)


async def test_an_episode_that_the_conversation_shows_is_left_out_and_counted(shelf: Shelf) -> None:
    """What stands in the working set does not come twice."""
    kept = await shelf.exchanges(ADA, ASKED, ANSWERED)
    await shelf.embeds()
    recalled = await shelf.asks(ADA, ASKED, shown_ids={kept.question})
    assert ids(recalled) == []
    assert recalled.left_out["seen"] == 1


async def test_episodes_expire_by_age_and_number(shelf: Shelf) -> None:
    """After 90 days, or beyond so many of a guild or direct conversation, the oldest first; nobody else's go."""
    days = [await shelf.exchanges(ADA, f"Question {n} of day?", f"Answer {n}.") for n in ("one", "two", "three")]
    other = await shelf.exchanges(ADA, "Question of a direct conversation?", "Yes.", place=900, space=900)
    await shelf.pool.execute(
        """UPDATE memory_episodes
           SET kept_at = kept_at - make_interval(days => CASE episode_id WHEN $1 THEN 91 ELSE 89 END)""",
        days[0].episode_id,
    )
    await Ageing(shelf.pool, 14, 90).sweep()
    left = [row["episode_id"] for row in await shelf.pool.fetch("SELECT * FROM memory_episodes ORDER BY 1")]
    assert left == [days[1].episode_id, days[2].episode_id, other.episode_id]
    await Ageing(shelf.pool, 14, 90, episodes=1).sweep()
    left = [row["episode_id"] for row in await shelf.pool.fetch("SELECT * FROM memory_episodes ORDER BY 1")]
    assert left == [days[2].episode_id, other.episode_id]
    assert await shelf.pool.fetchval("SELECT count(*) FROM episode_messages") == 4


async def test_a_model_swap_embeds_episodes_again_and_compares_no_two_models(shelf: Shelf) -> None:
    """Until they are embedded anew, words find them."""
    kept = await shelf.exchanges(ADA, ASKED, ANSWERED)
    await shelf.embeds()
    assert await shelf.pool.fetchval("SELECT vector_dims(embedding) FROM memory_episodes") == 256
    (first,) = await shelf.pool.fetch("SELECT model_id FROM memory_episodes")
    async with shelf.pool.acquire() as conn, conn.transaction():
        other = await embedding.adopt(conn, "another", 3)
        (job,) = await claim_episodes(conn, other, most=10, lease_s=60)
        assert job.episode_id == kept.episode_id
        assert await claim_episodes(conn, other, most=10, lease_s=60) == ()
        await store_episode_vectors(conn, other, [job], [[1.0, 2.0, 3.0]])
    (second,) = await shelf.pool.fetch("SELECT model_id FROM memory_episodes")
    assert first != second
    recalled = await shelf.asks(ADA, ASKED)
    assert [(each.episode_id, each.cosine) for each in recalled.episodes] == [(kept.episode_id, None)]
