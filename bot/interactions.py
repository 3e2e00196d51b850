"""Interactions: buttons pressed and commands used, each brought to the handler that it names, and answered in time.

Nothing of a message is kept in memory: a button's custom_id says which handler it is for and what it is about, so that
it works after a restart as before. Whoever handles one may take its time: where nothing was answered within
ACK_AFTER_S, the interaction is acknowledged, and what is said then follows.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

import structlog

from bot.bodies import Component, deferred, edit_body, said
from bot.metrics import INTERACTIONS
from bot.payloads import clean, snowflake
from bot.responses import Responses
from memory.database import is_passing
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.scope import Scope

log = structlog.get_logger(__name__)

ACK_AFTER_S: Final = 0.8
"""The gateway may hold an interaction for 1.5 s until it is journalled; Discord gives 3 s for the first answer."""

LONGEST_S: Final = 120.0
"""Seconds that a handler may take in all."""

_COMMAND: Final = 2
_COMPONENT: Final = 3

_GONE: Final = "This button is no longer mine."
_NO_COMMAND: Final = "I do not know this command any more. It will disappear from Discord's list soon."
_PASSING: Final = "I cannot reach what I remember right now, so I did nothing. Please try again in a minute."
_BROKEN: Final = "Something in me broke over this. The person who runs me finds the reason in my log."


@dataclass(frozen=True, slots=True)
class Interaction:
    """Who acted, and where. `token` is good for fifteen minutes, and lives in memory alone (I13)."""

    interaction_id: int
    token: str = field(repr=False)
    scope: Scope
    user_id: UserId


@dataclass(frozen=True, slots=True)
class Press(Interaction):
    """A button or menu was used on the message `message_id`."""

    message_id: MessageId
    custom_id: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command(Interaction):
    """A command was used; `target_id` is the message or member of a context menu, `options` are a slash command's."""

    name: str
    target_id: int | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])


class Reply:
    """How an interaction is answered. Each method says whether Discord took it; none raises for Discord's sake."""

    def __init__(self, responses: Responses, interaction: Interaction) -> None:
        self._responses = responses
        self._id = interaction.interaction_id
        self._token = interaction.token
        self._on_message = isinstance(interaction, Press)
        self._first: Literal["none", "waiting", "message", "failed"] = "none"
        self._lock = asyncio.Lock()

    async def say(self, text: str, *, ephemeral: bool = True, components: Sequence[Component] = ()) -> bool:
        """Say something, to the person alone or to everybody."""
        body = said(clean(text), ephemeral=ephemeral, components=components or None)
        async with self._lock:
            match self._first:
                case "none":
                    return self._note(await self._responses.first(self._id, self._token, "message", body), "message")
                case "waiting":
                    self._first = "message"
                    return await self._responses.edit_first(self._id, self._token, edit_body(clean(text), components))
                case "message" | "failed":
                    return await self._responses.follow_up(self._id, self._token, body)

    async def update(self, text: str, *, components: Sequence[Component] = ()) -> bool:
        """Give the message whose button was pressed other words and other buttons (none)."""
        body = edit_body(clean(text), components)
        async with self._lock:
            if self._first == "none":
                return self._note(await self._responses.first(self._id, self._token, "update", body), "message")
            return await self._responses.edit_first(self._id, self._token, body)

    async def defer(self, *, ephemeral: bool = True) -> bool:
        """Say that an answer follows."""
        async with self._lock:
            if self._first != "none":
                return True
            taken = await self._responses.first(self._id, self._token, "deferred", deferred(ephemeral=ephemeral))
            return self._note(taken, "waiting")

    async def defer_update(self) -> bool:
        """Take the press, and say nothing."""
        async with self._lock:
            if self._first != "none":
                return True
            return self._note(await self._responses.first(self._id, self._token, "deferred_update"), "message")

    async def in_time(self) -> None:
        """Acknowledge after a while, where nothing was answered by then."""
        await asyncio.sleep(ACK_AFTER_S)
        await self.acknowledge()

    async def acknowledge(self) -> None:
        """Let Discord know that it was heard, where nothing was answered yet."""
        if self._on_message:
            await self.defer_update()
        else:
            await self.defer()

    def _note(self, taken: bool, first: Literal["waiting", "message"]) -> bool:
        self._first = first if taken else "failed"
        return taken


PressHandler: TypeAlias = Callable[[Press, Reply], Awaitable[None]]
CommandHandler: TypeAlias = Callable[[Command, Reply], Awaitable[None]]


class Interactions:
    """Takes interactions from the gateway, after their commit, and runs their handlers side by side."""

    def __init__(self, responses: Responses) -> None:
        self._responses = responses
        self._presses: dict[str, PressHandler] = {}
        self._commands: dict[str, CommandHandler] = {}
        self._running: set[asyncio.Task[None]] = set()

    def on_press(self, prefix: str, handler: PressHandler) -> None:
        """Bring presses whose custom_id is `prefix`, or begins with `prefix:`, to `handler`."""
        assert prefix not in self._presses  # noqa: S101 - two handlers for one button
        self._presses[prefix] = handler

    def on_command(self, name: str, handler: CommandHandler) -> None:
        """Bring uses of the command `name` to `handler`."""
        assert name not in self._commands  # noqa: S101 - two handlers for one command
        self._commands[name] = handler

    @property
    def prefixes(self) -> frozenset[str]:
        """Whose buttons have a handler."""
        return frozenset(self._presses)

    @property
    def names(self) -> frozenset[str]:
        """Which commands have a handler."""
        return frozenset(self._commands)

    def accept(self, data: object) -> None:
        """Take an INTERACTION_CREATE payload. Never blocks and never raises."""
        try:
            interaction = read_interaction(cast("Mapping[str, Any]", data))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            log.warning("interaction.malformed", error=f"{type(error).__name__}: {error}"[:200])
            return
        if interaction is None:
            INTERACTIONS.labels("other", "ignored").inc()
            return
        task = asyncio.get_running_loop().create_task(self._handle(interaction), name="interaction")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def stop(self, *, within_s: float) -> None:
        """Let what runs finish for a while, then cut it off: what was confirmed is gone on with by the next process."""
        if self._running:
            await asyncio.wait(self._running, timeout=within_s)
        left = [task for task in self._running if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=1.0)

    async def _handle(self, interaction: Press | Command) -> None:
        reply = Reply(self._responses, interaction)
        kind = "press" if isinstance(interaction, Press) else "command"
        acknowledging = asyncio.create_task(reply.in_time(), name="acknowledge")
        end = "done"
        try:
            async with asyncio.timeout(LONGEST_S):
                end = await self._dispatch(interaction, reply)
                await reply.acknowledge()
        except Exception as error:
            end = "passing" if is_passing(error) else "broken"
            if end == "passing":
                log.warning("interaction.interrupted", kind=kind, error=type(error).__name__)
            else:
                log.exception("interaction.broken", kind=kind)
            await reply.say(_PASSING if end == "passing" else _BROKEN)
        finally:
            INTERACTIONS.labels(kind, end).inc()
            acknowledging.cancel()
            await asyncio.wait([acknowledging])

    async def _dispatch(self, interaction: Press | Command, reply: Reply) -> str:
        """Run the handler; gives how it ended."""
        if isinstance(interaction, Press):
            press = self._presses.get(interaction.custom_id.split(":", 1)[0])
            if press is None:
                log.info("interaction.unknown_button", message_id=interaction.message_id)
                await reply.say(_GONE)
                return "unknown"
            await press(interaction, reply)
        else:
            command = self._commands.get(interaction.name)
            if command is None:
                await reply.say(_NO_COMMAND)
                return "unknown"
            await command(interaction, reply)
        return "done"


def read_interaction(payload: Mapping[str, Any]) -> Press | Command | None:
    """The interaction in a payload; None for a kind that nobody here handles. Raises as the readers of bot.payloads."""
    kind, data = int(payload["type"]), cast("Mapping[str, Any]", payload.get("data") or {})
    if kind not in (_COMMAND, _COMPONENT):
        return None
    place_id = PlaceId(snowflake(payload["channel_id"]))
    guild_id = payload.get("guild_id")
    scope = Scope(SpaceId(snowflake(guild_id)) if guild_id is not None else SpaceId(place_id), place_id)
    person = cast("Mapping[str, Any]", (payload.get("member") or {}).get("user") or payload["user"])
    interaction_id, token, user_id = snowflake(payload["id"]), str(payload["token"]), UserId(snowflake(person["id"]))
    if kind == _COMPONENT:
        return Press(
            interaction_id,
            token,
            scope,
            user_id,
            MessageId(snowflake(payload["message"]["id"])),
            str(data["custom_id"]),
            tuple(str(each) for each in data.get("values") or ()),
        )
    target = data.get("target_id")
    options = {str(each["name"]): each.get("value") for each in data.get("options") or ()}
    return Command(
        interaction_id,
        token,
        scope,
        user_id,
        str(data["name"]),
        snowflake(target) if target is not None else None,
        options,
    )
