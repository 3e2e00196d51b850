"""A message that answers an interaction, or that a webhook posts, as its body describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.discord.errors import Refusal
from sandbox.discord.messages import EPHEMERAL, IS_COMPONENTS_V2, SETTABLE_FLAGS
from sandbox.discord.speech import BOT_LENGTH, Draft, tidy

from .component_forms import read_components, refuse_legacy
from .drafts import read_allowed_mentions, read_embeds, read_files
from .polls import read_poll

if TYPE_CHECKING:
    from sandbox.discord.people import User

    from .forms import Form
    from .router import Call

ANSWER_FLAGS: Final = SETTABLE_FLAGS | EPHEMERAL


def read_reply(call: Call, form: Form, author: User, *, flags_allowed: int = ANSWER_FLAGS) -> Draft:
    """The draft. Raises 50035 with all that is wrong, 50006 for an empty message.

    Neither an answer nor a webhook asks for the bot's permissions to link, to attach or to speak in the channel.
    """
    content = form.text("content", most=BOT_LENGTH) or ""
    flags = (form.integer("flags", most=1 << 31) or 0) & flags_allowed
    embeds, files = read_embeds(form), read_files(form, call.files)
    components = read_components(form, flags, call.world, [tidy(file.filename) for file in files])
    allowed, tts = read_allowed_mentions(form), form.flag("tts")
    poll = read_poll(call, form)
    if flags & IS_COMPONENTS_V2:
        refuse_legacy(form, content, embeds)
    form.done()
    content = content.strip()
    if not (content or embeds or files or components or poll):
        raise Refusal(400, 50006, "Cannot send an empty message")
    return Draft(
        author,
        content,
        files=files,
        embeds=embeds,
        components=components,
        allowed=allowed,
        flags=flags,
        tts=tts,
        poll=poll,
    )
