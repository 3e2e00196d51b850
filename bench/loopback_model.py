"""`python -m bench.loopback_model`: a model that answers every request at once, as a process of its own.

Asked for `steps=2 calls=8 tool=look`, it first makes so many steps with so many calls; asked for memories, it makes one
of each favourite that somebody names.
"""

import asyncio
import json
import re
import sys
from typing import Any, Final

from bench.children import until_stdin_closes
from sandbox.model import ChatRequest, Completion, Model, call, calls, say, say_json

ANSWER: Final = "Ravens remember faces for years, and hold a grudge against those who wronged them."
_ASKED: Final = re.compile(r"steps=(\d+) calls=(\d+) tool=(\w+)")


_FAVOURITE: Final = re.compile(r"my favourite (\w+) is (.+)")


def _memories(request: ChatRequest) -> Completion:
    """A memory of each message that names a favourite (bench.talk)."""
    data: Any = json.loads(request.last_user_text)
    found = [(message, _FAVOURITE.search(message["text"])) for message in data["messages"]]
    memories: list[Any] = [
        {
            "ref": message["id"],
            "scope": "user",
            "user": message["by"],
            "kind": "preference",
            "key": f"preference.{match[1]}",
            "content": f"The favourite {match[1]} of {message['name']} is {match[2]}.",
            "importance": 0.5,
            "confidence": 0.9,
            "evidence": [message["id"]],
            "expires": None,
        }
        for message, match in found
        if match is not None
    ]
    return say_json({"memories": memories, "relations": []})


def reply(request: ChatRequest) -> Completion:
    """The next step that was asked for, memories where those are asked for, or the answer."""
    if request.response_format.kind == "json_schema":
        return _memories(request)
    asked = _ASKED.search(request.last_user_text)
    if asked is None:
        return say(ANSWER)
    made = sum(bool(message.tool_calls) for message in request.messages)
    if made >= int(asked[1]):
        return say(ANSWER)
    return calls(*[call(asked[3], n=made * 1_000 + number) for number in range(int(asked[2]))])


async def main() -> None:
    """Print the base URL and the key, then serve until standard input closes."""
    async with Model.start(name="bench", keep_requests=1, check_at_exit=False) as model:
        model.default(reply)
        sys.stdout.write(f"{model.base_url} {model.api_key}\n")
        sys.stdout.flush()
        await until_stdin_closes()


if __name__ == "__main__":
    asyncio.run(main())
