"""A loopback Discord with the ready-made guild."""

from collections.abc import AsyncGenerator

import pytest

from sandbox.discord import Discord, Workshop


@pytest.fixture
async def discord() -> AsyncGenerator[Discord]:
    async with Discord.start(world="workshop") as running:
        yield running


@pytest.fixture
def shop(discord: Discord) -> Workshop:
    assert discord.workshop is not None
    return discord.workshop
