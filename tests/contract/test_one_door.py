"""One door: what changes anything in Discord is asked for in bot.writes, or answers an interaction in bot.responses.

No import contract can say this, since the same library reads and writes: so the code itself is looked through. Each
check finds the door too, so that none of them passes because it sees nothing.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import bot

FOLDER: Final = Path(bot.__file__).parent
DOOR: Final = {"bot.writes", "bot.responses"}

# Who may hold the way to Discord's API as a whole: the door, what makes it, and what looks whether a write was done.
HOLD_REST: Final = DOOR | {"bot.agency", "bot.app", "bot.assembly", "bot.doctor.guilds", "bot.standing"}

# The library's client, by its own methods: the session, and what a backfill reads.
USED_OF_CLIENT: Final = {
    ("bot.backfill", "get_message"),
    ("bot.backfill", "get_public_archived_threads"),
    ("bot.backfill", "logs_from"),
    ("bot.doctor.visit", "close"),
    ("bot.doctor.visit", "request"),
    ("bot.doctor.visit", "static_login"),
    ("bot.rest", "request"),
}

# What is used of the library outside of the gateway, which is its session: flags, arithmetic and errors. Its messages,
# channels and members would act by themselves.
USED_OF_LIBRARY: Final = {
    "ApplicationFlags",
    "DiscordException",
    "DiscordServerError",
    "Forbidden",
    "HTTPClient",
    "HTTPException",
    "LoginFailure",
    "NotFound",
    "Permissions",
    "PrivilegedIntentsRequired",
    "RateLimited",
    "Route",
}


@cache
def _modules() -> tuple[tuple[str, ast.Module], ...]:
    """The modules of bot by name, read once for all tests here."""
    found: list[tuple[str, ast.Module]] = []
    for path in sorted(FOLDER.rglob("*.py")):
        name = ".".join(("bot", *path.relative_to(FOLDER).with_suffix("").parts))
        found.append((name.removesuffix(".__init__"), ast.parse(path.read_text())))
    return tuple(found)


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def test_routes_that_write_stand_in_the_door() -> None:
    """I4: any route that is not plainly a GET."""
    found = {
        name
        for name, tree in _modules()
        for call in _calls(tree)
        if isinstance(call.func, ast.Name) and call.func.id == "Route" and call.args
        if not (isinstance(call.args[0], ast.Constant) and call.args[0].value == "GET")
    }
    assert found == DOOR


def test_few_hold_the_way_to_discord() -> None:
    """I4: whoever imports Rest; Reads can only read."""
    found = {
        name
        for name, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "bot.rest" and "Rest" in {a.name for a in node.names}
    }
    assert found == HOLD_REST


def test_the_librarys_client_is_used_for_little() -> None:
    """I4: its methods send, edit, ban and more without a receipt."""
    found = {
        (name, call.func.attr)
        for name, tree in _modules()
        for call in _calls(tree)
        if isinstance(call.func, ast.Attribute) and _last(call.func.value) in ("http", "_http", "library")
    }
    assert found == USED_OF_CLIENT


def test_the_librarys_objects_are_not_used() -> None:
    """I4, I11: its messages, channels and members have methods that write."""
    assert {used for name, tree in _modules() if name != "bot.gateway" for used in _of_library(tree)} == USED_OF_LIBRARY


def test_who_may_be_pinged_is_said_in_one_place() -> None:
    """I11: bodies with words are made in bot.bodies alone, which leaves the key out of none."""
    found = {
        name
        for name, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in ("allowed_mentions", "enforce_nonce")
    }
    assert found == {"bot.bodies"}


def _last(value: ast.expr) -> str | None:
    """The last name of what a method is called on: `_http` of `self._http.request(...)`."""
    return value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else None


def _of_library(tree: ast.Module) -> Iterator[str]:
    """The names of the library that a module uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "discord":
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "discord":
            yield from (each.name for each in node.names)
