"""The commands about memory, put together."""

from bot.governing import Governing
from bot.interactions import Interactions
from bot.memories.changing import Changing
from bot.memories.eyes import Eyes
from bot.memories.looking import Looking
from bot.memories.quoting import Quoting
from bot.pages import Pages
from memory.database import Pool
from memory.owners import Caps


def offer_memories(
    interactions: Interactions, pages: Pages, pool: Pool, governing: Governing, caps: Caps
) -> tuple[Eyes, Changing]:
    """Offer them, with their lists, buttons and forms; gives what else changes memories by hand."""
    eyes = Eyes(pool, governing)
    looking = Looking(pool, eyes, pages)
    looking.register(interactions)
    changing = Changing(pool, eyes, looking, caps)
    changing.register(interactions)
    Quoting(pool, eyes, changing).register(interactions)
    return eyes, changing
