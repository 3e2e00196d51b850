"""What must hold after any crash: Discord, the journal, the turns and the receipts say the same, and nothing twice."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import asyncpg

from sandbox.discord import Discord, Message
from tests.crash.company import CONFIRMED, Company
from tests.harness.stage import Stage

ENDED: Final = frozenset({"answered", "failed_told", "cancelled", "expired"})

# What the journal says of each message.
JOURNAL_SQL: Final = """
SELECT message_id, content, deleted_at IS NOT NULL AS deleted, author_kind, turn_id,
       (SELECT count(*) FROM discord_events e WHERE e.space_id = c.space_id AND e.message_id = c.message_id
          AND e.kind = 'MESSAGE_CREATE') AS creates
FROM chat_messages c
"""

# What a run, a tool call, a gap, a cursor or an inbox row left open, and what was parked.
LEFT_OPEN_SQL: Final = """
SELECT 'run of turn ' || turn_id || ' is still running' FROM agent_runs WHERE state = 'running'
UNION ALL SELECT 'call ' || tool || ' of run ' || run_id || ' is still planned' FROM agent_tool_calls
  WHERE state = 'planned'
UNION ALL SELECT 'gap ' || gap_id || ' is still open' FROM gateway_gaps WHERE closed_at IS NULL
UNION ALL SELECT 'place ' || place_id || ' is still behind' FROM place_cursors WHERE backfill_after IS NOT NULL
UNION ALL SELECT 'message ' || message_id || ' still waits in the inbox' FROM discord_inbox WHERE state = 'waiting'
UNION ALL SELECT 'parked: ' || kind || ', ' || reason FROM parked_events
UNION ALL SELECT 'run ' || run_id || ' has no summary' FROM agent_runs WHERE state <> 'running' AND summary IS NULL
UNION ALL SELECT 'call ' || tool || ' of run ' || run_id || ' ended without a result' FROM agent_tool_calls
  WHERE state <> 'planned' AND result IS NULL
UNION ALL SELECT 'run ' || r.run_id || ' tells of ' || r.calls || ' calls and has ' || count(c.ordinal)
  FROM agent_runs r LEFT JOIN agent_tool_calls c USING (run_id) WHERE r.state <> 'running'
  GROUP BY r.run_id HAVING r.calls <> count(c.ordinal)
UNION ALL SELECT 'turn ' || turn_id || ' has ' || count(*) || ' runs' FROM agent_runs
  GROUP BY turn_id HAVING count(*) > 1
UNION ALL SELECT 'card ' || card_id || ' is ' || state || ' and shows ' || coalesce(shown, 'nothing') FROM action_cards
  WHERE state <> 'open' AND shown IS DISTINCT FROM state
UNION ALL SELECT 'receipt ' || receipt_id || ' (' || action || ') is still ' || state FROM action_receipts
  WHERE state IN ('intended', 'unknown')
"""

PARTS_SQL: Final = """
SELECT p.turn_id, p.content, r.state, r.external_id
FROM turn_parts p JOIN action_receipts r USING (nonce) ORDER BY p.turn_id, p.part
"""


# What became of each card, by its message.
CARDS_SQL: Final = "SELECT message_id, state, code FROM action_cards WHERE message_id IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Words:
    """A message as it stands: its words (None once it is deleted) and nothing else."""

    content: str | None


def shown(discord: Discord) -> dict[int, Words]:
    """Every message that was ever posted, by id, as Discord has it now."""
    return {message.id: Words(None if message.deleted else message.content) for message in everything(discord)}


def everything(discord: Discord) -> list[Message]:
    """Every message that was ever posted, the deleted ones too, oldest first."""
    found = [message for place in discord.world.channels.values() for message in place.shelf.everything()]
    return sorted(found, key=lambda message: message.id)


async def journalled(pool: asyncpg.Pool) -> dict[int, Words]:
    """Every message in the journal, as it has it now."""
    rows = await pool.fetch(JOURNAL_SQL)
    return {row["message_id"]: Words(None if row["deleted"] else row["content"]) for row in rows}


@dataclass(slots=True)
class Verdict:
    """The judge. It knows what nobody could tell Muninn, and accepts nothing else that differs.

    Discord's history shows neither what was edited or deleted before the last message that Muninn had committed, nor
    what came and went while it was down; the gap's row says that there may be such things (I1).
    """

    stage: Stage
    company: Company
    _untold: dict[int, tuple[Words, Words]] = field(default_factory=dict[int, tuple[Words, Words]])
    _never_shown: set[int] = field(default_factory=set[int])
    _posted_unheard: set[int] = field(default_factory=set[int])

    def note_start(self, at_death: Mapping[int, Words]) -> None:
        """A new session begins now, after a life at whose end the journal said `at_death`."""
        now = shown(self.stage.discord)
        self._untold = {key: (now[key], was) for key, was in at_death.items() if now[key] != was}
        self._posted_unheard |= now.keys() - at_death.keys()
        self._never_shown |= {key for key in self._posted_unheard if now[key].content is None}

    async def problems(self) -> list[str]:
        """All that is wrong now, in words."""
        pool = self.stage.pool
        journal = {row["message_id"]: row for row in await pool.fetch(JOURNAL_SQL)}
        turns = {row["trigger_id"]: row for row in await pool.fetch("SELECT * FROM turns")}
        parts: defaultdict[int, list[asyncpg.Record]] = defaultdict(list)
        for row in await pool.fetch(PARTS_SQL):
            parts[row["turn_id"]].append(row)
        found = [str(row[0]) for row in await pool.fetch(LEFT_OPEN_SQL)]
        found += self._wrong_journal(journal)
        found += self._wrong_turns(journal, turns)
        found += self._wrong_answers(journal, turns, parts)
        cards = {row["message_id"]: (row["state"], row["code"]) for row in await pool.fetch(CARDS_SQL)}
        return found + self._wrong_cards(cards)

    def _wrong_journal(self, journal: Mapping[int, asyncpg.Record]) -> list[str]:
        found: list[str] = []
        now = shown(self.stage.discord)
        for message in everything(self.stage.discord):
            row, words = journal.get(message.id), now[message.id]
            if row is None:
                if words.content is not None or message.id not in self._never_shown:
                    found.append(f"not journalled: {_name(message)}")
                continue
            kept = Words(None if row["deleted"] else row["content"])
            if kept != words and self._untold.get(message.id) != (words, kept):
                found.append(f"journalled as {kept.content!r}: {_name(message)}")
            if row["creates"] != 1 and not self._was_known_by_changes_alone(message, row):
                found.append(f"{row['creates']} creates in the ledger: {_name(message)}")
        found += [f"journalled, but nobody said it: {key}" for key in journal.keys() - now.keys()]
        return found

    def _wrong_turns(self, journal: Mapping[int, asyncpg.Record], turns: Mapping[int, asyncpg.Record]) -> list[str]:
        found: list[str] = []
        asked = {message.id for message in self.company.questions.values()}
        found += [f"a turn for what was no question: {turns[key]}" for key in turns.keys() - asked]
        for tag, message in self.company.questions.items():
            row = journal.get(message.id)
            if row is None or self._was_known_by_changes_alone(message, row):
                continue  # deleted before anybody saw it; _wrong_journal tells whether that can be
            turn = turns.get(message.id)
            allowed = {"answered", "cancelled"} if message.deleted else {"answered"}
            if turn is None or turn["state"] not in allowed:
                found.append(f"{tag} {'has no turn' if turn is None else turn['state']}: {_name(message)}")
        return found

    def _was_known_by_changes_alone(self, message: Message, row: asyncpg.Record) -> bool:
        """Posted while nobody listened, then edited or deleted before it was fetched, and gone: it has no create."""
        return message.deleted and row["creates"] == 0 and message.id in self._posted_unheard

    def _wrong_answers(
        self,
        journal: Mapping[int, asyncpg.Record],
        turns: Mapping[int, asyncpg.Record],
        parts: Mapping[int, list[asyncpg.Record]],
    ) -> list[str]:
        found: list[str] = []
        bot = self.stage.discord.bot
        said: defaultdict[str, list[Message]] = defaultdict(list)
        for message in everything(self.stage.discord):
            if message.author is bot and CONFIRMED not in message.content:
                said[self.company.tag_of(message.content)].append(message)
        for tag, trigger in self.company.questions.items():
            turn, answer = turns.get(trigger.id), said.pop(tag, [])
            if turn is None or turn["state"] == "cancelled":
                found += [f"{tag} was cancelled, and answered: {_name(message)}" for message in answer]
                continue
            composed = parts[turn["turn_id"]]
            if [message.content for message in answer] != [part["content"] for part in composed]:
                found.append(f"{tag} was composed in {len(composed)} parts and answered by {_counted(answer)}")
                continue
            if [message.id for message in answer] != [part["external_id"] for part in composed]:
                found.append(f"{tag}: the receipts name other messages than those of the answer")
            if "\n".join(message.content for message in answer) not in self.company.answers[tag]:
                found.append(f"{tag} was answered by what the model never said in one reply")
            if not trigger.deleted and answer and answer[0].reply_to is not trigger:
                found.append(f"{tag}: the answer is no reply to the question")
            found += self._wrong_account(tag, turn, answer, journal)
            if not trigger.deleted and ("react" in trigger.content or "work" in trigger.content):
                reactions = self.stage.discord.reactions_on(trigger)
                if reactions != {"👍": [bot]}:
                    found.append(f"{tag}: the reactions are {reactions}")
        found += [f"an answer to nobody's question: {tag}" for tag in said]
        return found

    def _wrong_cards(self, cards: Mapping[int, tuple[str, str | None]]) -> list[str]:
        """One card for each question that has one, and what it is about done once if it was confirmed, else never."""
        found: list[str] = []
        asked: defaultdict[str, list[Message]] = defaultdict(list)
        done: Counter[str] = Counter()
        for message in everything(self.stage.discord):
            if message.author is self.stage.discord.bot and CONFIRMED in message.content:
                tag = self.company.tag_of(message.content)
                if message.content == f"{tag} {CONFIRMED}":
                    done[tag] += 1
                else:
                    asked[tag].append(message)
        for tag in asked.keys() | done.keys():
            ends = [cards.get(message.id) for message in asked[tag]]
            if len(ends) != 1:
                found.append(f"{tag} has {len(ends)} cards")
            elif done[tag] != int(ends[0] is not None and ends[0][1] in ("applied", "from_record")):
                found.append(f"{tag} was done {done[tag]} times, and its card is {ends[0]}")
            elif ends[0] is not None and (ends[0][0] == "open") != bool(asked[tag][0].components):
                found.append(f"{tag}: the card is {ends[0]}, and its message has other buttons")
        return found

    def _wrong_account(
        self, tag: str, turn: asyncpg.Record, answer: list[Message], journal: Mapping[int, asyncpg.Record]
    ) -> list[str]:
        """The journal names each part of an answer as ours, and as this turn's."""
        rows = [journal.get(message.id) for message in answer]
        if all(row is not None and (row["author_kind"], row["turn_id"]) == ("self", turn["turn_id"]) for row in rows):
            return []
        return [f"{tag}: the journal does not know all parts of the answer as turn {turn['turn_id']}'s"]


def _name(message: Message) -> str:
    return f"{message.id} in {message.channel}, {str(message)[:80]!r}{' (deleted)' if message.deleted else ''}"


def _counted(answer: list[Message]) -> str:
    counts = Counter(message.content[:60] for message in answer)
    return "nothing" if not answer else ", ".join(f"{count} x {text!r}" for text, count in counts.items())
