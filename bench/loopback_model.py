"""`python -m bench.loopback_model`: a model that answers every request at once, as a process of its own."""

import asyncio
import sys

from bench.children import until_stdin_closes
from sandbox.model import Model, say

ANSWER = "Ravens remember faces for years, and hold a grudge against those who wronged them."


async def main() -> None:
    """Print the base URL and the key, then serve until standard input closes."""
    async with Model.start(name="bench", keep_requests=1, check_at_exit=False) as model:
        model.default(say(ANSWER))
        sys.stdout.write(f"{model.base_url} {model.api_key}\n")
        sys.stdout.flush()
        await until_stdin_closes()


if __name__ == "__main__":
    asyncio.run(main())
