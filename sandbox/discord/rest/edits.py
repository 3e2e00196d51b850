"""An edit of one of the bot's messages, whichever way it comes: the channel's, an interaction's or a webhook's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sandbox.discord.errors import Refusal
from sandbox.discord.mentions import PARSE_EVERYTHING, AllowedMentions
from sandbox.discord.messages import IS_COMPONENTS_V2, LOADING, SUPPRESS_EMBEDS, Message
from sandbox.discord.speech import BOT_LENGTH, tidy

from .component_forms import read_components, refuse_legacy
from .drafts import kept_attachments, read_allowed_mentions, read_embeds, read_files

if TYPE_CHECKING:
    from sandbox.discord.events import Payload

    from .forms import Form
    from .router import Call

_EDITABLE_FLAGS: Final = SUPPRESS_EMBEDS | IS_COMPONENTS_V2
"""Others are passed over without an error."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What a body asks for; None leaves a thing as it is."""

    content: str | None = None
    embeds: list[Payload] | None = None
    components: list[Payload] | None = None
    flags: int | None = None
    allowed: AllowedMentions = field(default=PARSE_EVERYTHING)


def read_edit(call: Call, form: Form, message: Message) -> Edit:
    """The edit, if the message may become that. Raises 50035 with all that is wrong."""
    flags = form.integer("flags", most=1 << 31)
    content = form.text("content", most=BOT_LENGTH)
    embeds = read_embeds(form)
    after = message.flags if flags is None else flags
    components = read_components(form, after, call.world, _filenames(call, form, message))
    allowed = read_allowed_mentions(form) if form.has("allowed_mentions") else PARSE_EVERYTHING
    edit = Edit(
        (content or "").strip() if form.has("content") else None,
        embeds if form.has("embeds") else None,
        components if form.has("components") else None,
        flags,
        allowed,
    )
    if message.flags & IS_COMPONENTS_V2 and not after & IS_COMPONENTS_V2:
        words = "The IS_COMPONENTS_V2 flag cannot be removed from a message"
        form.error("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG", words)
    elif after & IS_COMPONENTS_V2:
        text = message.content if edit.content is None else edit.content
        refuse_legacy(form, text, message.embeds if edit.embeds is None else edit.embeds)
    form.done()
    return edit


def _filenames(call: Call, form: Form, message: Message) -> list[str]:
    kept = message.attachments
    if form.has("attachments"):
        ids = {str(note.data.get("id")) for note in form.children("attachments", most=10)}
        kept = [attachment for attachment in kept if str(attachment.id) in ids]
    return [
        *(attachment.file.filename for attachment in kept),
        *(tidy(file.filename) for file in read_files(form, call.files)),
    ]


def apply(call: Call, form: Form, message: Message, edit: Edit) -> None:
    """Change the message and tell of it. Raises 400/50006 when nothing would be left of it."""
    world = call.world
    text = message.content if edit.content is None else edit.content
    embeds = message.embeds if edit.embeds is None else edit.embeds
    components = message.components if edit.components is None else edit.components
    attachments = bool(message.attachments or call.files) if not form.has("attachments") else True
    if not (text or embeds or components or attachments):
        raise Refusal(400, 50006, "Cannot send an empty message")
    message.embeds, message.components = embeds, components
    kept_attachments(call, form, message)
    if edit.flags is not None:
        message.flags = (message.flags & ~_EDITABLE_FLAGS) | (edit.flags & _EDITABLE_FLAGS)
    if message.flags & LOADING:
        world.interactions.fill_in(message, text, edit.allowed)
    else:
        world.speech.edit(message, content=text, allowed=edit.allowed)
