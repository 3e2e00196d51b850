"""A page on loopback on which a person talks to the bot that is connected to the loopback Discord.

async with serve_page(discord, workshop.guild) as page:
    print(page.url)  # the address to open, with its key
"""

from .errors import RecordsUnavailable
from .records import Records
from .server import Page, serve_page

__all__ = ["Page", "Records", "RecordsUnavailable", "serve_page"]
