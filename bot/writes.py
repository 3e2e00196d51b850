"""The one door for writes to Discord (interactions are answered by bot.responses, on the same terms).

Everything that Muninn does there goes through here: mentions are switched off except for the one person answered (I11),
a message carries its receipt's nonce, and what is ambiguous (a reset, a timeout, a 5xx) is done again only where that
changes nothing, or where Discord shows that it is missing (I3, I4).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import orjson
import structlog
from discord.http import Route

from bot.bodies import Attached, Body, Component, edit_body, message_body
from bot.crash import crash_point
from bot.errors import WriteInDoubt, WriteRefused
from bot.metrics import REST_RETRIES
from bot.outgoing import Change, Outcome, Outgoing, ThreadStart
from bot.receipts import Receipt
from bot.rest import READ_ATTEMPT_S, Rest
from bot.speech.answers import FILE_NAME
from bot.speech.forms import AnswerForm, form_of, said_in
from bot.standing import UNKNOWN_MESSAGE, Claimed, Standing, as_message, as_object
from memory.ids import MessageId, PlaceId, UserId

log = structlog.get_logger(__name__)

BACKOFF_FIRST_S: Final = 0.25
BACKOFF_MOST_S: Final = 15.0
TYPING_EVERY_S: Final = 8.0
"""Discord shows typing for about ten seconds."""

INVALID_FORM_BODY: Final = 50035
NOT_EMBEDDED: Final = frozenset({50006, 50013})
"""What Discord says where the bot may not embed: nothing is left of the message, or a permission is missing."""

_NOT_EMBEDDED: Final = frozenset(f"discord_{code}" for code in NOT_EMBEDDED)

THREAD_EXISTS: Final = 160004
THREAD_LOCKED: Final = "thread_locked"
"""Discord sometimes says no more of a locked thread than 500, after half a minute and each time.

Source: https://github.com/discord/discord-api-docs/issues/3197
"""

# Discord did not even look at the request: nothing can have happened.
HELD_BACK: Final = frozenset({"held", "rate_limited", "unauthorized"})


class Writes:
    """The door. `own_id`: the bot's user; `nonce_window_s`: how long a nonce is trusted to be remembered."""

    def __init__(self, rest: Rest, own_id: int, *, nonce_window_s: float) -> None:
        self._rest = rest
        self._standing = Standing(rest, own_id)
        self._nonce_window_s = nonce_window_s

    async def send(
        self,
        outgoing: Outgoing,
        receipt: Receipt,
        *,
        known: Callable[[], Awaitable[MessageId | None]],
        claimed: Claimed,
        within_s: float,
    ) -> Outcome:
        """Send the message of `receipt`, at most once, trying for about `within_s` seconds.

        Before anything is sent again, `known` says under which id the receipt was settled meanwhile (the gateway brings
        our messages back), and raises if the turn is no longer ours. `claimed` says which messages of ours other
        receipts account for. The outcome is for the caller to record.
        """
        assert receipt.nonce is not None  # noqa: S101 - every message's receipt is made with one
        clock, reply_to, doubtful = _Clock(within_s), outgoing.reply_to, not receipt.fresh
        form, locked = outgoing.form, False
        while True:
            try:
                if clock.attempts > 0 and (settled := await known()) is not None:
                    return Outcome("applied", clock.attempts, settled)
                forgotten = doubtful and receipt.age_s + time.monotonic() - clock.started > self._nonce_window_s
                if forgotten or locked:
                    found = await self._standing.find(outgoing.sought, claimed)
                    if found is not None:
                        return Outcome("applied", clock.attempts, MessageId(int(found["id"])), None, found)
                if locked:
                    return Outcome("refused", clock.attempts, None, THREAD_LOCKED)
                clock.attempts += 1
                return await self._posted(outgoing, receipt.nonce, reply_to, form, clock)
            except WriteRefused as refusal:
                if reply_to is not None and refusal.code == INVALID_FORM_BODY and "message_reference" in refusal.text:
                    reply_to = None
                    continue
                if form == "embed" and refusal.code in NOT_EMBEDDED:
                    form = "plain"
                    continue
                if refusal.code == UNKNOWN_MESSAGE:
                    # The nonce is known, its message is not: it was sent, and deleted since.
                    return Outcome("applied", clock.attempts, None, "deleted_since")
                return Outcome("refused", clock.attempts, None, f"discord_{refusal.code}")
            except WriteInDoubt as doubt:
                doubtful = doubtful or doubt.cause not in HELD_BACK
                log.warning("discord.in_doubt", place_id=outgoing.place_id, cause=doubt.cause)
                again = clock.attempts > 1 and doubt.cause not in HELD_BACK
                locked = again and await self._is_locked(outgoing.place_id)
                if not locked and not await clock.paused(doubt):
                    return clock.unknown(doubt, certain=not doubtful)

    async def edit(
        self,
        place_id: PlaceId,
        message_id: MessageId,
        content: str,
        *,
        components: Sequence[Component] | None = None,
        attached: str | None = None,
        form: AnswerForm = "plain",
        within_s: float,
    ) -> Outcome:
        """Give a message of ours new words, and a file where `attached` is its text. `components` of None leaves its
        buttons as they are. The outcome has the message as it is then."""
        route = _message_route("PATCH", place_id, message_id)
        body = edit_body(content, components, FILE_NAME if attached is not None else None, form=form)
        outcome = await self._again(route, message_id, within_s, tells=True, **_carried(body, attached))
        if outcome.state == "unknown" and not outcome.certain and await self._is_locked(place_id):
            return await self._edited(place_id, message_id, content, outcome)
        if form != "embed":
            return outcome
        if outcome.failure in _NOT_EMBEDDED:
            # As an embed it may stand there from before, beside which the words would be said twice.
            plain: Body = {**edit_body(content, components, FILE_NAME if attached is not None else None), "embeds": ()}
            return await self._again(route, message_id, within_s, tells=True, **_carried(plain, attached))
        if outcome.message is None or said_in(outcome.message):
            return outcome
        return await self._said_plainly(place_id, message_id, content, within_s)

    async def reword(self, place_id: PlaceId, message_id: MessageId, content: str, *, within_s: float) -> Outcome:
        """Give a message of ours new words in the form that it has."""
        try:
            message = await self._standing.message(place_id, message_id)
        except WriteRefused as refusal:
            return Outcome("refused", 1, None, f"discord_{refusal.code}")
        except WriteInDoubt as doubt:
            return _Clock(within_s, attempts=1).unknown(doubt, certain=True)
        if message is None:
            return Outcome("refused", 1, None, f"discord_{UNKNOWN_MESSAGE}")
        return await self.edit(place_id, message_id, content, form=form_of(message), within_s=within_s)

    async def _posted(
        self, outgoing: Outgoing, nonce: str, reply_to: MessageId | None, form: AnswerForm, clock: "_Clock"
    ) -> Outcome:
        """One attempt. Raises WriteRefused or WriteInDoubt."""
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=outgoing.place_id)
        body = message_body(
            outgoing.content,
            nonce,
            reply_to,
            outgoing.ping,
            outgoing.components,
            None if outgoing.attached is None else _file(outgoing.attached).name,
            form=form,
            ping_by_reply=outgoing.ping_by_reply and reply_to is not None,
        )
        sent = as_message(await self._rest.request(route, **_carried(body, outgoing.attached)))
        crash_point("after_post")
        message_id = MessageId(int(sent["id"]))
        if form == "embed" and not said_in(sent):
            return await self._said_plainly(outgoing.place_id, message_id, outgoing.content, clock.within_s)
        return Outcome("applied", clock.attempts, message_id, None, sent)

    async def _is_locked(self, place_id: PlaceId) -> bool:
        """Whether it is a thread that was locked, as far as Discord says so quickly."""
        try:
            async with asyncio.timeout(READ_ATTEMPT_S):
                place = await self._standing.place(place_id)
        except (TimeoutError, WriteRefused, WriteInDoubt):
            return False
        return bool(cast("Mapping[str, Any]", (place or {}).get("thread_metadata") or {}).get("locked"))

    async def _edited(self, place_id: PlaceId, message_id: MessageId, content: str, doubt: Outcome) -> Outcome:
        """What became of a change in a locked thread, where Discord may say nothing but 500."""
        try:
            message = await self._standing.message(place_id, message_id)
        except (WriteRefused, WriteInDoubt):
            return doubt
        if message is not None and said_in(message) == content:
            return Outcome("applied", doubt.attempts, message_id, None, message)
        return Outcome("refused", doubt.attempts, None, THREAD_LOCKED)

    async def _said_plainly(self, place_id: PlaceId, message_id: MessageId, content: str, within_s: float) -> Outcome:
        """Where the bot may not embed, Discord may leave the embed out of what it takes: the words come after it."""
        outcome = await self.edit(place_id, message_id, content, within_s=within_s)
        return outcome if outcome.state != "refused" else replace(outcome, external_id=message_id)

    async def delete(
        self, place_id: PlaceId, message_id: MessageId, *, within_s: float, reason: str | None = None
    ) -> Outcome:
        """Delete a message of ours. One that is gone is as wanted."""
        route = _message_route("DELETE", place_id, message_id)
        return await self._again(route, message_id, within_s, done=frozenset({UNKNOWN_MESSAGE}), reason=reason)

    async def react(self, place_id: PlaceId, message_id: MessageId, emoji: str, *, within_s: float) -> Outcome:
        """Add our reaction."""
        return await self._again(_reaction_route("PUT", place_id, message_id, emoji), message_id, within_s)

    async def unreact(self, place_id: PlaceId, message_id: MessageId, emoji: str, *, within_s: float) -> Outcome:
        """Take our reaction away."""
        return await self._again(_reaction_route("DELETE", place_id, message_id, emoji), message_id, within_s)

    async def pin(
        self, place_id: PlaceId, message_id: MessageId, *, pinned: bool, within_s: float, reason: str | None = None
    ) -> Outcome:
        """Pin a message, or take its pin away."""
        route = Route(
            "PUT" if pinned else "DELETE",
            "/channels/{channel_id}/messages/pins/{message_id}",
            channel_id=place_id,
            message_id=message_id,
        )
        return await self._again(route, message_id, within_s, reason=reason)

    async def edit_thread(
        self, thread_id: PlaceId, fields: Body, *, within_s: float, reason: str | None = None
    ) -> Outcome:
        """Change a thread. `fields` are Discord's: name, archived, locked, rate_limit_per_user (seconds)."""
        route = Route("PATCH", "/channels/{channel_id}", channel_id=thread_id)
        return await self._again(route, MessageId(thread_id), within_s, json=fields, reason=reason)

    async def change(self, change: Change, *, within_s: float) -> Outcome:
        """Change a guild, a member or a channel; `external_id` of the outcome is what was made, where something was."""
        request: dict[str, Any] = {"reason": change.reason}
        route = Route(change.method, change.path, **cast("dict[str, Any]", dict(change.ids)))
        if change.json is not None:
            request["json"] = change.json
        about = MessageId(change.external_id)
        if change.again:
            return await self._again(route, about, within_s, done=change.done, **request)
        try:
            made = as_object(await self._rest.request(route, within_s=within_s, once=True, **request))
            return Outcome("applied", 1, MessageId(int(made["id"])))
        except WriteRefused as refusal:
            return Outcome("refused", 1, None, f"discord_{refusal.code}")
        except WriteInDoubt as doubt:
            return _Clock(within_s, attempts=1).unknown(doubt, certain=doubt.cause in HELD_BACK)

    async def start_thread(self, start: ThreadStart, *, doubtful: bool, within_s: float) -> Outcome:
        """Make a thread, at most once: Discord has no key for it, so one that may be there is looked for first.

        `doubtful`: an earlier attempt may have made it.
        """
        clock = _Clock(within_s)
        while True:
            try:
                if doubtful and (found := await start.found()) is not None:
                    return Outcome("applied", clock.attempts, MessageId(found))
                clock.attempts += 1
                made = as_object(
                    await self._rest.request(_thread_route(start), once=True, json=start.body, reason=start.reason)
                )
                return Outcome("applied", clock.attempts, MessageId(int(made["id"])))
            except WriteRefused as refusal:
                if doubtful and refusal.code == THREAD_EXISTS and (found := await start.found()) is not None:
                    return Outcome("applied", clock.attempts, MessageId(found))
                return Outcome("refused", clock.attempts, None, f"discord_{refusal.code}")
            except WriteInDoubt as doubt:
                doubtful = doubtful or doubt.cause not in HELD_BACK
                if doubt.cause == "timeout" or not await clock.paused(doubt):
                    # After a timeout it may still be made, later than we could look.
                    return clock.unknown(doubt, certain=not doubtful)

    async def open_direct(self, user_id: UserId) -> PlaceId:
        """The direct conversation with somebody, opened where there is none yet: that tells nobody, and opening it
        again gives the same. Raises WriteRefused or WriteInDoubt."""
        opened = as_object(
            await self._rest.request(Route("POST", "/users/@me/channels"), json={"recipient_id": str(user_id)})
        )
        return PlaceId(int(opened["id"]))

    async def renewed(self, addresses: Sequence[str]) -> Mapping[str, str]:
        """Fresh addresses of files on Discord's CDN, by those that may have expired: it changes nothing. What Discord
        does not say now is left out."""
        route = Route("POST", "/attachments/refresh-urls")
        try:
            told = as_object(await self._rest.request(route, json={"attachment_urls": list(addresses)}))
        except (WriteRefused, WriteInDoubt) as fault:
            log.info("files.not_renewed", error=str(fault))
            return {}
        pairs = cast("list[dict[str, object]]", told.get("refreshed_urls") or [])
        return {str(each.get("original")): str(each["refreshed"]) for each in pairs if each.get("refreshed")}

    async def put_commands(self, application_id: int, commands: Sequence[Body]) -> None:
        """Replace all of the application's commands. Raises WriteRefused or WriteInDoubt."""
        route = Route("PUT", "/applications/{application_id}/commands", application_id=application_id)
        await self._rest.request(route, json=list(commands))

    async def keep_typing(self, place_id: PlaceId, *, after_s: float) -> None:
        """Show that we are writing, from `after_s` seconds on until cancelled.

        Typing leaves no trace and is no effect that a receipt is owed for; a failure is logged and changes nothing.
        Where it is refused it is not asked for again: Discord counts refused requests, and bans who makes too many.
        """
        await asyncio.sleep(after_s)
        route = Route("POST", "/channels/{channel_id}/typing", channel_id=place_id)
        while True:
            try:
                await self._rest.request(route)
            except WriteInDoubt as error:
                log.info("discord.typing_failed", place_id=place_id, error=str(error))
            except WriteRefused as error:
                log.info("discord.typing_refused", place_id=place_id, error=str(error))
                return
            await asyncio.sleep(TYPING_EVERY_S)

    async def _again(
        self,
        route: Route,
        external_id: MessageId,
        within_s: float,
        *,
        done: frozenset[int] = frozenset(),
        tells: bool = False,
        **request: Any,
    ) -> Outcome:
        """Do what changes nothing when it is done twice, until Discord says something or the time is up.

        `done`: refusals that mean that it is as wanted. `tells`: Discord answers with the message.
        """
        clock, doubtful = _Clock(within_s), False
        while True:
            clock.attempts += 1
            try:
                answer = await self._rest.request(route, **request)
                message = as_message(answer) if tells else None
            except WriteRefused as refusal:
                if refusal.code in done:
                    return Outcome("applied", clock.attempts, external_id, f"discord_{refusal.code}")
                return Outcome("refused", clock.attempts, None, f"discord_{refusal.code}")
            except WriteInDoubt as doubt:
                doubtful = doubtful or doubt.cause not in HELD_BACK
                if not await clock.paused(doubt):
                    return clock.unknown(doubt, certain=not doubtful)
            else:
                return Outcome("applied", clock.attempts, external_id, None, message)


@dataclass(slots=True)
class _Clock:
    """The time and the pauses of one write that is tried again."""

    within_s: float
    attempts: int = 0
    started: float = field(default_factory=time.monotonic)
    pause_s: float = BACKOFF_FIRST_S

    async def paused(self, doubt: WriteInDoubt) -> bool:
        """Pause before the next attempt; False if the time would be up by then."""
        wait_s = self.wait_s(doubt)
        if time.monotonic() - self.started + wait_s > self.within_s:
            return False
        REST_RETRIES.labels(doubt.cause).inc()
        await asyncio.sleep(wait_s)
        self.pause_s = min(self.pause_s * 2, BACKOFF_MOST_S)
        return True

    def wait_s(self, doubt: WriteInDoubt) -> float:
        return max(self.pause_s, doubt.retry_after_s or 0.0)

    def unknown(self, doubt: WriteInDoubt, *, certain: bool) -> Outcome:
        """What is left when the time is up."""
        return Outcome("unknown", self.attempts, None, doubt.cause, retry_after_s=self.wait_s(doubt), certain=certain)


def _file(attached: str | Attached) -> Attached:
    if isinstance(attached, Attached):
        return attached
    return Attached(FILE_NAME, attached.encode(), "text/markdown")


def _carried(body: Body, attached: str | Attached | None) -> dict[str, Any]:
    """How the body goes over the wire: as JSON, or as a form with the file beside it."""
    if attached is None:
        return {"json": body}
    sent = _file(attached)
    file = {"name": "files[0]", "filename": sent.name, "content_type": sent.kind, "value": sent.content}
    form = [{"name": "payload_json", "value": orjson.dumps(body).decode(), "content_type": "application/json"}, file]
    return {"form": form}


def _thread_route(start: ThreadStart) -> Route:
    if start.message_id is None:
        return Route("POST", "/channels/{channel_id}/threads", channel_id=start.place_id)
    path = "/channels/{channel_id}/messages/{message_id}/threads"
    return Route("POST", path, channel_id=start.place_id, message_id=start.message_id)


def _message_route(method: str, place_id: PlaceId, message_id: MessageId) -> Route:
    return Route(method, "/channels/{channel_id}/messages/{message_id}", channel_id=place_id, message_id=message_id)


def _reaction_route(method: str, place_id: PlaceId, message_id: MessageId, emoji: str) -> Route:
    return Route(
        method,
        "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        channel_id=place_id,
        message_id=message_id,
        emoji=emoji,
    )
