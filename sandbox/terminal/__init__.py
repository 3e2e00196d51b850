"""A chat in the terminal with the bot that is connected to the loopback Discord."""

from __future__ import annotations

import asyncio
import sys
from typing import TextIO

from sandbox.discord import Channel, Discord, Member
from sandbox.terminal.console import Console
from sandbox.terminal.conversation import Conversation
from sandbox.terminal.scene import Scene

__all__ = ["chat"]


async def chat(
    discord: Discord,
    *,
    speaker: Member,
    place: Channel | None = None,
    about: str = "",
    source: int | None = None,
    sink: TextIO | None = None,
    answer_within: float = 120.0,
) -> None:
    """Talk as `speaker` until /quit, ^D or the end of the input; returns then.

    It begins in `place`, by default the speaker's direct message with the bot, because there whatever is typed first
    is answered. `about` is a sentence for the greeting. `source` is a file descriptor (standard input by default), a
    terminal or not; `sink` is where the talk is written (standard output). When the input is no terminal, each line
    waits until the bot has answered the one before it, at most `answer_within` seconds.
    """
    scene = Scene(discord.world, speaker.guild, speaker, place or speaker.dm())
    async with Console(sys.stdin.fileno() if source is None else source, sink or sys.stdout) as console:
        conversation = Conversation(discord, speaker.guild, console, scene)
        conversation.greet(about)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(conversation.watch())
            while not conversation.done:
                line = await console.line()
                if line is None:
                    break
                spoken = await conversation.take(line)
                if spoken is not None and not console.interactive:
                    await conversation.answered(spoken, answer_within)
            watching.cancel()
        conversation.flush()
