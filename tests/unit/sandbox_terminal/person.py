"""A person at the chat: types on a pipe or a pseudo-terminal, reads what is shown, and waits for words."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import termios
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TextIO

from sandbox.discord import Channel, Discord, Member, Message
from sandbox.terminal import chat

_PATIENCE = 10.0


class Bot:
    """A bot of the sandbox that answers each message addressed to it by what it was told to say."""

    def __init__(self, discord: Discord) -> None:
        self.discord = discord
        self.answers: dict[str, str] = {}
        self.reactions: dict[str, str] = {}
        self._seen = 0

    async def run(self) -> None:
        while True:
            message = await self.discord.world.changes.until(self._addressed, 3600)
            if message is None:
                continue
            self._seen = message.id
            await self.discord.bot.types(message.channel)
            for part in self.answers.get(message.content, "I heard you").split("|"):
                if part:
                    await self.discord.bot.says(message.channel, part, reply_to=message)
            if message.content in self.reactions:
                await self.discord.bot.reacts(message, self.reactions[message.content])

    def _addressed(self) -> Message | None:
        bot = self.discord.bot
        for channel in self.discord.world.channels.values():
            for message in channel.shelf.live():
                told = channel.is_dm or bot in message.pings.users or message.pings.replied_user is bot
                if message.id > self._seen and not message.author.bot and told:
                    return message
        return None


@asynccontextmanager
async def answering(discord: Discord) -> AsyncGenerator[Bot]:
    bot = Bot(discord)
    running = asyncio.create_task(bot.run())
    yield bot
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def piped(discord: Discord, *lines: str, speaker: Member, place: Channel | None = None, within: float = 5) -> str:
    """All that a chat shows to which these lines are piped."""
    source, typing = os.pipe()
    os.write(typing, "".join(f"{line}\n" for line in lines).encode())
    os.close(typing)
    sink = io.StringIO()
    try:
        async with asyncio.timeout(20):
            await chat(discord, speaker=speaker, place=place, source=source, sink=sink, answer_within=within)
    finally:
        os.close(source)
    return sink.getvalue()


class Screen:
    """The far side of a pseudo-terminal on which a chat runs: 80 columns, one row kept, the rest scrolled away."""

    def __init__(self, master: int) -> None:
        self._master = master
        self.raw = ""
        self.closed = False
        self._changed = asyncio.Event()

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def close(self) -> None:
        """The window is closed."""
        if not self.closed:
            self.closed = True
            asyncio.get_running_loop().remove_reader(self._master)
            os.close(self._master)

    def hear(self) -> None:
        try:
            self.raw += os.read(self._master, 65536).decode(errors="replace")
        except OSError:  # the other side has closed
            asyncio.get_running_loop().remove_reader(self._master)
        self._changed.set()

    @property
    def rows(self) -> list[str]:
        """What stands on the screen, as a terminal would draw it."""
        rows: list[str] = []
        for line in self.raw.replace("\r\n", "\n").split("\n"):
            row, at = "", 0
            for found in re.finditer(r"\x1b\[(\d*)([A-Za-z])|\r|[^\x1b\r]+", line):
                if found[0] == "\r":
                    at = 0
                elif found[2] == "K":
                    row, at = "", 0
                elif found[2] == "C":
                    at += int(found[1])
                elif found[2] is None:
                    row = row[:at] + found[0] + row[at + len(found[0]) :]
                    at += len(found[0])
            rows.append(row)
        return rows

    async def shows(self, text: str) -> None:
        """Wait until a row contains `text`. Raises AssertionError with the screen."""
        await self._until(lambda: any(text in row for row in self.rows), f"{text!r} is not on the screen")

    async def ends_with(self, row: str) -> None:
        """Wait until the last row is just this. Raises AssertionError with the screen."""
        await self._until(lambda: self.rows[-1] == row, f"the last row is not {row!r}")

    async def _until(self, true: Callable[[], bool], complaint: str) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                while not true():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"{complaint}:\n" + "\n".join(self.rows)) from None


@asynccontextmanager
async def at_a_terminal(discord: Discord, *, speaker: Member) -> AsyncGenerator[tuple[Screen, asyncio.Task[None]]]:
    """A chat on a pseudo-terminal, and what is on its screen."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    sink: TextIO = os.fdopen(os.dup(slave), "w", encoding="utf-8")
    screen = Screen(master)
    loop = asyncio.get_running_loop()
    loop.add_reader(master, screen.hear)
    before = termios.tcgetattr(slave)
    chatting = asyncio.create_task(chat(discord, speaker=speaker, source=slave, sink=sink))
    try:
        yield screen, chatting
        if not chatting.done():
            chatting.cancel()
        await asyncio.gather(chatting, return_exceptions=True)
        if not screen.closed:
            assert termios.tcgetattr(slave) == before, "the terminal was not given back as it was"
    finally:
        chatting.cancel()
        await asyncio.gather(chatting, return_exceptions=True)
        with contextlib.suppress(OSError):  # what could not be written to a closed terminal
            sink.close()
        os.close(slave)
        screen.close()
