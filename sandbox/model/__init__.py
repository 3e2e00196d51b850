"""A model on loopback that speaks OpenAI's API: scripted by tests, or practising for who tries Muninn out.

    async with Model.start() as model:  # model.environment are the settings for Muninn
        model.script(call("memory_search", query="atlas"), say("It moves on Thursday."))
        ...  # let a member ask the bot
        assert model.requests[1].tool_results[0].json["ok"]
        model.assert_complete()

Turns are taken in the order of the script, one a request. `script_for(match, ...)` answers the requests of one place
when several run at once, `hold()` keeps a request waiting until the test goes on, and the faults (`rate_limited()`,
`cut_stream(...)`, `stall(30)`, `malformed_arguments(...)`) are turns like any other. A request that breaks a rule of
the API is refused, and the test fails when it leaves the model, unless it asked for `check_at_exit=False`.
"""

from sandbox.model.request import ChatRequest, EmbeddingRequest, Message, ResponseFormat, Tool, ToolCall
from sandbox.model.server import Model
from sandbox.model.turn import (
    Call,
    Completion,
    Failure,
    Gate,
    Pace,
    Reset,
    Scripted,
    Stall,
    Turn,
    Usage,
    arguments_before_name,
    call,
    calls,
    content_filter,
    context_length_exceeded,
    cut_stream,
    empty_answer,
    empty_ids,
    failure,
    gateway_page,
    malformed_arguments,
    quota_exhausted,
    rate_limited,
    refusal,
    repeated_ids,
    reset_connection,
    say,
    say_json,
    server_error,
    slow,
    stall,
    stall_stream,
    stream_error,
    truncated,
    with_ids,
    without_index,
)

__all__ = [
    "Call",
    "ChatRequest",
    "Completion",
    "EmbeddingRequest",
    "Failure",
    "Gate",
    "Message",
    "Model",
    "Pace",
    "Reset",
    "ResponseFormat",
    "Scripted",
    "Stall",
    "Tool",
    "ToolCall",
    "Turn",
    "Usage",
    "arguments_before_name",
    "call",
    "calls",
    "content_filter",
    "context_length_exceeded",
    "cut_stream",
    "empty_answer",
    "empty_ids",
    "failure",
    "gateway_page",
    "malformed_arguments",
    "quota_exhausted",
    "rate_limited",
    "refusal",
    "repeated_ids",
    "reset_connection",
    "say",
    "say_json",
    "server_error",
    "slow",
    "stall",
    "stall_stream",
    "stream_error",
    "truncated",
    "with_ids",
    "without_index",
]
