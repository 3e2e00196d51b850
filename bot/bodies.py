"""What goes over the wire to Discord: every body that carries words, with all pings off (I11).

Nobody else builds such bodies, so that no path can leave the key out: without it Discord pings whomever the words name.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from bot.events import EPHEMERAL
from memory.ids import MessageId, UserId

Body = dict[str, Any]
Component = Mapping[str, Any]

SUPPRESS_EMBEDS: Final = 4

# Discord's kinds of a first answer to an interaction.
ResponseKind = Literal["message", "deferred", "deferred_update", "update"]
_RESPONSE_TYPES: Final[Mapping[ResponseKind, int]] = {
    "message": 4,
    "deferred": 5,
    "deferred_update": 6,
    "update": 7,
}

ButtonStyle = Literal["primary", "secondary", "success", "danger"]
_STYLES: Final[Mapping[ButtonStyle, int]] = {"primary": 1, "secondary": 2, "success": 3, "danger": 4}


def silent(ping: UserId | None = None) -> Body:
    """Whom a message may ping: nobody but, where its words name them, the one person answered."""
    return {"parse": [], "users": [str(ping)] if ping is not None else [], "replied_user": False}


def message_body(
    content: str,
    nonce: str,
    reply_to: MessageId | None,
    ping: UserId | None,
    components: Sequence[Component] = (),
) -> Body:
    """A new message. `nonce` is enforced: Discord makes one message of all that come with it."""
    body: Body = {
        "content": content,
        "nonce": nonce,
        "enforce_nonce": True,
        "tts": False,
        "allowed_mentions": silent(ping),
    }
    if reply_to is not None:
        body["message_reference"] = {"message_id": str(reply_to), "fail_if_not_exists": False}
    if components:
        body["components"] = list(components)
    return body


def edit_body(content: str, components: Sequence[Component] | None = None) -> Body:
    """New words for a message of ours. `components` of None leaves them as they are, an empty list removes them."""
    body: Body = {"content": content, "allowed_mentions": silent()}
    if components is not None:
        body["components"] = list(components)
    return body


def said(content: str, *, ephemeral: bool, components: Sequence[Component] | None = None) -> Body:
    """The message of an answer to an interaction, or of a follow-up."""
    body = edit_body(content, components)
    body["flags"] = (EPHEMERAL if ephemeral else 0) | SUPPRESS_EMBEDS
    return body


def response(kind: ResponseKind, data: Body | None = None) -> Body:
    """The first answer to an interaction. `deferred` takes only whether it is ephemeral, `deferred_update` nothing."""
    body: Body = {"type": _RESPONSE_TYPES[kind]}
    if data is not None:
        body["data"] = data
    return body


def deferred(*, ephemeral: bool) -> Body:
    """What a deferred answer can say of itself."""
    return {"flags": EPHEMERAL if ephemeral else 0}


def button(label: str, custom_id: str, style: ButtonStyle = "secondary", *, disabled: bool = False) -> Component:
    """One button. `custom_id` (at most 100 characters) is all that a press brings back."""
    return {"type": 2, "style": _STYLES[style], "label": label, "custom_id": custom_id, "disabled": disabled}


def row(*buttons: Component) -> Component:
    """At most five buttons beside one another."""
    return {"type": 1, "components": list(buttons)}
