"""The one door for writes to Discord.

Everything that Muninn does there goes through here: mentions are switched off except for the one person answered (I11),
a message carries its receipt's nonce, and what is ambiguous (a reset, a timeout, a 5xx) is sent again with the same
nonce while Discord remembers it, after that only if the place shows that it is missing (I3, I4).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import structlog
from discord.http import Route

from bot.crash import crash_point
from bot.errors import WriteInDoubt, WriteRefused
from bot.metrics import REST_RETRIES
from bot.receipts import Receipt, Settled
from bot.rest import Rest
from memory.ids import MessageId, PlaceId, UserId

log = structlog.get_logger(__name__)

BACKOFF_FIRST_S: Final = 0.25
BACKOFF_MOST_S: Final = 15.0
HISTORY_PAGE: Final = 100
"""Discord's limit for one page of history."""

HISTORY_PAGES: Final = 50
TYPING_EVERY_S: Final = 8.0
"""Discord shows typing for about ten seconds."""

UNKNOWN_MESSAGE: Final = 10008
INVALID_FORM_BODY: Final = 50035


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send. `since`: the message after which it can only have been sent (the trigger)."""

    place_id: PlaceId
    content: str
    since: MessageId
    reply_to: MessageId | None = None
    ping: UserId | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a write. `message`: Discord's own account of a message that was sent, where there is one.

    `retry_after_s` is set where nothing stands against trying again, at the earliest after so many seconds.
    """

    state: Settled
    attempts: int
    external_id: MessageId | None = None
    failure: str | None = None
    message: Mapping[str, Any] | None = None
    retry_after_s: float | None = None


class Writes:
    """The door. `own_id`: the bot's user; `nonce_window_s`: how long a nonce is trusted to be remembered."""

    def __init__(self, rest: Rest, own_id: int, *, nonce_window_s: float) -> None:
        self._rest = rest
        self._own_id = own_id
        self._nonce_window_s = nonce_window_s

    async def send(
        self,
        outgoing: Outgoing,
        receipt: Receipt,
        *,
        known: Callable[[], Awaitable[MessageId | None]],
        claimed: Callable[[list[int]], Awaitable[frozenset[int]]],
        within_s: float,
    ) -> Outcome:
        """Send the message of `receipt`, at most once, trying for about `within_s` seconds.

        Before anything is sent again, `known` says under which id the receipt was settled meanwhile (the gateway brings
        our messages back), and raises if the turn is no longer ours. `claimed` says which messages of ours other
        receipts account for. The outcome is for the caller to record.
        """
        assert receipt.nonce is not None  # noqa: S101 - every message's receipt is made with one
        started = time.monotonic()
        attempts, reply_to, pause_s = 0, outgoing.reply_to, BACKOFF_FIRST_S
        doubtful = not receipt.fresh
        while True:
            try:
                if attempts > 0 and (settled := await known()) is not None:
                    return Outcome("applied", attempts, settled)
                if doubtful and receipt.age_s + time.monotonic() - started > self._nonce_window_s:
                    found = await self.find(outgoing, claimed)
                    if found is not None:
                        return Outcome("applied", attempts, MessageId(int(found["id"])), None, found)
                attempts += 1
                body = message_body(outgoing.content, receipt.nonce, reply_to, outgoing.ping)
                route = Route("POST", "/channels/{channel_id}/messages", channel_id=outgoing.place_id)
                sent = _message(await self._rest.request(route, json=body))
                crash_point("after_post")
                return Outcome("applied", attempts, MessageId(int(sent["id"])), None, sent)
            except WriteRefused as refusal:
                if reply_to is not None and refusal.code == INVALID_FORM_BODY and "message_reference" in refusal.text:
                    reply_to = None
                    continue
                if refusal.code == UNKNOWN_MESSAGE:
                    # The nonce is known, its message is not: it was sent, and deleted since.
                    return Outcome("applied", attempts, None, "deleted_since")
                return Outcome("refused", attempts, None, f"discord_{refusal.code}")
            except WriteInDoubt as doubt:
                doubtful = True
                wait_s = max(pause_s, doubt.retry_after_s or 0.0)
                if time.monotonic() - started + wait_s > within_s:
                    return Outcome("unknown", attempts, None, doubt.cause, retry_after_s=wait_s)
                REST_RETRIES.labels(doubt.cause).inc()
                log.warning("discord.retry", place_id=outgoing.place_id, cause=doubt.cause, retry_in_s=round(wait_s, 2))
                await asyncio.sleep(wait_s)
                pause_s = min(pause_s * 2, BACKOFF_MOST_S)

    async def react(self, place_id: PlaceId, message_id: MessageId, emoji: str, *, within_s: float) -> Outcome:
        """Add our reaction. Naturally idempotent: doing it again changes nothing."""
        started, attempts, pause_s = time.monotonic(), 0, BACKOFF_FIRST_S
        route = Route(
            "PUT",
            "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
            channel_id=place_id,
            message_id=message_id,
            emoji=emoji,
        )
        while True:
            attempts += 1
            try:
                await self._rest.request(route)
            except WriteRefused as refusal:
                return Outcome("refused", attempts, None, f"discord_{refusal.code}")
            except WriteInDoubt as doubt:
                wait_s = max(pause_s, doubt.retry_after_s or 0.0)
                if time.monotonic() - started + wait_s > within_s:
                    return Outcome("unknown", attempts, None, doubt.cause, retry_after_s=wait_s)
                REST_RETRIES.labels(doubt.cause).inc()
                await asyncio.sleep(wait_s)
                pause_s = min(pause_s * 2, BACKOFF_MOST_S)
            else:
                return Outcome("applied", attempts, message_id)

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

    async def reacted(self, place_id: PlaceId, message_id: MessageId, emoji: str) -> bool:
        """Whether our reaction stands on the message. Raises WriteRefused or WriteInDoubt."""
        route = Route("GET", "/channels/{channel_id}/messages/{message_id}", channel_id=place_id, message_id=message_id)
        message = _message(await self._rest.request(route))
        for each in cast("list[Mapping[str, Any]]", message.get("reactions") or []):
            shown = cast("Mapping[str, Any]", each["emoji"])
            if each.get("me") and emoji in (shown.get("name"), f"{shown.get('name')}:{shown.get('id')}"):
                return True
        return False

    async def find(
        self, outgoing: Outgoing, claimed: Callable[[list[int]], Awaitable[frozenset[int]]]
    ) -> Mapping[str, Any] | None:
        """Our own message with these words in this place since the trigger, that no other receipt accounts for.

        Raises WriteRefused where the place cannot be read, WriteInDoubt where nobody can say.
        """
        after = outgoing.since
        for _ in range(HISTORY_PAGES):
            route = Route("GET", "/channels/{channel_id}/messages", channel_id=outgoing.place_id)
            page = _messages(await self._rest.request(route, params={"limit": str(HISTORY_PAGE), "after": str(after)}))
            page.sort(key=lambda message: int(message["id"]))
            ours = [m for m in page if int(m["author"]["id"]) == self._own_id and _reads(m, outgoing)]
            taken = await claimed([int(m["id"]) for m in ours]) if ours else frozenset[int]()
            for message in ours:
                if int(message["id"]) not in taken:
                    return message
            if len(page) < HISTORY_PAGE:
                return None
            after = MessageId(int(page[-1]["id"]))
        raise WriteInDoubt("long_history")


def _message(answer: object) -> Mapping[str, Any]:
    """A message in an answer of Discord's. Raises WriteInDoubt for anything else."""
    if isinstance(answer, Mapping):
        message = cast("Mapping[str, Any]", answer)
        if str(message.get("id", "")).isdecimal() and isinstance(message.get("author"), Mapping):
            return message
    raise WriteInDoubt("bad_answer")


def _messages(answer: object) -> list[Mapping[str, Any]]:
    if not isinstance(answer, list):
        raise WriteInDoubt("bad_answer")
    return [_message(each) for each in cast("list[object]", answer)]


def _reads(message: Mapping[str, Any], outgoing: Outgoing) -> bool:
    """Whether the message can be `outgoing`: its words, and in reply to no other message than that one."""
    reference = cast("Mapping[str, Any]", message.get("message_reference") or {})
    return message.get("content") == outgoing.content and reference.get("message_id") in (
        None,
        str(outgoing.reply_to) if outgoing.reply_to is not None else None,
    )


def message_body(content: str, nonce: str, reply_to: MessageId | None, ping: UserId | None) -> dict[str, object]:
    """A message as Discord's API takes it. Nobody is pinged but, where the words name them, the one answered (I11)."""
    body: dict[str, object] = {
        "content": content,
        "nonce": nonce,
        "enforce_nonce": True,
        "tts": False,
        "allowed_mentions": {
            "parse": [],
            "users": [str(ping)] if ping is not None else [],
            "replied_user": False,
        },
    }
    if reply_to is not None:
        body["message_reference"] = {"message_id": str(reply_to), "fail_if_not_exists": False}
    return body
