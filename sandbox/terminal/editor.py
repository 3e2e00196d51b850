"""The line that a person is typing: keys in, finished lines out, and how to draw it on one row of a terminal.

Our own and not readline, because what others say may come in the middle of a line: the row is then wiped, their words
are printed, and the row is drawn again with the cursor where it was.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable

CLEAR_ROW = "\r\x1b[2K"
_KEY = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[ -~])|[^\x1b]", re.DOTALL)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*|O)?")
_MOST_REMEMBERED = 200


class Editor:
    """One line under way, with a cursor and the lines before it. Keys are those of any shell (arrows, ^A ^E ^U ^W)."""

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self.ended = False
        """Whether ^D was typed on an empty line."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._past: list[str] = []
        self._back = 0
        self._keys: dict[str, Callable[[], None]] = {
            "\x7f": self._rub_out,
            "\b": self._rub_out,
            "\x01": self._home,
            "\x05": self._end,
            "\x15": self._kill_before,
            "\x0b": self._kill_after,
            "\x17": self._kill_word,
            "\x04": self._delete_or_end,
            "\x1b[3~": self._delete,
            "\x1b[C": self._right,
            "\x1b[D": self._left,
            "\x1b[A": self._older,
            "\x1b[B": self._newer,
            "\x1b[H": self._home,
            "\x1b[F": self._end,
        }

    def feed(self, data: bytes) -> list[str]:
        """Take what was typed; returns the lines finished by it. Keys and characters may be cut anywhere."""
        typed = self._rest + self._decoder.decode(data)
        self._rest = ""
        done: list[str] = []
        position = 0
        while position < len(typed):
            found = _KEY.match(typed, position)
            if found is None:
                if _UNFINISHED.fullmatch(typed, position) is not None:
                    self._rest = typed[position:]
                    break
                position += 1  # an escape that begins no key we know
                continue
            position = found.end()
            key = found[0]
            if key in "\r\n":
                done.append(self._finish())
            elif key in self._keys:
                self._keys[key]()
            elif len(key) == 1 and (key == "\t" or unicodedata.category(key) != "Cc"):
                self._insert(" " if key == "\t" else key)
        return done

    def row(self, prompt: str, columns: int) -> str:
        """What to write so that the current row shows the prompt and the part of the line around the cursor."""
        room = max(columns - cells(prompt) - 1, 8)
        start = self.cursor
        while start > 0 and cells(self.text[start - 1 : self.cursor]) < room:
            start -= 1
        end = start
        while end < len(self.text) and cells(self.text[start : end + 1]) < room:
            end += 1
        at = cells(prompt) + cells(self.text[start : self.cursor])
        return f"{CLEAR_ROW}{prompt}{self.text[start:end]}\r" + (f"\x1b[{at}C" if at else "")

    def _insert(self, text: str) -> None:
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def _finish(self) -> str:
        line = self.text
        if line.strip() and (not self._past or self._past[-1] != line):
            self._past = [*self._past[1 - _MOST_REMEMBERED :], line]
        self.text, self.cursor, self._back = "", 0, 0
        return line

    def _cut(self, start: int, end: int) -> None:
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start

    def _rub_out(self) -> None:
        self._cut(max(self.cursor - 1, 0), self.cursor)

    def _delete(self) -> None:
        self._cut(self.cursor, self.cursor + 1)

    def _delete_or_end(self) -> None:
        if self.text:
            self._delete()
        else:
            self.ended = True

    def _kill_before(self) -> None:
        self._cut(0, self.cursor)

    def _kill_after(self) -> None:
        self._cut(self.cursor, len(self.text))

    def _kill_word(self) -> None:
        kept = self.text[: self.cursor].rstrip()
        self._cut(len(kept) - len(re.split(r"\s", kept)[-1]), self.cursor)

    def _home(self) -> None:
        self.cursor = 0

    def _end(self) -> None:
        self.cursor = len(self.text)

    def _left(self) -> None:
        self.cursor = max(self.cursor - 1, 0)

    def _right(self) -> None:
        self.cursor = min(self.cursor + 1, len(self.text))

    def _older(self) -> None:
        self._recall(self._back + 1)

    def _newer(self) -> None:
        self._recall(self._back - 1)

    def _recall(self, back: int) -> None:
        if 0 <= back <= len(self._past):
            self._back = back
            self.text = self._past[-back] if back else ""
            self.cursor = len(self.text)


def cells(text: str) -> int:
    """How many columns a terminal uses for `text`: two for wide characters, none for marks and joiners."""
    width = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
            continue
        width += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
    return width
