import warnings
from collections.abc import AsyncGenerator

import pytest

with warnings.catch_warnings():
    # discord.py 2.7.1 imports audioop, which Python 3.11 deprecates.
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    import discord as _  # noqa: F401

from sandbox.discord import Discord, Workshop


@pytest.fixture
async def discord() -> AsyncGenerator[Discord]:
    async with Discord.start(world="workshop") as running:
        yield running


@pytest.fixture
def shop(discord: Discord) -> Workshop:
    assert discord.workshop is not None
    return discord.workshop
