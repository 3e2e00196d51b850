"""Fixtures for every test: a database of its own from a migrated template, and a numbered Redis database of its own.

Nothing but loopback and unix sockets may be reached. `services` starts PostgreSQL and Valkey once a run, at the first
test that asks for them.
"""

import asyncio
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest
import redis

from tests.harness.services import REDIS_DATABASES, RunServices, open_pool, quick_folder, run_folder, share_types

if TYPE_CHECKING:
    from tests.harness.stage import Stage

_RUN = "MUNINN_TEST_RUN"
_held = pytest.StashKey[RunServices]()

LONG_TIMEOUT_S = 600.0


def pytest_configure(config: pytest.Config) -> None:
    share_types()
    if not hasattr(config, "workerinput"):
        os.environ[_RUN] = secrets.token_hex(6)
        services = RunServices(run_folder(os.environ[_RUN]))
        services.hold()
        config.stash[_held] = services


def pytest_unconfigure(config: pytest.Config) -> None:
    services = config.stash.get(_held, None)
    if services is not None:
        services.end()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes alone takes more beside others on two cores."""
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG_TIMEOUT_S))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Where there are tests of whole processes, the one that these are forked from is warm by the time it is needed."""
    if "tests.harness.process" in sys.modules and session.items and not session.config.option.collectonly:
        from tests.harness import process

        process.begin()


@pytest.fixture(scope="session")
def services() -> Iterator[RunServices]:
    """The run's PostgreSQL and Valkey."""
    running = RunServices(run_folder(os.environ[_RUN]))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def service_folder() -> Iterator[Path]:
    """A data folder for servers of the test's own: in memory where there is room, its path short enough for a socket,
    and, unlike pytest's own folders, open to the account that PostgreSQL runs as."""
    with tempfile.TemporaryDirectory(prefix="mnn-", dir=quick_folder()) as made:
        Path(made).chmod(0o711)
        yield Path(made)


@pytest.fixture(scope="session")
def template(services: RunServices) -> str:
    """The name of the run's migrated database, which tests copy."""
    return asyncio.run(services.template())


@pytest.fixture
async def database_url(services: RunServices, template: str) -> AsyncGenerator[str]:
    """The address of a fresh, migrated database."""
    async with services.fresh_database(template) as url:
        yield url


@pytest.fixture
async def empty_database_url(services: RunServices) -> AsyncGenerator[str]:
    """The address of a fresh database without a schema."""
    async with services.fresh_database() as url:
        yield url


@pytest.fixture
async def pool(database_url: str) -> AsyncGenerator["asyncpg.Pool[asyncpg.Record]"]:
    """A pool of at most ten connections on a fresh, migrated database; jsonb is Python objects."""
    async with open_pool(database_url) as opened:
        yield opened


@pytest.fixture(scope="session")
def redis_counter(services: RunServices) -> Iterator[redis.Redis]:
    """A connection that stays open: opening one costs more than all that a test asks of it."""
    with redis.Redis.from_url(services.valkey.url(0), driver_info=None, single_connection_client=True) as client:
        yield client


@pytest.fixture
def redis_url(services: RunServices, redis_counter: redis.Redis) -> str:
    """The address of an empty numbered database of the run's Valkey."""
    redis_counter.execute_command("SELECT", 0)
    number = 1 + int(str(redis_counter.incr("tests:database"))) % (REDIS_DATABASES - 1)
    redis_counter.execute_command("SELECT", number)
    redis_counter.flushdb()
    return services.valkey.url(number)


@pytest.fixture
async def stage(database_url: str, redis_url: str, pool: "asyncpg.Pool[asyncpg.Record]") -> AsyncGenerator["Stage"]:
    """A loopback Discord with a guild, a loopback model, and Muninn on demand."""
    # Imported late, so that tests without a bot do not pay for its libraries.
    from tests.harness.stage import open_stage

    async with open_stage(database_url, redis_url, pool) as opened:
        yield opened
