"""The model as a server on loopback, and the handle by which a test scripts and questions it."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import orjson
from aiohttp import web

from sandbox.model.delivery import deliver, disturb
from sandbox.model.embedding import base64_floats, embed
from sandbox.model.errors import ApiRefusal, UnknownModel, UnknownRoute, WrongKey
from sandbox.model.fields import Json, parse
from sandbox.model.intake import Served, estimate_tokens, read_chat, read_embedding
from sandbox.model.request import ChatRequest, EmbeddingRequest
from sandbox.model.script import Match, Refusal, Script
from sandbox.model.turn import Failure, Gate, Reset, Scripted, Stall
from sandbox.patience import WITHIN_S

_LARGEST_BODY = 32 * 1024 * 1024
_SHUTDOWN = 0.05  # seconds a request may go on when the server stops; held and stalled ones are cut then
_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "cookie"})
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Model:
    """An OpenAI-compatible model on 127.0.0.1 that does what a test tells it; make one by `Model.start()`."""

    def __init__(self, served: Served, api_key: str, *, keep_requests: int | None = None) -> None:
        self.name = served.chat
        self.embedding_name = served.embedding
        self.embedding_dimensions = served.dimensions
        self.api_key = api_key
        self.port = 0
        self._served = served
        self._script = Script(keep=keep_requests)

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        *,
        port: int = 0,
        api_key: str | None = None,
        name: str = "sandbox-chat",
        embedding_name: str = "sandbox-embedding",
        embedding_dimensions: int = 1024,
        embedding_shortens: bool = True,
        context_window: int = 128_000,
        keep_requests: int | None = None,
        check_at_exit: bool = True,
    ) -> AsyncGenerator[Model]:
        """A running model; `port` 0 takes a free one, `api_key` None makes one up, `context_window` is in tokens;
        without `embedding_shortens` a request for vectors of another length is refused.

        On leaving without another exception it raises AssertionError if a request found nothing scripted, a scripted
        function raised, or a request was refused as invalid (`check_at_exit=False` leaves that to the test).
        Raises OSError when the port is taken.
        """
        served = Served(name, embedding_name, context_window, embedding_dimensions, embedding_shortens)
        model = cls(served, api_key or f"sk-sandbox-{secrets.token_hex(16)}", keep_requests=keep_requests)
        runner = web.AppRunner(
            model._application(), access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
            model.port = int(runner.addresses[0][1])
            yield model
        finally:
            await runner.cleanup()
        if check_at_exit:
            model.assert_sound()

    # --- where it is -------------------------------------------------------------------------------------------------

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The settings by which Muninn uses this model."""
        return {
            "MUNINN_OPENAI_BASE_URL": self.base_url,
            "MUNINN_OPENAI_API_KEY": self.api_key,
            "MUNINN_MODEL": self.name,
            "MUNINN_MODEL_CONTEXT": str(self._served.window),
        }

    # --- what it shall do --------------------------------------------------------------------------------------------

    def script(self, *turns: Scripted) -> None:
        """Append turns to the queue; each accepted chat request takes the next one, in order of arrival."""
        self._script.queue.extend(turns)

    def script_for(self, match: Match, *turns: Scripted) -> None:
        """Turns for the requests that match, taken before the queue; the first rule with one left wins."""
        self._script.add_rule(match, turns)

    def default(self, turn: Scripted) -> None:
        """What the model does, any number of times, when neither a rule nor the queue has a turn (not a Gate)."""
        if isinstance(turn, Gate):
            raise TypeError("a gate serves one request and cannot be the default")
        self._script.fallback = turn

    def hold(self, match: Match | None = None) -> Gate:
        """Queue a turn (or, with `match`, a rule's turn) that waits until the test calls `release` on the gate."""
        gate = Gate()
        if match is None:
            self.script(gate)
        else:
            self.script_for(match, gate)
        return gate

    def fail_embeddings(self, *faults: Failure | Stall | Reset) -> None:
        """The next embedding requests meet these faults, one each; after them they succeed again."""
        self._script.embedding_faults.extend(faults)

    # --- what it was asked -------------------------------------------------------------------------------------------

    @property
    def requests(self) -> list[ChatRequest]:
        """Every accepted chat request so far, in order of arrival, those still waiting for their answer included."""
        return list(self._script.requests)

    @property
    def embedding_requests(self) -> list[EmbeddingRequest]:
        return list(self._script.embedding_requests)

    @property
    def refusals(self) -> list[Refusal]:
        """Every request that was answered by an error because of the request itself (key, model, rules)."""
        return list(self._script.refusals)

    async def wait_for_request(self, number: int = 1, *, within: float = WITHIN_S) -> ChatRequest:
        """The chat request with that number (from 1), as soon as it has arrived; AssertionError after `within` s."""
        return await self._script.wait_for(lambda request: request.number == number, f"request {number}", within)

    async def wait_for(self, match: Match, *, within: float = WITHIN_S) -> ChatRequest:
        """The first chat request that matches, as soon as it has arrived; AssertionError after `within` seconds."""
        return await self._script.wait_for(match, "a request that matches", within)

    def assert_sound(self) -> None:
        """Raise AssertionError if a request found no turn, a turn raised, a request was refused as invalid, or a gate
        was released that held nothing."""
        _assert_none(self._script.faults())

    def assert_complete(self) -> None:
        """`assert_sound`, and nothing that was scripted is left."""
        _assert_none([*self._script.faults(), *self._script.unfinished()])

    # --- HTTP --------------------------------------------------------------------------------------------------------

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._guard], client_max_size=_LARGEST_BODY)
        application.router.add_post("/v1/chat/completions", self._chat)
        application.router.add_post("/v1/embeddings", self._embed)
        application.router.add_get("/v1/models", self._models)
        application.router.add_get("/v1/models/{name}", self._one_model)
        return application

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """The key first, then the handler; whatever is refused goes out as OpenAI's error body."""
        try:
            self._check_key(request)
            return await handler(request)
        except ApiRefusal as refusal:
            return self._refused(request, refusal)
        except web.HTTPException as error:
            if error.status not in (404, 405):
                raise
            return self._refused(request, UnknownRoute(request.method, request.path))

    def _refused(self, http: web.Request, refusal: ApiRefusal) -> web.Response:
        if refusal.status < 500:
            self._script.refusals.append(Refusal(http.path, refusal))
        return _json(refusal.body, status=refusal.status)

    def _check_key(self, http: web.Request) -> None:
        scheme, _, key = http.headers.get("Authorization", "").partition(" ")
        if scheme.casefold() != "bearer" or not key:
            raise WrongKey(
                "You didn't provide an API key. You need to provide your API key in an Authorization header using "
                "Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
            )
        if not hmac.compare_digest(key.encode(errors="replace"), self.api_key.encode()):
            raise WrongKey("Incorrect API key provided.", code="invalid_api_key")

    async def _chat(self, http: web.Request) -> web.StreamResponse:
        body = parse(await http.read())
        request = read_chat(body, _headers(http), self._served, self._script.count + 1)
        self._script.count += 1
        self._script.record(request)
        return await deliver(await self._script.turn_for(request), request, http)

    async def _embed(self, http: web.Request) -> web.StreamResponse:
        body = parse(await http.read())
        request = read_embedding(body, _headers(http), self._served, self._script.embedding_count + 1)
        self._script.embedding_count += 1
        self._script.embedding_requests.append(request)
        if self._script.embedding_faults:
            return await disturb(self._script.embedding_faults.popleft(), None, http)
        data: list[Json] = []
        for index, text in enumerate(request.texts):
            vector = embed(text, request.dimensions)
            value: Json = base64_floats(vector) if request.encoding_format == "base64" else list[Json](vector)
            data.append({"object": "embedding", "index": index, "embedding": value})
        tokens = sum(estimate_tokens(text) for text in request.texts)
        usage: Json = {"prompt_tokens": tokens, "total_tokens": tokens}
        return _json({"object": "list", "data": data, "model": request.model, "usage": usage})

    async def _models(self, http: web.Request) -> web.StreamResponse:
        return _json({"object": "list", "data": [self._card(name) for name in self._names()]})

    async def _one_model(self, http: web.Request) -> web.StreamResponse:
        name = http.match_info["name"]
        if name not in self._names():
            raise UnknownModel(name)
        return _json(self._card(name))

    def _card(self, name: str) -> dict[str, Json]:
        """The window stands where vLLM tells it; OpenAI tells none."""
        window: dict[str, Json] = {"max_model_len": self._served.window} if name == self._served.chat else {}
        return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "sandbox"} | window

    def _names(self) -> tuple[str, ...]:
        return (self._served.chat, self._served.embedding)


def _assert_none(faults: list[str]) -> None:
    if faults:
        raise AssertionError("the loopback model: " + "; ".join(faults))


def _headers(http: web.Request) -> dict[str, str]:
    return {name.lower(): value for name, value in http.headers.items() if name.lower() not in _SECRET_HEADERS}


def _json(value: object, *, status: int = 200) -> web.Response:
    return web.Response(
        status=status,
        body=orjson.dumps(value),
        headers={"Content-Type": "application/json", "x-request-id": f"req_{secrets.token_hex(12)}"},
    )
