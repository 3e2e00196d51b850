"""Polls: what is asked, who voted for what, and when it is over.

Source: https://discord.com/developers/docs/resources/poll. A poll ends when it is ended, or when the sandbox's clock is
pushed past its time; then Discord posts the result in the channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from .clock import iso
from .errors import Misuse, Refusal, missing_access, missing_permissions
from .messages import POLL_RESULT, Reference
from .permissions import Permission

if TYPE_CHECKING:
    from .emoji import Emoji
    from .events import Payload
    from .messages import Message
    from .people import User
    from .world import World

MAX_ANSWERS: Final = 10
MAX_QUESTION: Final = 300
MAX_ANSWER: Final = 55
MAX_HOURS: Final = 32 * 24
DEFAULT_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the answers; ids begin at 1."""

    id: int
    text: str
    emoji: Emoji | None = None


@dataclass(slots=True, eq=False)
class Poll:
    """``expires_at`` in seconds since 1970. ``votes``: by answer id who chose it, by user id."""

    question: str
    answers: tuple[Answer, ...]
    expires_at: float
    multiselect: bool = False
    finalized: bool = False
    votes: dict[int, dict[int, User]] = field(default_factory=dict[int, "dict[int, User]"], repr=False)

    def count(self, answer_id: int) -> int:
        return len(self.votes.get(answer_id, ()))

    def payload(self) -> Payload:
        """As messages show it. ``me_voted`` is never true: bots do not vote."""
        counts = [
            {"id": answer.id, "count": self.count(answer.id), "me_voted": False}
            for answer in self.answers
            if self.count(answer.id)
        ]
        return {
            "question": {"text": self.question},
            "answers": [{"answer_id": answer.id, "poll_media": _media(answer)} for answer in self.answers],
            "expiry": iso(self.expires_at),
            "allow_multiselect": self.multiselect,
            "layout_type": 1,
            "results": {"is_finalized": self.finalized, "answer_counts": counts},
        }


def _media(answer: Answer) -> Payload:
    body: Payload = {"text": answer.text}
    if answer.emoji is not None:
        body["emoji"] = answer.emoji.payload()
    return body


class Polls:
    def __init__(self, world: World) -> None:
        self._world = world
        self._open: list[Message] = []
        world.clock.on_advance(self.close_due)

    def posted(self, message: Message) -> None:
        self._open.append(message)

    def vote(self, message: Message, who: User, answer_ids: Sequence[int]) -> None:
        """Choose answers, in place of what was chosen where only one may be.

        Raises 520001 when it is over, 50001 and 50013 for who cannot see or read it. Bots cannot vote.
        """
        poll = self._votable(message, who)
        known = {answer.id for answer in poll.answers}
        if not answer_ids or set(answer_ids) - known or (len(answer_ids) > 1 and not poll.multiselect):
            raise Misuse(f"one votes for {'some' if poll.multiselect else 'one'} of {sorted(known)}")
        if not poll.multiselect:
            for answer_id in known - set(answer_ids):
                self._take_back(message, poll, who, answer_id)
        for answer_id in answer_ids:
            chosen = poll.votes.setdefault(answer_id, {})
            if who.id not in chosen:
                chosen[who.id] = who
                self._tell("MESSAGE_POLL_VOTE_ADD", message, who, answer_id)

    def take_back(self, message: Message, who: User) -> None:
        """All of somebody's votes."""
        poll = self._votable(message, who)
        for answer in poll.answers:
            self._take_back(message, poll, who, answer.id)

    def end(self, message: Message, *, by: User) -> None:
        """End one's own poll now. Raises 520006 for no poll, 50005 for another's, 520001 for one that is over."""
        poll = message.poll
        if poll is None:
            raise Refusal(400, 520006, "Cannot expire a non-poll message")
        if message.author is not by:
            raise Refusal(403, 50005, "Cannot edit a message authored by another user")
        if poll.finalized:
            raise Refusal(400, 520001, "Poll expired")
        poll.expires_at = self._world.clock.now()
        self._close(message, poll)

    def close_due(self) -> None:
        """End the polls whose time is over."""
        now = self._world.clock.now()
        for message in list(self._open):
            if message.deleted:
                self._open.remove(message)
            elif message.poll is not None and message.poll.expires_at <= now:
                self._close(message, message.poll)

    def _close(self, message: Message, poll: Poll) -> None:
        from .speech import Draft  # speech needs the places, so it cannot be at the top

        poll.finalized = True
        self._open.remove(message)
        self._world.speech.changed(message)
        guild = message.channel.guild
        reference = Reference(message.channel.id, message.id, None if guild is None else guild.id)
        result = Draft(message.author, kind=POLL_RESULT, embeds=[_result(poll)], reference=reference)
        self._world.speech.post(message.channel, result)

    def _votable(self, message: Message, who: User) -> Poll:
        poll, channel = message.poll, message.channel
        if poll is None:
            raise Misuse("that message has no poll")
        if who.bot:
            raise Misuse("bots cannot vote")
        allowed = channel.permissions_of(who)
        if Permission.VIEW_CHANNEL not in allowed:
            raise missing_access()
        if Permission.READ_MESSAGE_HISTORY not in allowed:
            raise missing_permissions(Permission.READ_MESSAGE_HISTORY)
        if poll.finalized or poll.expires_at <= self._world.clock.now():
            raise Refusal(400, 520001, "Poll expired")
        return poll

    def _take_back(self, message: Message, poll: Poll, who: User, answer_id: int) -> None:
        if poll.votes.get(answer_id, {}).pop(who.id, None) is not None:
            self._tell("MESSAGE_POLL_VOTE_REMOVE", message, who, answer_id)

    def _tell(self, event: str, message: Message, who: User, answer_id: int) -> None:
        channel = message.channel
        body: Payload = {
            "user_id": str(who.id),
            "channel_id": str(channel.id),
            "message_id": str(message.id),
            "answer_id": answer_id,
        }
        if channel.guild is not None:
            body["guild_id"] = str(channel.guild.id)
        self._world.publish(event, body, guild=channel.guild, channel=channel)


def _result(poll: Poll) -> Payload:
    """https://discord.com/developers/docs/resources/message#embed-fields-by-embed-type-poll-result-embed-fields"""
    total = sum(poll.count(answer.id) for answer in poll.answers)
    best = max(poll.count(answer.id) for answer in poll.answers)
    winners = [answer for answer in poll.answers if poll.count(answer.id) == best and best]
    values = {
        "poll_question_text": poll.question,
        "victor_answer_votes": str(best),
        "total_votes": str(total),
    }
    if len(winners) == 1:
        values |= {"victor_answer_id": str(winners[0].id), "victor_answer_text": winners[0].text}
        emoji = winners[0].emoji
        if emoji is not None:
            values["victor_answer_emoji_name"] = emoji.name
            if emoji.id is not None:
                values["victor_answer_emoji_id"] = str(emoji.id)
    fields = [{"name": name, "value": value, "inline": False} for name, value in values.items()]
    return {"type": "poll_result", "fields": fields}
