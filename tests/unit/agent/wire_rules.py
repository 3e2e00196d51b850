"""A provider's rules about transcripts, written anew so that they share no code with what builds them."""

import json
from collections.abc import Sequence

from agent.contracts import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage


def check_transcript(messages: Sequence[Message]) -> None:
    """Raise AssertionError for anything that a strict provider answers with status 400."""
    seen: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if waiting:
            assert isinstance(message, ToolMessage), f"{waiting} have no result before {message}"
            assert message.call_id == waiting.pop(0), "results stand in another order than the calls"
            assert isinstance(json.loads(message.content), dict)
            continue
        match message:
            case ToolMessage():
                raise AssertionError(f"a result without a call: {message}")
            case AssistantMessage(text, calls):
                assert calls or (text and text.strip()), "an empty assistant message"
                for call in calls:
                    assert call.call_id, "an empty id"
                    assert call.call_id not in seen, f"{call.call_id} stands twice"
                    assert 0 < len(call.tool) <= 64
                    assert all(each.isascii() and (each.isalnum() or each in "_-") for each in call.tool)
                    assert isinstance(json.loads(call.arguments), dict)
                    seen.add(call.call_id)
                    waiting.append(call.call_id)
            case SystemMessage(text) | UserMessage(text):
                assert text
    assert not waiting, f"{waiting} have no result"
    for message in messages:
        str(message).encode()
        assert "\\x00" not in repr(message)
