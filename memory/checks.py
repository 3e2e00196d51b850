"""What of an extraction is believed. Nothing is taken on the model's word: each refusal has a reason that is counted.

malformed        an entry that does not read, or a key that is none
unknown_user     a subject who did not speak in the stretch
foreign_evidence a message that was not in the stretch, or is gone or changed meanwhile
not_a_member     words of the bot, of another bot, of a webhook or of Discord
not_own_words    a quote, a forward, a paste, a command, an echo, a question: nothing that its author states
not_the_speaker  about somebody else than who said it
unsupported      the messages have nothing to do with it: made up
translated       not in the language of its source
unsure           the model itself is not sure
request          what somebody wants of the bot, and not a fact
empty, too_long, secret      as memory.items refuses them
forgotten, outdated, told_by_hand, cap_reached, rate_limited      as memory.values refuses them
unknown_end      a relation with an end that is no active memory, or with two ends that are one
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

from memory.batches import Batch, Heard
from memory.dates import day_of, resolve
from memory.errors import MemoryRefused
from memory.extraction import Candidate, CandidateLink, Extracted
from memory.ids import MessageId, UserId
from memory.items import require_content
from memory.keys import content_hash, is_key
from memory.kinds import Relation
from memory.owners import owner_of
from memory.speech import scripts_in, supports
from memory.values import Value, Witness

SURE_ENOUGH: Final = 0.5
FOREIGN_SHARE: Final = 0.4
"""Of the letters of a text: a script with less than this is there by names and borrowed words only."""

SHORT_WORDS: Final = 4
"""An answer of so few words gets its meaning from what it answers."""

# What a memory reads like that is about the conversation with the bot, and not about the world.
_ABOUT_A_REQUEST: Final = re.compile(
    r"\b(?:asked|asks|requested|requests|wants|wanted|told|instructed|is asking)\s+"
    r"(?:for help|the (?:bot|assistant|ai)|muninn|you)\b"
    r"|\b(?:system prompt|the assistant should|the bot (?:should|must)|as an ai)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """A memory that may be stored, by the name that the answer gave it."""

    ref: str
    value: Value


@dataclass(frozen=True, slots=True)
class CheckedLink:
    """A relation that may be stored, once its ends are known."""

    from_ref: str
    to_ref: str
    relation: Relation
    confidence: float
    evidence: tuple[Witness, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is believed, oldest first, and how many entries were refused for which reason."""

    memories: tuple[Checked, ...]
    links: tuple[CheckedLink, ...]
    refused: Counter[str]


def check(batch: Batch, extracted: Extracted) -> Verdict:
    """Check each entry of an answer about `batch`. Touches nothing."""
    refused: Counter[str] = Counter()
    if extracted.malformed:
        refused["malformed"] += extracted.malformed
    heard = {str(one.message_id): one for one in batch.messages}
    memories: list[Checked] = []
    for candidate in extracted.memories:
        try:
            memories.append(Checked(candidate.ref, _value(batch, heard, candidate)))
        except MemoryRefused as refusal:
            refused[refusal.code] += 1
    links: list[CheckedLink] = []
    for link in extracted.links:
        try:
            links.append(_link(batch, heard, link))
        except MemoryRefused as refusal:
            refused[refusal.code] += 1
    return Verdict(tuple(_last_words(memories)), tuple(links), refused)


def _value(batch: Batch, heard: Mapping[str, Heard], candidate: Candidate) -> Value:
    """The value of a candidate. Raises MemoryRefused with the reason."""
    if candidate.confidence < SURE_ENOUGH:
        raise _refusal("unsure")
    if candidate.key is not None and not is_key(candidate.key):
        raise _refusal("malformed")
    said = _cited(heard, candidate.evidence)
    subject = _subject(batch, candidate, said)
    if any(not one.own for one in said):
        raise _refusal("not_own_words")
    newest = max(said, key=lambda one: one.message_id)
    content = require_content(resolve(candidate.content, batch.local_time(newest).date()))
    if _ABOUT_A_REQUEST.search(content):
        raise _refusal("request")
    own = " ".join(one.own for one in said)
    asked = " ".join(_answered(batch, one) for one in said)
    names = [person.name for person in batch.people]
    if _translated(own, content, names):
        raise _refusal("translated")
    if not supports(f"{own} {asked}", content, without=names):
        raise _refusal("unsupported")
    return Value(
        owner=owner_of(candidate.scope, batch.space_id, batch.place_id, subject),
        place_id=batch.place_id,
        kind=candidate.kind,
        key=candidate.key,
        content=content,
        source="extracted",
        author_id=newest.author_id,
        author_name=newest.author_name[:100],
        said_id=newest.message_id,
        importance=candidate.importance,
        asserted=candidate.confidence,
        evidence=tuple(_witness(batch, one) for one in said),
        expires_at=_end_of(batch, newest, candidate.expires),
    )


def _link(batch: Batch, heard: Mapping[str, Heard], link: CandidateLink) -> CheckedLink:
    said = _cited(heard, link.evidence)
    if any(not one.own for one in said):
        raise _refusal("not_own_words")
    if link.confidence < SURE_ENOUGH:
        raise _refusal("unsure")
    return CheckedLink(
        link.from_ref,
        link.to_ref,
        link.relation,
        link.confidence,
        tuple(_witness(batch, one) for one in said),
    )


def _cited(heard: Mapping[str, Heard], evidence: Sequence[str]) -> list[Heard]:
    """The messages that are cited, each once. Raises MemoryRefused for one that is not there, or is no member's."""
    said: list[Heard] = []
    for message_id in dict.fromkeys(evidence):
        one = heard.get(message_id)
        if one is None:
            raise _refusal("foreign_evidence")
        if one.author_kind != "member":
            raise _refusal("not_a_member")
        said.append(one)
    return said


def _subject(batch: Batch, candidate: Candidate, said: Sequence[Heard]) -> UserId:
    """Whom it is about; for what is the place's or the guild's, who said it first."""
    if candidate.scope != "user":
        return said[0].author_id
    known = {str(person.user_id): person.user_id for person in batch.people}
    subject = known.get(candidate.user or "")
    if subject is None:
        raise _refusal("unknown_user")
    if any(one.author_id != subject for one in said):
        raise _refusal("not_the_speaker")
    return subject


def _answered(batch: Batch, one: Heard) -> str:
    """What another member said just before a short answer, or what it replies to: "Yes" alone says nothing."""
    if len(one.own.split()) > SHORT_WORDS:
        return ""
    before = [other for other in (*batch.earlier, *batch.messages) if other.message_id < one.message_id]
    replied = next((other for other in before if other.message_id == one.reply_to_id), None)
    asked = replied or (before[-1] if before else None)
    return asked.content if asked is not None and asked.author_kind == "member" else ""


def _translated(own: str, content: str, names: Sequence[str]) -> bool:
    """Whether the words are in another script than those that they come from, names left aside."""
    for name in names:
        if name:
            own, content = own.replace(name, " "), content.replace(name, " ")
    theirs, ours = scripts_in(own), scripts_in(content)
    if not theirs or not ours:
        return False
    # Names of things keep their script in any language, so a text may have some of both.
    main = max(ours, key=lambda script: ours[script])
    return theirs.get(main, 0.0) < FOREIGN_SHARE


def _witness(batch: Batch, one: Heard) -> Witness:
    return Witness(one.message_id, batch.place_id, one.author_id, one.version_at)


def _end_of(batch: Batch, newest: Heard, expires: str | None) -> datetime | None:
    """The end of the day on which it expires, as the speaker's days end; None if it does not, or did already."""
    day = day_of(expires)
    if day is None:
        return None
    zone = batch.zones.get(newest.author_id, UTC)
    end = datetime.combine(day + timedelta(days=1), time(), tzinfo=zone)
    return end if end > newest.created_at else None


def _last_words(memories: Sequence[Checked]) -> list[Checked]:
    """Oldest first; of different values for one key in one answer, the one that was said last, and written last."""
    ordered = [one for _, one in sorted(enumerate(memories), key=lambda pair: (pair[1].value.said_id, pair[0]))]
    last = {(one.value.owner, one.value.key): content_hash(one.value.content) for one in ordered}
    return [
        one
        for one in ordered
        if one.value.key is None or content_hash(one.value.content) == last[one.value.owner, one.value.key]
    ]


def still_there(verdict: Verdict, there: Mapping[MessageId, datetime]) -> Verdict:
    """Without what rests on messages that are gone or changed since they were read (`there`: id and version now)."""
    refused = Counter(verdict.refused)

    def stands(evidence: Sequence[Witness]) -> bool:
        return all(there.get(witness.message_id) == witness.read_version for witness in evidence)

    memories = [one for one in verdict.memories if stands(one.value.evidence)]
    links = [one for one in verdict.links if stands(one.evidence)]
    gone = len(verdict.memories) - len(memories) + len(verdict.links) - len(links)
    if gone:
        refused["foreign_evidence"] += gone
    return Verdict(tuple(memories), tuple(links), refused)


def _refusal(code: str) -> MemoryRefused:
    return MemoryRefused(code, "What was extracted is not believed.")
