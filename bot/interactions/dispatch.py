"""Interactions: buttons pressed, forms sent and commands used, each brought to the handler that it names.

Nothing of a message is kept in memory: a button's custom_id says which handler it is for and what it is about, so that
it works after a restart as before. Whoever handles one may take its time: where nothing was answered within
ACK_AFTER_S, the interaction is acknowledged, and what is said then follows. Whatever goes wrong is one plain sentence.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import structlog

from bot.bodies import Body
from bot.commands.declaration import Declaration, bodies
from bot.errors import CommandRefused, ReadFault
from bot.interactions.payloads import Command, Press, Received, Submission, Typing, read_interaction
from bot.interactions.replies import Late, Reply
from bot.metrics import INTERACTIONS
from bot.responses import Responses
from memory.database import is_passing
from memory.errors import MemoryRefused

log = structlog.get_logger(__name__)

LONGEST_S: Final = 1_800.0
"""Seconds that a handler may take in all. What it says after fifteen minutes is a message (bot.interactions.late)."""

SUGGEST_WITHIN_S: Final = 2.0
"""Seconds for suggestions, which must be the first answer."""

MOST_SUGGESTIONS: Final = 25

EXPIRED_BUTTON: Final = "This button has expired, so nothing was done; please use the command again."
_NO_FORM: Final = "This form has expired, so nothing was done; please use the command again."
_NO_COMMAND: Final = "I do not know this command any more; it will disappear from Discord's list soon."
_PASSING: Final = "I cannot reach what I remember right now, so I did nothing; please try again in a minute."
_UNSEEN: Final = "Discord cannot tell me right now what you may do, so I did nothing; please try again in a minute."
_BROKEN: Final = "Something in me broke over this; the person who runs me finds the reason in my log."
_TOO_LONG: Final = "This took too long, so I stopped; part of it may be done, so please look before you do it again."


PressHandler: TypeAlias = Callable[[Press, Reply], Awaitable[None]]
CommandHandler: TypeAlias = Callable[[Command, Reply], Awaitable[None]]
SubmissionHandler: TypeAlias = Callable[[Submission, Reply], Awaitable[None]]
Suggester: TypeAlias = Callable[[Typing], Awaitable[Sequence[tuple[str, str | int | float]]]]
"""Gives what to offer for the option that is typed: what is shown and what is meant, the likeliest first."""


class Interactions:
    """Takes interactions from the gateway, after their commit, and runs their handlers side by side."""

    def __init__(self, responses: Responses, late: Late | None = None) -> None:
        self._responses = responses
        self._late = late
        self._presses: dict[str, PressHandler] = {}
        self._commands: dict[str, CommandHandler] = {}
        self._submissions: dict[str, SubmissionHandler] = {}
        self._suggesters: dict[str, Suggester] = {}
        self._declared: list[Declaration] = []
        self._running: set[asyncio.Task[None]] = set()

    def on_press(self, prefix: str, handler: PressHandler) -> None:
        """Bring presses whose custom_id is `prefix`, or begins with `prefix:`, to `handler`."""
        assert prefix not in self._presses  # noqa: S101 - two handlers for one button
        self._presses[prefix] = handler

    def on_command(
        self, declaration: Declaration, handler: CommandHandler, *, suggester: Suggester | None = None
    ) -> None:
        """Offer a command, and bring its uses to `handler`; `suggester` where one of its options is suggested."""
        suggested = any(each.suggested for each in getattr(declaration, "options", ()))
        assert declaration.path not in self._commands  # noqa: S101 - two handlers for one command
        assert suggested == (suggester is not None)  # noqa: S101 - Discord would ask, and nobody answer
        self._declared.append(declaration)
        self._commands[declaration.path] = handler
        if suggester is not None:
            self._suggesters[declaration.path] = suggester

    def on_submit(self, prefix: str, handler: SubmissionHandler) -> None:
        """Bring forms whose custom_id is `prefix`, or begins with `prefix:`, to `handler`."""
        assert prefix not in self._submissions  # noqa: S101 - two handlers for one form
        self._submissions[prefix] = handler

    @property
    def declared(self) -> tuple[Declaration, ...]:
        """The commands that have a handler, each as it was declared."""
        return tuple(self._declared)

    def bodies(self) -> tuple[Body, ...]:
        """What Discord is told of them."""
        return bodies(self._declared)

    @property
    def prefixes(self) -> frozenset[str]:
        """Whose buttons have a handler."""
        return frozenset(self._presses)

    @property
    def forms(self) -> frozenset[str]:
        """Whose forms have a handler."""
        return frozenset(self._submissions)

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

    async def _handle(self, interaction: Received) -> None:
        reply = Reply(self._responses, interaction, self._late)
        if isinstance(interaction, Typing):
            await self._suggest(interaction, reply)
            return
        kind = type(interaction).__name__.lower()
        acknowledging = asyncio.create_task(reply.in_time(), name="acknowledge")
        end, limit = "done", asyncio.timeout(LONGEST_S)
        try:
            async with limit:
                end = await self._dispatch(interaction, reply)
                await reply.acknowledge()
        except Exception as error:
            end, sentence = ("too_long", _TOO_LONG) if limit.expired() else _told(error)
            if end == "broken":
                log.exception("interaction.broken", kind=kind)
            elif end != "refused":
                log.warning("interaction.interrupted", kind=kind, error=type(error).__name__)
            await reply.say(sentence)
        finally:
            INTERACTIONS.labels(kind, end).inc()
            acknowledging.cancel()
            await asyncio.wait([acknowledging])

    async def _dispatch(self, interaction: Press | Command | Submission, reply: Reply) -> str:
        """Run the handler; gives how it ended."""
        match interaction:
            case Press(custom_id=custom_id):
                handler, unknown = self._presses.get(custom_id.split(":", 1)[0]), EXPIRED_BUTTON
                working = None if handler is None else handler(interaction, reply)
            case Submission(custom_id=custom_id):
                sent, unknown = self._submissions.get(custom_id.split(":", 1)[0]), _NO_FORM
                working = None if sent is None else sent(interaction, reply)
            case Command(name=name):
                used, unknown = self._commands.get(name), _NO_COMMAND
                working = None if used is None else used(interaction, reply)
        if working is None:
            log.info("interaction.unknown", kind=type(interaction).__name__.lower())
            await reply.say(unknown)
            return "unknown"
        await working
        return "done"

    async def _suggest(self, typing: Typing, reply: Reply) -> None:
        """Offer what fits, or nothing: a suggestion is no place for an error."""
        suggester, end = self._suggesters.get(typing.name), "done"
        found: Sequence[tuple[str, str | int | float]] = ()
        try:
            async with asyncio.timeout(SUGGEST_WITHIN_S):
                found = await suggester(typing) if suggester is not None else ()
        except Exception as error:
            end = _told(error)[0]
            if end == "broken":
                log.exception("interaction.broken", kind="typing")
        await reply.suggest(found[:MOST_SUGGESTIONS])
        INTERACTIONS.labels("typing", end).inc()


def _told(error: Exception) -> tuple[str, str]:
    """How it ended, and the one sentence for whoever asked."""
    match error:
        case CommandRefused(text=text):
            return "refused", text
        case MemoryRefused(message=message):
            return "refused", message
        case ReadFault():
            return "passing", _UNSEEN
        case _ if is_passing(error):
            return "passing", _PASSING
        case _:
            return "broken", _BROKEN
