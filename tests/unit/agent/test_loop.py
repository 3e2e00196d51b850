"""The loop, through its one function, against scripted ports. Times are virtual."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent.contracts import (
    AssistantMessage,
    ContextMessage,
    Message,
    ModelReply,
    PlannedCall,
    PromptMessage,
    RunOutcome,
    StoredCall,
    StoredStep,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from agent.errors import LimitsBroken, ModelRefused, ModelUnavailable, StoreStalled
from agent.limits import Limits
from agent.loop import run
from agent.plan import OVER_THE_LIMIT, OVER_WRITES
from agent.ports import Listener
from agent.tokens import Gauge, of_message
from agent.transcript import LAST_STEP, NUDGE, build
from tests.unit.agent.scripted import READ, Asked, Behaviour, MemoryStore, ScriptedModel, Toolbox, calls, say
from tests.unit.agent.virtual_time import clock, run_virtually
from tests.unit.agent.wire_rules import check_transcript

PROMPT = (SystemMessage("You are Muninn."), UserMessage("What did Ada say?"))


class World:
    """One run: `go` runs it to the end and returns the outcome."""

    def __init__(
        self,
        *script: ModelReply | Exception | float,
        behaviours: dict[tuple[int, int], Behaviour] | None = None,
        limits: Limits | None = None,
        store: MemoryStore | None = None,
    ) -> None:
        self.model = ScriptedModel(list(script))
        self.store = store or MemoryStore()
        self.toolbox = Toolbox(self.store, behaviours or {})
        self.limits = limits or Limits()
        self.gauge = Gauge()
        self.took_s = 0.0

    async def running(self, prompt: Sequence[PromptMessage] = PROMPT) -> RunOutcome:
        began = clock()
        try:
            return await run(
                prompt,
                model=self.model,
                toolbox=self.toolbox,
                store=self.store,
                limits=self.limits,
                gauge=self.gauge,
                clock=clock,
            )
        finally:
            self.took_s = clock() - began

    def go(self, prompt: Sequence[PromptMessage] = PROMPT) -> RunOutcome:
        return run_virtually(lambda: self.running(prompt))


def test_an_answer_ends_the_run_and_is_left_for_the_caller_to_save() -> None:
    """The final reply is in the outcome and not in the store (I3: it commits with the composed answer)."""
    world = World(say("Hello."))
    outcome = world.go()
    assert outcome == RunOutcome("answered", "Hello.", "answered", say("Hello."), 0, 0, Usage(10, 2))
    assert world.store.steps == []
    assert world.model.asked[0].messages == list(PROMPT)
    assert world.model.asked[0].tools == ["read", "peek", "write"]


def test_calls_run_and_their_results_go_back_in_the_models_order() -> None:
    """Order of results is the model's, whatever finished first; usage is summed over the run."""
    world = World(
        calls(("read", '{"q":1}'), ("read", '{"q":2}'), ("read", '{"q":3}')),
        say("Done."),
        behaviours={(0, 0): Behaviour(3.0), (0, 1): Behaviour(1.0), (0, 2): Behaviour(2.0)},
    )
    outcome = world.go()
    assert (outcome.step, outcome.calls, outcome.usage) == (1, 3, Usage(20, 4))
    results = [each for each in world.model.asked[1].messages if isinstance(each, ToolMessage)]
    assert [json.loads(each.content)["from"] for each in results] == [[0, 0], [0, 1], [0, 2]]
    assert world.took_s == pytest.approx(3.0)


def test_a_write_is_a_wall_between_reads() -> None:
    """[w, r, r, w, r] runs as w | r r | w | r, in this order (the toolbox asserts that nothing runs beside a write)."""
    made = [("write", "{}"), ("read", "{}"), ("read", '{"q":2}'), ("write", '{"q":3}'), ("read", '{"q":4}')]
    world = World(calls(*made), say("Done."), behaviours={(0, at): Behaviour(5.0 - at) for at in range(5)})
    world.go()
    assert world.toolbox.started == [(0, at) for at in range(5)]
    assert world.took_s == pytest.approx(5 + 4 + 2 + 1)


def test_reads_never_run_wider_than_the_cap() -> None:
    world = World(
        calls(*[("read", f'{{"q":{at}}}') for at in range(7)]),
        say("Done."),
        behaviours={(0, at): Behaviour(1.0) for at in range(7)},
        limits=Limits(parallel_reads=3),
    )
    world.go()
    assert world.toolbox.widest == 3
    assert world.took_s == pytest.approx(3.0)


def test_the_last_step_counts_and_offers_no_tools() -> None:
    """I10: max_steps includes the last, toolless step; a model that ignores it gets nothing run."""
    forever = [calls(("read", f'{{"q":{at}}}')) for at in range(9)]
    world = World(*forever, limits=Limits(max_steps=3))
    outcome = world.go()
    assert (outcome.kind, outcome.reason, outcome.step) == ("failed", "limit_steps", 2)
    assert [each.tools for each in world.model.asked] == [["read", "peek", "write"]] * 2 + [[]]
    assert world.model.asked[-1].messages[-1] == UserMessage(LAST_STEP)
    assert world.toolbox.started == [(0, 0), (1, 0)]
    assert outcome.final is not None
    assert outcome.final.message.calls == ()


def test_words_beside_calls_in_the_last_step_are_the_answer() -> None:
    world = World(calls(("read", "{}"), text="This is what I know."), limits=Limits(max_steps=1))
    outcome = world.go()
    assert (outcome.kind, outcome.text, outcome.reason) == ("answered", "This is what I know.", "limit_steps")
    assert world.toolbox.started == []


def test_a_batch_over_the_limit_is_cut_before_any_of_it_starts() -> None:
    """I10: six calls with two left: two run, four get a result of their own, and the next step is the last one."""
    world = World(calls(*[("read", f'{{"q":{at}}}') for at in range(6)]), say("Done."), limits=Limits(max_calls=2))
    outcome = world.go()
    assert world.toolbox.started == [(0, 0), (0, 1)]
    assert world.store.codes(0) == [None, None] + [OVER_THE_LIMIT] * 4
    assert (outcome.calls, outcome.reason) == (2, "limit_calls")
    assert world.model.asked[1].tools == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('{"query": "atl', "malformed_arguments"),
        ("", "malformed_arguments"),
        ("[1]", "malformed_arguments"),
        ("null", "malformed_arguments"),
        ('{"q": NaN}', "malformed_arguments"),
        ('{"q": 1, "q": 2}', "malformed_arguments"),
        ('{"q": "\\u0000"}', "malformed_arguments"),
        ('{"q": "\\ud800"}', "malformed_arguments"),
        ('{"q": "a\0b"}', "malformed_arguments"),
        ("[" * 100_000, "malformed_arguments"),
        ("[" * 10_000, "malformed_arguments"),
        ('{"q": "' + "x" * 20_000 + '"}', "malformed_arguments"),
        ('{"q": ' + "9" * 5_000 + "}", "malformed_arguments"),
    ],
    ids=lambda value: value[:12].replace("\0", "NUL"),
)
def test_malformed_arguments_are_never_dispatched_and_never_spoil_the_history(arguments: str, code: str) -> None:
    """They give a structured result, count as calls, and go back as JSON (the model asserts a valid transcript)."""
    world = World(calls(("write", arguments)), say("Sorry."))
    outcome = world.go()
    assert world.toolbox.started == []
    assert world.store.codes(0) == [code]
    assert outcome.calls == 1
    assert world.store.steps[0].calls[0].planned.effect == "none"


def test_an_unknown_tool_is_an_error_for_the_model_and_counts() -> None:
    world = World(calls(("forget_all", "{}"), ("memory search", "{}"), ("", "{}")), say("Sorry."))
    assert world.go().calls == 3
    assert world.store.codes(0) == ["unknown_tool"] * 3


def test_a_name_that_no_request_may_hold_does_not_become_that_of_a_tool() -> None:
    """Malformed names are not repaired by guessing: `re ad` is not `read`, nor is `read` with a NUL in it."""
    world = World(calls(("re ad", "{}"), ("read\0", "{}"), ("rea\ud800d", "{}")), say("Sorry."))
    world.go()
    assert world.toolbox.started == []


def test_identical_calls_are_stopped_also_when_they_succeed() -> None:
    """The key is tool and canonical arguments: order of names, spacing and results make no difference."""
    same = ['{"a":1,"b":2}', '{"b": 2, "a": 1}', '{ "a":1, "b":2 }', '{"a":1,"b":3}']
    world = World(*[calls(("read", each)) for each in same], say("Done."))
    world.go()
    assert [world.store.codes(step)[0] for step in range(4)] == [None, None, "identical_calls", None]


def test_the_same_fan_out_in_another_order_is_the_same() -> None:
    """A model that goes in circles over several calls at once is stopped like one that repeats a single call."""
    one, two = ("read", '{"q":1}'), ("read", '{"q":2}')
    orders = ((one, two), (two, one), (one, two))
    world = World(*[calls(*((*each, "") for each in order)) for order in orders], say("Done."))
    world.go()
    assert [world.store.codes(step) for step in range(3)] == [
        [None, None],
        [None, None],
        ["identical_calls", "identical_calls"],
    ]


def test_a_reply_cut_by_length_runs_none_of_its_calls() -> None:
    """A truncated call can parse and validate though it is incomplete."""
    world = World(calls(("write", '{"q":1}'), ("read", '{"q":2}'), finish="length"), say("Done."))
    world.go()
    assert world.toolbox.started == []
    assert world.store.codes(0) == ["truncated", "truncated"]


def test_an_answer_cut_by_length_says_so() -> None:
    outcome = World(say("It was a dark and", finish="length")).go()
    assert (outcome.kind, outcome.text, outcome.reason) == ("answered", "It was a dark and", "truncated")


def test_a_filtered_reply_is_no_answer_and_runs_nothing() -> None:
    world = World(calls(("write", "{}"), text="Partly", finish="content_filter"))
    outcome = world.go()
    assert (outcome.kind, outcome.text, outcome.reason) == ("failed", None, "content_filter")
    assert world.toolbox.started == []


def test_a_call_made_again_under_its_old_id_is_rejected() -> None:
    world = World(calls(("write", "{}", "a")), calls(("write", "{}", "a")), say("Done."))
    world.go()
    assert world.toolbox.started == [(0, 0)]
    assert world.store.codes(1) == ["repeated_call"]


def test_other_calls_under_a_used_or_empty_id_get_an_id_of_their_own() -> None:
    """Some servers number the calls of each reply from 0, or leave ids out: each is a call like any other."""
    made = calls(("read", '{"q":1}', ""), ("read", '{"q":2}', ""), ("read", '{"q":3}', "a"), ("write", '{"q":4}', "a"))
    world = World(made, calls(("read", '{"q":5}', "a")), say("Done."))
    world.go()
    assert len(world.toolbox.started) == 5
    ids = [each.planned.call.call_id for step in world.store.steps for each in step.calls]
    assert ids == ["call00000", "call00001", "a", "call00003", "call01000"]


def test_an_empty_answer_gets_one_nudge_and_then_a_typed_end() -> None:
    """It is never sent back as an empty message (the model asserts it); the nudge is."""
    world = World(say(""), say(" \u200b\n"))
    outcome = world.go()
    assert (outcome.kind, outcome.reason) == ("failed", "empty_answer")
    assert world.model.asked[1].messages == [*PROMPT, UserMessage(NUDGE)]


def test_an_answer_after_the_nudge_is_an_answer() -> None:
    assert World(say(None), say("Here.")).go().text == "Here."


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (ModelUnavailable("connection", "gone"), "model_unavailable"),
        (ModelRefused("unauthorized", "no"), "model_refused"),
    ],
)
def test_a_model_that_fails_is_an_outcome(fault: Exception, reason: str) -> None:
    world = World(calls(("read", "{}")), fault)
    outcome = world.go()
    assert (outcome.kind, outcome.reason, outcome.step, outcome.calls) == ("failed", reason, 1, 1)
    assert outcome.final is None


def test_a_stalled_model_still_leaves_the_reserve_for_a_last_step() -> None:
    """I10: the last, toolless request is made within the time that is kept for it."""
    world = World(calls(("read", "{}")), 1000.0, say("late"), say("At least this."), limits=Limits(run_s=60))
    world.model.script.pop(2)
    outcome = world.go()
    assert (outcome.text, outcome.reason) == ("At least this.", "limit_time")
    last = world.model.asked[-1]
    assert last.tools == []
    assert last.within_s == pytest.approx(20 - 1, abs=1.1)


def test_a_model_that_stalls_in_the_last_step_too_ends_by_the_clock() -> None:
    world = World(1000.0, 1000.0, limits=Limits(run_s=60, final_reserve_s=10))
    outcome = world.go()
    assert (outcome.kind, outcome.reason) == ("failed", "limit_time")
    assert world.took_s <= 60 + world.limits.grace_s


def test_the_models_own_timer_makes_no_difference() -> None:
    """A model that gives up by itself at its bound is like one that has to be cancelled."""

    class Timed(ScriptedModel):
        async def complete(
            self,
            messages: Sequence[Message],
            tools: Sequence[ToolSpec],
            *,
            within_s: float,
            listener: Listener | None = None,
        ) -> ModelReply:
            await asyncio.sleep(max(within_s - 0.01, 0))
            raise ModelUnavailable("timeout", "too slow")

    world = World()
    world.model = Timed([])
    outcome = world.go()
    assert outcome.reason == "limit_time"


@pytest.mark.parametrize("tool", ["read", "write"])
def test_a_tool_that_cleans_up_slowly_cannot_hold_the_run(tool: str) -> None:
    """asyncio.wait_for would wait for the cleanup; here the run goes on after a bounded grace."""
    world = World(
        calls((tool, "{}")), say("Done."), behaviours={(0, 0): Behaviour(500, cleanup_s=300)}, limits=Limits(tool_s=5)
    )
    world.go()
    assert world.took_s <= 5 + world.limits.grace_s
    assert world.store.codes(0) == ["timeout" if tool == "read" else "unknown"]


def test_a_late_result_never_reaches_the_transcript() -> None:
    """A tool that swallows the cancel is left behind; what it says an hour later reaches nobody."""

    async def main() -> None:
        world = World(calls(("write", "{}")), 4000.0, say("Done."),
                      behaviours={(0, 0): Behaviour(100, stubborn=True)}, limits=Limits(run_s=9000))  # fmt: skip
        assert (await world.running()).text == "Done."
        (result,) = [each for each in world.model.asked[1].messages if isinstance(each, ToolMessage)]
        assert json.loads(result.content)["error"]["code"] == "unknown"
        assert "may still have completed" in result.content

    run_virtually(main)


@pytest.mark.parametrize(
    ("ending", "read_code"),
    [("raises", "tool_failed"), ("not_json", "tool_failed"), ("no_object", "tool_failed"),
     ("too_long", "result_too_long"), ("refused", "refused"), ("cancels_itself", "timeout")],
)  # fmt: skip
def test_a_tool_that_fails_gives_a_result_and_leaves_its_siblings_alone(ending: str, read_code: str) -> None:
    """Finished siblings keep their results; a write of which nobody knows says so; no exception text leaks (I13)."""
    world = World(
        calls(("read", '{"q":1}'), ("read", '{"q":2}'), ("write", '{"q":3}'), ("read", '{"q":4}')),
        say("Done."),
        behaviours={(0, 1): Behaviour(1.0, ending), (0, 2): Behaviour(1.0, ending)},
    )
    world.go()
    write_code = "refused" if ending == "refused" else "unknown"
    assert world.store.codes(0) == [None, read_code, write_code, None]
    assert "secret" not in str(world.store.steps)


def test_calls_that_the_time_did_not_allow_were_not_started_and_say_so() -> None:
    world = World(
        calls(*[("write", f'{{"q":{at}}}') for at in range(4)]),
        say("Done."),
        behaviours={(0, at): Behaviour(30.0) for at in range(4)},
        limits=Limits(run_s=60, final_reserve_s=10, tool_s=40),
    )
    outcome = world.go()
    assert world.store.codes(0) == [None, "unknown", "limit_time", "limit_time"]
    assert outcome.reason == "limit_time"
    last = world.store.result(0, 3)
    assert last is not None
    assert "not started" in last.content


def test_an_outside_cancel_leaves_at_once_and_what_is_stored_goes_on() -> None:
    """I10: no last step; then a second attempt runs only the call without a result, and asks only what is new."""

    async def main() -> None:
        store = MemoryStore()
        first = World(
            calls(("write", '{"q":1}'), ("read", '{"q":2}'), ("read", '{"q":3}')),
            store=store,
            behaviours={(0, 1): Behaviour(1.0), (0, 2): Behaviour(10.0, cleanup_s=100)},
        )
        task = asyncio.create_task(first.running())
        await asyncio.sleep(5)
        task.cancel()
        began = clock()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert clock() - began <= 2 * first.limits.grace_s + 0.01
        assert len(first.model.asked) == 1

        second = World(say("Done."), store=store)
        outcome = await second.running()
        assert (outcome.text, outcome.step, outcome.calls) == ("Done.", 1, 3)
        assert second.toolbox.started == [(0, 1), (0, 2)]
        assert store.codes(0) == [None, None, None]

    run_virtually(main)


def test_a_write_cut_off_is_dispatched_again_under_the_same_identity() -> None:
    """I4: the receipt decides, so the same (run, step, ordinal) is run again rather than the model asked."""
    store = MemoryStore()
    store.fail_after = 1
    first = World(calls(("write", "{}", "w1")), store=store)
    with pytest.raises(ConnectionError):
        first.go()
    store.fail_after = None
    second = World(say("Done."), store=store)
    second.go()
    assert first.toolbox.started == second.toolbox.started == [(0, 0)]
    assert store.codes(0) == [None]


def test_a_cut_off_call_whose_tool_is_gone_is_told_as_what_it_is() -> None:
    """Not started, and perhaps completed, are different words; both are settled, and settled once."""
    store = MemoryStore()
    store.fail_after = 1
    with pytest.raises(ConnectionError):
        World(calls(("write", "{}"), ("read", "{}")), store=store).go()
    store.fail_after = None
    second = World(say("Done."), store=store)
    second.toolbox.tools = ()
    second.go()
    assert second.toolbox.started == []
    assert store.codes(0) == ["unknown", "not_started"]


def test_a_resumed_run_has_no_more_left_than_it_had() -> None:
    """Limits hold over attempts: steps, calls and identical calls count what is stored."""
    reply = calls(("read", "{}", "a"), ("read", "{}", "b"))
    store = MemoryStore()
    World(reply, ModelUnavailable("connection", "gone"), store=store).go()
    resumed = World(
        calls(("read", "{}", "c"), ("read", '{"q":2}', "d")), say("Done."), store=store, limits=Limits(max_calls=4)
    )
    outcome = resumed.go()
    assert store.codes(1) == ["identical_calls", None]
    assert (outcome.calls, outcome.reason) == (4, "limit_calls")


def test_a_run_with_more_steps_than_allowed_asks_nothing() -> None:
    store = MemoryStore()
    World(calls(("read", "{}")), calls(("read", '{"q":2}')), ModelUnavailable("connection", "gone"), store=store).go()
    world = World(store=store, limits=Limits(max_steps=2))
    assert world.go().reason == "limit_steps"
    assert world.model.asked == []


def test_a_store_that_stalls_does_not_hold_the_run() -> None:
    class Stalled(MemoryStore):
        async def save_step(self, step: int, reply: ModelReply, planned: Sequence[PlannedCall]) -> None:
            await asyncio.sleep(10_000)

    world = World(calls(("write", "{}")), store=Stalled())
    with pytest.raises(StoreStalled, match="save a step"):
        world.go()
    assert world.toolbox.started == []
    assert world.took_s <= world.limits.store_s + world.limits.grace_s


def test_what_the_model_says_is_stored_in_a_form_that_can_be_stored() -> None:
    """U+0000 and lone surrogates, which PostgreSQL refuses, are gone from answer and history."""
    world = World(calls(("read", "{}"), text="a\0b\ud800"), say("c\0d\udfff"))
    outcome = world.go()
    assert outcome.text == "cd\N{REPLACEMENT CHARACTER}"
    assert world.store.steps[0].reply.message.text == "ab\N{REPLACEMENT CHARACTER}"


def test_a_stored_history_that_lacks_a_result_is_still_sent_as_a_valid_one() -> None:
    """A conversation once poisoned must not stay poisoned, whatever is in the store."""
    call = ToolCall("a", "write", "{broken")
    planned = PlannedCall(0, 0, call, "write")
    reply = ModelReply(AssistantMessage(None, (call,)), "tool_calls", Usage(), "m")
    other = replace(planned, ordinal=1, call=replace(call, call_id="b"), effect="read")
    steps = [StoredStep(0, reply, (StoredCall(planned, None), StoredCall(other, None)))]
    messages = build(PROMPT, steps)
    check_transcript(messages)
    assert "may still have completed" in str(messages[-2])
    assert "had no effect" in str(messages[-1])


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"max_steps": 0}, "max_steps"),
        ({"parallel_reads": 0}, "parallel_reads"),
        ({"tool_s": 0}, "tool_s"),
        ({"run_s": 20.0, "final_reserve_s": 20.0}, "final_reserve_s"),
        ({"run_s": float("nan")}, "run_s"),
    ],
)
def test_limits_that_no_run_can_keep_are_refused_by_name(bad: dict[str, float], named: str) -> None:
    with pytest.raises(LimitsBroken, match=named):
        Limits(**bad)  # type: ignore[arg-type]


def test_a_tool_may_declare_less_time_but_not_more() -> None:
    world = World(calls(("read", "{}")), say("Done."), behaviours={(0, 0): Behaviour(9)}, limits=Limits(tool_s=5))
    world.toolbox.tools = (replace(READ, timeout_s=60),)
    world.go()
    assert world.took_s == pytest.approx(5)


def test_a_cancelled_run_leaves_no_tool_behind_that_heeds_a_cancel() -> None:
    """Reads beside each other are all cancelled, those that wait for a slot never start."""

    async def main() -> None:
        world = World(
            calls(*[("read", f'{{"q":{at}}}') for at in range(6)]),
            behaviours={(0, at): Behaviour(1000.0) for at in range(6)},
        )
        task = asyncio.create_task(world.running())
        await asyncio.sleep(1)
        assert len(world.toolbox.active) == 4
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert world.toolbox.active == {}
        assert len(world.toolbox.started) == 4
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtually(main)


def test_a_read_that_has_become_a_write_is_not_run_again_as_one() -> None:
    """After an upgrade in between, a stored call is what it was planned as, or it is not run."""
    store = MemoryStore()
    store.fail_after = 1
    with pytest.raises(ConnectionError):
        World(calls(("read", "{}")), store=store).go()
    store.fail_after = None
    second = World(say("Done."), store=store)
    second.toolbox.tools = (replace(READ, effect="write", parallel_safe=False),)
    second.go()
    assert second.toolbox.started == []


def test_writes_have_a_limit_of_their_own() -> None:
    """The write barrier lets one through at a time, and so many in all; reads go on."""
    made = [("write", f'{{"q":{at}}}') for at in range(4)]
    world = World(calls(*made, ("read", "{}")), calls(("write", '{"q":9}')), say("Done."), limits=Limits(max_writes=2))
    outcome = world.go()
    assert world.store.codes(0) == [None, None, OVER_WRITES, OVER_WRITES, None]
    assert world.store.codes(1) == [OVER_WRITES]
    assert (outcome.reason, outcome.calls) == ("answered", 6)
    assert outcome.unfinished == ("write",) * 3


def test_what_a_limit_left_undone_is_in_the_outcome() -> None:
    """So that the member is told, whatever the model says: calls that were cut, and those of the toolless step."""
    world = World(
        calls(("read", "{}"), ("peek", "{}"), ("read", '{"q":2}')),
        calls(("write", "{}"), text="I found this much."),
        limits=Limits(max_calls=1),
    )
    outcome = world.go()
    assert (outcome.kind, outcome.text) == ("answered", "I found this much.")
    assert outcome.unfinished == ("peek", "read", "write")
    assert [(each.tool, each.error_code) for each in outcome.ends] == [
        ("read", None),
        ("peek", OVER_THE_LIMIT),
        ("read", OVER_THE_LIMIT),
    ]


def test_a_long_result_is_shortened_for_the_model_and_kept_whole() -> None:
    """One place caps what the model sees; the stored transcript has all of it."""
    world = World(
        calls(("read", "{}")),
        say("Done."),
        behaviours={(0, 0): Behaviour(ending="long")},
        limits=Limits(result_chars=500),
    )
    world.go()
    (seen,) = [each for each in world.model.asked[1].messages if isinstance(each, ToolMessage)]
    assert len(seen.content) <= 500
    assert json.loads(seen.content)["shortened"] is True
    stored = world.store.result(0, 0)
    assert stored is not None
    assert stored.whole is not None
    assert len(stored.whole) > 100_000


def test_a_tool_may_declare_a_smaller_result_but_not_a_larger() -> None:
    world = World(calls(("read", "{}")), calls(("peek", "{}")), say("Done."), limits=Limits(result_chars=1_000))
    world.toolbox.behaviours = {(0, 0): Behaviour(ending="long"), (1, 0): Behaviour(ending="long")}
    world.toolbox.tools = (replace(READ, result_chars=300), replace(READ, name="peek", result_chars=9_000))
    world.go()
    sizes = [len(each.content) for each in world.model.asked[2].messages if isinstance(each, ToolMessage)]
    assert sizes[0] <= 300 < sizes[1] <= 1_000


LONG = {(0, 0): Behaviour(ending="long"), (1, 0): Behaviour(ending="long")}
TOO_LONG = ModelRefused("too_long", "does not fit")


def tool_sizes(asked: Asked) -> list[int]:
    return [len(each.content) for each in asked.messages if isinstance(each, ToolMessage)]


def test_a_request_that_the_model_refuses_as_too_long_is_made_shorter_and_once_more() -> None:
    """Old results first, then the context; the refused requests are no steps."""
    prompt = (SystemMessage("You are Muninn."), ContextMessage("Recent:", ("> words " * 400,) * 4, "> And?"))
    world = World(
        calls(("read", "{}")), calls(("read", '{"q":2}')), TOO_LONG, TOO_LONG, say("Done."),
        behaviours=LONG, limits=Limits(max_steps=3, result_chars=9_000),
    )  # fmt: skip
    outcome = world.go(prompt)
    assert (outcome.text, outcome.step, outcome.reason) == ("Done.", 2, "limit_steps")
    whole, once, twice = world.model.asked[2:]
    assert tool_sizes(once)[0] < tool_sizes(whole)[0]
    assert tool_sizes(once)[1] == tool_sizes(whole)[1]
    assert len(str(twice.messages[1])) < len(str(whole.messages[1]))
    assert twice.messages[-1] == UserMessage(LAST_STEP)


def test_a_request_that_never_fits_ends_the_run_with_its_reason() -> None:
    world = World(calls(("read", "{}")), TOO_LONG, TOO_LONG, TOO_LONG, behaviours=LONG)
    outcome = world.go()
    assert (outcome.kind, outcome.reason, outcome.error_code) == ("failed", "model_refused", "too_long")
    assert len(world.model.asked) <= 4


def test_a_request_for_which_the_room_is_known_is_made_to_fit_it_at_once() -> None:
    """A fallback model may take a tenth of what the first one takes."""
    prompt = (SystemMessage("You are Muninn."), ContextMessage("Recent:", ("> words " * 20,) * 100, "> And?"))
    world = World(ModelRefused("too_long", "does not fit", room=600), say("Done."))
    assert world.go(prompt).text == "Done."
    assert sum(map(of_message, world.model.asked[1].messages)) <= 600


def test_a_short_request_that_is_refused_as_too_long_is_not_sent_again() -> None:
    """There is nothing in it that could be shortened."""
    world = World(TOO_LONG)
    assert world.go().reason == "model_refused"
    assert len(world.model.asked) == 1


def test_the_request_keeps_to_the_models_own_count() -> None:
    """A provider that counts twice as many tokens as estimated gets half as much: the gauge has learned it."""
    gauge = Gauge()
    prompt = (SystemMessage("You are Muninn."), ContextMessage("Recent:", ("> words " * 20,) * 100, "> And?"))
    sizes: list[int] = []
    for _ in range(2):
        first = replace(say("Done."), usage=Usage(2 * 6_000, 1))
        world = World(first, limits=Limits(request_tokens=6_000))
        world.gauge = gauge
        world.go(prompt)
        sizes.append(len(str(world.model.asked[0].messages)))
    assert sizes[1] < sizes[0] * 0.75


def test_numbers_and_texts_may_be_spelt_in_several_ways() -> None:
    """Identical is what JSON reads as the same."""
    same = ['{"n":1,"t":"ä"}', '{"t":"\\u00e4","n":1.0}', '{"n":1e0,"t":"ä"}']
    world = World(*[calls(("read", each)) for each in same], say("Done."))
    world.go()
    assert [world.store.codes(step)[0] for step in range(3)] == [None, None, "identical_calls"]


def test_time_lost_to_a_slow_store_is_time_of_the_run() -> None:
    """With nothing left, not even of the reserve, the model is not asked."""

    class Slow(MemoryStore):
        async def save_step(self, step: int, reply: ModelReply, planned: Sequence[PlannedCall]) -> None:
            await asyncio.sleep(10)
            await MemoryStore.save_step(self, step, reply, planned)

    world = World(calls(("write", "{}")), store=Slow(), limits=Limits(run_s=8, final_reserve_s=2))
    assert world.go().reason == "limit_time"
    assert world.toolbox.started == []
    assert len(world.model.asked) == 1
