"""Runs in PostgreSQL: what is stored comes back the same, and a stale attempt writes nothing (I14)."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeAlias

import asyncpg
import pytest

from agent import store as store_module
from agent.contracts import (
    AssistantMessage,
    ModelReply,
    PlannedCall,
    RunOutcome,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from agent.ending import Ending, abandon_run, finish_run
from agent.errors import LeaseLost, StoredRunBroken
from agent.limits import Limits
from agent.loop import run
from agent.prices import Prices
from agent.results import failure, success
from agent.store import Fence, PgRunStore, StoredRun, as_stored, begin_run
from tests.unit.agent.scripted import ScriptedModel, Toolbox, calls, say
from tests.unit.agent.virtual_time import clock

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
PROMPT = (
    SystemMessage("You are Muninn."),
    UserMessage("Grüße, \U0001f426‍⬛ \\u0000 \x07"),
    AssistantMessage("Hm.", (ToolCall("a", "read", "{}"),)),
    ToolMessage("a", '{"ok":true}'),
    UserMessage("And?"),
)
READ = PlannedCall(0, 0, ToolCall("a", "read", '{"q":1}'), "read")
WRITE = PlannedCall(0, 1, ToolCall("b", "write", '{"q":2}'), "write")
REJECTED = PlannedCall(0, 2, ToolCall("c", "nothing", "{broken"), "none", failure("unknown_tool", "No."))
REPLY = ModelReply(AssistantMessage("Wait.", (READ.call, WRITE.call, REJECTED.call)), "tool_calls", Usage(7, 3), "m")
OUTCOME = RunOutcome("answered", "Done.", "answered", say("Done."), 1, 3, Usage(17, 5))


async def a_turn(pool: Pool, place_id: int = 2) -> Fence:
    """A running turn under lease 1."""
    turn_id = await pool.fetchval(
        "INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, lease_no, triggered_at) "
        "VALUES (1, $1::bigint, 3, $1::bigint + 2, 'running', 1, now()) RETURNING turn_id",
        place_id,
    )
    return Fence(turn_id, 1)


async def begun(pool: Pool, fence: Fence) -> StoredRun:
    return await begin_run(pool, fence, model="m", prompt=PROMPT)


async def opened(pool: Pool) -> tuple[PgRunStore, int, Fence]:
    fence = await a_turn(pool)
    stored = await begun(pool, fence)
    return PgRunStore(pool, stored.run_id, fence), stored.run_id, fence


async def reclaim(pool: Pool, fence: Fence) -> None:
    """Another attempt takes the turn."""
    await pool.execute("UPDATE turns SET lease_no = lease_no + 1 WHERE turn_id = $1", fence.turn_id)


async def test_a_second_attempt_continues_the_run_with_its_stored_prompt(pool: Pool) -> None:
    """I3: a resumed attempt sees the prompt that the first one saw, whatever it offers itself."""
    fence = await a_turn(pool)
    first = await begun(pool, fence)
    second = await begin_run(pool, fence, model="other", prompt=(UserMessage("New"),))
    assert first == StoredRun(first.run_id, PROMPT, resumed=False)
    assert second == replace(first, resumed=True)


async def test_two_attempts_that_begin_at_once_share_one_run(pool: Pool) -> None:
    fence = await a_turn(pool)
    runs = await asyncio.gather(*(begun(pool, fence) for _ in range(5)))
    assert len({each.run_id for each in runs}) == 1
    assert sum(not each.resumed for each in runs) == 1


async def test_a_prompt_that_postgresql_cannot_hold_is_returned_as_it_was_stored(pool: Pool) -> None:
    """Both attempts send the same bytes."""
    fence = await a_turn(pool)
    prompt = (UserMessage("a\0b\ud800"),)
    first = await begin_run(pool, fence, model="m", prompt=prompt)
    second = await begin_run(pool, fence, model="m", prompt=prompt)
    assert first.prompt == second.prompt == as_stored(prompt) == (UserMessage("ab\N{REPLACEMENT CHARACTER}"),)


async def test_a_run_has_the_number_that_was_set_aside_for_it(pool: Pool) -> None:
    """And the next one, without any, another."""
    fence, other = await a_turn(pool), await a_turn(pool, place_id=3)
    number = await pool.fetchval("SELECT nextval('agent_runs_run_id_seq')")
    named = await begin_run(pool, fence, model="m", prompt=PROMPT, run_id=number)
    assert (named.run_id, named.resumed) == (number, False)
    assert (await begun(pool, other)).run_id > number


async def test_who_has_lost_the_lease_begins_nothing(pool: Pool) -> None:
    """I14: neither beside another's run, nor after its end, nor for a turn that is gone; and does not wait for it."""
    fence = await a_turn(pool)
    await reclaim(pool, fence)
    for _ in range(2):
        with pytest.raises(LeaseLost):
            await begun(pool, fence)
        await pool.execute("DELETE FROM turns")
    assert await pool.fetchval("SELECT count(*) FROM agent_runs") == 0


async def test_nothing_of_a_run_is_saved_before_it_stands(pool: Pool) -> None:
    """I3: the model may be asked meanwhile. Who waits in vain leaves those alone who begin it."""
    fence = await a_turn(pool)
    number = await pool.fetchval("SELECT nextval('agent_runs_run_id_seq')")
    beginning: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    store = PgRunStore(pool, number, fence, resumed=False, begun=beginning)
    given_up = asyncio.create_task(store.save_step(0, say("no"), []))
    saving = asyncio.create_task(store.save_step(0, say("yes"), []))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])
    assert not beginning.cancelled()
    assert not saving.done()
    await begin_run(pool, fence, model="m", prompt=PROMPT, run_id=number)
    beginning.set_result(None)
    await saving
    assert [step.reply.message.text for step in await PgRunStore(pool, number, fence).load()] == ["yes"]


async def test_steps_come_back_as_they_were_saved(pool: Pool) -> None:
    """Also results: byte for byte, since a resumed run sends them again."""
    store, _, _ = await opened(pool)
    found = success({"zeta": 1.0, "a": [{"text": 'ü "quoted" \\ \n'}], "ok2": True})
    await store.save_step(0, REPLY, (READ, WRITE, REJECTED))
    (before,) = await store.load()
    assert [each.result for each in before.calls] == [None, None, REJECTED.rejection]
    await store.settle_calls([(READ, found)])
    await store.settle_calls([(WRITE, failure("unknown", "Perhaps."))])
    (after,) = await store.load()
    assert after.reply == REPLY
    assert [each.result for each in after.calls] == [found, failure("unknown", "Perhaps."), REJECTED.rejection]
    assert [replace(each.planned, rejection=None) for each in after.calls] == [
        READ,
        WRITE,
        replace(REJECTED, rejection=None),
    ]


async def test_a_step_without_calls_comes_back_too(pool: Pool) -> None:
    """An empty answer is a step: without it the nudge would be given again after a crash."""
    store, _, _ = await opened(pool)
    await store.save_step(0, say(None), ())
    (step,) = await store.load()
    assert (step.reply, step.calls) == (say(None), ())


async def test_a_settled_call_keeps_its_result(pool: Pool) -> None:
    store, _, _ = await opened(pool)
    await store.save_step(0, REPLY, (READ, WRITE, REJECTED))
    await store.settle_calls([(READ, success({"first": 1}))])
    await store.settle_calls([(READ, success({"second": 2}))])
    (step,) = await store.load()
    assert step.calls[0].result == success({"first": 1})


@pytest.mark.parametrize("change", ["lease_no = lease_no + 1", "state = 'cancelled'", "state = 'queued'"])
async def test_a_stale_attempt_writes_nothing_and_learns_it(pool: Pool, change: str) -> None:
    """I14: after another claim, a cancel or an expiry, no write of the old attempt matches a row."""
    store, run_id, fence = await opened(pool)
    await store.save_step(0, REPLY, (READ, WRITE, REJECTED))
    await pool.execute(f"UPDATE turns SET {change} WHERE turn_id = $1", fence.turn_id)
    with pytest.raises(LeaseLost):
        await store.settle_calls([(READ, success({}))])
    with pytest.raises(LeaseLost):
        await store.save_step(1, REPLY, ())
    assert await pool.fetchval("SELECT count(*) FROM agent_steps WHERE run_id = $1", run_id) == 1
    assert await pool.fetchval("SELECT count(*) FROM agent_tool_calls WHERE state = 'done'") == 0


async def test_a_step_that_stands_already_is_not_ours_to_save(pool: Pool) -> None:
    store, _, _ = await opened(pool)
    await store.save_step(0, REPLY, (READ, WRITE, REJECTED))
    with pytest.raises(LeaseLost):
        await store.save_step(0, REPLY, (READ,))


async def test_a_claim_waits_for_a_write_under_way(pool: Pool) -> None:
    """The new attempt loads what the old one was just saving, or the old one saves nothing: never both unseen."""
    store, run_id, fence = await opened(pool)
    async with pool.acquire() as held, pool.acquire() as other:
        await held.execute("BEGIN")
        arguments: list[Any] = [fence.turn_id, 1, run_id, 0, '{"text":null,"finish":"stop","model":"m"}', 0, 0]
        columns: list[list[Any]] = [[]] * 7
        await held.fetchval(store_module.SAVE_STEP_SQL, *arguments, *columns, False, 0, 0, [])
        skipped = "SELECT turn_id FROM turns WHERE turn_id = $1 FOR NO KEY UPDATE SKIP LOCKED"
        assert await other.fetchval(skipped, fence.turn_id) is None
        await held.execute("COMMIT")
        assert await other.fetchval(skipped, fence.turn_id) == fence.turn_id
    assert len(await store.load()) == 1


async def test_a_finished_run_has_its_last_reply_and_its_totals(pool: Pool) -> None:
    store, run_id, fence = await opened(pool)
    await store.save_step(0, REPLY, (READ, WRITE, REJECTED))
    async with pool.acquire() as conn, conn.transaction():
        await finish_run(conn, Ending(run_id, "answered", OUTCOME))
    row = await pool.fetchrow("SELECT * FROM agent_runs WHERE run_id = $1", run_id)
    assert row is not None
    assert (row["state"], row["end_reason"], row["steps"], row["calls"]) == ("answered", "answered", 2, 3)
    assert (row["prompt_tokens"], row["completion_tokens"]) == (17, 5)
    assert [each.reply.message.text for each in await store.load()] == ["Wait.", "Done."]
    assert not (await begun(pool, fence)).resumed, "a later attempt begins a run of its own"


async def test_a_run_that_has_ended_stays_as_it_is(pool: Pool) -> None:
    _, run_id, fence = await opened(pool)
    outcome = replace(OUTCOME, step=0)
    await finish_run(pool, Ending(run_id, "answered", outcome))
    await finish_run(pool, Ending(run_id, "failed", replace(outcome, final=say("Other."))))
    await abandon_run(pool, fence.turn_id, state="cancelled", reason="cancelled")
    assert await pool.fetchval("SELECT state FROM agent_runs WHERE run_id = $1", run_id) == "answered"
    assert await pool.fetchval("SELECT reply ->> 'text' FROM agent_steps WHERE run_id = $1", run_id) == "Done."


async def test_a_run_that_failed_without_a_reply_has_no_last_step(pool: Pool) -> None:
    _, run_id, _ = await opened(pool)
    outcome = RunOutcome("failed", None, "model_unavailable", None, 0, 0, Usage())
    await finish_run(pool, Ending(run_id, "failed", outcome))
    row = await pool.fetchrow("SELECT state, end_reason, steps FROM agent_runs WHERE run_id = $1", run_id)
    assert row is not None
    assert tuple(row) == ("failed", "model_unavailable", 0)
    assert await pool.fetchval("SELECT count(*) FROM agent_steps") == 0


async def test_a_cancelled_run_leaves_no_call_open(pool: Pool) -> None:
    """Each planned call ends in exactly one state, also where nobody will run it any more."""
    store, _, fence = await opened(pool)
    await store.save_step(0, REPLY, (READ, WRITE, REJECTED))
    await store.settle_calls([(READ, success({}))])
    await abandon_run(pool, fence.turn_id, state="cancelled", reason="cancelled", prices=Prices(Decimal(2), Decimal(4)))
    states = await pool.fetch("SELECT state, error_code FROM agent_tool_calls ORDER BY ordinal")
    assert [tuple(row) for row in states] == [("done", None), ("failed", "unknown"), ("failed", "unknown_tool")]
    row = await pool.fetchrow("SELECT state, end_reason, steps, calls, prompt_tokens, cost > 0 FROM agent_runs")
    assert row is not None
    assert tuple(row) == ("cancelled", "cancelled", 1, 3, 7, True)


async def test_what_cannot_be_read_back_says_so(pool: Pool) -> None:
    store, run_id, fence = await opened(pool)
    await store.save_step(0, say(None), ())
    await pool.execute("UPDATE agent_steps SET reply = $1::text::jsonb", '{"text":null,"finish":"odd","model":"m"}')
    with pytest.raises(StoredRunBroken):
        await store.load()
    await pool.execute("UPDATE agent_steps SET step = 4")
    with pytest.raises(StoredRunBroken, match="lacks a step"):
        await store.load()
    await pool.execute("UPDATE agent_runs SET prompt = $1::text::jsonb WHERE run_id = $2", '[{"role":"who"}]', run_id)
    with pytest.raises(StoredRunBroken):
        await begun(pool, fence)


async def test_a_read_alone_does_not_wait_for_the_disk_and_a_write_does(pool: Pool) -> None:
    """The setting is local to the statement's own transaction, so it cannot leak into another one's."""
    async with pool.acquire() as conn:
        store = PgRunStore(
            conn, (await opened(pool))[1], Fence(await conn.fetchval("SELECT max(turn_id) FROM turns"), 1)
        )
        await store.save_step(0, REPLY, (READ, WRITE, REJECTED))
        before = await conn.fetchval("SHOW synchronous_commit")
        async with conn.transaction():
            await store.settle_calls([(WRITE, success({}))])
            assert await conn.fetchval("SHOW synchronous_commit") == before
            await store.settle_calls([(READ, success({}))])
            assert await conn.fetchval("SHOW synchronous_commit") == "off"
        assert await conn.fetchval("SHOW synchronous_commit") == before


async def test_a_run_cut_off_in_the_loop_resumes_from_the_database(pool: Pool) -> None:
    """I3, end to end: the loop over PostgreSQL, lost after the write was done and before it was settled."""
    store, run_id, fence = await opened(pool)

    class Memory:
        """What the scripted toolbox asks its store; here it has nothing to say."""

        def result(self, step: int, ordinal: int) -> None:
            return None

    async def attempt(model: ScriptedModel, lost: bool) -> tuple[RunOutcome, list[tuple[int, int]]]:
        ran: list[tuple[int, int]] = []

        class Box(Toolbox):
            async def invoke(self, valid: Any, planned: PlannedCall) -> Any:
                ran.append((planned.step, planned.ordinal))
                if lost and planned.effect == "write":
                    await reclaim(pool, fence)
                return success({"n": planned.ordinal})

        box = Box(Memory())  # type: ignore[arg-type]
        holder = PgRunStore(pool, run_id, Fence(fence.turn_id, 1 if lost else 2))
        try:
            return await run(PROMPT, model=model, toolbox=box, store=holder, limits=Limits(), clock=clock), ran
        finally:
            attempts.append(ran)

    attempts: list[list[tuple[int, int]]] = []
    with pytest.raises(LeaseLost):
        await attempt(ScriptedModel([calls(("read", "{}"), ("write", "{}"), ("read", '{"q":2}'))]), lost=True)
    outcome, _ = await attempt(ScriptedModel([say("Done.")]), lost=False)
    assert attempts == [[(0, 0), (0, 1)], [(0, 1), (0, 2)]]
    assert (outcome.text, outcome.calls) == ("Done.", 3)
    (step,) = await store.load()
    assert all(each.result is not None and each.result.ok for each in step.calls)
