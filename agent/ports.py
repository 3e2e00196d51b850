"""What the loop needs of the world. Each is satisfied structurally: nothing registers or inherits."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from agent.contracts import Message, ModelReply, PlannedCall, StoredStep, ToolCall, ToolResult, ToolSpec, ValidCall

Clock: TypeAlias = Callable[[], float]
"""Seconds on a clock that never goes back; only differences mean anything."""


class Model(Protocol):
    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, within_s: float) -> ModelReply:
        """One reply to `messages`, in at most `within_s` seconds, retries included.

        With no `tools` the request offers none. Raises ModelUnavailable or ModelRefused, nothing of its library's.
        """
        ...


class Listener(Protocol):
    """Hears a reply while it comes in. Called between other work: quick, and never raising."""

    def begins(self) -> None:
        """A reply begins; one that was heard in part before is void."""
        ...

    def hears(self, words: str) -> None:
        """More of its text, as the model writes it: it may turn out to be a thought, or a call."""
        ...


class SpeakingModel(Model, Protocol):
    """A model that can be listened to."""

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        within_s: float,
        listener: Listener | None = None,
    ) -> ModelReply:
        """As of Model; `listener` hears the reply come in."""
        ...


class Toolbox(Protocol):
    """The tools of one turn. What they may do comes from the turn's trusted facts, never from arguments (I5, I6)."""

    def specs(self) -> Sequence[ToolSpec]: ...

    def validate(self, call: ToolCall) -> ValidCall | ToolResult:
        """The call made ready, or the structured failure (codes unknown_tool, invalid_arguments). Has no effect."""
        ...

    async def invoke(self, valid: ValidCall, planned: PlannedCall) -> ToolResult:
        """Run it. `planned` is its identity: the same one again (after a crash) must not do a write twice (I4)."""
        ...


class RunStore(Protocol):
    """What the run has said and done so far. Every write raises LeaseLost if the turn is no longer ours (I14)."""

    async def load(self) -> Sequence[StoredStep]:
        """The steps in order, each with its calls in order."""
        ...

    async def save_step(self, step: int, reply: ModelReply, planned: Sequence[PlannedCall]) -> None:
        """Keep the reply and its planned calls, in one transaction, before anything is dispatched."""
        ...

    async def settle_calls(self, settled: Sequence[tuple[PlannedCall, ToolResult]]) -> None:
        """Keep what calls came to. A call that has a result keeps it."""
        ...
