"""A web on loopback behind Firecrawl's API (v2): pages that a test makes up, searched and scraped as Firecrawl would.

    async with Web.start() as web:  # web.environment are the settings for Muninn
        web.page("https://atlas.example/release", "Atlas 2 is out", "It came out on **Friday**.")
        ...  # let a member ask the bot
        assert web.searches[0].query == "atlas release"

A search finds the pages that have any of its words, those with most of them first. `answers(*pages)` says what the
next search finds instead, and the faults (`rate_limited()`, `server_error()`, `stall(30)`, `broken_json()`, ...) what
goes wrong with it: what is scripted is taken in order, one a request. A request that breaks a rule of the API is
refused, and the test fails when it leaves the web, unless it asked for `check_at_exit=False`.
"""

from .faults import (
    Broken,
    Failure,
    Fault,
    Reset,
    Stall,
    broken_json,
    forbidden,
    html_page,
    out_of_credits,
    rate_limited,
    reset_connection,
    server_error,
    stall,
    timed_out,
    unsuccessful,
)
from .pages import Page, poisoned
from .requests import Scrape, Search
from .server import Web

__all__ = [
    "Broken",
    "Failure",
    "Fault",
    "Page",
    "Reset",
    "Scrape",
    "Search",
    "Stall",
    "Web",
    "broken_json",
    "forbidden",
    "html_page",
    "out_of_credits",
    "poisoned",
    "rate_limited",
    "reset_connection",
    "server_error",
    "stall",
    "timed_out",
    "unsuccessful",
]
