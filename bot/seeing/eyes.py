"""What is looked at for one answer: texts and pictures in the message, in what it replies to, and in its forwards."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from bot.seeing.documents import Reading
from bot.seeing.files import Files
from bot.seeing.pictures import Picture, gather, is_picture
from bot.seeing.texts import read_texts
from bot.seeing.unread import Item
from memory.context import Line

MOST_ITEMS: Final = 20

BLIND: Final = "not seen, since no model that sees pictures is set up here; say so if they matter"
SHUT: Final = "not looked at, since this server has pictures switched off; say so if they matter"


@dataclass(frozen=True, slots=True)
class Looked:
    """What became of each file, by its id; what texts say, by the file's name; and the pictures to be shown."""

    outcomes: Mapping[str, str] = field(default_factory=dict[str, str])
    texts: tuple[tuple[str, str], ...] = ()
    pictures: tuple[Picture, ...] = ()


NOTHING: Final = Looked()


class Eyes:
    """Looks at files. `sees`: whether there is a model for pictures."""

    def __init__(self, files: Files, *, sees: bool) -> None:
        self._files = files
        self._reading = Reading()
        self._sees = sees

    async def look(self, lines: Sequence[Line], *, pictures: bool) -> Looked:
        """At what these messages, the one to be answered first, bring. `pictures`: whether the guild has them on."""
        items = [item for line in lines for item in items_of(line.extras)][:MOST_ITEMS]
        if not items:
            return NOTHING
        seen = [item for item in items if is_picture(item)]
        written = [item for item in items if not is_picture(item) and not item.get("duration_secs")]
        outcomes: dict[str, str] = {}
        shown: tuple[Picture, ...] = ()
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(read_texts(self._files, self._reading, written))
            looking = group.create_task(gather(self._files, seen)) if self._sees and pictures else None
        if looking is not None:
            outcomes |= looking.result().outcomes
            shown = looking.result().pictures
        else:
            outcomes |= {str(item.get("id")): SHUT if self._sees else BLIND for item in seen}
        outcomes |= reading.result().outcomes
        called = {str(item.get("id")): str(item.get("filename") or "") for item in written}
        texts = tuple((called[name], text) for name, text in reading.result().texts.items())
        return Looked(outcomes, texts, shown)


def items_of(extras: Mapping[str, Any]) -> Iterator[Item]:
    """The files of a message, the pictures that its links lead to, and those of what it forwards."""
    for each in (extras, *cast("Sequence[Mapping[str, Any]]", extras.get("snapshots", ()))):
        yield from cast("Sequence[Item]", each.get("attachments", ()))
        for embed in cast("Sequence[Mapping[str, Any]]", each.get("embeds", ())):
            if isinstance(embed.get("image"), dict):
                yield embed["image"]
