"""One open page: what its person sees goes out as it changes, what they do comes in.

Nothing is pushed by hand: after each change of the world the feed compares what the person sees now with what it last
sent, and sends the difference. So nothing is missed and nothing is sent twice, whatever changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

import orjson
from aiohttp import WSMsgType, web

from sandbox.discord import Channel, Discord, Guild, Member, Message, SandboxError
from sandbox.discord.events import Payload
from sandbox.discord.interactions import Modal

from .asked import Asked
from .deeds import DEEDS
from .errors import Mistake, sentence
from .marks import Marks
from .using import offered
from .view import directory, message_view, people, typing_in

if TYPE_CHECKING:
    from .records import Records
    from .uploads import Uploads

FIRST: Final = 50
"""Messages that are sent when a place is opened; as many more each time that the person scrolls back."""

_IDLE_S: Final = 3600.0
_MOST_UNDER_WAY: Final = 16


class Feed:
    """A person at a page. They can become somebody else of the guild, and are in one place at a time."""

    def __init__(
        self,
        discord: Discord,
        guild: Guild,
        socket: web.WebSocketResponse,
        *,
        marks: Marks,
        uploads: Uploads,
        records: Records | None,
        about: str,
    ) -> None:
        self.discord = discord
        self.guild = guild
        self.marks = marks
        self.uploads = uploads
        self.records = records
        self._socket = socket
        self._about = about
        self.modals: dict[str, Modal] = {}
        """Forms that were shown here, by the interaction that showed them."""
        self.dismissed: set[int] = set()
        """Ephemeral answers that were put away here."""
        self._viewer: Member | None = None
        self._place: Channel | None = None
        self._oldest: int | None = None
        self._sent_directory = b""
        self._sent_typing = self._sent_offered = b""
        self._sent: dict[int, bytes] = {}
        self._whole = False
        self._more = False
        self._out: asyncio.Queue[Payload] = asyncio.Queue()

    # --- who and where -----------------------------------------------------------------------------------------------

    @property
    def viewer(self) -> Member:
        """Raises Mistake before the person has chosen who they are."""
        if self._viewer is None:
            raise Mistake("Choose who you are first.")
        return self._viewer

    def become(self, viewer: Member) -> None:
        """Be somebody else from now on; the place is left."""
        self._viewer, self._sent_directory = viewer, b""
        self._leave()

    def enter(self, place: Channel) -> None:
        """Be in a place that the viewer can see, at its newest messages."""
        self._leave()
        self._place = place
        self.look_back()

    def look_back(self) -> None:
        """Show more of the place's past. What is shown stays shown while more is said."""
        if self._place is not None:
            further = self._place.shelf.before(self._oldest, FIRST)
            self._oldest = further[-1].id if further else self._oldest

    def nudge(self) -> None:
        """Something that only people at pages see has changed."""
        self.discord.world.changes.happened()

    def _leave(self) -> None:
        self._place, self._oldest, self._sent, self._whole = None, None, {}, False
        self._sent_typing = self._sent_offered = b""

    # --- the socket --------------------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Until the page is closed."""
        self._out.put_nowait({"op": "hello", **self._hello()})
        async with asyncio.TaskGroup() as group:
            lasting = [group.create_task(self._watch()), group.create_task(self._write())]
            deeds: set[asyncio.Task[None]] = set()
            async for frame in self._socket:
                if frame.type is not WSMsgType.TEXT:
                    continue
                while len(deeds) >= _MOST_UNDER_WAY:
                    await asyncio.wait(deeds, return_when=asyncio.FIRST_COMPLETED)
                deed = group.create_task(self._take(cast("str", frame.data)))
                deeds.add(deed)
                deed.add_done_callback(deeds.discard)
            for task in (*lasting, *deeds):
                task.cancel()

    def _hello(self) -> Payload:
        return {
            "guild": self.guild.name,
            "bot": self.discord.bot.display_name,
            "bot_id": str(self.discord.bot.id),
            "about": self._about,
            "records": self.records is not None,
            "people": people(self.guild),
        }

    async def _watch(self) -> None:
        while True:
            await self.discord.world.changes.until(lambda: True if self._catch_up() else None, within=_IDLE_S)

    async def _write(self) -> None:
        """Send what is to be sent, in its order."""
        while True:
            frame = await self._out.get()
            try:
                await self._socket.send_str(orjson.dumps(frame).decode())
            except ConnectionError:
                # The browser has gone away; the loop that reads finds that out too.
                await self._socket.close()
                return

    async def _take(self, text: str) -> None:
        """Do what the page asks for, and say how it went."""
        number: object = None
        try:
            asked = Asked.read(text)
            number = asked.number
            deed = DEEDS.get(asked.do)
            if deed is None:
                raise Mistake(f"This page's server knows no {asked.do!r}.")
            result = await deed(self, asked)
        except (Mistake, SandboxError) as error:
            self._out.put_nowait({"op": "done", "n": number, "error": sentence(error)})
            return
        # What it changed is seen before it is said to be done.
        self._catch_up()
        self._out.put_nowait({"op": "done", "n": number, "result": result})

    def _catch_up(self) -> bool:
        """Put out what is new; whether there was anything."""
        frames = list(self._differences())
        for frame in frames:
            self._out.put_nowait(frame)
        return bool(frames)

    # --- what is new -------------------------------------------------------------------------------------------------

    def _differences(self) -> Iterator[Payload]:
        """The frames that bring the page up to date; what they say counts as sent."""
        viewer = self._viewer
        if viewer is None:
            return
        if self.guild.members.get(viewer.id) is not viewer:
            self._viewer = None
            self._leave()
            yield {"op": "gone", **self._hello()}
            return
        shown = directory(self.discord.world, self.guild, viewer, self.marks)
        written = orjson.dumps(shown)
        if written != self._sent_directory:
            self._sent_directory = written
            yield {"op": "directory", **shown}
        place = self._place
        if place is None:
            return
        if place.deleted or not place.visible_to(viewer):
            self._leave()
            yield {"op": "left", "place": str(place.id)}
            return
        yield from self._offered_differences(viewer, place)
        yield from self._message_differences(viewer, place)
        yield from self._typing_differences(viewer, place)

    def _offered_differences(self, viewer: Member, place: Channel) -> Iterator[Payload]:
        commands = offered(viewer, place)
        written = orjson.dumps(commands)
        if written != self._sent_offered:
            self._sent_offered = written
            yield {"op": "commands", "place": str(place.id), "offered": commands}

    def _message_differences(self, viewer: Member, place: Channel) -> Iterator[Payload]:
        oldest = self._oldest or 0
        more = bool(place.shelf.before(oldest, 1)) if oldest else False
        here: dict[int, bytes] = {}
        changed: list[Payload] = []
        for message in (*place.shelf.live_after(oldest - 1), *self._hidden(viewer, place)):
            body = message_view(message, viewer)
            here[message.id] = written = orjson.dumps(body)
            if self._sent.get(message.id) != written:
                changed.append(body)
        gone = [str(message_id) for message_id in self._sent if message_id not in here]
        if changed or gone or not self._whole or more != self._more:
            whole = {"all": not self._whole, "more": more}
            yield {"op": "messages", "place": str(place.id), **whole, "put": changed, "gone": gone}
        self._sent, self._whole, self._more = here, True, more

    def _hidden(self, viewer: Member, place: Channel) -> Iterator[Message]:
        """The ephemeral answers that are the viewer's."""
        for message in self.discord.world.interactions.hidden(place, viewer.user):
            if message.id not in self.dismissed:
                yield message

    def _typing_differences(self, viewer: Member, place: Channel) -> Iterator[Payload]:
        typing = typing_in(self.discord.world, place, viewer)
        written = orjson.dumps(typing)
        if written != self._sent_typing:
            self._sent_typing = written
            yield {"op": "typing", "place": str(place.id), "who": typing}
