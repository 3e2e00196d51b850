"""The catalogue of tools: what each declaration must say, and that a tool is one file."""

import ast
import importlib
import json
import pkgutil
from pathlib import Path
from typing import cast

import discord
import pytest

import tools
from tests.unit.tools.turn import called, context
from tools.declaration import Tool
from tools.reference import PAGE, reference
from tools.registry import AnyTool, Registry, collect

CATALOGUE = collect()

# What the catalogue is: effect, and whether it runs beside others.
READS = {
    "memory_search",
    "web_search",
    "discord_read_messages",
    "discord_get_message",
    "discord_list_channels",
    "discord_list_threads",
    "discord_get_member",
    "recall_activity",
}
WRITES = {
    "memory_remember",
    "memory_forget",
    "discord_react",
    "discord_remove_own_reaction",
    "discord_send_message",
    "discord_reply_to_message",
    "discord_create_thread",
    "discord_edit_thread",
    "discord_edit_own_message",
    "discord_delete_own_message",
    "discord_pin_message",
    "discord_unpin_message",
}


def test_the_catalogue_is_whole() -> None:
    """A tool that is added or lost is a decision: this list is where it is seen."""
    assert {tool.name for tool in CATALOGUE if tool.effect == "read"} == READS
    assert {tool.name for tool in CATALOGUE if tool.effect == "write"} == WRITES
    assert [tool.name for tool in CATALOGUE] == sorted(READS | WRITES)  # the order is stable, for the prompt's cache


def test_reads_run_beside_each_other_and_writes_alone() -> None:
    """The write barrier: a write is one by its effect, whatever it promises."""
    assert all(tool.parallel_safe for tool in CATALOGUE if tool.effect == "read")
    assert all(tool.spec().is_barrier for tool in CATALOGUE if tool.effect == "write")


@pytest.mark.parametrize("tool", CATALOGUE, ids=lambda tool: tool.name)
def test_each_declaration_can_be_used(tool: AnyTool) -> None:
    """Closed and lean schemas, permissions that Discord has, one description, a deadline where it waits."""
    schema = tool.spec().parameters
    assert schema["additionalProperties"] is False
    assert schema["type"] == "object"
    assert '"title"' not in json.dumps(schema)
    assert '"null"' not in json.dumps(schema)
    assert set(tool.permissions) <= set(discord.Permissions.VALID_FLAGS)
    assert tool.description.endswith(".")
    if tool.effect == "read":
        assert tool.timeout_s is not None
        assert tool.rows is not None or "get" in tool.name


@pytest.mark.parametrize("tool", CATALOGUE, ids=lambda tool: tool.name)
def test_no_argument_can_name_whose_memory_or_what_space(tool: AnyTool) -> None:
    """I6: a guild is never an argument, and what is remembered, searched or recalled is never somebody else's."""
    names = set(tool.arguments.model_fields)
    assert not names & {"guild", "guild_id", "space", "space_id", "server"}
    if not tool.name.startswith("discord_"):
        assert not names & {"user", "user_id", "author", "member", "owner", "channel", "channel_id", "place", "thread"}


def test_a_tool_is_one_file() -> None:
    """Adding one touches one module: no other module of ours names a tool or imports its module."""
    families = {path.stem for path in Path(tools.__path__[0]).glob("*.py") if _declares(path.stem)}
    assert families == {"activity", "discord_reads", "discord_writes", "memory", "web"}
    for package in ("agent", "bot", "memory", "tools"):
        folder = Path(importlib.import_module(package).__path__[0])
        for path in folder.rglob("*.py"):
            imported = _imported(path)
            assert not imported & {f"tools.{family}" for family in families}, path


def _declares(module: str) -> bool:
    return any(isinstance(value, Tool) for value in vars(importlib.import_module(f"tools.{module}")).values())


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found


@pytest.mark.parametrize("module", [each.name for each in pkgutil.iter_modules(tools.__path__)])
def test_tools_have_no_shell_no_http_and_no_sql_of_their_own(module: str) -> None:
    """No tool can be made to open an address, start a program or run a statement: it has nothing to do it by."""
    imported = {name.split(".")[0] for name in _imported(Path(tools.__path__[0]) / f"{module}.py")}
    assert not imported & {"subprocess", "os", "socket", "aiohttp", "httpx", "httpx2", "requests", "urllib", "asyncpg"}
    assert not imported & {"firecrawl", "openai", "discord", "bot"}


def test_the_reference_is_what_the_code_says() -> None:
    """docs/reference/tools.md. To write it again: make docs."""
    assert (Path(__file__).parents[2] / PAGE).read_text(encoding="utf-8") == reference()


async def test_the_example_of_the_how_to_is_a_tool() -> None:
    """docs/how-to/add-a-tool.md: what stands there declares a tool that runs as it is."""
    page = (Path(__file__).parents[2] / "docs/how-to/add-a-tool.md").read_text(encoding="utf-8")
    block = page.split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {"__name__": __name__}
    exec(compile(block, "add-a-tool.md", "exec"), names)  # noqa: S102 - our own page
    made = cast("AnyTool", names["ROLL_DICE"])
    content = await called(Registry([made]).for_turn(context()), "roll_dice", count=3)
    assert len(content["rolled"]) == 3
    assert set(content["rolled"]) <= set(range(1, 7))
