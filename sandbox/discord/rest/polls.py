"""Reading a poll from a body, who voted, and ending it."""

from __future__ import annotations

from sandbox.discord import emoji as emojis
from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, invalid_form, missing_permissions
from sandbox.discord.permissions import Permission
from sandbox.discord.polls import DEFAULT_HOURS, MAX_ANSWER, MAX_ANSWERS, MAX_HOURS, MAX_QUESTION, Answer, Poll

from .forms import Form
from .router import Call, Reply, Routes

routes = Routes()


def read_poll(call: Call, form: Form) -> Poll | None:
    """The ``poll`` of a body; what is wrong with it is noted in the form."""
    inner = form.child("poll")
    if inner is None:
        return None
    question, hours = inner.child("question"), inner.integer("duration", least=1, most=MAX_HOURS)
    text = None if question is None else question.text("text", least=1, most=MAX_QUESTION, required=True)
    if question is None:
        inner.error("question", "BASE_TYPE_REQUIRED", "This field is required")
    inner.choice("layout_type", (1,))
    answers: list[Answer] = []
    given = inner.children("answers", most=MAX_ANSWERS)
    if not given:
        inner.error("answers", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_ANSWERS} in length.")
    for number, one in enumerate(given, start=1):
        media = one.child("poll_media")
        if media is None:
            one.error("poll_media", "BASE_TYPE_REQUIRED", "This field is required")
            continue
        words = media.text("text", least=1, most=MAX_ANSWER, required=True)
        answers.append(Answer(number, words or "", _emoji(call, media)))
    seconds = (hours or DEFAULT_HOURS) * 3600
    return Poll(text or "", tuple(answers), call.world.clock.now() + seconds, inner.flag("allow_multiselect"))


def _emoji(call: Call, media: Form) -> emojis.Emoji | None:
    """By the id of a guild's or the sign of Unicode's. Raises 520004 for none that the bot can use."""
    inner = media.child("emoji")
    if inner is None:
        return None
    emoji_id, name = inner.snowflake("id"), inner.text("name", most=32)
    if emoji_id is not None:
        owner = next((guild for guild in call.world.guilds.values() if emoji_id in guild.emojis), None)
        if owner is not None:
            return emojis.Emoji(owner.emojis[emoji_id], emoji_id)
    elif name is not None and emojis.is_unicode_emoji(name):
        return emojis.Emoji(name)
    raise Refusal(400, 520004, "Cannot use an emoji included with the poll")


@routes.get("/channels/{channel_id}/polls/{message_id}/answers/{answer_id}")
def voters(call: Call) -> Reply:
    """By the users' ids, 25 unless the query says otherwise."""
    channel, limit, after = call.channel(), call.limit(25, 100), call.query_id("after") or 0
    if not call.may(channel, Permission.READ_MESSAGE_HISTORY):
        raise missing_permissions()
    poll, answer_id = call.message(channel).poll, call.id("answer_id")
    if poll is None or answer_id not in {answer.id for answer in poll.answers}:
        raise invalid_form("answer_id", "POLL_ANSWER_INVALID", "Unknown poll answer")
    users = [user for _, user in sorted(poll.votes.get(answer_id, {}).items()) if user.id > after]
    return Reply(200, {"users": [payloads.user(user) for user in users[:limit]]})


@routes.post("/channels/{channel_id}/polls/{message_id}/expire")
def expire(call: Call) -> Reply:
    message = call.message(call.channel())
    call.world.polls.end(message, by=call.world.bot)
    return Reply(200, payloads.for_application(message))
