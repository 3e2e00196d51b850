"""What durable memory needs of models. Implemented by whoever composes; satisfied structurally."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Purpose = Literal["extraction", "summary"]


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked: our instructions, and the data they are about, which are other people's words (I12).

    With `schema` (a JSON schema in OpenAI's strict subset, named `name`) the answer is to be JSON that fits it.
    """

    purpose: Purpose
    instructions: str
    data: str
    name: str = ""
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said. `whole` is off where it was cut or filtered. Tokens are as the provider counts, else 0."""

    text: str
    whole: bool
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


class TextModel(Protocol):
    async def ask(self, question: Question, *, within_s: float) -> Answer:
        """One answer within so many seconds. Raises ModelAway or QuestionRefused, nothing of its library's."""
        ...


@dataclass(frozen=True, slots=True)
class Vectors:
    """One vector a text, in order, and what they cost."""

    vectors: Sequence[Sequence[float]]
    prompt_tokens: int = 0


class Embedder(Protocol):
    """One embedding model: vectors of two different ones are never compared."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, within_s: float) -> Vectors:
        """Vectors of texts that are to be found. Raises ModelAway, QuestionRefused or WrongVectors."""
        ...

    async def embed_query(self, text: str, *, within_s: float) -> Sequence[float]:
        """The vector of what somebody looks for; never waits behind `embed`. Raises as `embed`."""
        ...
