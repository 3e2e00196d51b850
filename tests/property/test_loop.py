"""Properties of the loop: any replies, delays, failures and cancellations, in virtual time.

The scripted ports assert on the way: every request is one that a strict provider takes, nothing runs beside a barrier,
nothing is dispatched before it is saved, nothing is settled twice, no settled call runs again.
"""

import asyncio
import contextlib
import itertools
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.arguments import call_key
from agent.contracts import ContextMessage, Finish, ModelReply, RunOutcome, SystemMessage, ToolMessage
from agent.errors import ModelFault, ModelRefused, ModelUnavailable
from agent.limits import Limits
from agent.loop import run
from agent.plan import OVER_THE_LIMIT
from agent.schedule import segments
from agent.transcript import build, repaired
from tests.unit.agent.scripted import Behaviour, MemoryStore, ScriptedModel, Toolbox, calls, say
from tests.unit.agent.virtual_time import clock, run_virtually
from tests.unit.agent.wire_rules import check_transcript

PROMPT = (SystemMessage("You are Muninn."), ContextMessage("Recent:", ("> words " * 100,) * 5, "> Go."))
MOST_STEPS, MOST_CALLS = 5, 6

arguments = st.sampled_from(["{}", '{"a":1}', '{"a": 1}', '{"b":[1,2]}', '{"a":', "", '{"a":"\\u0000"}', '{"\0":1}'])
made_calls = st.tuples(
    st.sampled_from(["read", "read", "read", "peek", "write", "nothing", "re ad"]),
    arguments,
    st.sampled_from(["", "a", "b", "c", "d", "e", "call00001", "call01000"]),
)


def _calling(made: list[tuple[str, str, str]], text: str | None, finish: Finish) -> ModelReply:
    return calls(*made, text=text, finish=finish)


def _saying(text: str | None, finish: Finish) -> ModelReply:
    return say(text, finish=finish)


call_finishes: list[Finish] = ["tool_calls", "tool_calls", "tool_calls", "length", "content_filter"]
word_finishes: list[Finish] = ["stop", "length"]
replies = st.one_of(
    st.builds(
        _calling,
        st.lists(made_calls, min_size=1, max_size=MOST_CALLS),
        st.sampled_from([None, "Wait.", "\0"]),
        st.sampled_from(call_finishes),
    ),
    st.builds(_saying, st.sampled_from([None, "", "Yes."]), st.sampled_from(word_finishes)),
)
faults: st.SearchStrategy[ModelFault] = st.sampled_from(
    [ModelRefused("too_long", "no"), ModelRefused("too_long", "no"), ModelUnavailable("busy", "no")]
)
behaviours = st.builds(
    Behaviour,
    delay_s=st.sampled_from([0.0, 0.1, 1.0, 4.0, 4.0, 30.0]),
    ending=st.sampled_from(["ok", "ok", "ok", "long", "refused", "raises", "not_json", "too_long", "cancels_itself"]),
    cleanup_s=st.sampled_from([0.0, 0.5, 50.0]),
    stubborn=st.booleans(),
)
limits = st.builds(
    Limits,
    max_steps=st.integers(1, MOST_STEPS),
    max_calls=st.integers(0, 8),
    run_s=st.sampled_from([12.0, 30.0, 90.0]),
    tool_s=st.sampled_from([2.0, 20.0]),
    parallel_reads=st.integers(1, 3),
    identical_calls=st.integers(1, 2),
    max_writes=st.integers(0, 3),
    final_reserve_s=st.just(5.0),
    result_chars=st.sampled_from([700, 2_000]),
    request_tokens=st.sampled_from([500, 1_500, 100_000]),
)


@dataclass(frozen=True)
class Story:
    """What the model says and how long it takes, what the tools do, and the limits.

    A fault in place of a reply: the model refuses the request, as too long or for good, or is away.
    """

    said: list[tuple[float, ModelReply | ModelFault]]
    how: dict[tuple[int, int], Behaviour]
    limits: Limits


stories = st.builds(
    Story,
    # Enough replies for any number of steps; the last ones are used when a step timed out or did not fit.
    said=st.lists(
        st.tuples(st.sampled_from([0.0, 0.0, 0.5, 40.0]), st.one_of(*[replies] * 6, faults)), min_size=24, max_size=24
    ),
    how=st.dictionaries(
        st.tuples(st.integers(0, MOST_STEPS), st.integers(0, MOST_CALLS)), behaviours, max_size=MOST_STEPS * 3
    ),
    limits=limits,
)


class Run:
    """One attempt at a story over `store`."""

    def __init__(self, story: Story, store: MemoryStore, *, from_reply: int = 0) -> None:
        self.story = story
        self.store = store
        script: list[ModelReply | Exception | float] = []
        for pause, reply in story.said[from_reply:]:
            script += [pause, reply] if pause else [reply]
        self.model = ScriptedModel(script)
        self.toolbox = Toolbox(store, story.how)
        self.took_s = 0.0

    async def go(self) -> RunOutcome:
        began = clock()
        try:
            return await run(
                PROMPT, model=self.model, toolbox=self.toolbox, store=self.store, limits=self.story.limits, clock=clock
            )
        finally:
            self.took_s = clock() - began


def assert_within_limits(attempt: Run, outcome: RunOutcome) -> None:
    """I10, by counting what really happened."""
    bounds, steps = attempt.story.limits, attempt.store.steps
    assert attempt.model.replied <= bounds.max_steps
    assert len(attempt.model.asked) <= bounds.max_steps * 3
    assert len(steps) <= bounds.max_steps - 1
    assert len(attempt.toolbox.started) <= outcome.calls <= bounds.max_calls
    assert attempt.toolbox.widest <= bounds.parallel_reads
    assert attempt.took_s <= bounds.run_s + bounds.grace_s + 0.01
    planned = {(each.planned.step, each.planned.ordinal): each.planned for step in steps for each in step.calls}
    made = Counter(call_key(planned[key].call) for key in attempt.toolbox.started)
    assert all(count <= bounds.identical_calls for count in made.values())
    assert sum(planned[key].effect == "write" for key in attempt.toolbox.started) <= bounds.max_writes
    for request in attempt.model.asked:
        for message in request.messages:
            assert not isinstance(message, ToolMessage) or len(message.content) <= bounds.result_chars
    if outcome.reason.startswith("limit_") and len(attempt.model.asked) > 1:
        assert attempt.model.asked[-1].tools == []


def assert_accounted_for(attempt: Run) -> None:
    """Every planned call has exactly one result and one ordinal; what was turned down never ran."""
    for step in attempt.store.steps:
        assert [each.planned.ordinal for each in step.calls] == list(range(len(step.reply.message.calls)))
        for each in step.calls:
            assert each.result is not None
            ran = (step.step, each.planned.ordinal) in attempt.toolbox.started
            if each.planned.rejection is not None:
                assert not ran
                assert each.planned.effect == "none"
            else:
                assert ran or each.result.error_code == "limit_time"
            if step.reply.finish == "length":
                assert each.result.error_code in ("truncated", OVER_THE_LIMIT)
    assert attempt.toolbox.started == sorted(attempt.toolbox.started), "something started out of the model's order"


@settings(max_examples=150, deadline=None)
@given(stories)
def test_any_run_keeps_its_limits_and_accounts_for_every_call(story: Story) -> None:
    """I10; barrier order, result order and width are asserted by the ports while it runs."""
    attempt = Run(story, MemoryStore())
    outcome = run_virtually(attempt.go)
    assert_within_limits(attempt, outcome)
    assert_accounted_for(attempt)
    check_transcript(build(PROMPT, attempt.store.steps, last=True))
    assert (outcome.kind == "answered") == (outcome.text is not None)
    if outcome.final is not None:
        assert outcome.final.message.calls == ()


@settings(max_examples=150, deadline=None)
@given(stories, st.floats(0.0, 60.0), st.integers(1, 12))
def test_a_run_cut_off_anywhere_leaves_at_once_and_resumes(story: Story, cut_at: float, lost_after: int) -> None:
    """I3, I10: cancelled at any moment, or with its database gone after any write, a second attempt finishes it.

    Nothing stored is asked again, nothing settled runs again, and the transcript is valid in between.
    """

    async def main() -> None:
        store = MemoryStore(fail_after=lost_after)
        first = Run(story, store)
        task = asyncio.create_task(first.go())
        await asyncio.wait({task}, timeout=cut_at)
        began = clock()
        task.cancel()
        await asyncio.wait({task})
        assert clock() - began <= 2 * story.limits.grace_s + 0.01
        assert not [each for each in asyncio.all_tasks() if each.get_name() in ("model", "run store")]
        if not task.cancelled() and task.exception() is None:
            return
        if not task.cancelled():
            assert isinstance(task.exception(), ConnectionError)
        store.fail_after = None
        before = len(store.steps)
        check_transcript(build(PROMPT, store.steps))
        again = Run(story, store, from_reply=before)
        outcome = await again.go()
        assert before + again.model.replied <= story.limits.max_steps
        assert outcome.calls <= story.limits.max_calls
        assert all(each.result is not None for step in store.steps for each in step.calls)
        check_transcript(build(PROMPT, store.steps))

    run_virtually(main)


orders = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0, 3.0]), min_size=8, max_size=8)


@settings(max_examples=100, deadline=None)
@given(st.lists(made_calls, min_size=1, max_size=8), orders, orders)
def test_whatever_finishes_first_the_record_is_the_same(
    made: list[tuple[str, str, str]], one: list[float], other: list[float]
) -> None:
    """Ordinals, results and the next request are the model's, so that a second attempt finds what it expects."""

    def recorded(delays: list[float]) -> tuple[list[object], list[object]]:
        how = {(0, at): Behaviour(delay) for at, delay in enumerate(delays)}
        story = Story([(0.0, calls(*made)), (0.0, say("Done."))], how, Limits(max_calls=6, parallel_reads=3))
        attempt = Run(story, MemoryStore())
        run_virtually(attempt.go)
        return list(attempt.store.steps), list(attempt.model.asked[-1].messages)

    assert recorded(one) == recorded(other)


@given(stories)
@settings(max_examples=50, deadline=None)
def test_repair_is_idempotent_and_the_same_for_everybody(story: Story) -> None:
    """Any subset of results may be missing; repairing twice is repairing once, and gives a valid transcript."""
    store = MemoryStore(fail_after=1)
    attempt = Run(story, store)
    with contextlib.suppress(ConnectionError):
        run_virtually(attempt.go)
    once = [repaired(step) for step in store.steps]
    assert [repaired(step) for step in once] == once
    assert all(each.result is not None for step in once for each in step.calls)
    check_transcript(build(PROMPT, store.steps))
    assert build(PROMPT, store.steps) == build(PROMPT, store.steps)


@given(st.lists(st.booleans(), max_size=30))
def test_segments_keep_the_order_and_isolate_barriers(barriers: list[bool]) -> None:
    cut = segments(list(enumerate(barriers)), lambda each: each[1])
    assert [at for segment in cut for at, _ in segment] == list(range(len(barriers)))
    assert all(len(segment) == 1 or not any(barrier for _, barrier in segment) for segment in cut)
    for before, after in itertools.pairwise(cut):
        assert before[-1][1] or after[0][1], "two segments that could have been one"


@pytest.mark.parametrize("reason", ["timeout", "connection"])
def test_a_model_fault_before_any_reply_ends_the_run(reason: str) -> None:
    """A timeout that is not ours is no reason to ask again: the model has retried by itself."""

    async def main() -> RunOutcome:
        store = MemoryStore()
        model = ScriptedModel([ModelUnavailable(reason, "gone")])
        return await run(PROMPT, model=model, toolbox=Toolbox(store), store=store, limits=Limits(), clock=clock)

    assert run_virtually(main).reason == "model_unavailable"
