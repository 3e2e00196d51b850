"""The doctor on Valkey and on the model's endpoint: each fault is made for real, and named."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr
from redis.asyncio import Redis

from bot.doctor import endpoint, trial, valkey
from bot.doctor.findings import Finding
from bot.services import EmbeddedValkey
from bot.settings import Settings
from sandbox.model import ChatRequest, Completion, Model, call, say
from tests.harness.diagnosis import assert_plain, named

SECRET = "this-must-never-be-shown"


async def looked_at(url: str) -> list[Finding]:
    found = await valkey.examine(url)
    assert_plain(found, SECRET)
    return found


async def test_a_sound_valkey(redis_url: str) -> None:
    """It answers, takes writes and scripts, and nothing was written into it."""
    found = await looked_at(redis_url)
    assert {finding.level for finding in found} == {"ok"}
    assert "Valkey" in named(found, "redis.reachable").says
    async with Redis.from_url(redis_url) as client:
        assert await client.dbsize() == 0


async def test_a_valkey_that_is_not_there() -> None:
    """The sentence has the place and not the password, and says that Muninn runs all the same."""
    (finding,) = await looked_at(f"redis://:{SECRET}@127.0.0.1:1/0")
    assert (finding.name, finding.level) == ("redis.reachable", "fault")
    assert "127.0.0.1:1" in finding.says
    assert "runs without it" in (finding.next_step or "")


async def test_a_valkey_that_is_set_up_badly(service_folder: Path) -> None:
    """What it throws away, whether it is full, read-only, or forbids commands: one server, set up in each way."""
    server = EmbeddedValkey(service_folder, ephemeral=True)
    server.start()
    try:
        async with Redis.from_url(server.url()) as admin:
            await admin.config_set("maxmemory-policy", "noeviction")
            assert named(await looked_at(server.url()), "redis.eviction").level == "warn"

            await admin.config_set("maxmemory", "1")
            finding = named(await looked_at(server.url()), "redis.writable")
            assert (finding.level, "maxmemory" in finding.says) == ("fault", True)
            await admin.config_set("maxmemory", "0")
            assert named(await looked_at(server.url()), "redis.eviction").level == "ok"

            await admin.config_set("maxmemory-policy", "allkeys-lru")
            assert named(await looked_at(server.url()), "redis.eviction").level == "warn"

            await admin.execute_command("ACL", "SETUSER", "guest", "on", f">{SECRET}", "~*", "+@all", "-eval", "-set")
            found = await looked_at(server.url().replace("unix://", f"unix://guest:{SECRET}@"))
            assert named(found, "redis.scripts").level == named(found, "redis.writable").level == "fault"

            await admin.execute_command("REPLICAOF", "127.0.0.1", "1")
            finding = named(await looked_at(server.url()), "redis.writable")
            assert (finding.level, "read only replica" in finding.says.lower()) == ("fault", True)
    finally:
        server.stop()


async def test_an_old_redis(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that speaks an older protocol than Muninn is made for."""
    monkeypatch.setattr(valkey, "OLDEST", (99, 0))
    assert named(await looked_at(redis_url), "redis.version").level == "warn"


def settings_for(model: Model, /, **other: Any) -> Settings:
    fields: dict[str, Any] = {
        "openai_base_url": model.base_url,
        "openai_api_key": SecretStr(model.api_key),
        "model": model.name,
        "model_context": 128_000,
    }
    return Settings(**{**fields, **other})


async def endpoint_of(settings: Settings) -> list[Finding]:
    found = await endpoint.examine(settings)
    assert_plain(found, SECRET)
    return found


async def test_a_sound_endpoint() -> None:
    """It answers, takes the key, has the model, and the prompt fits; whether it can call tools is not guessed."""
    async with Model.start() as model:
        found = await endpoint_of(settings_for(model))
        assert model.requests == []
    levels = {finding.name: finding.level for finding in found}
    assert levels == {
        "model.reachable": "ok",
        "model.key": "ok",
        "model.listed": "ok",
        "model.tools": "skip",
        "model.window": "ok",
    }


async def test_an_endpoint_with_something_wrong() -> None:
    """The key, the model's name, and a window that is smaller than the settings say or not named at all; and nobody
    there."""
    async with Model.start(context_window=16_000, check_at_exit=False) as model:
        wrong_key = await endpoint_of(settings_for(model, openai_api_key=SecretStr(SECRET)))
        assert named(wrong_key, "model.key").level == "fault"
        wrong_name = await endpoint_of(settings_for(model, model="gpt-99"))
        finding = named(wrong_name, "model.listed")
        assert (finding.level, model.name in finding.says) == ("fault", True)
        small = named(await endpoint_of(settings_for(model)), "model.window")
        assert (small.level, "MUNINN_MODEL_CONTEXT to 16000" in (small.next_step or "")) == ("fault", True)
        unnamed = named(await endpoint_of(settings_for(model, model_context=None)), "model.window")
        assert (unnamed.level, "16,000" in (unnamed.next_step or "")) == ("fault", True)
        gone = settings_for(model)
    (finding,) = await endpoint_of(gone)
    assert (finding.name, finding.level) == ("model.reachable", "fault")
    (finding,) = await endpoint_of(Settings(openai_api_key=None, openai_base_url=None))
    assert (finding.name, finding.level) == ("model.configured", "fault")


@asynccontextmanager
async def endpoint_that_lists(routes: Mapping[str, object]) -> AsyncGenerator[Settings]:
    """An endpoint of another make: what it answers under each path, as its documentation shows it."""
    application = web.Application()

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(routes[request.path])

    for path in routes:
        application.router.add_route("*", path, answer)
    async with TestServer(application) as server:
        yield Settings(openai_base_url=str(server.make_url("/v1")), model="m", model_context=10_000)


@pytest.mark.parametrize(
    ("routes", "tools", "window"),
    [
        # OpenRouter: https://openrouter.ai/docs/api-reference/list-available-models
        ({"data": [{"id": "m", "context_length": 65536, "supported_parameters": ["tools", "top_p"]}]}, "ok", "ok"),
        ({"data": [{"id": "m", "context_length": 65536, "supported_parameters": ["top_p"]}]}, "fault", "ok"),
        # llama.cpp's server: /v1/models with meta
        ({"data": [{"id": "m", "meta": {"n_ctx": 4096, "n_params": 7}}]}, "skip", "fault"),
        # OpenAI tells neither.
        ({"data": [{"id": "m", "object": "model", "owned_by": "system"}]}, "skip", "skip"),
    ],
)
async def test_what_other_servers_tell(routes: object, tools: str, window: str) -> None:
    """Each tells what a model can do under names of its own; what is not told is not guessed."""
    async with endpoint_that_lists({"/v1/models": routes}) as settings:
        found = await endpoint_of(settings)
    assert named(found, "model.tools").level == tools
    assert named(found, "model.window").level == window


async def test_what_ollama_tells() -> None:
    """Beside OpenAI's API, under /api/show: https://docs.ollama.com/api (Show model information)."""
    shown = {"capabilities": ["completion"], "model_info": {"llama.context_length": 8192}}
    listed = {"data": [{"id": "m", "owned_by": "library"}]}
    async with endpoint_that_lists({"/v1/models": listed, "/api/show": shown}) as settings:
        found = await endpoint_of(settings)
    assert named(found, "model.tools").level == "fault"
    assert "8,192 tokens" in named(found, "model.window").says


async def test_a_fallback_model(unused_tcp_port: int) -> None:
    """The model that replies while the first cannot be had is looked at like the first; its own key is its own."""
    async with Model.start() as first, Model.start(name="second", check_at_exit=False) as second:
        both = {"fallback_model": second.name, "fallback_base_url": second.base_url}
        found = await endpoint_of(
            settings_for(first, fallback_api_key=SecretStr(second.api_key), **both),
        )
        assert {f.level for f in found if "fallback" in f.name} == {"ok", "skip"}
        found = await endpoint_of(settings_for(first, **both))
        assert named(found, "model.fallback_key").level == "fault"
        assert "MUNINN_FALLBACK_API_KEY" in (named(found, "model.fallback_key").next_step or "")
        nowhere = both | {"fallback_base_url": f"http://127.0.0.1:{unused_tcp_port}/v1"}
        found = await endpoint_of(settings_for(first, **nowhere))
    assert named(found, "model.fallback_reachable").level == "fault"
    assert named(found, "model.reachable").level == "ok"


def _follows(request: ChatRequest) -> Completion:
    """Calls the tool that it is told to call, and repeats what comes back."""
    return say(request.tool_results[0].text) if request.tool_results else call("doctor_word")


async def test_a_model_that_is_really_tried() -> None:
    """One call of a tool and an answer made of its result; a model that calls nothing, or ignores it, is a fault."""
    async with Model.start(check_at_exit=False) as model:
        settings = settings_for(model)
        model.script(_follows, _follows)
        (finding,) = await trial.try_model(settings)
        assert finding.level == "ok"
        model.script(say("I have no idea."))
        (finding,) = await trial.try_model(settings)
        assert (finding.level, "without calling" in finding.says) == ("fault", True)
        model.script(call("doctor_word"), say("No word for you."))
        (finding,) = await trial.try_model(settings)
        assert (finding.level, "did not use" in finding.says) == ("fault", True)
        (finding,) = await trial.try_model(settings_for(model, openai_api_key=SecretStr(SECRET)))
        assert (finding.level, SECRET in finding.says) == ("fault", False)
        assert_plain([finding], SECRET)


async def test_an_embedding_that_is_really_tried() -> None:
    """One text becomes a vector of the length that the settings say; another length, a wrong name and a wrong key are
    faults; switched off is none."""
    async with Model.start(check_at_exit=False) as model:

        async def tried(**other: Any) -> Finding:
            right: dict[str, Any] = {
                "embedding_url": model.base_url,
                "embedding_key": SecretStr(model.api_key),
                "embedding_model": model.embedding_name,
                "embedding_dimensions": model.embedding_dimensions,
            }
            (finding,) = await trial.try_embedding(Settings(**{**right, **other}))
            assert_plain([finding], SECRET)
            return finding

        finding = await tried()
        assert (finding.level, "1024 numbers" in finding.says) == ("ok", True)
        assert (await tried(embedding_model="no-such-model")).level == "fault"
        assert (await tried(embedding_key=SecretStr(SECRET))).level == "fault"
    (finding,) = await trial.try_embedding(Settings(embeddings="off"))
    assert finding.level == "skip"
