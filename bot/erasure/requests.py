"""Requests to erase, as rows: asked for, worked on under a lease, done; what stays is a receipt with a keyed hash.

    queued -> swept -> done        (a guild that is come back to before its time: queued -> called_off)

Swept: all is gone, and is looked for once more after a while, since what was under way may have written since.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final, Literal, Self, TypeAlias, cast

import orjson
from asyncpg import Record

from bot.settings import Settings
from memory.database import Db
from memory.ids import SpaceId, UserId

ErasureKind: TypeAlias = Literal["member", "place", "space"]
ErasureState: TypeAlias = Literal["queued", "swept", "done", "called_off"]

_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Seal:
    """The key of the hashes in receipts. It is not in the database, so that no receipt tells whose it is by itself."""

    key: bytes

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The key that the operator set, else one made from the bot's token."""
        if settings.privacy_key is not None:
            return cls(settings.privacy_key.get_secret_value().encode())
        return cls(sha256(b"muninn erasures\0" + settings.discord_token.get_secret_value().encode()).digest())

    def mark(self, kind: ErasureKind, subject_id: int) -> bytes:
        """The hash of a person, a channel or a guild."""
        return hmac.digest(self.key, f"{kind}:{subject_id}".encode(), "sha256")


@dataclass(frozen=True, slots=True)
class Erasure:
    """One request as it stands. `subject_id` is None for a person of whom everything is gone."""

    erasure_id: int
    receipt: str
    kind: ErasureKind
    space_id: SpaceId | None
    subject_id: int | None
    state: ErasureState
    removed: Mapping[str, int]
    lease_no: int
    attempts: int
    asked_at: datetime
    done_at: datetime | None


_COLUMNS: Final = (
    "r.erasure_id, r.receipt, r.kind, r.space_id, r.subject_id, r.state, r.removed::text AS removed, r.lease_no, "
    "r.attempts, r.asked_at, r.done_at"
)

# Ask for an erasure, or find the one that is under way already.
ASK_ERASURE_SQL: Final = f"""
WITH made AS (
    INSERT INTO erasures AS r (receipt, kind, space_id, subject_id, subject_hash, asked_hash, available_at)
    VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
    ON CONFLICT (kind, coalesce(space_id, 0), subject_id) WHERE state IN ('queued', 'swept') DO NOTHING
    RETURNING {_COLUMNS}
)
SELECT * FROM made
UNION ALL
SELECT {_COLUMNS} FROM erasures r
WHERE r.kind = $2 AND r.space_id IS NOT DISTINCT FROM $3 AND r.subject_id = $4 AND r.state IN ('queued', 'swept')
  AND NOT EXISTS (SELECT FROM made)
"""


async def ask(
    db: Db,
    seal: Seal,
    kind: ErasureKind,
    subject_id: int,
    *,
    space_id: SpaceId | None,
    by: UserId | None = None,
    after_s: float = 0.0,
) -> Erasure:
    """Ask for an erasure, inside the caller's transaction; it is done by whoever runs `bot.erasure.worker`.

    `space_id` None: everywhere. `by`: who asked, None for nobody. `after_s`: seconds that it waits for.
    """
    receipt = "MUN-" + "-".join("".join(secrets.choice(_ALPHABET) for _ in range(4)) for _ in range(3))
    asked_hash = seal.mark("member", by or 0)
    args = (receipt, kind, space_id, subject_id, seal.mark(kind, subject_id), asked_hash, after_s)
    row = await db.fetchrow(ASK_ERASURE_SQL, *args) or await db.fetchrow(ASK_ERASURE_SQL, *args)
    if row is None:
        raise LookupError("an erasure vanished")
    return _erasure(row)


# A request by its receipt.
RECEIPT_SQL: Final = f"SELECT {_COLUMNS} FROM erasures r WHERE r.receipt = upper($1)"


async def by_receipt(db: Db, receipt: str) -> Erasure | None:
    """What became of a request; whoever has the receipt may know."""
    row = await db.fetchrow(RECEIPT_SQL, receipt.strip())
    return None if row is None else _erasure(row)


# Whether something of a person is being erased.
OPEN_FOR_SQL: Final = f"""
SELECT {_COLUMNS} FROM erasures r
WHERE r.kind = 'member' AND r.subject_id = $1 AND r.space_id IS NULL AND r.state IN ('queued', 'swept')
"""


async def under_way(db: Db, user_id: UserId) -> Erasure | None:
    """The erasure of everything of a person that is not done yet."""
    row = await db.fetchrow(OPEN_FOR_SQL, user_id)
    return None if row is None else _erasure(row)


# Call off what waits for a guild's time of grace.
CALL_OFF_SQL: Final = """
UPDATE erasures SET state = 'called_off', done_at = now()
WHERE kind = 'space' AND space_id = $1 AND state = 'queued' AND lease_until IS NULL
RETURNING true
"""


async def call_off(db: Db, space_id: SpaceId) -> bool:
    """The bot is in the guild again: nothing of it goes. False where nothing waited, or it is going already."""
    return bool(await db.fetchval(CALL_OFF_SQL, space_id))


# Take one in hand whose time has come; one whose holder fell silent, too.
CLAIM_ERASURE_SQL: Final = f"""
UPDATE erasures r SET
    lease_no = r.lease_no + 1, lease_until = now() + make_interval(secs => $1), attempts = r.attempts + 1
WHERE r.erasure_id = (
    SELECT erasure_id FROM erasures
    WHERE state IN ('queued', 'swept') AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
    ORDER BY available_at, erasure_id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING {_COLUMNS}
"""


async def claim(db: Db, *, lease_s: float) -> Erasure | None:
    """The next one, for `lease_s` seconds; None where there is none (I14)."""
    row = await db.fetchrow(CLAIM_ERASURE_SQL, lease_s)
    return None if row is None else _erasure(row)


# Keep a claim.
KEEP_ERASURE_SQL: Final = """
UPDATE erasures SET lease_until = now() + make_interval(secs => $3) WHERE erasure_id = $1 AND lease_no = $2
RETURNING true
"""


async def keep(db: Db, erasure: Erasure, *, lease_s: float) -> bool:
    """Hold the claim longer; False where somebody else has it."""
    return bool(await db.fetchval(KEEP_ERASURE_SQL, erasure.erasure_id, erasure.lease_no, lease_s))


# Later again.
PUT_OFF_ERASURE_SQL: Final = """
UPDATE erasures SET lease_until = NULL, available_at = now() + make_interval(secs => $3)
WHERE erasure_id = $1 AND lease_no = $2
"""


async def put_off(db: Db, erasure: Erasure, *, after_s: float) -> None:
    """Give the claim back, to be taken in hand again after a while."""
    await db.execute(PUT_OFF_ERASURE_SQL, erasure.erasure_id, erasure.lease_no, after_s)


# All is gone, but for what may be written yet.
SWEPT_SQL: Final = """
UPDATE erasures SET state = 'swept', removed = $3::text::jsonb, swept_at = now(), lease_until = NULL, attempts = 0,
    available_at = now() + make_interval(secs => $4)
WHERE erasure_id = $1 AND lease_no = $2 AND state = 'queued'
RETURNING true
"""


async def swept(db: Db, erasure: Erasure, removed: Mapping[str, int], *, again_s: float) -> bool:
    """The first sweep is done; the second follows after `again_s` seconds. False under an older claim."""
    counts = orjson.dumps(dict(removed)).decode()
    return bool(await db.fetchval(SWEPT_SQL, erasure.erasure_id, erasure.lease_no, counts, again_s))


# It is done: whom it was about is no longer known, and the receipt stays.
DONE_SQL: Final = """
WITH done AS (
    UPDATE erasures SET state = 'done', done_at = now(), lease_until = NULL,
        subject_id = CASE WHEN kind = 'member' THEN NULL ELSE subject_id END
    WHERE erasure_id = $1 AND lease_no = $2 AND state = 'swept'
    RETURNING erasure_id
), messages AS (
    DELETE FROM erasure_messages WHERE erasure_id IN (SELECT erasure_id FROM done)
), lines AS (
    DELETE FROM erasure_lines WHERE erasure_id IN (SELECT erasure_id FROM done)
)
SELECT EXISTS (SELECT FROM done)
"""


async def done(db: Db, erasure: Erasure) -> bool:
    """Nothing is left but the receipt. False under an older claim."""
    return bool(await db.fetchval(DONE_SQL, erasure.erasure_id, erasure.lease_no))


def _erasure(row: Record) -> Erasure:
    return Erasure(
        row["erasure_id"],
        row["receipt"],
        row["kind"],
        row["space_id"],
        row["subject_id"],
        row["state"],
        cast("dict[str, int]", orjson.loads(row["removed"])),
        row["lease_no"],
        row["attempts"],
        row["asked_at"],
        row["done_at"],
    )


# Whether a request is about somebody.
ABOUT_SQL: Final = "SELECT subject_hash = $2 FROM erasures WHERE erasure_id = $1"


async def is_about(db: Db, erasure: Erasure, mark: bytes) -> bool:
    """Whether the hash in the receipt is this one."""
    return bool(await db.fetchval(ABOUT_SQL, erasure.erasure_id, mark))
