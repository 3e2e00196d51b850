"""The chat model as durable memory asks it: one question, one answer, JSON of a given form where one is asked for."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import structlog

from agent.contracts import Message, ModelReply, SystemMessage, ToolSpec, UserMessage
from agent.errors import ModelFault
from memory.errors import ModelAway, QuestionRefused
from memory.ports import Answer, Question

log = structlog.get_logger(__name__)

AWAY_LONG_S: Final = 300.0
"""Pause after what an operator has to mend: a wrong key, no quota, no such model."""

_REFUSED_INPUT: Final = frozenset({"too_long"})


class FormedModel(Protocol):
    """A chat model that can be held to a form of answer (agent.openai_model)."""

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        within_s: float,
        form: Mapping[str, Any] | None = None,
    ) -> ModelReply: ...


class ChatAnswers:
    """A memory.ports.TextModel. Servers that know no schema are asked for JSON at large, and then for plain text: the
    form stands in the instructions too, and every answer is checked anyway."""

    def __init__(self, model: FormedModel, name: str) -> None:
        self._model = model
        self._name = name
        self._refused_forms: set[str] = set()

    async def ask(self, question: Question, *, within_s: float) -> Answer:
        """As the port says."""
        try:
            async with asyncio.timeout(within_s):
                return await self._ask(question, within_s)
        except TimeoutError:
            raise ModelAway("timeout", f"The model did not answer within {within_s:.0f} s.") from None

    async def _ask(self, question: Question, within_s: float) -> Answer:
        messages = [SystemMessage(question.instructions), UserMessage(question.data)]
        forms = [form for form in _forms(question) if form is None or form["type"] not in self._refused_forms]
        for at, form in enumerate(forms):
            try:
                reply = await self._model.complete(messages, (), within_s=within_s, form=form)
            except ModelFault as fault:
                if fault.code == "bad_request" and form is not None and at + 1 < len(forms):
                    self._refused_forms.add(form["type"])
                    log.info("memory.form_refused", form=form["type"], model=self._name)
                    continue
                raise _trouble(fault) from None
            return Answer(
                text=reply.message.text or "",
                whole=reply.finish == "stop" and not reply.message.calls,
                model=reply.model or self._name,
                prompt_tokens=reply.usage.prompt_tokens,
                completion_tokens=reply.usage.completion_tokens,
            )
        raise AssertionError("the last form is none, and is never left out")


def _forms(question: Question) -> Sequence[Mapping[str, Any] | None]:
    if question.schema is None:
        return (None,)
    schema = {"name": question.name, "strict": True, "schema": question.schema}
    return ({"type": "json_schema", "json_schema": schema}, {"type": "json_object"}, None)


def _trouble(fault: ModelFault) -> ModelAway | QuestionRefused:
    if fault.code in _REFUSED_INPUT:
        return QuestionRefused(fault.code, fault.message)
    return ModelAway(fault.code, fault.message, after_s=None if fault.retryable else AWAY_LONG_S)
