"""The first answer to an interaction.

Source: https://discord.com/developers/docs/interactions/receiving-and-responding#create-interaction-response
"""

from __future__ import annotations

from typing import Final

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, unknown
from sandbox.discord.events import Payload
from sandbox.discord.interactions import Callback, Choice, Interaction, callback_kind
from sandbox.discord.messages import EPHEMERAL, Message
from sandbox.discord.options import OptionKind, listed
from sandbox.discord.speech import Draft

from .component_forms import read_modal
from .edits import apply, read_edit
from .forms import Form
from .replies import read_reply
from .router import Call, Reply, Routes

routes = Routes()
_MAX_CHOICES: Final = 25


@routes.post("/interactions/{interaction_id}/{token}/callback", public=True)
def answer(call: Call) -> Reply:
    """No authorisation but the token. 204, or 200 and what was made of it when ``with_response`` asks for it."""
    found = call.world.interactions.waiting(call.id("interaction_id"), call.params["token"])
    form = call.form
    number = form.integer("type")
    form.must_have("type")
    form.done()
    kind = callback_kind(found, number)
    data = form.child("data") or Form({})
    message = _answer(call, form, data, found, kind)
    if call.query.get("with_response") not in ("true", "True", "1"):
        return Reply(204)
    return Reply(200, _response(found, kind, message))


def _answer(call: Call, form: Form, data: Form, to: Interaction, kind: Callback) -> Message | None:
    """Do what the answer asks; ``data``'s errors are noted under ``form``. Returns the message it is about."""
    interactions, bot = call.world.interactions, call.world.bot
    if kind is Callback.MESSAGE:
        return interactions.reply(to, read_reply(call, data, bot))
    if kind is Callback.THINKING:
        flags = (data.integer("flags", most=1 << 31) or 0) & EPHEMERAL
        form.done()
        return interactions.think(to, Draft(bot, flags=flags))
    if kind is Callback.CHOICES:
        to.choices = _choices(form, data, to)
    elif kind is Callback.MODAL:
        modal = read_modal(data, to)
        form.done()
        to.modal = modal
    elif kind is Callback.UPDATE and to.source is not None:
        if to.source.deleted:
            raise unknown("Message")
        apply(call, data, to.source, read_edit(call, data, to.source))
        interactions.acknowledge(to, kind)
        return to.source
    interactions.acknowledge(to, kind)
    return to.source if kind is Callback.ACKNOWLEDGED else None


def _choices(form: Form, data: Form, to: Interaction) -> list[Choice]:
    data.must_have("choices")
    wanted = _focused_kind(to)
    found: list[Choice] = []
    for choice in data.children("choices", most=_MAX_CHOICES):
        name = choice.text("name", least=1, most=100, required=True)
        value = choice.data.get("value")
        choice.must_have("value")
        if wanted == OptionKind.STRING:
            value = choice.text("value", most=100)
        elif value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            choice.error("value", "NUMBER_TYPE_COERCE", f'Value "{value}" is not a number.')
        if isinstance(value, str | int | float):
            found.append(Choice(name or "", value))
    form.done()
    return found


def _focused_kind(to: Interaction) -> object:
    stack = [*listed(to.data)]
    while stack:
        option = stack.pop()
        if option.get("focused"):
            return option["type"]
        stack.extend(listed(option))
    raise Refusal(400, 50035, "Invalid Form Body")


def _response(to: Interaction, kind: Callback, message: Message | None) -> Payload:
    """https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-callback"""
    about: Payload = {"id": str(to.id), "type": int(to.kind)}
    if message is not None:
        about |= {
            "response_message_id": str(message.id),
            "response_message_loading": message.loading,
            "response_message_ephemeral": message.ephemeral,
        }
    resource: Payload = {"type": int(kind)}
    if message is not None and kind in (Callback.MESSAGE, Callback.UPDATE, Callback.THINKING):
        resource["message"] = payloads.message(message, gateway=False)
    return {"interaction": about, "resource": resource}
