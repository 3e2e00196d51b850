"""`--live`: the model is really asked to call a tool, a text is really embedded, and the journal is really searched.

This costs a few tokens.
"""

import re
import secrets
import time
from contextlib import AsyncExitStack
from typing import Final

import orjson

from agent.contracts import AssistantMessage, Message, SystemMessage, ToolMessage, ToolSpec, UserMessage
from agent.errors import ModelFault
from agent.openai_model import OpenAIModel
from bot.doctor.findings import Finding, fault, ok, skip
from bot.remembering.workers import embedder_of
from bot.settings import Settings
from memory.database import Connection
from memory.errors import ModelAway, QuestionRefused, WrongVectors
from memory.ids import PlaceId, SpaceId
from memory.scope import Scope, fetch_scoped
from memory.search import search_words

SEARCH_S: Final = 10.0
EMBED_S: Final = 45.0
"""Seconds for one vector, the start of the embedded model included."""

_TOOL: Final = ToolSpec(
    "doctor_word",
    "Gives the secret word of today.",
    {"type": "object", "properties": {}, "additionalProperties": False},
    "read",
)
_ASK: Final = (
    SystemMessage("You are being tested. Call the tool doctor_word, then answer with the word that it gives, alone."),
    UserMessage("What is the secret word of today?"),
)
_WORD: Final = re.compile(r"[^\W_]{4,}")

# The place in which something was said last.
NEWEST_PLACE_SQL: Final = "SELECT space_id, place_id FROM place_cursors ORDER BY newest_id DESC LIMIT 1"

# What was said last in a place.
NEWEST_WORDS_SQL: Final = """
SELECT content FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND deleted_at IS NULL AND author_id IS NOT NULL
ORDER BY message_id DESC LIMIT 20
"""


async def try_model(settings: Settings) -> list[Finding]:
    """One round trip: a question, the tool call that it needs, its result, and an answer made of it."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    model = OpenAIModel(
        base_url=settings.openai_base_url,
        api_key=key,
        model=settings.model,
        stream=settings.model_stream,
        silence_s=settings.model_timeout_s,
        tries=1,
    )
    try:
        return [await _round_trip(model, settings.model_timeout_s)]
    except ModelFault as told:
        return [
            fault(
                "live.model",
                f"The model did not answer: {str(told).rstrip('.')}.",
                "Correct MUNINN_MODEL and MUNINN_OPENAI_BASE_URL, or look at the endpoint's own log.",
            )
        ]
    finally:
        await model.aclose()


async def _round_trip(model: OpenAIModel, within_s: float) -> Finding:
    started, word = time.monotonic(), f"raven{secrets.randbelow(9000) + 1000}"
    first = await model.complete(_ASK, (_TOOL,), within_s=within_s)
    calls = first.message.calls
    if not calls or calls[0].tool != _TOOL.name:
        return fault(
            "live.model",
            "The model answered without calling the tool that it was told to call, so it will neither search nor act.",
            "Set MUNINN_MODEL to a model that can call tools; with Ollama or llama.cpp check its chat template too.",
        )
    result = orjson.dumps({"ok": True, "word": word}).decode()
    messages: list[Message] = [
        *_ASK,
        AssistantMessage(first.message.text, calls),
        *(ToolMessage(call.call_id, result) for call in calls),
    ]
    second = await model.complete(messages, (_TOOL,), within_s=within_s)
    if word not in (second.message.text or ""):
        return fault(
            "live.model",
            "The model called the tool, and did not use what came back.",
            "Set MUNINN_MODEL to a model that follows tool results.",
        )
    usage = first.usage + second.usage
    return ok(
        "live.model",
        f"The model called a tool and used its result, in {time.monotonic() - started:.1f} seconds and "
        f"{usage.prompt_tokens + usage.completion_tokens} tokens.",
    )


async def try_embedding(settings: Settings) -> list[Finding]:
    """One text becomes a vector of the length that the settings say."""
    async with AsyncExitStack() as stack:
        embedder = await embedder_of(settings, stack)
        if embedder is None:
            return [skip("live.embedding", "Embeddings are switched off.")]
        started = time.monotonic()
        try:
            made = await embedder.embed(["Ravens remember."], within_s=EMBED_S)
        except WrongVectors as told:
            return [
                fault(
                    "live.embedding",
                    f"The embedding model makes other vectors than the settings say: {told.message.rstrip('.')}.",
                    "Set MUNINN_EMBEDDING_DIMENSIONS to the length that the model makes.",
                )
            ]
        except (ModelAway, QuestionRefused) as told:
            return [
                fault(
                    "live.embedding",
                    f"The embedding model made no vector: {told.message.rstrip('.')}.",
                    "Correct MUNINN_EMBEDDING_URL, _KEY and _MODEL, or set MUNINN_EMBEDDINGS=off.",
                )
            ]
        took_s = time.monotonic() - started
        return [ok("live.embedding", f"A text became {len(made.vectors[0])} numbers in {took_s:.1f} seconds.")]


async def try_search(conn: Connection) -> list[Finding]:
    """Search a place for a word of something that was said there lately."""
    place = await conn.fetchrow(NEWEST_PLACE_SQL)
    if place is None:
        return [skip("live.search", "Nothing was said yet that could be searched for.")]
    scope = Scope(SpaceId(place["space_id"]), PlaceId(place["place_id"]))
    said = await fetch_scoped(conn, NEWEST_WORDS_SQL, scope, timeout=SEARCH_S)
    words = [word for row in said for word in _WORD.findall(row["content"])]
    if not words:
        return [skip("live.search", "Nothing was said lately that has a word to search for.")]
    started = time.monotonic()
    found = await search_words(conn, scope, max(words, key=len), limit=5, before_id=None, within_s=SEARCH_S)
    if not found.found:
        return [
            fault(
                "live.search",
                "A word that was said lately in a place is not found there.",
                "Run `REINDEX INDEX CONCURRENTLY chat_messages_words`, and see what the findings on letters say.",
            )
        ]
    took_ms = (time.monotonic() - started) * 1000
    return [ok("live.search", f"A word that was said lately is found, in {took_ms:.0f} ms.")]
