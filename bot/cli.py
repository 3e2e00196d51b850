"""The `muninn` command. What a command needs is imported when it runs, so that `--help` answers at once."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncGenerator, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn, cast

import typer

from bot.errors import StartupFault

if TYPE_CHECKING:
    from bot.settings import Settings

GC_THRESHOLDS: Final = (5_000, 10, 2)
"""New objects until a collection, and how many of these make one of the next generation: a turn makes thousands of
objects and hardly a cycle, and at Python's own numbers a tenth of its time goes into looking for them."""

app = typer.Typer(
    name="muninn",
    help="A Discord bot that remembers.\n\nSettings come from the environment and from .env: see .env.example.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command()
def run(
    while_stdin_open: Annotated[bool, typer.Option("--while-stdin-open", hidden=True)] = False,
) -> None:
    """Serve a real guild, until SIGTERM or Ctrl-C.

    Needs MUNINN_DISCORD_TOKEN and a model (MUNINN_OPENAI_API_KEY or MUNINN_OPENAI_BASE_URL). Starts PostgreSQL and
    Valkey in MUNINN_DATA_DIR unless MUNINN_DATABASE_URL and MUNINN_REDIS_URL name others.
    """
    with _faults_told():
        from bot.settings import load, require_for_discord

        settings = load()
        require_for_discord(settings)
        _set_up_logs(settings)
        from bot.app import run as serve

        _run_until_signalled(serve(settings), while_stdin_open=while_stdin_open)


@app.command()
def gateway(
    while_stdin_open: Annotated[bool, typer.Option("--while-stdin-open", hidden=True)] = False,
) -> None:
    """Hear, keep and route one shard (MUNINN_SHARD_ID of MUNINN_SHARD_COUNT), and leave the answering to workers.

    Needs a PostgreSQL that all processes share (MUNINN_DATABASE_URL). A second process for the same shard stands by.
    """
    _run_part("gateway", while_stdin_open=while_stdin_open)


@app.command()
def worker(
    while_stdin_open: Annotated[bool, typer.Option("--while-stdin-open", hidden=True)] = False,
) -> None:
    """Answer and remember for all shards, without a gateway; any number of these may run.

    Needs a PostgreSQL that all processes share (MUNINN_DATABASE_URL).
    """
    _run_part("worker", while_stdin_open=while_stdin_open)


def _run_part(role: Literal["gateway", "worker"], *, while_stdin_open: bool) -> None:
    with _faults_told():
        from bot.settings import load, require_for_discord, require_shared_database

        settings = load()
        require_for_discord(settings)
        require_shared_database(settings)
        _set_up_logs(settings)
        from bot.app import run as serve

        _run_until_signalled(serve(settings, role=role), while_stdin_open=while_stdin_open)


@app.command()
def sandbox(
    no_chat: Annotated[
        bool, typer.Option("--no-chat", help="No prompt: print the settings that a bot needs, and run until Ctrl-C.")
    ] = False,
    no_page: Annotated[bool, typer.Option("--no-page", help="No page for the browser.")] = False,
    page_port: Annotated[
        int, typer.Option("--page-port", min=0, max=65535, help="The page's port; a free one where it is taken.")
    ] = 8060,
) -> None:
    """Try Muninn out here, without Discord and without keys.

    Starts services of its own, a Discord on loopback with a ready-made guild, the bot, a page for the browser on which
    you speak as anybody of the guild (its link is printed), and a prompt in which you speak as a member. With
    OPENAI_API_KEY or MUNINN_OPENAI_BASE_URL that model answers, else a stand-in with a few rules.
    """
    with _faults_told():
        from bot.settings import load

        settings = load()
        from bot.tryout import Ways, try_out

        _run_until_signalled(try_out(settings, Ways(chat=not no_chat, page=not no_page, page_port=page_port)))


@app.command()
def stop(
    reason: Annotated[str, typer.Option("--reason", help="Why, for whoever runs Muninn after you.")] = "",
) -> None:
    """Switch answering off everywhere, at once and until `muninn start`: what runs is cut off, and who asks is told.

    Everything is journalled all the same.
    """
    _switch(is_on=True, reason=reason or None)
    typer.echo("Muninn answers nobody until `muninn start`.")


@app.command()
def start() -> None:
    """Answer again after `muninn stop`."""
    _switch(is_on=False, reason=None)
    typer.echo("Muninn answers, unless MUNINN_STOPPED is set where it runs.")


def _switch(*, is_on: bool, reason: str | None) -> None:
    with _faults_told():
        from bot.settings import load

        settings = load()
        _set_up_logs(settings)
        asyncio.run(_switch_stop(settings, is_on=is_on, reason=reason))


async def _switch_stop(settings: "Settings", *, is_on: bool, reason: str | None) -> None:
    from bot.startup import connect, prepare_database
    from bot.stops import switch_stop

    async with _database(settings) as url:
        await prepare_database(url, apply=False)
        conn = await connect(url)
        try:
            await switch_stop(conn, is_on=is_on, reason=reason)
        finally:
            await conn.close()


@app.command()
def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 1 where the schema is not this version's.")
    ] = False,
) -> None:
    """Bring the database's schema to this version.

    `muninn run` does so by itself; this is for doing it apart, with a database user who may change tables.
    """
    with _faults_told():
        from bot.settings import load

        settings = load()
        _set_up_logs(settings)
        asyncio.run(_migrate(settings, apply=not check))


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="For scripts: the same as JSON, with stable ids.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Also ask the model to call a tool, and search: this costs a few tokens.")
    ] = False,
) -> None:
    """Say what is reachable and right, and what to do about what is not.

    Changes nothing. Exit code 0: nothing is at fault; 1: something is; 2: the settings cannot be read.
    """
    with _faults_told():
        from bot.settings import load, secrets

        settings = load()
        from bot import logs
        from bot.doctor.examination import examine
        from bot.doctor.findings import exit_code
        from bot.doctor.report import as_json as written
        from bot.doctor.report import as_text

        logs.configure(level="error", style=settings.log_format)
        logs.protect(secrets(settings))
        findings = asyncio.run(examine(settings, live=live))
        typer.echo(written(findings) if as_json else as_text(findings), nl=False)
        raise typer.Exit(exit_code(findings))


@app.command()
def health(
    ready: Annotated[bool, typer.Option("--ready", help="Ask whether it would answer a message now.")] = False,
) -> None:
    """Ask the Muninn that runs on this machine whether it is alive. Exit code 0: yes; 1: no, with the reasons."""
    with _faults_told():
        from bot.settings import load

        settings = load()
        from bot.pulse import feel

        well, told = feel(settings.http_host, settings.http_port, "/readyz" if ready else "/healthz")
        typer.echo(told)
        raise typer.Exit(0 if well else 1)


@app.command()
def invite() -> None:
    """Print the link at which somebody with Manage Server lets the bot into a guild."""
    with _faults_told():
        from bot.settings import load, secrets

        settings = load()
        from bot import logs
        from bot.doctor.application import application_id
        from bot.invitation import invite_link

        logs.protect(secrets(settings))
        typer.echo(invite_link(asyncio.run(application_id(settings))))


async def _migrate(settings: "Settings", *, apply: bool) -> None:
    from bot.startup import prepare_database

    async with _database(settings) as url:
        applied = await prepare_database(url, apply=apply)
    typer.echo(
        f"Applied {', '.join(applied.names)}; the schema is at version {applied.after}."
        if applied.names
        else f"The schema is at version {applied.after}; nothing to do."
    )


@asynccontextmanager
async def _database(settings: "Settings") -> AsyncGenerator[str]:
    """The database's address; the embedded server runs while the block does."""
    from bot.services import embedded_postgres

    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
    else:
        async with embedded_postgres(settings.data_dir) as url:
            yield url


@contextmanager
def _faults_told() -> Generator[None]:
    """What keeps Muninn from starting becomes one sentence on standard error and an exit code, without a traceback."""
    if sys.platform == "win32":
        _end(StartupFault("Muninn runs on Linux and macOS; on Windows run it inside WSL."))
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except Exception as error:
        fault = _startup_fault(error)
        if fault is None:
            raise
        _end(fault)


def _startup_fault(error: BaseException) -> StartupFault | None:
    if isinstance(error, StartupFault):
        return error
    from bot.startup import as_startup_fault

    if isinstance(error, BaseExceptionGroup):
        inner = cast("Sequence[BaseException]", error.exceptions)
        return next((fault for one in inner if (fault := _startup_fault(one)) is not None), None)
    return as_startup_fault(error)


def _end(fault: StartupFault) -> NoReturn:
    typer.echo(f"muninn: {fault}", err=True)
    raise typer.Exit(fault.exit_code)


def _set_up_logs(settings: "Settings") -> None:
    from bot import logs
    from bot.settings import secrets, unknown_variables

    logs.configure(level=settings.log_level, style=settings.log_format)
    logs.protect(secrets(settings))
    for name in unknown_variables():
        logs.log.warning("settings.unknown", variable=name, reason="No setting has this name; it changes nothing.")


def _run_until_signalled(work: Coroutine[Any, Any, None], *, while_stdin_open: bool = False) -> None:
    """Run `work`; SIGTERM and Ctrl-C cancel it, so that it drains within its bound; a second one ends it at once.

    With `while_stdin_open`, the end of standard input does so too (the process that started us is gone).
    """

    import uvloop

    async def guarded() -> None:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        asked = False

        def ask(number: int) -> None:
            nonlocal asked
            if asked:
                os._exit(128 + number)
            asked = True
            task.cancel()

        def read() -> None:
            if not os.read(0, 4096):
                loop.remove_reader(0)
                if not asked:
                    ask(signal.SIGTERM)

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ask, number)
        if while_stdin_open:
            loop.add_reader(0, read)
        try:
            await task
        except asyncio.CancelledError:
            if not asked:
                raise

    # What is imported by now stays to the end, and need not be looked through for cycles again and again.
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    # libuv's loop answers a message a tenth sooner than Python's own.
    uvloop.run(guarded())


def main() -> None:
    """The entry point of the `muninn` command."""
    app()
