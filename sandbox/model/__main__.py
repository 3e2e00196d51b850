"""`python -m sandbox.model`: the practice model as a process of its own, until it is interrupted."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

from sandbox.model.practice import practice
from sandbox.model.server import Model

_KEEP = 16  # nobody asks a standing server for its requests


async def serve(port: int, api_key: str | None) -> None:
    """Serve until SIGINT or SIGTERM; prints the settings for Muninn once it listens. Raises OSError: port taken."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with Model.start(
        port=port, api_key=api_key, name="practice", keep_requests=_KEEP, check_at_exit=False
    ) as model:
        model.default(practice)
        sys.stdout.write("".join(f"{name}={value}\n" for name, value in model.environment.items()))
        sys.stdout.flush()
        await stopped.wait()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox.model",
        description="Serve the practice model (fixed rules, no language model) over OpenAI's API on 127.0.0.1.",
    )
    parser.add_argument("--port", type=int, default=0, help="the port; 0, the default, takes a free one")
    parser.add_argument("--api-key", default=None, help="the key that clients must send; made up by default")
    chosen = parser.parse_args()
    try:
        asyncio.run(serve(chosen.port, chosen.api_key))
    except OSError as error:
        sys.stderr.write(f"cannot listen on port {chosen.port}: {error.strerror}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
