"""What goes to the model: the prompt and the steps so far, always in a form that a provider accepts.

It is a pure function of what is stored, so that a run cut off anywhere and resumed asks exactly what it would have
asked: each call has its result right behind it, in the model's order, and arguments and results are JSON.
"""

from collections.abc import Sequence

from agent.arguments import wire_arguments
from agent.contracts import AssistantMessage, Message, StoredCall, StoredStep, ToolCall, ToolMessage, UserMessage
from agent.results import not_started, unsettled

NUDGE = "(Your last reply was empty. Answer now, in words.)"
LAST_STEP = (
    "(This is the last reply of this run and no more tools can be called. "
    "Answer now with what is known, and say plainly what could not be done.)"
)


def build(prompt: Sequence[Message], steps: Sequence[StoredStep], *, last: bool = False) -> list[Message]:
    """The messages of the next request. `last` adds the notice that goes with a request without tools.

    A step without words and without calls stands for an empty answer: it is not sent back, since providers refuse it,
    but the nudge that followed it is.
    """
    messages: list[Message] = list(prompt)
    for step in steps:
        if step.calls:
            messages.append(_spoken(step))
            messages.extend(_heard(each) for each in step.calls)
        elif is_empty(step.reply.message.text):
            messages.append(UserMessage(NUDGE))
        else:
            messages.append(AssistantMessage(step.reply.message.text))
    if last and steps:
        messages.append(UserMessage(LAST_STEP))
    return messages


def is_empty(text: str | None) -> bool:
    """Whether nobody would see anything of it."""
    return text is None or not any(each.isprintable() and not each.isspace() for each in text)


def repaired(call: StoredCall) -> StoredCall:
    """`call` with a result in any case: where none is known, one that says what can be said without guessing.

    Repairing twice is repairing once, and everybody who repairs comes to the same words.
    """
    if call.result is not None:
        return call
    if call.planned.rejection is not None:
        return StoredCall(call.planned, call.planned.rejection)
    if call.planned.effect == "write":
        return StoredCall(call.planned, unsettled("write", "The run was cut off during this call."))
    return StoredCall(call.planned, not_started("The run was cut off before this call."))


def _spoken(step: StoredStep) -> AssistantMessage:
    calls = tuple(
        ToolCall(each.planned.call.call_id, each.planned.call.tool, wire_arguments(each.planned.call.arguments))
        for each in step.calls
    )
    text = step.reply.message.text
    return AssistantMessage(None if is_empty(text) else text, calls)


def _heard(call: StoredCall) -> ToolMessage:
    result = repaired(call).result
    if result is None:
        raise AssertionError("repaired() leaves no call without a result")
    return ToolMessage(call.planned.call.call_id, result.content)
