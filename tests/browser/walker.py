"""Who walks through the commands at the page: uses one, reads what it is answered with, and keeps a picture of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from playwright.async_api import Locator

from tests.browser.visitor import Visitor

CARD: Final = "shall I"


class Walker:
    """Walks as one visitor. `walked` are the names of the commands and menus that were used, answered and seen.

    `cases`: how many were begun.
    """

    def __init__(self, visitor: Visitor, pictures: Path) -> None:
        self.visitor = visitor
        self.walked = set[str]()
        self.cases = 0
        self._page = visitor.page
        self._pictures = pictures

    async def uses(self, command: str, /, *, says: str, alone: bool = True, **options: str) -> Locator:
        """A slash command, and what it is answered with; `alone`: to them alone."""
        await self.visitor.uses(command, **options)
        return await self._sees(command, says, alone=alone)

    async def takes(
        self, menu: str, /, message: Locator, *, says: str, by: str | None = None, alone: bool = True
    ) -> Locator:
        """Something of a message's menu; with `by`, of the menu of whoever wrote it."""
        if by is None:
            await self.visitor.does(message, menu)
        else:
            await message.get_by_role("button", name=by, exact=True).first.click()
            await self._page.get_by_role("menuitem", name=menu, exact=True).click()
        return await self._sees(menu, says, alone=alone)

    async def fills(self, title: str, *, says: str, used: str, **fields: str) -> Locator:
        """The form that a command or a menu brought, sent with these fields; `used` is what brought it."""
        form = self._page.get_by_role("dialog", name=title)
        for label, value in fields.items():
            await form.get_by_label(label).fill(value)
        await self.keeps(f"{used} form")
        await form.get_by_role("button", name="Submit").click()
        return await self._sees(used, says, alone=True)

    async def moderates(self, command: str, press: str, /, **options: str) -> None:
        """A command that brings a card: the card is seen, pressed, and says that it was done, as the next case."""
        await self.uses(f"mod {command}", says=CARD, alone=False, **options)
        await self.confirms(f"mod {command}", press)

    async def confirms(self, name: str, press: str, /) -> None:
        """Press that button of the card that stands last: what it says then is the next case."""
        card = self.visitor.messages.filter(has=self._page.get_by_role("button", name=press, exact=True)).last
        await card.get_by_role("button", name=press, exact=True).click()
        self.cases += 1
        await self._last(f"(case {self.cases})").wait_for()
        await self.dismisses()

    async def presses(self, message: Locator, button: str, *, says: str) -> None:
        """Press a button of the newest message, which says something else then."""
        await message.get_by_role("button", name=button).click()
        await self._last(says).wait_for()

    async def dismisses(self) -> None:
        """Put away what only they can see, so that little stands there."""
        buttons = self.visitor.messages.get_by_role("button", name="Dismiss", exact=True)
        await buttons.evaluate_all("(buttons) => buttons.forEach((button) => button.click())")
        await buttons.first.wait_for(state="detached")

    async def keeps(self, name: str) -> None:
        """A picture of the page as it is, named after the command."""
        file = re.sub(r"\W+", "-", name.lower()).strip("-")
        await self.visitor.keeps_a_picture(self._pictures / f"command-{file}.png")

    async def _sees(self, name: str, says: str, *, alone: bool) -> Locator:
        answer = self._last(says)
        await (answer.filter(has_text="Only you can see this.") if alone else answer).wait_for()
        await self._page.get_by_text("is thinking").first.wait_for(state="detached")
        self.walked.add(name)
        await self.keeps(name)
        return self.visitor.messages.last

    def _last(self, says: str) -> Locator:
        """The newest message, once it says this; waited for without the pauses that `expect` makes."""
        return self._page.get_by_role("list", name="Messages").locator(".message:last-child").filter(has_text=says)
