"""What goes over the wire to Discord: every body that carries words, with all pings off (I11).

Nobody else builds such bodies, so that no path can leave the key out: without it Discord pings whomever the words name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from bot.events import EPHEMERAL
from bot.speech.answers import has_many_links
from bot.speech.forms import CONTAINER, FILE, IS_COMPONENTS_V2, TEXT_DISPLAY, AnswerForm
from memory.ids import MessageId, UserId

Body = dict[str, Any]
Component = Mapping[str, Any]

SUPPRESS_EMBEDS: Final = 4

WRITING_PLACES: Final = (0, 5)
"""Discord's channel types for text and announcements."""

# Discord's kinds of a first answer to an interaction.
ResponseKind = Literal["message", "deferred", "deferred_update", "update", "suggestions", "form"]
_RESPONSE_TYPES: Final[Mapping[ResponseKind, int]] = {
    "message": 4,
    "deferred": 5,
    "deferred_update": 6,
    "update": 7,
    "suggestions": 8,
    "form": 9,
}

ButtonStyle = Literal["primary", "secondary", "success", "danger"]
_STYLES: Final[Mapping[ButtonStyle, int]] = {"primary": 1, "secondary": 2, "success": 3, "danger": 4}


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that goes along with a message."""

    name: str
    content: bytes
    kind: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Field:
    """One question of a form: words, or a pick among `choices` (at most 25 pairs: what is shown, what is meant)."""

    custom_id: str
    label: str
    value: str = ""
    about: str = ""
    required: bool = True
    most: int = 1000
    long: bool = False
    choices: Sequence[tuple[str, str]] = ()


def silent(ping: UserId | None = None, *, by_reply: bool = False) -> Body:
    """Whom a message may ping: nobody but, where its words name them, the one person answered; `by_reply`: them in any
    case, if it is a reply to them."""
    return {"parse": [], "users": [str(ping)] if ping is not None else [], "replied_user": by_reply}


def message_body(
    content: str,
    nonce: str,
    reply_to: MessageId | None,
    ping: UserId | None,
    components: Sequence[Component] = (),
    attached: str | None = None,
    *,
    form: AnswerForm = "plain",
    ping_by_reply: bool = False,
) -> Body:
    """A new message. `nonce` is enforced: Discord makes one message of all that come with it. `attached`: the name of
    the one file that is sent with it."""
    body: Body = {
        **_words(content, form, components or None, attached),
        "nonce": nonce,
        "enforce_nonce": True,
        "tts": False,
        "allowed_mentions": silent(ping, by_reply=ping_by_reply),
    }
    if reply_to is not None:
        body["message_reference"] = {"message_id": str(reply_to), "fail_if_not_exists": False}
    return body


def edit_body(
    content: str,
    components: Sequence[Component] | None = None,
    attached: str | None = None,
    *,
    form: AnswerForm = "plain",
) -> Body:
    """New words for a message of ours. `components` of None leaves them as they are (a panel's words are of them, so
    that it has no others then), an empty list removes them."""
    return {**_words(content, form, components, attached), "allowed_mentions": silent()}


def _words(content: str, form: AnswerForm, components: Sequence[Component] | None, attached: str | None) -> Body:
    """The words in their form, with the buttons and the file beside them.

    No previews are shown where there are many links; those in embeds and panels have none. What a message must not
    have in a form is said to be nothing, so that one that has it may become that.
    """
    body: Body
    match form:
        case "plain":
            body = {"content": content, **({"flags": SUPPRESS_EMBEDS} if has_many_links(content) else {})}
        case "embed":
            body = {"content": "", "embeds": [{"description": content}], "flags": 0}
        case "panel":
            shown: list[Component] = [{"type": TEXT_DISPLAY, "content": content}]
            if attached is not None:
                # A file that no component names is not shown.
                shown.append({"type": FILE, "file": {"url": f"attachment://{attached}"}})
            components = [{"type": CONTAINER, "components": shown}, *(components or ())]
            body = {"content": None, "embeds": [], "flags": IS_COMPONENTS_V2}
    if components is not None:
        body["components"] = list(components)
    if attached is not None:
        body["attachments"] = [{"id": 0, "filename": attached}]
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


def menu(custom_id: str, choices: Sequence[tuple[str, str]], *, chosen: str | None = None, hint: str = "") -> Component:
    """A select menu of at most 25 choices: pairs of what is shown and what is meant."""
    options = [
        {"label": shown[:100], "value": meant, **({"default": True} if meant == chosen else {})}
        for shown, meant in choices
    ]
    made: dict[str, object] = {"type": 3, "custom_id": custom_id, "options": options}
    if hint:
        made["placeholder"] = hint[:150]
    return made


def choose_places(custom_id: str, chosen: Sequence[int] = (), *, hint: str = "") -> Component:
    """A menu of the guild's channels in which people write: at most one, and none where it is emptied."""
    made = _choose_things(8, "channel", custom_id, chosen, 1, hint)
    return {**made, "channel_types": list(WRITING_PLACES)}


def choose_roles(custom_id: str, chosen: Sequence[int] = (), *, most: int = 1, hint: str = "") -> Component:
    """A menu of the guild's roles: as many as are wanted, and none where it is emptied."""
    return _choose_things(6, "role", custom_id, chosen, most, hint)


def _choose_things(
    kind: int, thing: str, custom_id: str, chosen: Sequence[int], most: int, hint: str
) -> dict[str, object]:
    return {
        "type": kind,
        "custom_id": custom_id,
        "placeholder": hint[:150],
        "min_values": 0,
        "max_values": most,
        "default_values": [{"id": str(each), "type": thing} for each in chosen[:most]],
    }


def form_body(custom_id: str, title: str, fields: Sequence[Field]) -> Body:
    """A form of at most five questions."""
    return {"custom_id": custom_id, "title": title[:45], "components": [_asked(each) for each in fields]}


def _asked(field: Field) -> Component:
    if field.choices:
        inner: Body = {**menu(field.custom_id, field.choices, chosen=field.value or None), "required": field.required}
    else:
        inner = {
            "type": 4,
            "custom_id": field.custom_id,
            "style": 2 if field.long else 1,
            "required": field.required,
            "max_length": field.most,
        }
        if field.value:
            inner["value"] = field.value[: field.most]
    label: Body = {"type": 18, "label": field.label[:45], "component": inner}
    if field.about:
        label["description"] = field.about[:100]
    return label


def suggestions(found: Sequence[tuple[str, str | int | float]]) -> Body:
    """What an option that is typed may become."""
    return {"choices": [{"name": shown[:100], "value": meant} for shown, meant in found]}


def with_file(body: Body, attached: Attached) -> list[dict[str, Any]]:
    """The parts of a request whose message brings a file."""
    data = body.get("data", body)
    data["attachments"] = [{"id": 0, "filename": attached.name}]
    return [
        {"name": "payload_json", "value": orjson.dumps(body).decode(), "content_type": "application/json"},
        {
            "name": "files[0]",
            "value": attached.content,
            "filename": attached.name,
            "content_type": attached.kind,
        },
    ]
