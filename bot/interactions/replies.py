"""How an interaction is answered: in time, once for the first answer, and as often as wanted after it."""

import asyncio
from collections.abc import Sequence
from typing import Final, Literal, Protocol

from bot.bodies import Attached, Component, Field, deferred, edit_body, form_body, said, suggestions
from bot.interactions.payloads import Interaction, Press, Submission
from bot.payloads import clean
from bot.responses import Responses

ACK_AFTER_S: Final = 0.8
"""The gateway may hold an interaction for 1.5 s until it is journalled; Discord gives 3 s for the first answer."""


class Late(Protocol):
    """Says what is too late for an interaction (bot.interactions.late)."""

    async def say(self, interaction: Interaction, text: str, *, ephemeral: bool, attached: Attached | None) -> bool:
        """Whether it was said."""
        ...


class Reply:
    """How an interaction is answered. Each method says whether Discord took it; none raises for Discord's sake."""

    def __init__(self, responses: Responses, interaction: Interaction, late: Late | None = None) -> None:
        """`late`: who says what comes after the interaction's fifteen minutes."""
        self._responses = responses
        self._interaction = interaction
        self._late = late
        self._id = interaction.interaction_id
        self._token = interaction.token
        self._on_message = isinstance(interaction, Press) or (
            isinstance(interaction, Submission) and interaction.message_id is not None
        )
        self._first: Literal["none", "waiting", "message", "failed"] = "none"
        self._waits_ephemeral = True
        self._lock = asyncio.Lock()

    async def say(
        self,
        text: str,
        *,
        ephemeral: bool = True,
        components: Sequence[Component] = (),
        attached: Attached | None = None,
    ) -> bool:
        """Say something, to the person alone or to everybody, perhaps with a file."""
        body = said(clean(text), ephemeral=ephemeral, components=components or None)
        async with self._lock:
            match self._first:
                case "none":
                    taken = await self._responses.first(self._id, self._token, "message", body, attached)
                    return self._note(taken, "message")
                case "waiting":
                    self._first = "message"
                    # Whether it is for the person alone was said when it was put off.
                    ephemeral = self._waits_ephemeral
                    body = edit_body(clean(text), components)
                    sent = await self._responses.edit_first(self._id, self._token, body, attached)
                case "message":
                    sent = await self._responses.follow_up(self._id, self._token, body, attached)
                case "failed":
                    return await self._responses.follow_up(self._id, self._token, body, attached) == "taken"
        if sent == "over" and self._late is not None:
            return await self._late.say(self._interaction, text, ephemeral=ephemeral, attached=attached)
        return sent == "taken"

    async def ask(self, custom_id: str, title: str, fields: Sequence[Field]) -> bool:
        """Show a form. It must be the first answer, within ACK_AFTER_S; False where it is too late for that."""
        async with self._lock:
            if self._first != "none":
                return False
            form = form_body(custom_id, title, fields)
            return self._note(await self._responses.first(self._id, self._token, "form", form), "message")

    async def suggest(self, found: Sequence[tuple[str, str | int | float]]) -> bool:
        """Offer values for the option that is typed."""
        return await self._responses.first(self._id, self._token, "suggestions", suggestions(found))

    async def update(self, text: str, *, components: Sequence[Component] = ()) -> bool:
        """Give the message whose button was pressed other words and other buttons (none)."""
        body = edit_body(clean(text), components)
        async with self._lock:
            if self._first == "none":
                return self._note(await self._responses.first(self._id, self._token, "update", body), "message")
            return await self._responses.edit_first(self._id, self._token, body) == "taken"

    async def defer(self, *, ephemeral: bool = True) -> bool:
        """Say that an answer follows."""
        async with self._lock:
            if self._first != "none":
                return True
            self._waits_ephemeral = ephemeral
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
