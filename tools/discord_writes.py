"""Tools that do something in Discord. Each only says what is wanted: whether it may happen is decided by Discord's own
facts about requester and bot, and by what the requester said (I5). None of them pings anybody (I11)."""

from typing import Annotated, Final, TypeAlias

from pydantic import Field, model_validator

from memory.ids import MessageId, PlaceId
from tools.actions import (
    CreateThread,
    DeleteOwnMessage,
    EditOwnMessage,
    EditThread,
    PinMessage,
    React,
    RemoveOwnReaction,
    ReplyToMessage,
    SendMessage,
    UnpinMessage,
)
from tools.declaration import Arguments, Payload, Tool
from tools.emoji import Emoji, reaction
from tools.errors import Refused
from tools.ports import TurnContext
from tools.references import ChannelReference, MessageReference, message_named, place_named
from tools.reports import told

MESSAGE_CHARS: Final = 2_000
THREAD_NAME_CHARS: Final = 100
SLOWMODE_S: Final = 21_600
"""Discord's limits for a message, for a thread's name, and for the pause between two messages of one member."""

_ASKED = " Only when the member's message asks for it."

Content: TypeAlias = Annotated[
    str,
    Field(min_length=1, max_length=MESSAGE_CHARS, pattern=r"\S", description="What it says; nobody is pinged by it."),
]
ThreadName: TypeAlias = Annotated[str, Field(min_length=1, max_length=THREAD_NAME_CHARS, pattern=r"\S")]


class ReactionArguments(Arguments):
    """Which reaction, on which message."""

    emoji: Emoji
    message: MessageReference | None = Field(
        None, description="Its id or link. Left out: the message that you are answering."
    )
    channel: ChannelReference | None = Field(
        None, description="Its id, <#id> or link. Where that message is, if not here."
    )


class SendArguments(Arguments):
    """What to say, where."""

    content: Content
    channel: ChannelReference | None = Field(None, description="Its id, <#id> or link. Left out: here.")


class ReplyArguments(Arguments):
    """What to say in reply to which message."""

    message: MessageReference
    content: Content
    channel: ChannelReference | None = Field(
        None, description="Its id, <#id> or link. Where that message is, if not here."
    )


class CreateThreadArguments(Arguments):
    """A thread, alone or from a message."""

    name: ThreadName
    message: MessageReference | None = Field(
        None, description="Its id or link. The message it starts from; left out: none."
    )
    channel: ChannelReference | None = Field(None, description="Its id, <#id> or link. Where; left out: here.")


class EditThreadArguments(Arguments):
    """What shall change; what is left out stays."""

    thread: ChannelReference | None = Field(None, description="Its id, <#id> or link. Left out: this thread.")
    name: ThreadName | None = None
    archived: bool | None = None
    locked: bool | None = None
    slowmode_s: Annotated[int, Field(ge=0, le=SLOWMODE_S)] | None = Field(
        None, description="Seconds between two messages of one member; 0 switches it off."
    )

    @model_validator(mode="after")
    def _changes_something(self) -> "EditThreadArguments":
        if self.name is None and self.archived is None and self.locked is None and self.slowmode_s is None:
            raise ValueError("name, archived, locked or slowmode_s must be given")
        return self


class MessageArguments(Arguments):
    """Which message."""

    message: MessageReference
    channel: ChannelReference | None = Field(
        None, description="Its id, <#id> or link. Where that message is, if not here."
    )


async def react(context: TurnContext, arguments: ReactionArguments) -> Payload:
    """Put a reaction on the trigger, or on another message."""
    message_id, place_id = _reacted(context, arguments)
    return told(await context.actions.perform(React(reaction(arguments.emoji), message_id, place_id)))


async def remove_own_reaction(context: TurnContext, arguments: ReactionArguments) -> Payload:
    """Take an own reaction back."""
    message_id, place_id = _reacted(context, arguments)
    return told(await context.actions.perform(RemoveOwnReaction(reaction(arguments.emoji), message_id, place_id)))


async def send_message(context: TurnContext, arguments: SendArguments) -> Payload:
    """Say something beside the answer, here or in another channel."""
    action = SendMessage(arguments.content, place_named(context, arguments.channel))
    return told(await context.actions.perform(action), made="message_id")


async def reply_to_message(context: TurnContext, arguments: ReplyArguments) -> Payload:
    """Say something in reply to a message that is not the trigger."""
    message_id, place_id = message_named(context, arguments.message, arguments.channel)
    action = ReplyToMessage(arguments.content, message_id, place_id)
    return told(await context.actions.perform(action), made="message_id")


async def create_thread(context: TurnContext, arguments: CreateThreadArguments) -> Payload:
    """Begin a thread."""
    if arguments.message is None:
        message_id, place_id = None, place_named(context, arguments.channel)
    else:
        message_id, place_id = message_named(context, arguments.message, arguments.channel)
    action = CreateThread(arguments.name.strip(), message_id, place_id)
    return told(await context.actions.perform(action), made="thread_id")


async def edit_thread(context: TurnContext, arguments: EditThreadArguments) -> Payload:
    """Rename, archive, lock or slow down a thread."""
    action = EditThread(
        place_named(context, arguments.thread),
        None if arguments.name is None else arguments.name.strip(),
        arguments.archived,
        arguments.locked,
        arguments.slowmode_s,
    )
    return told(await context.actions.perform(action))


async def edit_own_message(context: TurnContext, arguments: ReplyArguments) -> Payload:
    """Put other words into an own message."""
    message_id, place_id = message_named(context, arguments.message, arguments.channel)
    return told(await context.actions.perform(EditOwnMessage(message_id, arguments.content, place_id)))


async def delete_own_message(context: TurnContext, arguments: MessageArguments) -> Payload:
    """Take an own message back."""
    return told(await context.actions.perform(DeleteOwnMessage(*_message(context, arguments))))


async def pin_message(context: TurnContext, arguments: MessageArguments) -> Payload:
    """Pin a message."""
    return told(await context.actions.perform(PinMessage(*_message(context, arguments))))


async def unpin_message(context: TurnContext, arguments: MessageArguments) -> Payload:
    """Take a pin away."""
    return told(await context.actions.perform(UnpinMessage(*_message(context, arguments))))


def _message(context: TurnContext, arguments: MessageArguments) -> tuple[MessageId, PlaceId | None]:
    return message_named(context, arguments.message, arguments.channel)


def _reacted(context: TurnContext, arguments: ReactionArguments) -> tuple[MessageId | None, PlaceId | None]:
    """The message to react to; None is the trigger, however it was named."""
    if arguments.message is None:
        if place_named(context, arguments.channel) is not None:
            raise Refused("not_a_message", "Give the message in that channel, too.")
        return None, None
    message_id, place_id = message_named(context, arguments.message, arguments.channel)
    return (None, None) if message_id == context.trigger_id and place_id is None else (message_id, place_id)


_SEE = ("view_channel", "read_message_history")
_SPEAK = ("view_channel", "send_messages")

DISCORD_REACT = Tool(
    name="discord_react",
    description=(
        "Add one emoji reaction to the message that you are answering, or, when the member asks for it, to another one."
    ),
    arguments=ReactionArguments,
    function=react,
    effect="write",
    promise="idempotent",
    permissions=(*_SEE, "add_reactions"),
)
DISCORD_REMOVE_OWN_REACTION = Tool(
    name="discord_remove_own_reaction",
    description="Take back a reaction of your own." + _ASKED,
    arguments=ReactionArguments,
    function=remove_own_reaction,
    effect="write",
    promise="idempotent",
    permissions=_SEE,
)
DISCORD_SEND_MESSAGE = Tool(
    name="discord_send_message",
    description=(
        "Post a message of its own, here or in another channel that the member can use, too. Your answer is sent by "
        "itself: never send it by this." + _ASKED
    ),
    arguments=SendArguments,
    function=send_message,
    effect="write",
    promise="key",
    permissions=_SPEAK,
)
DISCORD_REPLY_TO_MESSAGE = Tool(
    name="discord_reply_to_message",
    description=(
        "Post a message as a reply to another message than the one you are answering. Your answer is sent by itself: "
        "never send it by this." + _ASKED
    ),
    arguments=ReplyArguments,
    function=reply_to_message,
    effect="write",
    promise="key",
    permissions=(*_SPEAK, "read_message_history"),
)
DISCORD_CREATE_THREAD = Tool(
    name="discord_create_thread",
    description="Begin a thread, from a message or by itself." + _ASKED,
    arguments=CreateThreadArguments,
    function=create_thread,
    effect="write",
    promise="uncertain",
    needs=frozenset({"guild"}),
    permissions=("view_channel", "create_public_threads"),
)
DISCORD_EDIT_THREAD = Tool(
    name="discord_edit_thread",
    description=(
        "Rename, archive, reopen, lock, unlock or slow down a thread that both you and the member own or manage."
        + _ASKED
    ),
    arguments=EditThreadArguments,
    function=edit_thread,
    effect="write",
    promise="idempotent",
    needs=frozenset({"guild"}),
    permissions=("view_channel",),
)
DISCORD_EDIT_OWN_MESSAGE = Tool(
    name="discord_edit_own_message",
    description="Replace the words of a message that you wrote yourself." + _ASKED,
    arguments=ReplyArguments,
    function=edit_own_message,
    effect="write",
    promise="idempotent",
    permissions=_SEE,
)
DISCORD_DELETE_OWN_MESSAGE = Tool(
    name="discord_delete_own_message",
    description="Delete a message that you wrote yourself." + _ASKED,
    arguments=MessageArguments,
    function=delete_own_message,
    effect="write",
    promise="idempotent",
    permissions=_SEE,
)
DISCORD_PIN_MESSAGE = Tool(
    name="discord_pin_message",
    description="Pin a message, for a member who is an administrator." + _ASKED,
    arguments=MessageArguments,
    function=pin_message,
    effect="write",
    promise="idempotent",
    permissions=(*_SEE, "pin_messages"),
)
DISCORD_UNPIN_MESSAGE = Tool(
    name="discord_unpin_message",
    description="Take away the pin of a message, for a member who is an administrator." + _ASKED,
    arguments=MessageArguments,
    function=unpin_message,
    effect="write",
    promise="idempotent",
    permissions=(*_SEE, "pin_messages"),
)
