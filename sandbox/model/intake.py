"""From an HTTP body to a checked request: what the chat and the embeddings endpoint accept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import orjson

from sandbox.model.errors import InvalidRequest, UnknownModel
from sandbox.model.fields import Fields, Json, refuse_unknown, unsupported, wrong_type
from sandbox.model.request import ChatRequest, EmbeddingRequest, Message, Tool
from sandbox.model.schema import read_response_format, read_tool, read_tool_choice
from sandbox.model.transcript import check_order, read_message

# fmt: off
_CHAT_PARAMETERS = frozenset({
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "stream",
    "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p", "n", "stop", "seed", "user",
    "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "reasoning_effort",
    "verbosity", "metadata", "store", "service_tier", "prompt_cache_key", "safety_identifier",
})
# fmt: on
_EMBEDDING_PARAMETERS = frozenset({"model", "input", "dimensions", "encoding_format", "user"})
_ENCODINGS: dict[str, Literal["float", "base64"]] = {"float": "float", "base64": "base64"}
_MOST_TOOLS = 128
_MOST_INPUTS = 2048
_MOST_INPUT_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class Served:
    """What the server has to offer: names of its models, the chat window in tokens, the vectors' length, and whether
    they come in other lengths too."""

    chat: str
    embedding: str
    window: int
    dimensions: int
    shortens: bool = True


def estimate_tokens(text: str) -> int:
    """A provider-like count: four bytes of UTF-8 a token, rounded up."""
    return -(-len(text.encode(errors="replace")) // 4)


def read_chat(body: dict[str, Json], headers: Mapping[str, str], served: Served, number: int) -> ChatRequest:
    """The chat request in `body`. Raises UnknownModel and InvalidRequest."""
    fields = Fields(body)
    refuse_unknown(body, _CHAT_PARAMETERS)
    model = _model(fields, served.chat)
    fields.need("messages")
    messages = fields.items("messages", read_message, least=1)
    if messages is None:
        raise wrong_type("messages", "an array of objects", None)
    check_order(messages)
    tools = _tools(fields)
    stream = fields.flag("stream") or False
    max_tokens = _read_limits(fields)
    prompt_tokens = _prompt_tokens(messages, tools)
    if prompt_tokens > served.window:
        raise InvalidRequest(
            f"This model's maximum context length is {served.window} tokens. However, your messages resulted in "
            f"{prompt_tokens} tokens. Please reduce the length of the messages.",
            param="messages",
            code="context_length_exceeded",
        )
    return ChatRequest(
        number=number,
        model=model,
        messages=messages,
        tools=tools,
        tool_choice=read_tool_choice(fields, tools),
        response_format=read_response_format(fields, messages),
        stream=stream,
        include_usage=_include_usage(fields, stream=stream),
        max_tokens=max_tokens,
        temperature=fields.number("temperature", least=0, most=2),
        headers=headers,
        body=body,
        prompt_tokens=prompt_tokens,
    )


def read_embedding(body: dict[str, Json], headers: Mapping[str, str], served: Served, number: int) -> EmbeddingRequest:
    """The embedding request in `body`. Raises UnknownModel and InvalidRequest."""
    fields = Fields(body)
    refuse_unknown(body, _EMBEDDING_PARAMETERS)
    model = _model(fields, served.embedding)
    given = fields.need("input")
    texts = (given,) if isinstance(given, str) else fields.items("input", _read_input, least=1, most=_MOST_INPUTS)
    if texts is None:
        raise wrong_type("input", "a string or an array of strings", None)
    for index, text in enumerate(texts):
        if not text:
            raise InvalidRequest(f"Invalid 'input[{index}]': input cannot be an empty string.", param="input")
        if estimate_tokens(text) > _MOST_INPUT_TOKENS:
            raise InvalidRequest(
                f"This model's maximum context length is {_MOST_INPUT_TOKENS} tokens, however you requested "
                f"{estimate_tokens(text)} tokens. Please reduce your prompt.",
                param="input",
            )
    wanted = fields.text("encoding_format") or "float"
    if wanted not in _ENCODINGS:
        raise unsupported("encoding_format", wanted, tuple(_ENCODINGS))
    asked = fields.integer("dimensions", least=1, most=4096)
    if asked is not None and not served.shortens:
        raise InvalidRequest("This model does not support specifying dimensions.", param="dimensions")
    dimensions = asked or served.dimensions
    return EmbeddingRequest(number, model, texts, dimensions, _ENCODINGS[wanted], headers)


def _model(fields: Fields, served: str) -> str:
    model = fields.need_text("model")
    if model != served:
        raise UnknownModel(model)
    return model


def _read_input(value: Json, path: str) -> str:
    if not isinstance(value, str):
        raise wrong_type(path, "a string", value)  # token arrays need a tokenizer, which this server has not
    return value


def _tools(fields: Fields) -> tuple[Tool, ...]:
    tools = fields.items("tools", read_tool, least=1, most=_MOST_TOOLS) or ()
    names = [tool.name for tool in tools]
    if len(set(names)) != len(names):
        raise InvalidRequest("Invalid 'tools': tool names must be unique.", param="tools")
    if fields.flag("parallel_tool_calls") is not None and not tools:
        raise InvalidRequest(
            "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are "
            "specified.",
            param="parallel_tool_calls",
        )
    return tools


def _read_limits(fields: Fields) -> int | None:
    """The token limit, with the other plain parameters checked on the way."""
    fields.integer("n", least=1, most=1)  # one choice only
    fields.number("top_p", least=0, most=1)
    fields.number("presence_penalty", least=-2, most=2)
    fields.number("frequency_penalty", least=-2, most=2)
    fields.integer("seed")
    fields.text("user")
    if not isinstance(fields.value.get("stop"), str):
        fields.items("stop", _read_input, most=4)
    if not fields.absent("max_tokens") and not fields.absent("max_completion_tokens"):
        raise InvalidRequest(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            param="max_tokens",
        )
    return fields.integer("max_tokens", least=1) or fields.integer("max_completion_tokens", least=1)


def _include_usage(fields: Fields, *, stream: bool) -> bool:
    if fields.absent("stream_options"):
        return False
    if not stream:
        raise InvalidRequest(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )
    options = Fields(fields.value["stream_options"], "stream_options")
    refuse_unknown(options.value, frozenset({"include_usage", "include_obfuscation"}), "stream_options")
    return options.flag("include_usage") or False


def _prompt_tokens(messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> int:
    count = 3
    for message in messages:
        count += 4 + estimate_tokens(message.text)
        for call in message.tool_calls:
            count += 8 + estimate_tokens(call.name) + estimate_tokens(orjson.dumps(call.arguments).decode())
    for tool in tools:
        count += 8 + estimate_tokens(tool.description) + estimate_tokens(orjson.dumps(tool.parameters).decode())
    return count
