"""Inspection: what is on record for a message or a run, to be shown to whoever may see it.

Read-only, and without an opinion on who may see what: the caller decides that first, and renders afterwards. Every
statement carries the space (I6). Texts come in excerpts of bounded size, payloads without secrets (I13).
"""

from bot.inspect.messages import message_report
from bot.inspect.records import (
    MOST_CHARACTERS,
    MOST_ROWS,
    CallRecord,
    CallState,
    CardRecord,
    EventRecord,
    Excerpt,
    InboxRecord,
    MessageRecord,
    MessageReport,
    ReceiptRecord,
    Revision,
    RunReport,
    RunState,
    RunSummary,
    StepRecord,
    TurnRecord,
    run_in_words,
)
from bot.inspect.runs import recent_runs, run_report

__all__ = [
    "MOST_CHARACTERS",
    "MOST_ROWS",
    "CallRecord",
    "CallState",
    "CardRecord",
    "EventRecord",
    "Excerpt",
    "InboxRecord",
    "MessageRecord",
    "MessageReport",
    "ReceiptRecord",
    "Revision",
    "RunReport",
    "RunState",
    "RunSummary",
    "StepRecord",
    "TurnRecord",
    "message_report",
    "recent_runs",
    "run_in_words",
    "run_report",
]
