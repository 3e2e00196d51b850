"""Lists in pages: forward, back, and to any page, for as long as the message stands and through every restart.

All that a button needs stands in its custom_id: which list, whose, which page, and what the list is about. Each page is
made anew when it is asked for, for the person who asks, with what that person may see then.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from bot.bodies import Component, Field, button, row
from bot.errors import CommandRefused
from bot.interactions import EXPIRED_BUTTON, Interaction, Interactions, Press, Reply, Submission

PAGE: Final = "page"
JUMP: Final = "jump"
MOST_CHARACTERS: Final = 2000
ARGUMENT_CHARS: Final = 60
"""What a list may be about, so that it fits into a button's 100 characters."""

_FIELD: Final = "number"
_OTHERS: Final = "This list is somebody else's. Use the command yourself to see your own."


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: `at` of `pages`, counted from 0. `more` are rows of buttons that stand below it."""

    title: str
    lines: Sequence[str]
    at: int
    pages: int
    more: Sequence[Component] = ()


Lister: TypeAlias = Callable[[Interaction, str, int], Awaitable[Page]]
"""Makes the page of that number (or the nearest that there is) of the list about that argument, for that person."""


class Pages:
    """All lists of the application."""

    def __init__(self, interactions: Interactions) -> None:
        self._listers: dict[str, Lister] = {}
        interactions.on_press(PAGE, self._turned)
        interactions.on_press(JUMP, self._asked)
        interactions.on_submit(JUMP, self._jumped)

    def on_list(self, name: str, lister: Lister) -> None:
        """Let `lister` make the pages of the list `name` (a few letters)."""
        assert name not in self._listers  # noqa: S101 - two lists of one name
        self._listers[name] = lister

    async def show(self, interaction: Interaction, reply: Reply, name: str, argument: str = "") -> None:
        """Show the first page, to the person alone."""
        assert len(argument) <= ARGUMENT_CHARS  # noqa: S101 - the option's bound
        page = await self._listers[name](interaction, argument, 0)
        await reply.say(_text(page), components=_components(page, name, argument, interaction))

    async def _turned(self, press: Press, reply: Reply) -> None:
        await self._renew(press, press.custom_id, reply, None)

    async def _asked(self, press: Press, reply: Reply) -> None:
        _, _, at, _ = self._read(press, press.custom_id)
        field = Field(_FIELD, "Page", value=str(at + 1), most=6)
        if not await reply.ask(press.custom_id, "Which page?", [field]):
            raise CommandRefused("That took too long; please press again.")

    async def _jumped(self, submission: Submission, reply: Reply) -> None:
        written = submission.written(_FIELD).strip()
        if not written.isdecimal() or not written.isascii() or int(written) < 1:
            raise CommandRefused("A page is a whole number from 1 on; the list stays where it was.")
        await self._renew(submission, submission.custom_id, reply, int(written) - 1)

    async def _renew(self, interaction: Press | Submission, custom_id: str, reply: Reply, at: int | None) -> None:
        lister, name, read, argument = self._read(interaction, custom_id)
        page = await lister(interaction, argument, read if at is None else at)
        await reply.update(_text(page), components=_components(page, name, argument, interaction))

    def _read(self, interaction: Interaction, custom_id: str) -> tuple[Lister, str, int, str]:
        """What a button says. Raises CommandRefused for somebody else's, and for one that an older version made."""
        parts = custom_id.split(":", 4)
        lister = self._listers.get(parts[1]) if len(parts) == 5 else None
        if lister is None or not (parts[2].isdecimal() and parts[3].isdecimal()):
            raise CommandRefused(EXPIRED_BUTTON)
        if int(parts[2]) != interaction.user_id:
            raise CommandRefused(_OTHERS)
        return lister, parts[1], int(parts[3]), parts[4]


def pages_of(total: int, size: int) -> int:
    """How many pages `total` lines make."""
    return max(1, -(-total // size))


def _text(page: Page) -> str:
    text = "\n".join([page.title, *page.lines])
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def _components(page: Page, name: str, argument: str, interaction: Interaction) -> list[Component]:
    def custom_id(prefix: str, at: int) -> str:
        return f"{prefix}:{name}:{interaction.user_id}:{at}:{argument}"

    if page.pages < 2:
        return list(page.more)
    last = page.pages - 1
    turning = row(
        button("◀", custom_id(PAGE, max(page.at - 1, 0)), disabled=page.at == 0),
        button(f"{page.at + 1} / {page.pages}", custom_id(JUMP, page.at)),
        # Its own number would be the first button's where both are at an end; Discord wants each id once.
        button("▶", custom_id(PAGE, page.at + 1), disabled=page.at >= last),
    )
    return [turning, *page.more]
