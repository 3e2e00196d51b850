"""`muninn sandbox`: services, a Discord on loopback, the bot as a process of its own, and a page and a prompt to talk.

It never touches the databases that the settings name: it has a server of its own below the data folder, and a new
database in it each time, because the ready-made guild is new each time too.
"""

import asyncio
import errno
import os
import secrets
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import asyncpg
import typer

from bot.errors import StartupFault
from bot.records import database_records
from bot.services import EmbeddedPostgres, embedded_postgres, embedded_valkey
from bot.settings import Settings, model_window
from sandbox.page import Page, Records
from sandbox.world import Sandbox, run_sandbox

READY_WITHIN_S: Final = 60.0
TRYING: Final = {"MUNINN_MEMORY_QUIET_S": "5"}
"""Who tries it out sees memory at work while still there; what is set otherwise holds."""

PAGE_PORT: Final = 8060
"""Where the page is, unless an option names another port; the same each time, so that the browser
knows what was chosen there."""
_PREFIX: Final = "sandbox_"
# Databases of earlier runs that were killed: nobody is connected to them.
LEFT_BEHIND_SQL: Final = """SELECT datname FROM pg_database WHERE starts_with(datname, $1)
    AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE pg_stat_activity.datname = pg_database.datname)"""


@dataclass(frozen=True, slots=True)
class Ways:
    """How a person talks to the bot: at a prompt, on a page in the browser, by both or by neither.

    The page is on `page_port` of 127.0.0.1, or on a free port where that one is taken.
    """

    chat: bool = True
    page: bool = True
    page_port: int = PAGE_PORT


async def try_out(settings: Settings, ways: Ways) -> None:
    """Run the sandbox until the person leaves the prompt or, without one, until cancelled.

    Raises StartupFault where the bot does not come up or could not, with its own sentence.
    """
    real_model = settings.openai_api_key is not None or settings.openai_base_url is not None
    real_web = settings.firecrawl_api_key is not None or settings.firecrawl_api_url is not None
    if real_model:
        model_window(settings)
    async with AsyncExitStack() as stack:
        typer.echo("Starting PostgreSQL and Valkey ...", err=True)
        environment = await stack.enter_async_context(_services(settings.data_dir.absolute() / "sandbox"))
        world = await stack.enter_async_context(run_sandbox(real_model=real_model, real_web=real_web))
        log = settings.data_dir.absolute() / "sandbox" / "muninn.log"
        typer.echo(f"Starting Muninn; it logs to {log} ...", err=True)
        environment = {**environment, **world.environment}
        bot = await stack.enter_async_context(_bot(environment, log, drain_s=settings.drain_s))
        await _await_ready(bot, world, log)
        if ways.chat or ways.page:
            await world.small_talk()
        if ways.page:
            records = await stack.enter_async_context(database_records(environment["MUNINN_DATABASE_URL"]))
            page = await stack.enter_async_context(_page(world, ways.page_port, records))
            typer.echo(f"Talk to it in a browser: {page.url}", err=True)
        if ways.chat:
            await _chat(world, bot, log)
        else:
            for name, value in sorted(environment.items()):
                typer.echo(f"{name}={value}")
            await bot.wait()
            raise _ended(log)


@asynccontextmanager
async def _page(world: Sandbox, port: int, records: Records) -> AsyncGenerator[Page]:
    """The page on that port, or on a free one."""
    async with AsyncExitStack() as stack:
        try:
            page = await stack.enter_async_context(world.page(port=port, records=records))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            page = await stack.enter_async_context(world.page(port=0, records=records))
        yield page


async def _chat(world: Sandbox, bot: asyncio.subprocess.Process, log: Path) -> None:
    """The prompt, for as long as there is somebody to talk to."""
    chat, ended = asyncio.ensure_future(world.chat()), asyncio.ensure_future(bot.wait())
    try:
        await asyncio.wait([chat, ended], return_when=asyncio.FIRST_COMPLETED)
        if not chat.done():
            raise _ended(log)
        chat.result()
    finally:
        for task in (chat, ended):
            task.cancel()
        await asyncio.wait([chat, ended])


def _ended(log: Path) -> StartupFault:
    return StartupFault(f"Muninn ended ({_last_words(log)}); its log is {log}.")


@asynccontextmanager
async def _services(folder: Path) -> AsyncGenerator[dict[str, str]]:
    name = _PREFIX + secrets.token_hex(6)
    async with embedded_postgres(folder, database=name) as database_url, embedded_valkey(folder) as redis_url:
        admin = await asyncpg.connect(EmbeddedPostgres(folder).url("postgres"))
        try:
            # One connection stays in the new database, so that another sandbox does not take it for left behind.
            user = await asyncpg.connect(database_url)
            try:
                for row in await admin.fetch(LEFT_BEHIND_SQL, _PREFIX):
                    await admin.execute(f'DROP DATABASE IF EXISTS "{row["datname"]}"')
                yield {"MUNINN_DATABASE_URL": database_url, "MUNINN_REDIS_URL": redis_url}
            finally:
                await user.close()
                await admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        finally:
            await admin.close()


@asynccontextmanager
async def _bot(
    environment: Mapping[str, str], log: Path, *, drain_s: float
) -> AsyncGenerator[asyncio.subprocess.Process]:
    with log.open("wb") as sink:
        process = await _launch(environment, sink)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(drain_s + 5):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


async def _launch(environment: Mapping[str, str], sink: IO[bytes]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "run",
        # It ends when we do, also when we are killed: the pipe closes.
        "--while-stdin-open",
        env={**TRYING, **os.environ, **environment, "MUNINN_LOG_FORMAT": "console", "MUNINN_HTTP_PORT": "0"},
        stdin=asyncio.subprocess.PIPE,
        stdout=sink,
        stderr=sink,
        # Ctrl-C in the terminal is for the prompt.
        start_new_session=True,
    )


async def _await_ready(bot: asyncio.subprocess.Process, world: Sandbox, log: Path) -> None:
    connected = asyncio.ensure_future(world.discord.wait_for_session(within=READY_WITHIN_S))
    ended = asyncio.ensure_future(bot.wait())
    await asyncio.wait([connected, ended], return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if bot.returncode is not None:
        connected.cancel()
        raise StartupFault(f"Muninn did not start ({_last_words(log)}); its log is {log}.")
    try:
        await connected
    except (TimeoutError, AssertionError):
        raise StartupFault(f"Muninn was not connected within a minute; its log is {log}.") from None


def _last_words(log: Path) -> str:
    """The sentence with which it ended, if it had the time to say one."""
    said = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("muninn: ")]
    return said[-1].removeprefix("muninn: ").strip().rstrip(".") if said else "it gave no reason"
