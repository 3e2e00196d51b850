"""The models, and the web."""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, Field, SecretStr

from bot.settings.kinds import Count, Http, Price, Seconds

DEFAULT_MODEL = "gpt-4.1-mini"
DEFAULT_MODEL_CONTEXT = 128_000
"""As much of the default model's window as Muninn uses unasked; it takes more."""


class Models(BaseModel):
    """The models that answer, and what a prompt shows them."""

    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("MUNINN_OPENAI_API_KEY", "OPENAI_API_KEY"),
        description="The model provider's key. A model of your own often needs none.",
    )
    openai_base_url: Http | None = Field(
        default=None,
        validation_alias=AliasChoices("MUNINN_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
        description="An endpoint that speaks OpenAI's API (Ollama, vLLM, llama.cpp, OpenRouter); not set: OpenAI.",
    )
    model: Annotated[str, Field(min_length=1)] = Field(default=DEFAULT_MODEL, description="The chat model's name.")
    model_context: Annotated[int, Field(ge=2_000, le=10_000_000)] | None = Field(
        default=None,
        description=(
            "Tokens that the model takes, request and reply together. Must be set for every model but the default one "
            f"({DEFAULT_MODEL}: {DEFAULT_MODEL_CONTEXT:,} are used)."
        ),
    )
    reply_tokens: Annotated[int, Field(ge=100, le=1_000_000)] = Field(
        default=2_000, description="Tokens of the model's window that are kept free for its reply."
    )
    model_stream: bool = Field(default=False, description="Ask for streamed replies; some servers answer only so.")
    model_timeout_s: Seconds = Field(default=60, description="Seconds for one model call.")
    vision_model: str = Field(
        default="",
        description="A model at the same endpoint that sees pictures, and answers where there are some; it may be the "
        "chat model itself. Not set: Muninn says that it does not see them.",
    )
    fallback_model: str = Field(
        default="", description="A model that replies while the first one cannot be had. Not set: nobody does."
    )
    fallback_base_url: Http | None = Field(
        default=None, description="Where the fallback model is; not set: where the first one is."
    )
    fallback_api_key: SecretStr | None = Field(
        default=None,
        description="The key for MUNINN_FALLBACK_BASE_URL; not set: the first one's, if it is the same place.",
    )
    fallback_context: Annotated[int, Field(ge=2_000, le=10_000_000)] | None = Field(
        default=None,
        description="Tokens that the fallback model takes, request and reply together; not set: as many as the first.",
    )
    price_prompt: Price | None = Field(
        default=None, description="What a million tokens of a prompt cost, in your currency. Only for the audit."
    )
    price_completion: Price | None = Field(default=None, description="What a million tokens of a reply cost.")
    context_tokens: Annotated[int, Field(ge=1_000)] = Field(
        default=8_000,
        description="Tokens of the recent messages that a prompt shows, by Muninn's own careful estimate.",
    )
    working_set_messages: Count = Field(default=30, description="Recent messages of the place that a prompt shows.")


class Research(BaseModel):
    """Research on the web."""

    firecrawl_api_key: SecretStr | None = Field(
        default=None, description="Firecrawl's key, for research on the web. Without it that tool is not offered."
    )
    firecrawl_api_url: Http | None = Field(
        default=None, description="A Firecrawl of your own; not set: Firecrawl's service, if there is a key."
    )
    web_keep_days: Annotated[int, Field(ge=1, le=3_650)] = Field(
        default=30, description="Days for which pages that research brought are kept."
    )
