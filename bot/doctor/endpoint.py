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
from bot.errors import SettingsFault
from bot.logs import hide
from bot.settings import Settings, model_window
from bot.startup import OPENAI_URL, place_of

LOOK_S: Final = 10.0
# Where servers tell how many tokens a model takes: OpenRouter and LM Studio, vLLM, Groq and Mistral, llama.cpp.
_WINDOWS: Final = ("context_length", "max_model_len", "context_window", "max_context_length", "n_ctx")


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: object


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """Where a model is, and by which settings. `prefix` tells the fallback's findings from the first model's."""

    prefix: str
    called: str
    base: str
    key: str
    model: str
    model_setting: str
    address_setting: str
    key_setting: str

    def name(self, part: str) -> str:
        return f"model.{self.prefix}{part}"


async def examine(settings: Settings) -> list[Finding]:
    """What is right and wrong with the model's endpoint, and with the fallback's. No model is asked anything."""
    if settings.openai_api_key is None and settings.openai_base_url is None:
        return [
            fault(
                "model.configured",
                "No model is set: MUNINN_OPENAI_API_KEY and MUNINN_OPENAI_BASE_URL are both empty.",
                "Set MUNINN_OPENAI_API_KEY, or name an endpoint of your own in MUNINN_OPENAI_BASE_URL.",
            )
        ]
    found = await _look(settings, _first(settings))
    if settings.fallback_model:
        found += await _look(settings, _fallback(settings))
    return found


def _first(settings: Settings) -> _Endpoint:
    return _Endpoint(
        "",
        "The model's endpoint",
        settings.openai_base_url or OPENAI_URL,
        settings.openai_api_key.get_secret_value() if settings.openai_api_key else "",
        settings.model,
        "MUNINN_MODEL",
        "MUNINN_OPENAI_BASE_URL",
        "MUNINN_OPENAI_API_KEY",
    )


def _fallback(settings: Settings) -> _Endpoint:
    first = _first(settings)
    base = settings.fallback_base_url or first.base
    own = settings.fallback_api_key.get_secret_value() if settings.fallback_api_key else ""
    return _Endpoint(
        "fallback_",
        "The fallback model's endpoint",
        base,
        own or (first.key if base == first.base else ""),
        settings.fallback_model,
        "MUNINN_FALLBACK_MODEL",
        "MUNINN_FALLBACK_BASE_URL",
        "MUNINN_FALLBACK_API_KEY",
    )


async def _look(settings: Settings, endpoint: _Endpoint) -> list[Finding]:
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    timeout = aiohttp.ClientTimeout(total=LOOK_S)
    where = f"{endpoint.called} {place_of(endpoint.base)}"
    try:
        async with aiohttp.ClientSession(timeout=timeout, headers=headers) as client:
            listed = await _send(client, "GET", f"{endpoint.base}/models")
            found = [ok(endpoint.name("reachable"), f"{where} answers.")]
            found += await _examine(settings, client, endpoint, listed)
            return found
    except (aiohttp.ClientError, OSError, ValueError) as error:
        reason = hide(str(error)).rstrip(".") or "no answer in time"
        says = f"{where} cannot be reached: {reason}."
        return [fault(endpoint.name("reachable"), says, f"Start it, or correct {endpoint.address_setting}.")]


async def _examine(
    settings: Settings, client: aiohttp.ClientSession, endpoint: _Endpoint, listed: _Answer
) -> Sequence[Finding]:
    if listed.status in (401, 403):
        says = f"{endpoint.called} does not accept the key."
        return [fault(endpoint.name("key"), says, f"Correct {endpoint.key_setting}.")]
    if listed.status >= 500 or listed.status == 429:
        says = f"{endpoint.called} answers with status {listed.status}, so the key could not be tried."
        return [warn(endpoint.name("key"), says, "Try again later, and look at the provider's status page.")]
    cards = _cards(listed)
    if cards is None:
        says = f"{endpoint.called} lists no models, so key and model are first tried by --live."
        return [skip(endpoint.name("listed"), says), _window(endpoint, {}, settings)]
    found = [ok(endpoint.name("key"), f"{endpoint.called} accepts the key.")]
    card = await _card(client, endpoint.base, cards, endpoint.model)
    if card is None:
        names = ", ".join(sorted(str(each.get("id"))[:60] for each in cards)[:5])
        has = f"{names or 'none'}{', …' if len(cards) > 5 else ''}"
        says = f"{endpoint.called} has no model {endpoint.model}; it has {has}."
        next_step = f"Set {endpoint.model_setting} to a model that it has, or load that one there."
        return [*found, fault(endpoint.name("listed"), says, next_step)]
    found.append(ok(endpoint.name("listed"), f"{endpoint.called} has the model {endpoint.model}."))
    told = {**card, **await _ollama(client, endpoint.base, card, endpoint.model)}
    return [*found, _tools(endpoint, told), _window(endpoint, told, settings)]


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


def _tools(endpoint: _Endpoint, card: Mapping[str, Any]) -> Finding:
    name, supported = endpoint.name("tools"), card.get("supported_parameters") or card.get("capabilities")
    if not isinstance(supported, list) or not supported:
        return skip(name, f"It is not told whether {endpoint.model} can call tools; --live tries it.")
    if "tools" in supported or "tool_use" in supported:
        return ok(name, f"{endpoint.model} can call tools.")
    says = f"{endpoint.model} cannot call tools, so it can neither search nor act."
    return fault(name, says, f"Set {endpoint.model_setting} to a model that can.")


def _window(endpoint: _Endpoint, card: Mapping[str, Any], settings: Settings) -> Finding:
    """Whether what Muninn takes for the model's window is one that the endpoint gives it."""
    name, told = endpoint.name("window"), _number(card)
    try:
        used = model_window(settings)
    except SettingsFault:
        says = f"MUNINN_MODEL_CONTEXT is not set, and Muninn does not know how much fits into {endpoint.model}."
        named = "" if told is None else f" ({told:,} by what it tells)"
        return fault(name, says, f"Set it to the tokens that the model takes{named}.")
    if told is None:
        return skip(name, f"It is not told how much fits into {endpoint.model}; Muninn uses {used:,} tokens of it.")
    if told < used:
        says = f"{endpoint.model} takes {told:,} tokens, and MUNINN_MODEL_CONTEXT says {used:,}: prompts will not fit."
        return fault(name, says, f"Set MUNINN_MODEL_CONTEXT to {told}, or give the model a larger window.")
    return ok(name, f"{endpoint.model} takes {told:,} tokens, and Muninn uses {used:,} of them.")


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
