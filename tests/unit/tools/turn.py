"""A turn without Discord, for tests of what stands before the ports: contexts, and ports that report as told.

The ports are ours, and nothing of Discord's is pretended: what it does is tested over the loopback Discord.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import asyncpg

from agent.contracts import PlannedCall, ToolCall, ToolResult, ValidCall
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.scope import Scope
from tools.actions import Action
from tools.ports import ActionReport, TurnContext
from tools.registry import TurnToolbox

GUILD = SpaceId(100000000000000001)
HERE = PlaceId(100000000000000002)
TRIGGER = MessageId(100000000000000003)
ADA = UserId(100000000000000004)
ELSEWHERE = PlaceId(100000000000000005)
MESSAGE = MessageId(100000000000000006)
OTHER_GUILD = SpaceId(200000000000000001)


@dataclass
class FakeActions:
    """Reports what it is told to, and keeps what it was asked for."""

    report: ActionReport = field(default_factory=lambda: ActionReport("applied"))
    asked: list[Action] = field(default_factory=list[Action])

    async def perform(self, action: Action) -> ActionReport:
        self.asked.append(action)
        return self.report


class BrokenDb:
    """A database whose server is away."""

    async def fetch(self, query: str, *args: object, **options: object) -> Any:
        raise asyncpg.CannotConnectNowError("the database system is starting up")

    fetchrow = fetchval = execute = fetch


def context(db: Any = None, actions: FakeActions | None = None, **ports: Any) -> TurnContext:
    """A turn of Ada's in a guild; ports that are not given are not there."""
    return TurnContext(
        scope=Scope(GUILD, HERE),
        trigger_id=TRIGGER,
        author_id=ADA,
        author_name="Ada",
        db=db or BrokenDb(),
        actions=actions or FakeActions(),
        **ports,
    )


def direct(whole: TurnContext) -> TurnContext:
    """The same turn in a direct conversation."""
    return replace(whole, scope=Scope(SpaceId(HERE), HERE), is_direct=True)


async def called(toolbox: TurnToolbox, tool: str, **arguments: object) -> Any:
    """The content of the tool's result, read."""
    call = ToolCall("a", tool, json.dumps(arguments))
    valid = toolbox.validate(call)
    assert isinstance(valid, ValidCall), valid
    result = await toolbox.invoke(valid, PlannedCall(0, 0, call, valid.spec.effect))
    content = json.loads(result.content)
    assert content["ok"] is result.ok
    assert (result.error_code is None) == result.ok
    return content


def refused(toolbox: TurnToolbox, tool: str, arguments: str) -> tuple[str | None, str]:
    """The code and message with which the call is turned down before it runs."""
    result = toolbox.validate(ToolCall("a", tool, arguments))
    assert isinstance(result, ToolResult), f"{tool} took {arguments}"
    assert not result.ok
    return result.error_code, json.loads(result.content)["error"]["message"]
