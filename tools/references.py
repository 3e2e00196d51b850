"""How a model names channels, messages and people: an id, a mention or a link, and never one of another space (I6).

Ids are Discord's snowflakes as strings of digits: as numbers they would pass what JSON readers can hold.
"""

import re
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from memory.ids import MessageId, PlaceId, UserId
from tools.errors import Refused
from tools.ports import TurnContext

_REFERENCE_CHARS: Final = 200
_ID: Final = r"[0-9]{15,20}"
_PLACE: Final = re.compile(rf"(?:<#)?(?P<id>{_ID})>?")
_USER: Final = re.compile(rf"(?:<@!?)?(?P<id>{_ID})>?")
_LINK: Final = re.compile(
    rf"<?https://(?:ptb\.|canary\.)?discord(?:app)?\.com/channels/(?P<guild>@me|{_ID})/(?P<place>{_ID})"
    rf"(?:/(?P<message>{_ID}))?/?>?"
)

ChannelReference: TypeAlias = Annotated[
    str, Field(max_length=_REFERENCE_CHARS, description="A channel or thread: its id, <#id> or its link.")
]
MessageReference: TypeAlias = Annotated[
    str, Field(max_length=_REFERENCE_CHARS, description="A message: its id or its link.")
]
UserReference: TypeAlias = Annotated[
    str, Field(max_length=_REFERENCE_CHARS, description="A person: their id or <@id>.")
]


def place_named(context: TurnContext, channel: str | None) -> PlaceId | None:
    """The place that is meant; None is that of the turn, however it was named.

    Raises Refused: not_a_channel, other_space.
    """
    if channel is None:
        return None
    if link := _LINK.fullmatch(channel.strip()):
        return _linked_place(context, link)
    return _elsewhere(
        context, _id(_PLACE, channel, "not_a_channel", "Give a channel by its id, as <#id>, or its link.")
    )


def message_named(context: TurnContext, message: str, channel: str | None = None) -> tuple[MessageId, PlaceId | None]:
    """The message that is meant and its place; None is the turn's place.

    Raises Refused: not_a_message, not_a_channel, other_space, and contradiction where a link and `channel` differ.
    """
    place_id = place_named(context, channel)
    link = _LINK.fullmatch(message.strip())
    if link is None:
        advice = "Give a message by its id or its link."
        return MessageId(_id(re.compile(rf"(?P<id>{_ID})"), message, "not_a_message", advice)), place_id
    if link["message"] is None:
        raise Refused("not_a_message", "This link names a channel and no message.")
    linked = _linked_place(context, link)
    if channel is not None and linked != place_id:
        raise Refused("contradiction", "The link names another channel than the one given.")
    return MessageId(_snowflake(link["message"], "not_a_message", "This is no message's id.")), linked


def user_named(user: str) -> UserId:
    """The person that is meant. Raises Refused: not_a_user."""
    return UserId(_id(_USER, user, "not_a_user", "Give a person by their id or as <@id>."))


def _linked_place(context: TurnContext, link: re.Match[str]) -> PlaceId | None:
    place = _snowflake(link["place"], "not_a_channel", "This is no channel's id.")
    here = "@me" if context.is_direct else str(context.scope.space_id)
    if link["guild"] != here or (context.is_direct and place != context.scope.place_id):
        raise Refused("other_space", "This link leads to another server or conversation, which cannot be used here.")
    return _elsewhere(context, place)


def _elsewhere(context: TurnContext, place_id: int) -> PlaceId | None:
    return None if place_id == context.scope.place_id else PlaceId(place_id)


def _id(form: re.Pattern[str], text: str, code: str, advice: str) -> int:
    found = form.fullmatch(text.strip())
    if found is None:
        raise Refused(code, advice)
    return _snowflake(found["id"], code, advice)


def _snowflake(digits: str, code: str, advice: str) -> int:
    if not 0 < int(digits) < 2**63:
        raise Refused(code, advice)
    return int(digits)
