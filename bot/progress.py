"""What a place sees while an answer is made: after some seconds what is done and for how long, or the answer growing.

One message, a draft (bot.drafts), changed at most every second and a half. Each state of it is balanced, and holds no
half of anything. Nothing here holds up an answer: a turn that is quick has no draft.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog

from agent.overheard import sayable
from bot.drafts import Draft, Drafts
from bot.payloads import clean
from bot.speech.answers import called
from bot.speech.parts import MOST_CHARACTERS, snapshot
from bot.speech.status import status_line
from bot.speech.tables import without_tables
from bot.turns import Turn

log = structlog.get_logger(__name__)

PAUSE_S: Final = 1.5
"""Seconds between two changes; Discord lets a channel's messages be changed five times in five."""

PAUSE_MOST_S: Final = 10.0
SLOW_S: Final = 1.0
"""A change that takes longer waits for a limit: the next one comes later."""

TICK_S: Final = 10.0
"""Seconds after which what takes long says so again, though nothing happened."""

STREAM_AFTER_S: Final = 0.8
STREAM_LEAST: Final = 20
"""Characters: less is not worth a message of its own."""

FINISH_S: Final = 4.0
LONGEST_S: Final = 3000.0
"""Discord lets a message that is older than an hour be changed seldom: from then on it stays as it is."""

_STATUS_CHARACTERS: Final = 120


@dataclass(slots=True)
class Progress:
    """What one turn shows. `streams`: the answer is shown growing. `names`: what the people here are called.
    `language`: the one that the guild wants, as a BCP 47 tag. `ping_by_reply`: who asked is pinged by what is posted,
    since no change of it pings.

    Run `run` beside the work, then `finish` it: only after that may the draft be made the answer.
    """

    drafts: Drafts
    turn: Turn
    after_s: float
    streams: bool = False
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    language: str | None = None
    ping_by_reply: bool = False
    draft: Draft | None = None
    _began: float = field(default_factory=time.monotonic)
    _doing: list[str] = field(default_factory=list[str])
    _doing_since: float = 0.0
    _heard: list[str] = field(default_factory=list[str])
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _busy: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_over: bool = False
    _in_doubt: bool = False

    def begins(self) -> None:
        """A reply of the model begins; what was heard of one before is nothing any more."""
        self._heard.clear()

    def hears(self, words: str) -> None:
        """More words of the reply."""
        self._heard.append(words)
        self._changed.set()

    def works(self, tool: str) -> None:
        """A tool is at work."""
        if not self._doing:
            self._doing_since = time.monotonic()
        self._doing.append(tool)
        self._changed.set()

    def rests(self, tool: str) -> None:
        """The tool is done."""
        self._doing.remove(tool)
        self._changed.set()

    @property
    def is_wanted(self) -> bool:
        """Whether anything is ever shown."""
        return self.streams or bool(self.after_s)

    async def run(self) -> None:
        """Show it until cancelled. What goes wrong is logged, and shows nothing."""
        try:
            await self._run()
        except Exception as error:
            log.warning("progress.failed", turn_id=self.turn.turn_id, error=type(error).__name__)

    async def _run(self) -> None:
        while not (words := self._first()):
            await self._change(self._until_due())
        async with self._busy:
            if self._is_over:
                return
            self._in_doubt = True
            self.draft = await self.drafts.open(self.turn, words, ping_by_reply=self.ping_by_reply)
            self._in_doubt = self.draft is None
        shown, state, shown_at, pause_s = words, self._state(), time.monotonic(), PAUSE_S
        while self.draft is not None and time.monotonic() - self._began < LONGEST_S:
            await asyncio.sleep(pause_s)
            rest_s = shown_at + TICK_S - time.monotonic()
            if (self._state() == state and rest_s > 0) or (words := self._words()) == shown:
                await self._change(max(rest_s, PAUSE_S))
                continue
            state = self._state()
            took_s = await self._show(words)
            shown, shown_at = words, time.monotonic()
            pause_s = min(pause_s * 2, PAUSE_MOST_S) if took_s > SLOW_S else PAUSE_S

    async def finish(self) -> Draft | None:
        """Nothing is shown any more from now on; gives the draft that stands, if it is certain that no change of it is
        still on its way."""
        self._is_over = True
        try:
            async with asyncio.timeout(FINISH_S), self._busy:
                pass
        except TimeoutError:
            self._in_doubt = True
        if self._in_doubt and self.draft is not None:
            # A change may still arrive after the answer: it must find nothing.
            await self.drafts.remove(self.turn, self.draft)
            self.draft, self._in_doubt = None, False
        return self.draft

    @property
    def is_open(self) -> bool:
        """Whether a draft stands, or may stand."""
        return self.draft is not None or self._in_doubt

    async def _show(self, words: str) -> float:
        """Change what the draft says; gives how long that took, in seconds."""
        began = time.monotonic()
        async with self._busy:
            if self._is_over or self.draft is None:
                return 0.0
            self._in_doubt = True
            outcome = await self.drafts.show(self.turn, self.draft, words)
            self._in_doubt = outcome.state == "unknown"
            if outcome.state == "refused":
                # Deleted, or no longer to be changed: what stands is for the answer to find out.
                log.info("draft.refused", turn_id=self.turn.turn_id, failure=outcome.failure)
                self._is_over = True
        return time.monotonic() - began

    async def _change(self, within_s: float) -> None:
        """Wait until something changes, at most so many seconds."""
        self._changed.clear()
        try:
            async with asyncio.timeout(within_s):
                await self._changed.wait()
        except TimeoutError:
            return
        if self.streams and self.draft is None:
            # Words come one by one: whether they are enough is looked at a few times a second, not at each.
            await asyncio.sleep(0.2)

    def _until_due(self) -> float:
        due = [self._began + self.after_s] if self.after_s else [self._began + LONGEST_S]
        if self.streams and self._heard:
            due.append(max(self._began + STREAM_AFTER_S, time.monotonic() + 0.2))
        return max(min(due) - time.monotonic(), 0.01)

    def _first(self) -> str:
        """What there is to post; nothing as long as it is early, or not worth it."""
        past_s = time.monotonic() - self._began
        if self.after_s and past_s >= self.after_s:
            return self._words()
        if self.streams and past_s >= STREAM_AFTER_S and len(words := self._growing()) >= STREAM_LEAST:
            return words
        return ""

    def _state(self) -> tuple[int, str | None]:
        """What a change of is worth showing: how much was heard, and what is done."""
        return sum(map(len, self._heard)) if self.streams else 0, self._doing[-1] if self._doing else None

    def _words(self) -> str:
        growing = self._growing() if self.streams else ""
        if growing and not self._doing:
            return growing
        since = self._doing_since if self._doing else self._began
        status = status_line(self._doing[-1] if self._doing else None, time.monotonic() - since, self.language)
        return f"{growing}\n{status}" if growing else status

    def _growing(self) -> str:
        if not self._heard:
            return ""
        self._heard[:] = ["".join(self._heard)]
        said = called(clean(sayable(self._heard[0][: 4 * MOST_CHARACTERS])), self.names, self.turn.author_id)
        return snapshot(without_tables(said), MOST_CHARACTERS - _STATUS_CHARACTERS)
