"""A member's use of a command, a component or a form, on which a test waits for what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sandbox.patience import WITHIN_S

from . import transcript
from .interactions import Callback, Choice, Interaction, Modal

if TYPE_CHECKING:
    from .messages import Message

T = TypeVar("T")
ModalShown = Modal


class Use:
    """What a member did; every wait takes ``within`` seconds of real time and raises AssertionError after them.

    A wait also fails at once when the bot gave another kind of answer, or none in Discord's three seconds.
    """

    def __init__(self, interaction: Interaction) -> None:
        self.interaction = interaction

    # what came of it so far

    @property
    def callback(self) -> Callback | None:
        """The kind of the first answer; None while there is none."""
        return self.interaction.callback

    @property
    def answered(self) -> bool:
        return self.interaction.callback is not None

    @property
    def failed(self) -> bool:
        """Whether Discord told the member that the application did not respond: its three seconds are over."""
        return self.interaction.expired

    @property
    def ephemeral(self) -> bool:
        """Whether only the member sees the answer."""
        return self.interaction.ephemeral

    @property
    def followups(self) -> list[Message]:
        """The further messages that are still there."""
        return [message for message in self.interaction.followups if not message.deleted]

    # waiting

    async def answer(self, *, within: float = WITHIN_S) -> Callback:
        """The kind of the first answer, whatever it is."""
        return await self._await(lambda: self.interaction.callback, "an answer", within)

    async def message(self, *, within: float = WITHIN_S) -> Message:
        """The answer as a message, once it no longer says that the bot is thinking. ``ephemeral`` tells who sees it."""

        def look() -> Message | None:
            found = self.interaction.original
            return found if found is not None and not found.loading else None

        return await self._await(look, "a message", within, Callback.MESSAGE, Callback.THINKING)

    async def deferred(self, *, within: float = WITHIN_S) -> Message:
        """The *is thinking…* by which the bot took more time. It becomes the answer; see ``message``."""

        def look() -> Message | None:
            return self.interaction.original if self.interaction.callback is Callback.THINKING else None

        return await self._await(look, "a deferred answer", within, Callback.THINKING)

    async def updated(self, *, within: float = WITHIN_S) -> Message:
        """The component's own message, which the bot changed as its answer."""

        def look() -> Message | None:
            return self.interaction.source if self.interaction.callback is Callback.UPDATE else None

        return await self._await(look, "an update of the message", within, Callback.UPDATE)

    async def acknowledged(self, *, within: float = WITHIN_S) -> None:
        """Any answer at all, a silent one too."""
        await self.answer(within=within)

    async def modal(self, *, within: float = WITHIN_S) -> Modal:
        """The form that the bot shows; give it to ``submit``."""
        return await self._await(lambda: self.interaction.modal, "a modal", within, Callback.MODAL)

    async def choices(self, *, within: float = WITHIN_S) -> list[Choice]:
        """The suggestions of an autocompletion."""

        def look() -> list[Choice] | None:
            return self.interaction.choices if self.interaction.callback is Callback.CHOICES else None

        return await self._await(look, "suggestions", within, Callback.CHOICES)

    async def followup(self, n: int = 1, *, within: float = WITHIN_S) -> Message:
        """The ``n``-th further message."""

        def look() -> Message | None:
            found = self.interaction.followups
            return found[n - 1] if len(found) >= n else None

        return await self._await(look, f"follow-up {n}", within, *Callback)

    async def _await(self, look: Callable[[], T | None], what: str, within: float, *among: Callback) -> T:
        of = self.interaction

        def done() -> tuple[T | None] | None:
            found = look()
            if found is not None:
                return (found,)
            wrong = among and of.callback is not None and of.callback not in among
            return (None,) if wrong or of.expired else None

        ended = await of.world.changes.until(done, within)
        found = None if ended is None else ended[0]
        if found is None:
            raise AssertionError(f"{of} was to get {what}: {_instead(of, within)}\n{transcript.of_place(of.channel)}")
        return found


def _instead(of: Interaction, within: float) -> str:
    if of.expired:
        return "the application did not respond in three seconds"
    return f"after {within} s " + ("there is no answer" if of.callback is None else f"the answer is {of.callback.name}")
