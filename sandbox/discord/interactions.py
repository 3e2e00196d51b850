"""Interactions: a command used, a component pressed, a form submitted; what answers them, and until when.

Source: https://discord.com/developers/docs/interactions/receiving-and-responding. All times are on the sandbox's clock.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from . import invocation
from .errors import Refusal, invalid_form, unknown
from .mentions import AllowedMentions, resolve
from .messages import CONTEXT_COMMAND, EPHEMERAL, LOADING, REPLY, SLASH_COMMAND, Message, Ping, Reference
from .places import Thread

if TYPE_CHECKING:
    from .commands import Command
    from .events import Payload
    from .people import User
    from .places import Channel
    from .speech import Draft
    from .world import World

FIRST_ANSWER: Final = 3.0
"""Seconds for the first answer; after them the member reads that the application did not respond."""
TOKEN_LIFETIME: Final = 15 * 60.0
"""Seconds for which the token is good for edits and follow-ups."""


class InteractionKind(IntEnum):
    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Callback(IntEnum):
    """The kinds of a first answer."""

    MESSAGE = 4
    THINKING = 5
    ACKNOWLEDGED = 6
    UPDATE = 7
    CHOICES = 8
    MODAL = 9


_ANSWERS: Final[Mapping[InteractionKind, frozenset[Callback]]] = {
    InteractionKind.COMMAND: frozenset({Callback.MESSAGE, Callback.THINKING, Callback.MODAL}),
    InteractionKind.COMPONENT: frozenset(Callback) - {Callback.CHOICES},
    InteractionKind.AUTOCOMPLETE: frozenset({Callback.CHOICES}),
    InteractionKind.MODAL: frozenset({Callback.MESSAGE, Callback.THINKING}),
}
_ON_THE_MESSAGE: Final = frozenset({Callback.ACKNOWLEDGED, Callback.UPDATE})


@dataclass(frozen=True, slots=True)
class Choice:
    """One suggestion of an autocompletion."""

    name: str
    value: str | int | float


@dataclass(slots=True, eq=False)
class Modal:
    """A form that the application has shown to somebody."""

    custom_id: str
    title: str
    components: list[Payload]
    shown_by: Interaction = field(repr=False)
    submitted: bool = False


@dataclass(slots=True, eq=False)
class Interaction:
    """One interaction as Discord knows it. ``source`` is the message whose component was used."""

    world: World = field(repr=False)
    id: int
    token: str
    kind: InteractionKind
    user: User
    channel: Channel
    data: Payload = field(repr=False)
    created_at: float
    command: Command | None = None
    target: User | Message | None = None
    source: Message | None = None
    opened_by: Interaction | None = None
    callback: Callback | None = None
    original: Message | None = None
    followups: list[Message] = field(default_factory=list[Message])
    choices: list[Choice] = field(default_factory=list[Choice])
    modal: Modal | None = None
    form: Modal | None = None
    """What was submitted, where this is a submission."""

    @property
    def expired(self) -> bool:
        """Whether nobody may answer it first any more."""
        return self.callback is None and self.world.clock.now() > self.created_at + FIRST_ANSWER

    @property
    def answers(self) -> frozenset[Callback]:
        """The kinds of first answer that it allows."""
        found = _ANSWERS[self.kind]
        return found | _ON_THE_MESSAGE if self.kind is InteractionKind.MODAL and self.source is not None else found

    @property
    def ephemeral(self) -> bool:
        return self.original is not None and self.original.ephemeral

    def __str__(self) -> str:
        what = self.data.get("name") or self.data.get("custom_id")
        return f"{self.kind.name.lower()} {what!r} of {self.user}"


class Interactions:
    """All interactions, and the ephemeral messages that came of them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_id: dict[int, Interaction] = {}
        self._by_token: dict[str, Interaction] = {}
        self._hidden: dict[int, Message] = {}

    @property
    def all(self) -> list[Interaction]:
        return list(self._by_id.values())

    def begin(
        self,
        kind: InteractionKind,
        user: User,
        channel: Channel,
        data: Payload,
        *,
        command: Command | None = None,
        target: User | Message | None = None,
        source: Message | None = None,
        opened_by: Interaction | None = None,
    ) -> Interaction:
        """Tell the bot (INTERACTION_CREATE, which needs no intent and no access to the channel)."""
        world = self._world
        made = Interaction(
            world,
            world.ids.next(),
            secrets.token_urlsafe(96),
            kind,
            user,
            channel,
            data,
            world.clock.now(),
            command,
            target,
            source,
            opened_by,
        )
        self._by_id[made.id] = self._by_token[made.token] = made
        world.publish("INTERACTION_CREATE", invocation.payload(made), guild=channel.guild)
        return made

    # who may answer

    def waiting(self, interaction_id: int, token: str) -> Interaction:
        """The interaction, if it may be answered first.

        Raises 404/10062 for an unknown one and after three seconds, 400/40060 when it has been answered.
        """
        found = self._by_id.get(interaction_id)
        if found is None or not secrets.compare_digest(found.token, token):
            raise unknown("interaction")
        if found.callback is not None:
            raise Refusal(400, 40060, "Interaction has already been acknowledged.")
        if found.expired:
            raise unknown("interaction")
        return found

    def by_token(self, application_id: int, token: str) -> Interaction:
        """The interaction whose token is used as a webhook's.

        Raises 401/50027 for an unknown token and after fifteen minutes, 404/10015 before the first answer.
        """
        found = self._by_token.get(token)
        if application_id != self._world.application.id:
            raise unknown("Webhook")
        if found is None or self._world.clock.now() > found.created_at + TOKEN_LIFETIME:
            raise Refusal(401, 50027, "Invalid Webhook Token")
        if found.callback is None or found.callback is Callback.CHOICES:
            raise unknown("Webhook")
        return found

    # what is answered

    def reply(self, to: Interaction, draft: Draft) -> Message:
        """The first answer as a message."""
        return self._first_message(to, Callback.MESSAGE, draft)

    def think(self, to: Interaction, draft: Draft) -> Message:
        """The first answer as *is thinking…*, to be edited later. The ephemeral flag is chosen now, and for good."""
        return self._first_message(to, Callback.THINKING, replace(draft, flags=draft.flags | LOADING))

    def _first_message(self, to: Interaction, callback: Callback, draft: Draft) -> Message:
        to.original = self._post(to, self._as_first(to, draft))
        self.acknowledge(to, callback)
        return to.original

    def follow_up(self, to: Interaction, draft: Draft) -> Message:
        """One message more, which replies to the first where that is still there."""
        first = to.original
        if first is not None and not first.deleted:
            draft = replace(draft, kind=REPLY, referenced=first, reference=_reference(first))
        message = self._post(to, draft)
        to.followups.append(message)
        return message

    def acknowledge(self, to: Interaction, callback: Callback) -> None:
        """The first answer was given. Where it is no new message ``@original`` is the component's message."""
        to.callback = callback
        if to.form is not None:
            to.form.submitted = True
        if callback in _ON_THE_MESSAGE:
            to.original = to.source
        self._world.changes.happened()

    def fill_in(self, message: Message, content: str, allowed: AllowedMentions) -> None:
        """*Is thinking…* becomes an answer. People are notified as by a new message; it does not count as edited."""
        message.flags &= ~LOADING
        message.content = content
        message.pings = resolve(content, message.channel, message.author, replace(allowed, replied_user=False))
        if message.pings and not message.ephemeral:
            self._world.pings.append(Ping(message, message.pings))
        self._world.speech.changed(message)

    def _as_first(self, to: Interaction, draft: Draft) -> Draft:
        if to.source is not None:
            return replace(draft, kind=REPLY, referenced=to.source, reference=_reference(to.source))
        if isinstance(to.target, Message):
            return replace(draft, kind=CONTEXT_COMMAND, referenced=to.target, reference=_reference(to.target))
        return replace(draft, kind=SLASH_COMMAND if to.target is None else CONTEXT_COMMAND)

    def _post(self, to: Interaction, draft: Draft) -> Message:
        channel = to.channel
        if isinstance(channel, Thread) and channel.archived:
            raise Refusal(400, 50083, "Thread is archived")
        return self._world.speech.post(
            channel,
            replace(
                draft,
                allowed=replace(draft.allowed, replied_user=False),
                interaction=invocation.on_answer(to),
                seen_by=to.user if draft.flags & EPHEMERAL else None,
            ),
        )

    # ephemeral messages

    def hide(self, message: Message) -> None:
        """Keep an ephemeral message where only its owner finds it."""
        self._hidden[message.id] = message

    def hidden(self, channel: Channel, user: User) -> list[Message]:
        """The ephemeral messages that a user sees in a place, oldest first."""
        return [m for m in self._hidden.values() if m.channel is channel and m.seen_by is user and not m.deleted]

    def all_hidden(self, channel: Channel) -> list[Message]:
        """Every ephemeral message of a place, the deleted too; for those who read what happened."""
        return [message for message in self._hidden.values() if message.channel is channel]

    def find(self, interaction: Interaction, message_id: int) -> Message:
        """An answer of the interaction by its id. Raises 404/10008."""
        for message in (interaction.original, *interaction.followups):
            if message is not None and message.id == message_id and not message.deleted:
                return message
        raise unknown("Message")

    def original(self, interaction: Interaction) -> Message:
        """``@original``. Raises 404/10015 when the first answer was no message, 404/10008 when it is deleted."""
        if interaction.original is None:
            raise unknown("Webhook")
        if interaction.original.deleted:
            raise unknown("Message")
        return interaction.original


def callback_kind(interaction: Interaction, number: int | None) -> Callback:
    """The kind of a first answer. Raises 50035 at ``type`` for one that the interaction does not allow."""
    allowed = sorted(interaction.answers)
    found = next((kind for kind in allowed if kind == number), None)
    if found is None:
        words = ", ".join(f"<InteractionCallbackTypes.{kind.name}: {kind.value}>" for kind in allowed)
        raise invalid_form("type", "BASE_TYPE_CHOICES", f"Value must be one of {{{words}}}.")
    return found


def _reference(to: Message) -> Reference:
    guild = to.channel.guild
    return Reference(to.channel.id, to.id, None if guild is None else guild.id)
