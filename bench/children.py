"""The processes of a benchmark: each ends when its standard input closes, so that none outlives the benchmark."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

STOP_WITHIN_S: Final = 15.0


async def until_stdin_closes() -> None:
    """Return when whoever started this process is gone, or closed our standard input."""
    loop = asyncio.get_running_loop()
    closed = asyncio.Event()

    def read() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            closed.set()

    loop.add_reader(0, read)
    await closed.wait()


@asynccontextmanager
async def child(
    module: str,
    *arguments: str,
    environment: Mapping[str, str],
    log: Path,
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """`python -m module` while the block runs; standard output is a pipe, standard error goes to `log`.

    Variables of ours that stand in the environment of the benchmark itself are not handed on: what is measured is
    Muninn as it comes. Compiled modules are kept beside `log`, as an installation keeps them beside the sources.
    """
    left_out = ("MUNINN_", "OPENAI_", "PYTHONDONTWRITEBYTECODE")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    clean["PYTHONPYCACHEPREFIX"] = str(log.parent / "compiled")
    with log.open("wb") as sink:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            *arguments,
            env={**clean, **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=sink,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(STOP_WITHIN_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
