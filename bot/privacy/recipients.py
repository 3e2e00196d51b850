"""Who receives text: the model and embedding endpoints that the operator configured, by host and model, and no keys."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from bot.settings import Settings

OPENAI = "api.openai.com"


@dataclass(frozen=True, slots=True)
class Recipients:
    """One plain line each."""

    lines: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As the settings have them."""
        chat = _host(settings.openai_base_url) or OPENAI
        names = ", ".join(f"`{name}`" for name in dict.fromkeys((settings.model, *settings.offered_models)))
        lines = [f"Answers: {names} at {chat} reads your question, what was said around it, and what is remembered."]
        if settings.fallback_model:
            where = _host(settings.fallback_base_url) or chat
            lines.append(f"When that cannot be had: `{settings.fallback_model}` at {where}.")
        lines.append(f"Memory: `{settings.memory_model or settings.model}` at {chat} reads what is said, for facts.")
        if settings.embedding_url is not None:
            where = _host(settings.embedding_url)
            lines.append(f"Search by meaning: `{settings.embedding_model}` at {where} receives memories and questions.")
        elif settings.embeddings == "off":
            lines.append("Search by meaning: off; nobody receives anything for it.")
        else:
            lines.append("Search by meaning: a model on my own machine; nobody else receives anything for it.")
        if settings.firecrawl_api_key is not None or settings.firecrawl_api_url is not None:
            where = _host(settings.firecrawl_api_url) or "api.firecrawl.dev"
            lines.append(f"Research on the web: {where} receives what is searched for.")
        return cls(tuple(lines))


def _host(url: str | None) -> str | None:
    return None if url is None else urlsplit(url).hostname
