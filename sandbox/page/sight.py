"""What a request names, as far as the person sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.discord import Channel, Member, Message

from .errors import Mistake

if TYPE_CHECKING:
    from .asked import Asked
    from .feed import Feed


def place_of(feed: Feed, asked: Asked) -> Channel:
    """The place that is named. Raises Mistake where there is none that the person sees."""
    place = feed.discord.world.channels.get(asked.id("place"))
    if place is None or not place.visible_to(feed.viewer):
        raise Mistake("That place is not there (any more), or you cannot see it.")
    return place


def message_of(feed: Feed, asked: Asked, key: str = "message") -> Message:
    """The message that is named, which stands in `place`; an ephemeral one if it is theirs. Raises Mistake."""
    place, message_id = place_of(feed, asked), asked.id(key)
    message = place.shelf.get(message_id)
    if message is None:
        hidden = feed.discord.world.interactions.hidden(place, feed.viewer.user)
        message = next((each for each in hidden if each.id == message_id), None)
    if message is None:
        raise Mistake("That message is deleted.")
    return message


def person_of(feed: Feed, asked: Asked) -> Member:
    """A member whom a person can be. Raises Mistake."""
    member = feed.guild.members.get(asked.id("who"))
    if member is None or member.bot:
        raise Mistake("There is no such member (any more).")
    return member


def member_of(feed: Feed, asked: Asked) -> Member:
    """Anybody in the guild. Raises Mistake."""
    member = feed.guild.members.get(asked.id("person"))
    if member is None:
        raise Mistake("They are not here any more.")
    return member
