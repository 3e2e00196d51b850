"""What passes between the loop, the model, the tools and the store. Plain data, nothing that acts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Effect: TypeAlias = Literal["read", "write", "none"]
"""`none`: nothing can have happened, since no tool of that name exists or the call was turned down before dispatch."""

Audit: TypeAlias = Literal["words", "counts"]
"""What the audit may keep of a tool's arguments and results: the beginnings of texts, or only ids and counts."""

Finish: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter"]

EndReason: TypeAlias = Literal[
    "answered",
    "truncated",
    "limit_steps",
    "limit_calls",
    "limit_time",
    "empty_answer",
    "content_filter",
    "model_unavailable",
    "model_refused",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; 0 where it does not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it. `arguments` is its raw text, which may be no JSON at all."""

    call_id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class SystemMessage:
    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What is asked. `images` are addresses of pictures shown with it; they are part of a request, and not stored."""

    text: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str | None
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of the call `call_id`; `content` is JSON text."""

    call_id: str
    content: str


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """A user message of which a part may be left out: `blocks`, oldest first, between `before` and `after`.

    The model sees it as one text; where the window is too small, the first blocks are left out and it is told so.
    """

    before: str
    blocks: tuple[str, ...]
    after: str


PromptMessage: TypeAlias = Message | ContextMessage


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model said, and which one. `fallback`: another than the one that is asked first.

    `first_s` and `took_s` are the seconds from being asked to the first and to the last token, 0 where nobody measured.
    """

    message: AssistantMessage
    finish: Finish
    usage: Usage
    model: str
    fallback: bool = False
    first_s: float = 0.0
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it, and how it may be run.

    `parameters` is a JSON schema of type object. `parallel_safe` counts for reads only: a write is always a barrier.
    `timeout_s` is in seconds and `result_chars` in characters; None means the limit of the run. `audit` says what is
    kept of its words when the transcript has expired.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    effect: Literal["read", "write"]
    parallel_safe: bool = False
    timeout_s: float | None = None
    result_chars: int | None = None
    audit: Audit = "counts"

    @property
    def is_barrier(self) -> bool:
        """Whether it runs alone: everything does that is not declared a parallel-safe read."""
        return self.effect == "write" or not self.parallel_safe


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to. `content` is compact JSON text of bounded size; `error_code` is stable, None if it is ok.

    `content` is what the model sees; `whole` is the longer text that it was made from, None where it is all there is.
    `from_record`: nothing was done now, since a receipt says that it was done before. `took_s` in seconds.
    """

    ok: bool
    content: str
    error_code: str | None = None
    whole: str | None = None
    from_record: bool = False
    took_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class ValidCall:
    """A call whose tool exists and whose arguments fit its schema; `arguments` is the toolbox's own reading of them."""

    spec: ToolSpec
    arguments: object


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call with its place in the run, given before anything is dispatched, in the model's order.

    `rejection` is set for a call that is turned down at planning: it is stored with the plan and never dispatched.
    """

    step: int
    ordinal: int
    call: ToolCall
    effect: Effect
    rejection: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A planned call and its result; None while nobody knows what it came to."""

    planned: PlannedCall
    result: ToolResult | None


@dataclass(frozen=True, slots=True)
class StoredStep:
    """A reply of the model that was not the last one, with its calls in the model's order."""

    step: int
    reply: ModelReply
    calls: tuple[StoredCall, ...]


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call ended; `tool` as the model wrote it."""

    tool: str
    error_code: str | None
    from_record: bool = False


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended.

    `answered` has the answer in `text`; its reason says whether a limit forced it or the reply was cut.
    `failed` has no text: the caller tells the member a fixed sentence for the reason.
    `final` is the reply to save with the composed answer, without calls; `step` is its index (or that of the step that
    failed); `calls` counts those that the limit counts; `usage` is of the whole run, earlier attempts included, and so
    are `ends`, all its calls in order. `unfinished` are the tools of calls that a limit kept from being run.
    `error_code` says more about a failed run: a code of the model's fault.
    """

    kind: Literal["answered", "failed"]
    text: str | None
    reason: EndReason
    final: ModelReply | None
    step: int
    calls: int
    usage: Usage = field(default_factory=Usage)
    ends: tuple[CallEnd, ...] = ()
    unfinished: tuple[str, ...] = ()
    error_code: str | None = None
