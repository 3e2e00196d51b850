"""What is said at the end of a run: the answer with what it leaves undone, or one sentence on why there is none."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from agent.contracts import RunOutcome
from bot.payloads import clean
from bot.speech.answers import Shape, called, mentioned, shaped
from memory.database import BORROW_S, Pool
from memory.ids import UserId
from memory.scope import Scope, fetch_scoped

# What a member is told when there is no answer, by the run's end reason: what happened, what is safe, what to do.
FAILURES: Final[Mapping[str, str]] = {
    "model_unavailable": (
        "I cannot reach my language model right now, so I have no answer; your message is kept, so please ask again in "
        "a minute."
    ),
    "model_refused": (
        "My language model does not take this request, so I have no answer; your message is kept, and the person who "
        "runs me finds the reason in my log."
    ),
    "too_long": (
        "What you ask needs more room than my language model has, so I have no answer; your message is kept, so please "
        "ask for less at once."
    ),
    "empty_answer": (
        "My language model gave an empty answer, so I have none for you; your message is kept, so please ask again in "
        "other words."
    ),
    "content_filter": (
        "My language model's provider filtered its answer, so I have none for you; your message is kept, so please ask "
        "in other words."
    ),
    "limit_time": "That took longer than I may take, so I stopped without an answer; please ask for less at once.",
    "limit_steps": "That took more steps than I may take, so I stopped without an answer; please ask for less at once.",
    "limit_calls": "That took more steps than I may take, so I stopped without an answer; please ask for less at once.",
    "stopped": (
        "The person who runs me has switched me off for now, so I have no answer; your message is kept, so please ask "
        "again later."
    ),
    "budget_member": (
        "You have used up what I may spend on one member in a day, so I have no answer; your message is kept, so "
        "please ask again after midnight UTC."
    ),
    "budget_space": (
        "What I may spend here in a day is used up, so I have no answer; your message is kept, so please ask again "
        "after midnight UTC."
    ),
    "broken": (
        "Something in me broke several times over this message, so I stopped trying; it is kept, and the person who "
        "runs me finds the reason in my log."
    ),
}

CUT_OFF: Final = "\n\n(My answer was longer than I may make it, and ends here. Ask me to go on.)"
UNFINISHED: Final = "\n\n(I reached my limit of work for one answer. Not done: {}.)"

# What these members were last called, as far as they spoke in this place lately.
NAMES_SQL: Final = """
SELECT DISTINCT ON (author_id) author_id, author_name FROM (
    SELECT author_id, author_name, message_id FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 ORDER BY message_id DESC LIMIT 2000
) AS lately
WHERE author_id = ANY($3::bigint[]) ORDER BY author_id, message_id DESC
"""


def shape_of(outcome: RunOutcome, text: str) -> tuple[Shape, str]:
    """What is said of an outcome, and the reason that is kept; `text` is its answer, worded for who reads it."""
    shape = shaped(text, _notes(outcome)) if outcome.kind == "answered" else Shape(())
    if shape.parts:
        return shape, outcome.reason
    reason = outcome.reason if outcome.kind == "failed" else "empty_answer"
    return Shape((FAILURES.get(outcome.error_code or "") or FAILURES.get(reason, FAILURES["broken"]),)), reason


async def worded(pool: Pool, scope: Scope, answered: UserId, text: str, names: Mapping[int, str]) -> str:
    """The answer's text without what nobody may see, and with mentions of nobody but the member answered.

    `names`: what those are called who are known already; who is not among them is looked up.
    """
    said = clean(text)
    unknown = mentioned(said) - {answered} - names.keys() if "<@" in said else frozenset[int]()
    if unknown:
        async with pool.acquire(timeout=BORROW_S) as conn:
            rows = await fetch_scoped(conn, NAMES_SQL, scope, [each for each in unknown if each < 2**63])
        names = {**names, **{row["author_id"]: row["author_name"] for row in rows}}
    return called(said, names, answered)


def _notes(outcome: RunOutcome) -> str:
    """What the member should know of an answer's limits: the model may have forgotten to say so."""
    notes = CUT_OFF if outcome.reason == "truncated" else ""
    if outcome.unfinished:
        counts = Counter(outcome.unfinished)
        notes += UNFINISHED.format(", ".join(f"{tool}{f' ({n} times)' if n > 1 else ''}" for tool, n in counts.items()))
    return notes
