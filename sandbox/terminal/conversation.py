"""What a person does at the prompt: speak as a member, or give a command that begins with a slash."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sandbox.discord import Channel, Discord, Message, SandboxError, Thread, Use
from sandbox.discord.errors import Refusal
from sandbox.discord.interactions import FIRST_ANSWER
from sandbox.discord.places import Guild
from sandbox.terminal import offers
from sandbox.terminal.console import Console
from sandbox.terminal.scene import Scene, clean

_HISTORY = 20
_ON_ENTRY = 5  # messages shown when a place is entered
_QUIET = 0.4  # seconds without anything new from the bot after which its answer counts as whole


class Mistyped(Exception):
    """What was typed cannot be done; the message says so in a sentence."""


@dataclass(frozen=True, slots=True)
class _Command:
    usage: str
    help: str
    run: Callable[[str], Awaitable[Message | Use | None]]
    """Takes the rest of the line; returns what was said or used where the bot is expected to answer it."""


class Conversation:
    """One person at one console. `take` does what a line says; `flush` and `watch` print what happens meanwhile."""

    def __init__(self, discord: Discord, guild: Guild, console: Console, scene: Scene) -> None:
        self.done = False
        self._discord = discord
        self._guild = guild
        self._console = console
        self._scene = scene
        self._hinted: set[int] = set()
        self._form: offers.Form | None = None
        self._commands = {
            "help": _Command("/help", "this list", self._help),
            "as": _Command("/as MEMBER", "speak as another member (alone: who there is)", self._as),
            "in": _Command("/in CHANNEL", "go to a channel or thread (alone: which there are)", self._in),
            "dm": _Command("/dm", "go to the private conversation with the bot", self._dm),
            "threads": _Command("/threads", "the threads that you can read", self._threads),
            "reply": _Command("/reply N TEXT", "answer message N", self._reply),
            "react": _Command("/react N EMOJI", "react to message N", self._react),
            "edit": _Command("/edit N TEXT", "change your message N", self._edit),
            "delete": _Command("/delete N", "delete message N", self._delete),
            "press": _Command("/press N BUTTON", "press a button of message N", self._press),
            "choose": _Command("/choose N VALUE, …", "choose in a menu of message N", self._choose),
            "apps": _Command("/apps N NAME", "use what the bot offers in the menu of message N", self._apps),
            "history": _Command("/history", f"the last {_HISTORY} messages here", self._history),
            "quit": _Command("/quit", "leave (so does ^D)", self._quit),
        }

    async def watch(self) -> None:
        """Print what happens as it happens, for ever."""
        while True:
            lines = await self._discord.world.changes.until(lambda: self._scene.look() or None, within=3600)
            self._print(lines or [])

    def flush(self) -> None:
        """Print what has happened until now."""
        self._print(self._scene.look())

    def greet(self, about: str) -> None:
        """The first lines: what this is, how to be answered, how to go on."""
        bot = self._scene.name(self._discord.bot)
        self._say(
            f"This is a Discord of your own, on this machine: the guild “{clean(self._guild.name)}”. {about}".strip()
        )
        here = f" Here {bot} answers whatever you write." if self._scene.place.is_dm else ""
        self._say(f"You are {self._scene.viewer}, {self._where()}.{here}")
        self._say(
            f"In channels (/in general) {bot} answers to @{bot}, which becomes a real mention, and to a /reply. "
            "/help lists the rest."
        )
        self._ask()

    async def take(self, line: str) -> Message | Use | None:
        """Do what a line says. Returns what was said or used where the bot is expected to answer it."""
        text = line.strip()
        if not text and self._form is None:
            return None
        try:
            spoken = await (self._do(text) if self._form is None else self._fill(self._form, text))
            if isinstance(spoken, Use):
                await self._used(spoken)
        except (Mistyped, SandboxError) as error:
            self._print([f"! {error.message if isinstance(error, Refusal) else error}"])
            return None
        self.flush()
        return spoken

    async def _do(self, text: str) -> Message | Use | None:
        if not text.startswith("/"):
            return await self._speak(text)
        if text.startswith("//"):
            return await self._speak(text[1:])
        name, _, rest = text[1:].partition(" ")
        command = self._commands.get(name.lower())
        if command is not None:
            return await command.run(rest.strip())
        used = await offers.slash(self._scene.viewer, self._scene.place, text[1:], self._guild)
        if used is None:
            raise Mistyped(f"there is no /{name}; /help lists what there is (// begins a text with a slash)")
        return used

    async def answered(self, message: Message | Use, within: float) -> None:
        """Wait until the bot has answered `message` and said all of it; says so when nothing comes in `within` s."""
        changes = self._discord.world.changes
        if await changes.until(lambda: self._scene.answered(message), within) is None:
            self._print([f"! no answer within {within:g} s"])
        while True:
            seen = self._scene.activity
            self.flush()
            if await changes.until(lambda seen=seen: self._more(seen), _QUIET) is None:
                return

    def _more(self, seen: int) -> bool | None:
        self.flush()
        return True if self._scene.activity != seen else None

    # --- what the bot offers -----------------------------------------------------------------------------------------

    async def _press(self, rest: str) -> Use:
        message, name = self._numbered(rest, "/press N BUTTON")
        return await offers.press(self._scene.viewer, message, name)

    async def _choose(self, rest: str) -> Use:
        message, values = self._numbered(rest, "/choose N VALUE, …")
        return await offers.choose(self._scene.viewer, message, values, self._guild)

    async def _apps(self, rest: str) -> Use:
        message, name = self._numbered(rest, "/apps N NAME")
        return await offers.apps(self._scene.viewer, message, name)

    async def _used(self, use: Use) -> None:
        """Wait for the first answer as long as Discord does; begin the form where it is one."""
        changes = self._discord.world.changes
        await changes.until(lambda: True if use.answered or use.failed else None, FIRST_ANSWER)
        if not use.answered:
            self._print(["! the application did not respond"])
        elif use.interaction.modal is not None:
            self._form = offers.begin(use.interaction.modal)
            self._say(
                f"A form, “{clean(self._form.modal.title)}”: a line a field, an empty one leaves it, /cancel ends it."
            )
            self._ask()

    async def _fill(self, form: offers.Form, text: str) -> Use | None:
        """A line while a form is open. The last field sends it."""
        if text == "/cancel":
            self._form = None
            self._ask()
            return None
        offers.fill(form, text, self._guild)
        if form.next is not None:
            self._ask()
            return None
        self._form = None
        self._ask()
        return await self._scene.viewer.submit(form.modal, form.values)

    # --- speaking ----------------------------------------------------------------------------------------------------

    async def _speak(self, text: str, reply_to: Message | None = None) -> Message | None:
        place = self._scene.place
        message = await self._scene.viewer.says(place, self._with_mentions(text), reply_to=reply_to)
        self.flush()
        if self._is_addressed(message):
            return message
        if place.id not in self._hinted:
            self._hinted.add(place.id)
            bot = self._scene.name(self._discord.bot)
            self._say(f"(nobody was addressed; {bot} reads it, and answers to @{bot}, /reply and /dm)")
        return None

    def _is_addressed(self, message: Message) -> bool:
        bot = self._discord.bot
        return message.channel.is_dm or bot in message.pings.users or message.pings.replied_user is bot

    def _with_mentions(self, text: str) -> str:
        """`@Name` of a member becomes a mention, as Discord's own client makes it."""
        members = {member.name.casefold(): member.mention for member in self._guild.members.values()}
        names = "|".join(re.escape(name) for name in sorted(members, key=len, reverse=True))
        return re.sub(
            rf"(?<!\w)@({names})(?!\w)", lambda found: members[found[1].casefold()], text, flags=re.IGNORECASE
        )

    # --- commands ----------------------------------------------------------------------------------------------------

    async def _help(self, rest: str) -> None:
        wide = max(len(command.usage) for command in self._commands.values())
        self._print([f"  {command.usage:<{wide}}  {command.help}" for command in self._commands.values()])
        theirs = offers.usages(self._scene.viewer, self._scene.place)
        wide = max((len(usage) for usage, _ in theirs), default=0)
        self._print([clean(f"  {usage:<{wide}}  {about}") for usage, about in theirs])
        self._print(["  anything else is said here as it is written; @Name of a member becomes a mention"])

    async def _as(self, rest: str) -> None:
        people = [member for member in self._guild.members.values() if not member.bot]
        if not rest:
            self._print([f"  {clean(member.name)}" for member in people])
            return
        wanted = rest.removeprefix("@").casefold()
        found = next((member for member in people if wanted in (member.name.casefold(), member.user.name)), None)
        if found is None:
            raise Mistyped(f"there is no member {rest!r}; /as lists them")
        place = self._scene.place
        self._scene.viewer = found
        self._enter(found.dm() if place.is_dm or not place.visible_to(found) else place)

    async def _in(self, rest: str) -> None:
        places = [place for place in self._scene.places() if not place.is_dm]
        if not rest:
            self._print([f"  {self._scene.title(place)}" for place in places])
            return
        wanted = rest.removeprefix("#").casefold()
        found = next((place for place in places if place.name.casefold() == wanted), None)
        if found is None:
            raise Mistyped(f"{self._scene.viewer} sees no channel {rest!r}; /in lists them")
        self._enter(found)

    async def _dm(self, rest: str) -> None:
        self._enter(self._scene.viewer.dm())

    async def _threads(self, rest: str) -> None:
        threads = [place for place in self._scene.places() if isinstance(place, Thread)]
        lines = [
            f"  {self._scene.title(thread)} in {'' if thread.parent is None else self._scene.title(thread.parent)}"
            f"{' (archived)' if thread.archived else ''}"
            for thread in threads
        ]
        self._print(lines or ["  no threads"])

    async def _reply(self, rest: str) -> Message | None:
        message, text = self._numbered(rest, "/reply N TEXT")
        if message.channel is not self._scene.place:
            raise Mistyped(f"that message is elsewhere: {self._scene.title(message.channel)}; go there first")
        return await self._speak(text, reply_to=message)

    async def _react(self, rest: str) -> None:
        message, emoji = self._numbered(rest, "/react N EMOJI")
        await self._scene.viewer.reacts(message, emoji)

    async def _edit(self, rest: str) -> None:
        message, text = self._numbered(rest, "/edit N TEXT")
        await self._scene.viewer.edits(message, self._with_mentions(text))

    async def _delete(self, rest: str) -> None:
        message, _ = self._numbered(rest, "/delete N", more=False)
        await self._scene.viewer.deletes(message)

    async def _history(self, rest: str) -> None:
        self._print(self._scene.history(_HISTORY) or ["  nothing was said here yet"])

    async def _quit(self, rest: str) -> None:
        self.done = True

    def _numbered(self, rest: str, usage: str, *, more: bool = True) -> tuple[Message, str]:
        number, _, text = rest.partition(" ")
        digits = number.strip("[]#")
        if not (digits.isascii() and digits.isdigit()) or (more and not text.strip()):
            raise Mistyped(f"it is written {usage}")
        message = self._scene.message(int(digits))
        if message is None or message.deleted:
            raise Mistyped(f"there is no message [{digits}] now")
        return message, text.strip()

    # --- where one is ------------------------------------------------------------------------------------------------

    def _enter(self, place: Channel) -> None:
        moved = place is not self._scene.place
        self._scene.place = place
        self._say(f"You are {self._scene.viewer}, {self._where()}.")
        if moved:
            self._print(self._scene.history(_ON_ENTRY))
        self._ask()

    def _where(self) -> str:
        place = self._scene.place
        return "in a private conversation with the bot" if place.is_dm else f"in {self._scene.title(place)}"

    def _ask(self) -> None:
        if self._form is not None and self._form.next is not None:
            asked = clean(offers.question(self._form.next))
            self._console.ask(f"{asked}> ")
            if not self._console.interactive:
                self._print([f"? {asked}"])
            return
        place = self._scene.place
        where = f"to {self._scene.name(self._discord.bot)}" if place.is_dm else f"in {self._scene.title(place)}"
        self._console.ask(f"{self._scene.viewer} {where}> ")

    def _say(self, text: str) -> None:
        self._console.show(self._console.dim(text))

    def _print(self, lines: list[str]) -> None:
        if lines:
            self._console.show("\n".join(lines))
