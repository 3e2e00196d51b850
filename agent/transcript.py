"""What goes to the model: the prompt and the steps so far, always in a form that a provider accepts.

It is a pure function of what is stored, so that a run cut off anywhere and resumed asks exactly what it would have
asked: each call has its result right behind it, in the model's order, and arguments and results are JSON.
"""

from collections.abc import Collection, Sequence
from typing import Final

from agent.arguments import wire_arguments
from agent.contracts import (
    AssistantMessage,
    ContextMessage,
    Message,
    PromptMessage,
    StoredCall,
    StoredStep,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from agent.excerpt import shortened
from agent.results import not_started, unsettled

NUDGE = "(Your last reply was empty. Answer now, in words.)"
LAST_STEP = (
    "(This is the last reply of this run and no more tools can be called. "
    "Answer now with what is known, and say plainly what could not be done.)"
)


SHORT_CHARS: Final = 400
"""To so many characters a result is shortened where the transcript would not fit otherwise."""


def build(
    prompt: Sequence[PromptMessage],
    steps: Sequence[StoredStep],
    *,
    last: bool = False,
    left_out: int = 0,
    short: Collection[tuple[int, int]] = (),
) -> list[Message]:
    """The messages of the next request. `last` adds the notice that goes with a request without tools.

    `left_out` blocks of the context are left out, the oldest first, and the results of the calls in `short`, each named
    (step, ordinal), are shortened. A step without words and without calls stands for an empty answer: it is not sent
    back, since providers refuse it, but the nudge that followed it is.
    """
    messages: list[Message] = []
    for each in prompt:
        gone = min(left_out, len(each.blocks)) if isinstance(each, ContextMessage) else 0
        left_out -= gone
        messages.append(_without_blocks(each, gone) if isinstance(each, ContextMessage) else each)
    for step in steps:
        if step.calls:
            messages.append(_spoken(step))
            messages.extend(
                _heard(each, short=(step.step, each.planned.ordinal) in short) for each in repaired(step).calls
            )
        elif is_empty(step.reply.message.text):
            messages.append(UserMessage(NUDGE))
        else:
            messages.append(AssistantMessage(step.reply.message.text))
    if last and steps:
        messages.append(UserMessage(LAST_STEP))
    return messages


def _without_blocks(message: ContextMessage, gone: int) -> UserMessage:
    note = f"({gone} older ones are left out: they do not fit.)" if gone else ""
    parts = (message.before, note, *message.blocks[gone:], message.after)
    return UserMessage("\n".join(part for part in parts if part))


def is_empty(text: str | None) -> bool:
    """Whether nobody would see anything of it."""
    return text is None or not any(each.isprintable() and not each.isspace() for each in text)


def repaired(step: StoredStep) -> StoredStep:
    """`step` with a result for each call: where none is known, one that says what can be said without guessing.

    A write begins only when everything before it is settled; so the first call without a result may have been under
    way, and a write behind it certainly was not. Repairing twice is repairing once, and everybody who repairs comes to
    the same words.
    """
    calls: list[StoredCall] = []
    cut_off = False
    for call in step.calls:
        result = call.result or call.planned.rejection
        if result is None and call.planned.effect == "write" and not cut_off:
            result = unsettled("write", "The run was cut off during this call.")
        elif result is None:
            result = not_started("The run was cut off before this call.")
        cut_off = cut_off or (call.result is None and call.planned.rejection is None)
        calls.append(StoredCall(call.planned, result))
    return StoredStep(step.step, step.reply, tuple(calls))


def _spoken(step: StoredStep) -> AssistantMessage:
    calls = tuple(
        ToolCall(each.planned.call.call_id, each.planned.call.tool, wire_arguments(each.planned.call.arguments))
        for each in step.calls
    )
    text = step.reply.message.text
    return AssistantMessage(None if is_empty(text) else text, calls)


def _heard(call: StoredCall, *, short: bool) -> ToolMessage:
    if call.result is None:
        raise AssertionError("repaired() leaves no call without a result")
    content = call.result.content
    return ToolMessage(call.planned.call.call_id, shortened(content, SHORT_CHARS) if short else content)
