"""What is counted. Metrics never decide anything, and their failure never breaks anything."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

EVENTS: Final = Counter("muninn_events", "Dispatches by what became of them.", ["ack"])
GROUP_SIZE: Final = Histogram("muninn_group_events", "Events a journal transaction.", buckets=(1, 2, 4, 8, 16, 32, 64))
COMMIT_SECONDS: Final = Histogram(
    "muninn_commit_seconds",
    "Seconds a journal transaction took, retries included.",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30),
)
QUEUE_DEPTH: Final = Gauge("muninn_ingress_queued", "Dispatches that wait for the journal.")
DATABASE_UP: Final = Gauge("muninn_database_up", "1 while PostgreSQL answers.")
REDIS_UP: Final = Gauge("muninn_redis_up", "1 while Redis answers; Muninn runs without it.")
REDIS_ERRORS: Final = Counter("muninn_redis_errors", "Redis calls that failed or were too slow.")
GATEWAY_UP: Final = Gauge("muninn_gateway_up", "1 while the gateway session lives.")
GAPS: Final = Counter("muninn_gaps", "Spans that had to be fetched again, by reason.", ["reason"])
BACKFILLED: Final = Counter("muninn_backfilled_messages", "Messages that a backfill brought into the journal.")
TURNS: Final = Counter("muninn_turns", "Turns by how they ended.", ["end"])
TURN_SECONDS: Final = Histogram(
    "muninn_turn_seconds",
    "Seconds from queued to ended.",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 600),
)
REST_RETRIES: Final = Counter("muninn_rest_retries", "Writes to Discord that were tried again, by cause.", ["cause"])
HELD_BACK: Final = Counter("muninn_held_back", "Addressed messages over a rate limit.", ["limit"])
STEPS: Final = Counter("muninn_model_steps", "Model calls, by how they ended: ok, error.", ["end"])
MODEL_SECONDS: Final = Histogram(
    "muninn_model_seconds", "Seconds of one model call.", buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120)
)
MODEL_TOKENS: Final = Counter("muninn_model_tokens", "Tokens by the provider's count, prompt or completion.", ["kind"])
TOOL_SECONDS: Final = Histogram(
    "muninn_tool_seconds",
    "Seconds of one call of a tool.",
    ["tool"],
    buckets=(0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20),
)
TOOL_CALLS: Final = Counter("muninn_tool_calls", "Calls of tools, by tool and end: done, failed.", ["tool", "end"])
WEB_SEARCHES: Final = Counter("muninn_web_searches", "Searches of the web, by how they ended: ok, or a code.", ["end"])
RECEIPTS: Final = Counter(
    "muninn_action_receipts", "External effects by action and end: applied, refused, unknown.", ["action", "end"]
)
DECISIONS: Final = Counter(
    "muninn_action_decisions", "Wishes by action and decision: allowed, refused, ask.", ["action", "decision"]
)
CARDS: Final = Counter("muninn_action_cards", "Cards by what became of them.", ["end"])
MODERATION: Final = Counter("muninn_moderation", "Cases by deed and end: done, refused, unknown.", ["deed", "end"])
INTERACTIONS: Final = Counter("muninn_interactions", "Interactions by kind and end.", ["kind", "end"])
TURNS_RUNNING: Final = Gauge("muninn_turns_running", "Turns that this process works on.")

# Counted in the tables when they are asked for (bot.backlog), so that they hold for all processes together.
INBOX_WAITING: Final = Gauge("muninn_inbox_waiting", "Addressed messages that wait for the router.")
TURNS_QUEUED: Final = Gauge("muninn_turns_queued", "Turns that wait for a worker.")
QUEUE_OLDEST: Final = Gauge("muninn_queue_oldest_seconds", "Seconds that the oldest of both has waited.")
TURNS_BEGUN: Final = Gauge("muninn_turns_begun", "Turns that some process has begun and not ended.")
LEASE_OVERDUE: Final = Gauge("muninn_lease_overdue_seconds", "Seconds since the first lapsed lease of a turn ran out.")
GAPS_OPEN: Final = Gauge("muninn_gaps_open", "Spans of messages that are still to be fetched.")
GAP_OLDEST: Final = Gauge("muninn_gap_oldest_seconds", "Seconds since the oldest of them was opened.")
PARKED: Final = Gauge("muninn_parked_events", "Events that could not be journalled.")
RECEIPTS_OPEN: Final = Gauge("muninn_receipts_open", "Effects of which it is not known whether Discord did them.")
RECEIPT_OLDEST: Final = Gauge("muninn_receipt_oldest_seconds", "Seconds since the oldest of them was intended.")
PLACES_UNREAD: Final = Gauge("muninn_memory_places_waiting", "Places with messages that memory has yet to read.")

LOOP_LAG: Final = Histogram(
    "muninn_loop_lag_seconds",
    "Seconds by which the event loop was late, looked at once a second.",
    buckets=(0.005, 0.02, 0.05, 0.1, 0.25, 1, 5),
)
BUILD: Final = Gauge("muninn_build_info", "1; the label is the version.", ["version"])

MEMORY_REQUESTS: Final = Counter(
    "muninn_memory_requests", "Requests to models for durable memory, by purpose and end.", ["purpose", "end"]
)
MEMORY_REQUEST_SECONDS: Final = Histogram(
    "muninn_memory_request_seconds",
    "Seconds of one of them, by purpose.",
    ["purpose"],
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 180),
)
MEMORY_ENTRIES: Final = Counter(
    "muninn_memory_entries", "Extracted entries by what became of them: created, ..., refused:<reason>.", ["outcome"]
)
MEMORY_TAKEN_BACK: Final = Counter("muninn_memory_taken_back", "Memories that ended with their evidence.")
EMBEDDED: Final = Counter("muninn_memory_embedded", "Memories that got their vector.")
