"""The command /help: every command there is, made from the commands themselves, so that it cannot be out of date."""

from collections.abc import Callable, Sequence
from typing import Final

from bot.commands.declaration import Declaration, Menu, Slash
from bot.commands.options import text
from bot.commands.words import localised
from bot.errors import CommandRefused
from bot.interactions import Command, Interaction, Reply, Typing
from bot.pages import Page, Pages, pages_of

WHICH: Final = text("command", "One command, to see all of it.", most=100, suggested=True)
HELP: Final = Slash("help", "What I can do, and how to ask for it.", (WHICH,))
PAGE_SIZE: Final = 14
_ABOUT: Final = (
    "Mention me or reply to me and I answer. Under *Apps* in a message's menu there is more; in commands, options are "
    "offered as you type."
)


class Help:
    """Answers the command. `declared` gives what is offered."""

    def __init__(self, declared: Callable[[], Sequence[Declaration]], pages: Pages) -> None:
        self._declared = declared
        self._pages = pages
        pages.on_list("help", self._page)

    async def asked(self, command: Command, reply: Reply) -> None:
        """All commands in pages, or one whole."""
        named = command.get(WHICH)
        if named is None:
            await self._pages.show(command, reply, "help")
            return
        found = next((each for each in self._here(command) if each.path == named.strip().lstrip("/")), None)
        if found is None:
            raise CommandRefused("There is no command of that name here; /help shows them all.")
        await reply.say("\n".join(_whole(found, command.locale)))

    async def suggest(self, typing: Typing) -> Sequence[tuple[str, str]]:
        """Commands whose name or words hold what was typed."""
        wanted = typing.text.lower().lstrip("/")
        return [
            (each.path, each.path)
            for each in self._here(typing)
            if wanted in each.path.lower() or wanted in each.description.lower()
        ]

    async def _page(self, who: Interaction, _: str, at: int) -> Page:
        known = self._here(who)
        pages = pages_of(len(known), PAGE_SIZE)
        at = min(at, pages - 1)
        lines = [
            f"- **{each.shown}**: {_said(each, who.locale)}" for each in known[at * PAGE_SIZE : (at + 1) * PAGE_SIZE]
        ]
        return Page(_ABOUT, lines, at, pages)

    def _here(self, who: Interaction) -> list[Declaration]:
        """What is offered where it is asked for. What one may do with it, each command says itself."""
        declared = sorted(self._declared(), key=lambda each: (isinstance(each, Menu), each.path.lower()))
        return [each for each in declared if not (who.is_direct and _where(each) == "guilds")]


def _where(each: Declaration) -> str:
    return each.family.where if isinstance(each, Slash) and each.family is not None else each.where


def _said(each: Declaration, locale: str) -> str:
    return localised(each.description).get(locale, each.description)


def _whole(each: Declaration, locale: str) -> list[str]:
    lines = [f"**{each.shown}**: {_said(each, locale)}"]
    for option in each.options if isinstance(each, Slash) else ():
        said = localised(option.description).get(locale, option.description)
        one_of = f" One of: {', '.join(shown for shown, _ in option.choices)}." if option.choices else ""
        lines.append(f"- `{option.name}`{'' if option.required else ' (may be left out)'}: {said}{one_of}")
    return lines
