"""How long what is kept stays, and what a guild may choose."""

from typing import Annotated

from pydantic import BaseModel, Field, SecretStr


class Keeping(BaseModel):
    """How long what is kept stays."""

    retention_days: Annotated[int, Field(ge=0, le=3_650)] = Field(
        default=365,
        description="Days for which messages and what was done are kept, unless a guild sets fewer; 0: without end. "
        "Memories stay, and say that what they rest on is gone.",
    )
    privacy_key: SecretStr | None = Field(
        default=None,
        description="What receipts of deletions are sealed with, 32 random characters or more. Not set: made from the "
        "bot's token, and receipts can no longer be checked when that changes.",
    )
    erasure_again_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=60,
        description="Seconds after which what was deleted is looked for once more: what was under way may have written "
        "since.",
    )
    raw_event_days: Annotated[int, Field(ge=1, le=3_650)] = Field(
        default=30, description="Days for which raw events of Discord's are kept, or fewer where a guild keeps fewer."
    )
    guild_grace_days: Annotated[int, Field(ge=0, le=3_650)] = Field(
        default=30, description="Days for which the data of a guild is kept that the bot was removed from."
    )
    models: str = Field(
        default="",
        description="Further chat models of the same endpoint that a guild may choose, separated by commas. Each "
        "should take as much as MUNINN_MODEL_CONTEXT says.",
    )

    @property
    def offered_models(self) -> tuple[str, ...]:
        """The models that a guild may choose from, beside the one that all have."""
        return tuple(name for each in self.models.split(",") if (name := each.strip()))
