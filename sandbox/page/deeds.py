"""What a person can do on the page, each by its name in DEEDS: read the arguments, do it, say what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

from sandbox.discord import Channel, Thread

from . import using
from .asked import LONGEST_NAME, Asked
from .errors import Mistake
from .sight import member_of, message_of, person_of, place_of
from .view import message_view

if TYPE_CHECKING:
    from .feed import Feed

Deed = Callable[["Feed", Asked], Awaitable[object]]
_MOST_FILES: Final = 10


# --- who and where ---------------------------------------------------------------------------------------------------


async def _be(feed: Feed, asked: Asked) -> object:
    feed.become(person_of(feed, asked))
    return None


async def _open(feed: Feed, asked: Asked) -> object:
    feed.enter(place_of(feed, asked))
    return None


async def _older(feed: Feed, asked: Asked) -> object:
    feed.look_back()
    return None


async def _read(feed: Feed, asked: Asked) -> object:
    feed.marks.read(feed.viewer, place_of(feed, asked), asked.id("message"))
    feed.nudge()
    return None


# --- speaking --------------------------------------------------------------------------------------------------------


async def _say(feed: Feed, asked: Asked) -> object:
    place = place_of(feed, asked)
    text, names = asked.text("text").strip(), asked.texts("files")
    if not text and not names:
        raise Mistake("There is nothing to send.")
    if len(names) > _MOST_FILES:
        raise Mistake(f"A message carries {_MOST_FILES} files at most.")
    reply_to = message_of(feed, asked, "reply") if asked.has("reply") else None
    try:
        files = feed.uploads.take(names)
    except KeyError:
        raise Mistake("A file was lost on the way; attach it again.") from None
    said = await feed.viewer.says(place, text, reply_to=reply_to, ping=asked.flag("ping", default=True), files=files)
    return {"message": str(said.id)}


async def _edit(feed: Feed, asked: Asked) -> object:
    text = asked.text("text").strip()
    if not text:
        raise Mistake("A message cannot be edited to nothing; delete it.")
    message = message_of(feed, asked)
    if text != message.content:
        await feed.viewer.edits(message, text)
    return None


async def _delete(feed: Feed, asked: Asked) -> object:
    await feed.viewer.deletes(message_of(feed, asked))
    return None


async def _react(feed: Feed, asked: Asked) -> object:
    await feed.viewer.reacts(message_of(feed, asked), asked.text("emoji", most=LONGEST_NAME))
    return None


async def _unreact(feed: Feed, asked: Asked) -> object:
    await feed.viewer.unreacts(message_of(feed, asked), asked.text("emoji", most=LONGEST_NAME))
    return None


async def _type(feed: Feed, asked: Asked) -> object:
    await feed.viewer.types(place_of(feed, asked))
    return None


async def _thread(feed: Feed, asked: Asked) -> object:
    """On a message, in a channel, or as a post of a forum (then with its first words)."""
    name = asked.text("name", most=LONGEST_NAME).strip()
    if not name:
        raise Mistake("It needs a name.")
    place = place_of(feed, asked)
    text = asked.text("text").strip() if asked.has("text") else None
    if place.is_forum and not text:
        raise Mistake("A post needs some words.")
    origin = message_of(feed, asked) if asked.has("message") else place
    thread = await feed.viewer.starts_thread(origin, name, text=text or None, private=asked.flag("private"))
    return {"place": str(thread.id)}


async def _archive(feed: Feed, asked: Asked) -> object:
    place = place_of(feed, asked)
    if not isinstance(place, Thread):
        raise Mistake("Only a thread can be archived.")
    await feed.viewer.edits_thread(place, archived=asked.flag("archived"))
    return None


async def _lock(feed: Feed, asked: Asked) -> object:
    place = place_of(feed, asked)
    if not isinstance(place, Thread):
        raise Mistake("Only a thread can be locked.")
    await feed.viewer.edits_thread(place, locked=asked.flag("locked"))
    return None


async def _pin(feed: Feed, asked: Asked) -> object:
    await feed.viewer.pins(message_of(feed, asked))
    return None


async def _unpin(feed: Feed, asked: Asked) -> object:
    await feed.viewer.unpins(message_of(feed, asked))
    return None


async def _pinned(feed: Feed, asked: Asked) -> object:
    """What is pinned in a place, the newest pin first."""
    place = place_of(feed, asked)
    return [message_view(message, feed.viewer) for _, message in feed.discord.world.pins.of(place)]


async def _vote(feed: Feed, asked: Asked) -> object:
    """For answers of a poll, in place of those before; for none to take them back."""
    message, answers = message_of(feed, asked), [int(text) for text in asked.texts("answers") if text.isdecimal()]
    if answers:
        await feed.viewer.votes(message, *answers)
    else:
        await feed.viewer.takes_vote_back(message)
    return None


# --- keeping order ---------------------------------------------------------------------------------------------------


async def _time_out(feed: Feed, asked: Asked) -> object:
    """For so many minutes; for none to lift it."""
    minutes = asked.text("minutes", most=6)
    if not minutes.isdecimal():
        raise Mistake("A time-out is a number of minutes.")
    if int(minutes):
        await feed.viewer.times_out(member_of(feed, asked), int(minutes) * 60)
    else:
        await feed.viewer.lifts_timeout(member_of(feed, asked))
    return None


async def _kick(feed: Feed, asked: Asked) -> object:
    await feed.viewer.kicks(member_of(feed, asked))
    return None


async def _ban(feed: Feed, asked: Asked) -> object:
    await feed.viewer.bans(member_of(feed, asked))
    return None


# --- looking into what the bot has on record -------------------------------------------------------------------------


async def _inspect(feed: Feed, asked: Asked) -> object:
    place = place_of(feed, asked)
    if feed.records is None:
        return None
    return await feed.records.message(_space(place), asked.id("message"))


async def _inspect_run(feed: Feed, asked: Asked) -> object:
    place = place_of(feed, asked)
    run = None if feed.records is None else await feed.records.run(_space(place), asked.id("run"))
    if run is None or run.get("place_id") != str(place.id):
        raise Mistake("There is no such run here.")
    return run


def _space(place: Channel) -> int:
    """The guild, or the DM channel itself."""
    return place.id if place.guild is None else place.guild.id


DEEDS: Final[Mapping[str, Deed]] = {
    "be": _be,
    "open": _open,
    "older": _older,
    "read": _read,
    "say": _say,
    "edit": _edit,
    "delete": _delete,
    "react": _react,
    "unreact": _unreact,
    "type": _type,
    "thread": _thread,
    "archive": _archive,
    "pin": _pin,
    "unpin": _unpin,
    "pinned": _pinned,
    "lock": _lock,
    "vote": _vote,
    "time_out": _time_out,
    "kick": _kick,
    "ban": _ban,
    "slash": using.slash,
    "complete": using.complete,
    "menu": using.menu,
    "press": using.press,
    "choose": using.choose,
    "submit": using.submit,
    "dismiss": using.dismiss,
    "inspect": _inspect,
    "inspect_run": _inspect_run,
}
