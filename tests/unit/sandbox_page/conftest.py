from collections.abc import AsyncGenerator

import pytest

from sandbox.discord import Discord, Workshop
from sandbox.page import Page, serve_page


@pytest.fixture
async def discord() -> AsyncGenerator[Discord]:
    async with Discord.start(world="workshop") as running:
        yield running


@pytest.fixture
def shop(discord: Discord) -> Workshop:
    assert discord.workshop is not None
    return discord.workshop


@pytest.fixture
async def page(discord: Discord, shop: Workshop) -> AsyncGenerator[Page]:
    """A page over the ready-made guild, with nothing to look into."""
    async with serve_page(discord, shop.guild) as running:
        yield running
