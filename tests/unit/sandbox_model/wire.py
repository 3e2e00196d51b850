"""Requests for these tests, by the real client, and reading a stream the way a careful consumer does."""

from dataclasses import dataclass, field

from openai import AsyncOpenAI
from openai.types import CompletionUsage
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageParam,
)
from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

from sandbox.model import Model

SEARCH: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "memory_search",
        "description": "Search what was said in this place.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}
REACT: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "discord_react",
        "description": "React to the message that is being answered.",
        "parameters": {"type": "object", "properties": {"emoji": {"type": "string"}}, "required": ["emoji"]},
    },
}
WEB: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "web_search",
        "description": "Search the web.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}


def user(text: str, name: str | None = None) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text} if name is None else {"role": "user", "content": text, "name": name}


async def ask(
    client: AsyncOpenAI, model: Model, *messages: ChatCompletionMessageParam, tools: bool = False
) -> ChatCompletion:
    sent = messages or (user("hi"),)
    if tools:
        return await client.chat.completions.create(model=model.name, messages=sent, tools=[SEARCH, REACT, WEB])
    return await client.chat.completions.create(model=model.name, messages=sent)


@dataclass
class Streamed:
    chunks: list[ChatCompletionChunk] = field(default_factory=list[ChatCompletionChunk])

    @property
    def text(self) -> str:
        return "".join(chunk.choices[0].delta.content or "" for chunk in self.chunks if chunk.choices)

    @property
    def deltas(self) -> list[ChoiceDeltaToolCall]:
        return [delta for chunk in self.chunks if chunk.choices for delta in chunk.choices[0].delta.tool_calls or []]

    @property
    def finish_reason(self) -> str | None:
        reasons = [chunk.choices[0].finish_reason for chunk in self.chunks if chunk.choices]
        return next((reason for reason in reasons if reason is not None), None)

    @property
    def usage(self) -> CompletionUsage | None:
        return next((chunk.usage for chunk in self.chunks if chunk.usage is not None), None)


async def stream_into(got: Streamed, client: AsyncOpenAI, model: Model, *, tools: bool = False) -> None:
    """Collect a streamed answer; what came before an error stays in `got`."""
    if tools:
        stream = await client.chat.completions.create(
            model=model.name,
            messages=[user("hi")],
            tools=[SEARCH, REACT],
            stream=True,
            stream_options={"include_usage": True},
        )
    else:
        stream = await client.chat.completions.create(
            model=model.name, messages=[user("hi")], stream=True, stream_options={"include_usage": True}
        )
    async with stream:
        async for chunk in stream:
            got.chunks.append(chunk)


async def streamed(client: AsyncOpenAI, model: Model, *, tools: bool = False) -> Streamed:
    got = Streamed()
    await stream_into(got, client, model, tools=tools)
    return got
