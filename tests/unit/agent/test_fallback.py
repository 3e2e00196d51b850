"""The model behind the model: asked when the first one cannot be had, and named in what it says."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent.contracts import Message, ModelReply, SystemMessage, ToolSpec
from agent.errors import ModelFault, ModelRefused, ModelUnavailable
from agent.fallback import Fallback
from agent.ports import Listener
from tests.unit.agent.scripted import ScriptedModel, say
from tests.unit.agent.virtual_time import clock, run_virtually

PROMPT = (SystemMessage("x"),)
GONE = ModelUnavailable("connection", "gone")


def both(first: ScriptedModel, second: ScriptedModel) -> Fallback:
    return Fallback(first, second, rest_s=30, clock=clock)


async def ask(model: Fallback, within_s: float = 100) -> ModelReply:
    return await model.complete(PROMPT, (), within_s=within_s)


def test_while_the_first_replies_the_second_is_not_asked() -> None:
    first, second = ScriptedModel([say("First.")]), ScriptedModel([])
    reply = run_virtually(lambda: ask(both(first, second)))
    assert (reply.message.text, reply.fallback) == ("First.", False)
    assert second.asked == []


@pytest.mark.parametrize("fault", [GONE, ModelRefused("quota", "empty"), ModelRefused("no_such_model", "gone")])
def test_where_it_cannot_be_had_the_second_replies_and_says_so(fault: ModelFault) -> None:
    first, second = ScriptedModel([fault]), ScriptedModel([say("Second.")])
    reply = run_virtually(lambda: ask(both(first, second)))
    assert reply == replace(say("Second."), fallback=True)


@pytest.mark.parametrize("code", ["too_long", "bad_request"])
def test_a_request_that_is_wrong_is_wrong_for_both(code: str) -> None:
    first, second = ScriptedModel([ModelRefused(code, "no")]), ScriptedModel([])
    with pytest.raises(ModelRefused):
        run_virtually(lambda: ask(both(first, second)))
    assert second.asked == []


def test_what_the_second_has_no_room_for_is_not_sent_to_it() -> None:
    """A server may cut off the beginning of a prompt without a word, and the rules with it."""
    first, second = ScriptedModel([GONE]), ScriptedModel([])
    model = Fallback(first, second, room=50, clock=clock)
    with pytest.raises(ModelRefused) as refused:
        run_virtually(lambda: model.complete((SystemMessage("word " * 200),), (), within_s=100))
    assert (refused.value.code, refused.value.room) == ("too_long", 50)
    assert second.asked == []


def test_a_stalled_first_leaves_the_second_its_time() -> None:
    class Stalled(ScriptedModel):
        async def complete(
            self,
            messages: Sequence[Message],
            tools: Sequence[ToolSpec],
            *,
            within_s: float,
            listener: Listener | None = None,
        ) -> ModelReply:
            await asyncio.sleep(within_s)
            raise ModelUnavailable("timeout", "too slow")

    async def main() -> float:
        second = ScriptedModel([say("Second.")])
        assert (await ask(both(Stalled([]), second))).fallback
        return second.asked[0].within_s

    assert run_virtually(main) == pytest.approx(40)


def test_a_first_that_failed_rests_and_is_asked_again_later() -> None:
    async def main() -> None:
        first = ScriptedModel([GONE, say("Back.")])
        second = ScriptedModel([say("One."), say("Two.")])
        model = both(first, second)
        assert [(await ask(model)).message.text for _ in range(2)] == ["One.", "Two."]
        assert len(first.asked) == 1
        await asyncio.sleep(31)
        assert (await ask(model)).message.text == "Back."

    run_virtually(main)


def test_a_second_that_fails_while_the_first_rests_brings_the_first_back() -> None:
    async def main() -> None:
        first, second = ScriptedModel([GONE, say("Back.")]), ScriptedModel([say("One."), GONE])
        model = both(first, second)
        await ask(model)
        reply = await ask(model)
        assert (reply.message.text, reply.fallback) == ("Back.", False)

    run_virtually(main)


def test_with_both_away_the_last_ones_fault_is_told() -> None:
    first, second = ScriptedModel([GONE]), ScriptedModel([ModelRefused("unauthorized", "no key")])
    with pytest.raises(ModelRefused, match="no key"):
        run_virtually(lambda: ask(both(first, second)))
