"""An embedding model behind any OpenAI-compatible endpoint, or behind the embedded one's socket."""

import array
import asyncio
import base64
import math
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

import httpx2
import openai
from openai import AsyncOpenAI

from memory.errors import ModelAway, QuestionRefused, WrongVectors
from memory.ports import Vectors

CONNECT_S: Final = 5.0
AWAY_LONG_S: Final = 300.0
_NO_KEY: Final = "no-key"  # the library insists on one


class EndpointEmbeddings:
    """A memory.ports.Embedder. Close it with aclose().

    `query_type` and `text_type` are sent as `input_type` where the model tells questions from texts (the embedded one).
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        name: str,
        dimensions: int,
        socket: Path | None = None,
        text_type: str | None = None,
        query_type: str | None = None,
    ) -> None:
        self._name = name
        self._dimensions = dimensions
        self._text_type = text_type
        self._query_type = query_type
        self._shortens = True
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or _NO_KEY,
            max_retries=0,
            timeout=httpx2.Timeout(120.0, connect=CONNECT_S, pool=CONNECT_S),
            http_client=_client(base_url, socket),
        )

    @property
    def name(self) -> str:
        """As the port says."""
        return self._name

    @property
    def dimensions(self) -> int:
        """As the port says."""
        return self._dimensions

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def embed(self, texts: Sequence[str], *, within_s: float) -> Vectors:
        """As the port says."""
        return await self._request(texts, self._text_type, within_s)

    async def embed_query(self, text: str, *, within_s: float) -> Sequence[float]:
        """As the port says."""
        return (await self._request([text], self._query_type, within_s)).vectors[0]

    async def _request(self, texts: Sequence[str], input_type: str | None, within_s: float) -> Vectors:
        body: dict[str, Any] = {"model": self._name, "input": list(texts), "encoding_format": "base64"}
        if input_type is not None:
            body["input_type"] = input_type
        try:
            async with asyncio.timeout(within_s):
                answer = await self._post(body)
        except TimeoutError:
            raise ModelAway("timeout", f"The embedding model did not answer within {within_s:.0f} s.") from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, ValueError) as raised:
            raise _trouble(raised) from None
        return self._read(answer, len(texts))

    async def _post(self, body: dict[str, Any]) -> object:
        if self._shortens:
            try:
                return await self._client.post(
                    "/embeddings", body={**body, "dimensions": self._dimensions}, cast_to=object
                )
            except openai.BadRequestError as refusal:
                # Models of one size only refuse to be asked for a size.
                if "dimension" not in refusal.message.lower():
                    raise
                self._shortens = False
        return await self._client.post("/embeddings", body=body, cast_to=object)

    def _read(self, answer: object, count: int) -> Vectors:
        """The vectors of an answer, in order. Raises WrongVectors, or ModelAway for what is no answer at all."""
        fields = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
        data: object = fields.get("data")
        if not isinstance(data, list):
            raise ModelAway("bad_reply", "The embedding model sent something that is no list of vectors.")
        rows = cast("list[Any]", data)
        if len(rows) != count:
            raise WrongVectors("wrong_count", f"The embedding model sent {len(rows)} vectors for {count} texts.")
        try:
            if all("index" in row for row in rows):
                rows = sorted(rows, key=lambda row: int(row["index"]))
            vectors = [_vector(row["embedding"]) for row in rows]
        except (TypeError, KeyError, ValueError):
            raise ModelAway("bad_reply", "The embedding model sent something that is no vector.") from None
        for vector in vectors:
            if len(vector) != self._dimensions:
                raise WrongVectors(
                    "wrong_dimension",
                    f"The embedding model {self._name} sends vectors of {len(vector)} numbers, and "
                    f"MUNINN_EMBEDDING_DIMENSIONS is {self._dimensions}.",
                )
            if not all(map(math.isfinite, vector)) or not any(vector):
                raise WrongVectors(
                    "not_numbers", f"The embedding model {self._name} sent a vector without a direction."
                )
        usage: object = fields.get("usage")
        tokens = cast("dict[str, Any]", usage).get("prompt_tokens") if isinstance(usage, dict) else 0
        return Vectors(vectors, tokens if isinstance(tokens, int) else 0)


def _vector(given: object) -> Sequence[float]:
    """32-bit floats in base64, or plain numbers: some servers know only these."""
    if isinstance(given, str):
        floats = array.array("f", base64.b64decode(given, validate=True))
        if sys.byteorder == "big":
            floats.byteswap()
        return floats
    return [float(number) for number in cast("list[Any]", given)]


def _client(base_url: str, socket: Path | None) -> httpx2.AsyncClient | None:
    if socket is not None:
        return httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(uds=str(socket)))
    if base_url.startswith("http://"):
        # Without the system's certificate authorities, which take a while to read.
        return openai.DefaultAsyncHttpxClient(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    return None


def _trouble(raised: Exception) -> ModelAway | QuestionRefused:
    match raised:
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return ModelAway("timeout", "The embedding model answered too slowly.")
        case openai.APIStatusError() if raised.status_code in (401, 403):
            return ModelAway("unauthorized", "The embedding model does not take the key.", after_s=AWAY_LONG_S)
        case openai.APIStatusError() if raised.status_code == 404:
            return ModelAway("no_such_model", "The endpoint does not know the embedding model.", after_s=AWAY_LONG_S)
        case openai.APIStatusError() if raised.status_code in (400, 413, 422):
            return QuestionRefused("bad_request", f"The embedding model refuses the texts ({raised.status_code}).")
        case openai.APIStatusError():
            return ModelAway("busy", f"The embedding model answered with status {raised.status_code}.")
        case openai.APIConnectionError() | httpx2.HTTPError() | httpx2.StreamError():
            return ModelAway("connection", "The embedding model could not be reached.")
        case _:
            return ModelAway("bad_reply", "The embedding model sent something that is no answer.")
