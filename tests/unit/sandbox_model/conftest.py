"""A model on loopback, and the real openai client on it without retries, so that each request is seen once."""

import ssl
from collections.abc import AsyncGenerator

import pytest
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from sandbox.model import Model

NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # reading the system's takes longer than a test


@pytest.fixture
async def model() -> AsyncGenerator[Model]:
    async with Model.start(check_at_exit=False) as running:
        yield running


@pytest.fixture
async def client(model: Model) -> AsyncGenerator[AsyncOpenAI]:
    plain = DefaultAsyncHttpxClient(verify=NO_AUTHORITIES)
    async with AsyncOpenAI(
        base_url=model.base_url, api_key=model.api_key, max_retries=0, timeout=10, http_client=plain
    ) as made:
        yield made
