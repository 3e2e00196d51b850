"""Durable memory."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from bot.settings.kinds import Count, Http


class Memory(BaseModel):
    """Reading for durable memory."""

    memory_model: str | None = Field(
        default=None, description="The model that reads for durable memory and sums up. Not set: the chat model."
    )
    memory_quiet_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=60, description="Seconds of silence after which what was said in a place is read for memory."
    )
    memory_longest_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=300, description="Seconds after which it is read even if talk goes on."
    )
    memory_lease_s: Annotated[float, Field(ge=1, le=300)] = Field(
        default=300, description="Seconds after which a silent memory worker's job is taken over."
    )
    memory_workers: Count = Field(default=1, description="Places that this process reads at the same time.")
    memory_items: Count = Field(
        default=10_000, description="Memories that a member, a channel or a guild may have at most."
    )
    memory_writes: Count = Field(
        default=120, description="Memories that may be written or forgotten in an hour, for each of those."
    )
    summary_messages: Count = Field(
        default=30, description="Messages after which a place's running summary is written again."
    )


class Recall(BaseModel):
    """What an answer is shown of it."""

    recall_items: Annotated[int, Field(ge=1, le=50)] = Field(
        default=8, description="Memories that an answer is shown at most."
    )
    recall_chars: Annotated[int, Field(ge=500, le=200_000)] = Field(
        default=24_000, description="Characters that they may have together."
    )
    recall_alone: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="The cosine that makes a memory relevant by itself. Not set: as measured for the embedding model.",
    )
    recall_low: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The cosine below which a vector says nothing. Not set: as measured."
    )
    recall_terms: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="The share of a question's words, by rarity, that makes a memory relevant by itself. Not set: 0.4.",
    )
    recall_few: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The share that is enough beside a cosine of at least recall_low. Not set: 0.15."
    )
    recall_copy: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The cosine from which two memories say the same. Not set: 0.95, or as measured."
    )
    recall_used: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The cosine from which a memory counts as used. Not set: 0.6, or as measured."
    )


class Episodes(BaseModel):
    """What was asked and answered."""

    episode_days: Count = Field(default=90, description="Days for which what was asked and answered is kept whole.")
    episodes: Count = Field(
        default=5_000, description="Of those, how many a guild or direct conversation has at most; the newest stay."
    )


class Embeddings(BaseModel):
    """Where vectors come from."""

    embeddings: Literal["embedded", "off"] = Field(
        default="embedded",
        description="Without an endpoint of your own: the model that comes with Muninn, or none at all.",
    )
    embedding_url: Http | None = Field(default=None, description="An endpoint for embeddings that speaks OpenAI's API.")
    embedding_key: SecretStr | None = Field(default=None, description="Its key; any word where it needs none.")
    embedding_model: str | None = Field(default=None, description="Its model's name.")
    embedding_dimensions: Annotated[int, Field(ge=1, le=4_000)] = Field(
        default=1_024, description="How many numbers that model's vectors have."
    )
    embedding_batch: Annotated[int, Field(ge=1, le=256)] = Field(
        default=16, description="Memories in one request for embeddings."
    )

    @model_validator(mode="after")
    def _embeddings_whole(self) -> Self:
        together = {
            "MUNINN_EMBEDDING_URL": self.embedding_url,
            "MUNINN_EMBEDDING_KEY": self.embedding_key,
            "MUNINN_EMBEDDING_MODEL": self.embedding_model,
        }
        missing = [variable for variable, value in together.items() if value is None]
        if 0 < len(missing) < len(together):
            raise ValueError(
                f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set: the three settings of an "
                "embedding endpoint (URL, KEY, MODEL) come together or not at all"
            )
        return self
