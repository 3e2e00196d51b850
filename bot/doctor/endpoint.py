"""What the doctor asks the model's endpoint: whether it answers, takes the key, has the model, and how much fits in.

Endpoints that speak OpenAI's API agree on `GET /models` and on the names in it. What a model can do stands beside its
name under names of each server's own, or nowhere: what is not told is not guessed, and `--live` tries it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote

import aiohttp

from bot.doctor.findings import Finding, fault, ok, skip, warn
from bot.logs import hide
from bot.settings import Settings
from bot.startup import OPENAI_URL, place_of

LOOK_S: Final = 10.0
REPLY_TOKENS: Final = 1_024
"""Tokens that a reply needs beside the prompt."""

# Where servers tell how many tokens a model takes: OpenRouter and LM Studio, vLLM, Groq and Mistral, llama.cpp.
_WINDOWS: Final = ("context_length", "max_model_len", "context_window", "max_context_length", "n_ctx")


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: object


async def examine(settings: Settings) -> list[Finding]:
    """What is right and wrong with the endpoint. No model is asked anything."""
    if settings.openai_api_key is None and settings.openai_base_url is None:
        return [
            fault(
                "model.configured",
                "No model is set: MUNINN_OPENAI_API_KEY and MUNINN_OPENAI_BASE_URL are both empty.",
                "Set MUNINN_OPENAI_API_KEY, or name an endpoint of your own in MUNINN_OPENAI_BASE_URL.",
            )
        ]
    base = settings.openai_base_url or OPENAI_URL
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=LOOK_S)
    try:
        async with aiohttp.ClientSession(timeout=timeout, headers=headers) as client:
            listed = await _send(client, "GET", f"{base}/models")
            found = [ok("model.reachable", f"The model's endpoint {place_of(base)} answers.")]
            found += await _examine(settings, client, base, listed)
            return found
    except (aiohttp.ClientError, OSError, ValueError) as error:
        reason = hide(str(error)).rstrip(".") or "no answer in time"
        return [
            fault(
                "model.reachable",
                f"The model's endpoint {place_of(base)} cannot be reached: {reason}.",
                "Start it, or correct MUNINN_OPENAI_BASE_URL.",
            )
        ]


async def _examine(settings: Settings, client: aiohttp.ClientSession, base: str, listed: _Answer) -> Sequence[Finding]:
    if listed.status in (401, 403):
        return [
            fault(
                "model.key",
                f"The model's endpoint {place_of(base)} does not accept the key.",
                "Correct MUNINN_OPENAI_API_KEY.",
            )
        ]
    if listed.status >= 500 or listed.status == 429:
        return [
            warn(
                "model.key",
                f"The model's endpoint answers with status {listed.status}, so the key could not be tried.",
                "Try again later, and look at the provider's status page.",
            )
        ]
    cards = _cards(listed)
    if cards is None:
        return [skip("model.listed", "The endpoint lists no models, so key and model are first tried by --live.")]
    found = [ok("model.key", "The endpoint accepts the key.")]
    card = await _card(client, base, cards, settings.model)
    if card is None:
        names = ", ".join(sorted(str(each.get("id"))[:60] for each in cards)[:5])
        has = f"{names or 'none'}{', …' if len(cards) > 5 else ''}"
        found.append(
            fault(
                "model.listed",
                f"The endpoint has no model {settings.model}; it has {has}.",
                "Set MUNINN_MODEL to a model that the endpoint has, or load that one there.",
            )
        )
        return found
    found.append(ok("model.listed", f"The endpoint has the model {settings.model}."))
    told = {**card, **await _ollama(client, base, card, settings.model)}
    return [*found, _tools(told, settings.model), _window(told, settings)]


async def _card(
    client: aiohttp.ClientSession, base: str, cards: Sequence[Mapping[str, Any]], model: str
) -> Mapping[str, Any] | None:
    """What the endpoint tells of the model; None if it has none of that name. Some list a model under another name
    than the one that they are asked by."""
    card = next((card for card in cards if card.get("id") == model), None)
    if card is not None:
        return card
    one = await _send(client, "GET", f"{base}/models/{quote(model, safe='')}")
    if one.status != 200:
        return None
    return cast("Mapping[str, Any]", one.body) if isinstance(one.body, Mapping) else {}


def _tools(card: Mapping[str, Any], model: str) -> Finding:
    supported = card.get("supported_parameters") or card.get("capabilities")
    if not isinstance(supported, list) or not supported:
        return skip("model.tools", "The endpoint does not tell whether the model can call tools; --live tries it.")
    if "tools" in supported or "tool_use" in supported:
        return ok("model.tools", f"{model} can call tools.")
    return fault(
        "model.tools",
        f"{model} cannot call tools, so it can neither search nor act.",
        "Set MUNINN_MODEL to a model that can.",
    )


def _window(card: Mapping[str, Any], settings: Settings) -> Finding:
    needed = settings.context_tokens + REPLY_TOKENS
    window = _number(card)
    if window is None:
        return skip(
            "model.window", f"The endpoint does not tell how much fits in; Muninn's prompts need {needed} tokens."
        )
    if window < needed:
        return fault(
            "model.window",
            f"{settings.model} takes {window} tokens, and a prompt with its reply may need {needed}.",
            f"Set MUNINN_CONTEXT_TOKENS to at most {max(window - REPLY_TOKENS, 1_000)}, or give the model a larger "
            "window.",
        )
    return ok(
        "model.window", f"{settings.model} takes {window} tokens; a prompt with its reply needs {needed} at most."
    )


def _number(card: Mapping[str, Any]) -> int | None:
    meta = card.get("meta")
    inner: Mapping[str, Any] = cast("Mapping[str, Any]", meta) if isinstance(meta, Mapping) else {}
    for source in (card, inner):
        for name in _WINDOWS:
            value: object = source.get(name)
            if isinstance(value, int) and value > 0:
                return value
    return None


async def _ollama(client: aiohttp.ClientSession, base: str, card: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """What Ollama tells of a model beyond OpenAI's API, under the names that others use; nothing for other servers."""
    if card.get("owned_by") != "library":
        return {}
    shown = await _send(client, "POST", f"{base.removesuffix('/v1')}/api/show", json={"model": model})
    if shown.status != 200 or not isinstance(shown.body, Mapping):
        return {}
    about = cast("Mapping[str, Any]", shown.body)
    info = cast("Mapping[str, Any]", about.get("model_info") or {})
    window = next((value for name, value in info.items() if name.endswith(".context_length")), None)
    return {"capabilities": about.get("capabilities"), "context_length": window}


def _cards(listed: _Answer) -> list[Mapping[str, Any]] | None:
    if listed.status != 200 or not isinstance(listed.body, Mapping):
        return None
    data = cast("Mapping[str, Any]", listed.body).get("data")
    if not isinstance(data, list):
        return None
    return [cast("Mapping[str, Any]", card) for card in cast("list[object]", data) if isinstance(card, Mapping)]


async def _send(client: aiohttp.ClientSession, method: str, url: str, **kwargs: Any) -> _Answer:
    async with client.request(method, url, **kwargs) as answer:
        body: object = None
        if answer.status == 200:
            try:
                body = await answer.json(content_type=None)
            except ValueError:
                # Not what a model's endpoint sends; the status says enough.
                body = None
        return _Answer(answer.status, body)
