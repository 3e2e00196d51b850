"""The `muninn` command as a person runs it, in a child of the warm process of tests.harness.process.

What is seen is what a person sees: the exit code, and what it prints and complains of. Only the libraries are not
loaded anew, which is most of what a short command costs. That `python -m bot` is this command is shown by
tests/unit/test_cli.py.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import bot.cli
from bot.settings import PREFIX
from tests.harness.process import fork

ENDS_WITHIN_S = 50.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its code, what it printed, and what it complained of."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """All that it wrote."""
        return self.out + self.err


async def run_command(*arguments: str, environment: Mapping[str, str], folder: Path, until: str | None = None) -> Ended:
    """The command in `folder`, with no other variables of ours than these. It is ended by SIGTERM once it has printed
    `until`."""
    with tempfile.TemporaryDirectory(prefix="mnn-") as made:
        out, err = Path(made, "out"), Path(made, "err")
        out.touch()
        err.touch()
        process = await fork(_become, arguments, dict(environment), str(folder), made)
        try:
            async with asyncio.timeout(ENDS_WITHIN_S):
                while process.exitcode is None:
                    if until is not None and (until in out.read_text() or until in err.read_text()):
                        process.terminate()
                        until = None
                    await asyncio.sleep(0.02)  # neither a file nor a process of another's can be waited for
            code = process.exitcode
        finally:
            process.kill()
            process.join()
            process.close()
        return Ended(code, out.read_text(), err.read_text())


def _become(arguments: tuple[str, ...], environment: dict[str, str], folder: str, made: str) -> None:
    """In the child: the command, with its output in files."""
    for name in [name for name in os.environ if name.startswith((PREFIX, "OPENAI_"))]:
        del os.environ[name]
    os.environ.update(environment)
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(Path(made, name), os.O_WRONLY | os.O_APPEND), number)
    # Made before there were these files.
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = ["muninn", *arguments]
    bot.cli.main()
