"""A chat completion request as the script and the tests see it: parsed, checked, without the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import orjson

from sandbox.model.fields import Json

Role = Literal["system", "developer", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call in an assistant message of the transcript."""

    id: str
    name: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the transcript. `text` joins its text parts by newlines; `images` are the URLs it carries."""

    role: Role
    text: str
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    images: tuple[str, ...] = ()

    @property
    def json(self) -> Json:
        """The text read as JSON, or None when it is none."""
        try:
            value: Json = orjson.loads(self.text)
        except orjson.JSONDecodeError:
            return None
        return value


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the request offers."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    strict: bool


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """What form the answer must have. `name` and `schema` are set for json_schema only."""

    kind: Literal["text", "json_object", "json_schema"] = "text"
    name: str | None = None
    schema: Mapping[str, Json] | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One accepted POST /v1/chat/completions. `number` counts from 1 in order of arrival."""

    number: int
    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    tool_choice: str
    """`auto`, `none`, `required`, or the name of the one tool that must be called."""
    response_format: ResponseFormat
    stream: bool
    include_usage: bool
    max_tokens: int | None
    temperature: float | None
    headers: Mapping[str, str]
    """Lower-case names; Authorization is left out."""
    body: Mapping[str, Json]
    """The whole request as it was sent."""
    prompt_tokens: int
    """The server's own estimate, also reported as usage."""

    @property
    def tool_names(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.tools)

    @property
    def system_text(self) -> str:
        return "\n".join(message.text for message in self.messages if message.role in ("system", "developer"))

    @property
    def last_user_text(self) -> str:
        """The text of the last user message; empty when there is none."""
        return next((message.text for message in reversed(self.messages) if message.role == "user"), "")

    @property
    def tool_results(self) -> tuple[Message, ...]:
        """The tool messages at the end of the transcript: what the model is told about the calls it just made."""
        results: list[Message] = []
        for message in reversed(self.messages):
            if message.role != "tool":
                break
            results.append(message)
        return tuple(reversed(results))

    def call_of(self, result: Message) -> ToolCall:
        """The call that a tool message answers. Raises KeyError for a message that is no tool result."""
        made = {call.id: call for message in self.messages for call in message.tool_calls}
        return made[result.tool_call_id or ""]


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """One accepted POST /v1/embeddings. `number` counts from 1 in order of arrival."""

    number: int
    model: str
    texts: tuple[str, ...]
    dimensions: int
    encoding_format: Literal["float", "base64"]
    headers: Mapping[str, str]
