"""Pages that research on the web brought, one row an address within a space: refreshed by it, gone when expired."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from memory.database import Db
from memory.ids import SpaceId

MOST_TEXT: Final = 40_000
"""Characters of a page that are kept."""

MOST_TITLE: Final = 300
MOST_URL: Final = 2_000

_PORTS: Final = {"http": 80, "https": 443}
_TRACKING: Final = ("utm_", "gclid=", "fbclid=", "msclkid=")


@dataclass(frozen=True, slots=True)
class WebDocument:
    """A page as it was at `fetched_at`."""

    url: str
    title: str
    content: str
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page that was just brought. `fetched_at` is None for now, by the database's clock."""

    url: str
    title: str
    content: str
    fetched_at: datetime | None = None

    @property
    def digest(self) -> bytes:
        """Equal texts have equal ones."""
        return blake2b(self.content.encode(), digest_size=16).digest()


def canonical(url: str) -> str | None:
    """The address in the one form under which its page is kept; None for what is no plain address of a web page.

    Scheme and host in small letters, no default port, no fragment, nothing that only tracks who follows a link.
    Addresses with a user or password, of another scheme, or longer than MOST_URL are refused.
    """
    asked = url.strip()
    if not asked.isprintable() or any(each.isspace() for each in asked):
        return None  # urlsplit would take some of it out and go on
    try:
        parts = urlsplit(asked)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in _PORTS or not host or parts.username is not None or parts.password is not None:
        return None
    scheme = parts.scheme.lower()
    named = f"[{host}]" if ":" in host else host
    place = named if port in (None, _PORTS[scheme]) else f"{named}:{port}"
    query = "&".join(each for each in parts.query.split("&") if not each.lower().startswith(_TRACKING))
    made = urlunsplit((scheme, place, parts.path or "/", query, ""))
    return made if len(made.encode(errors="replace")) <= MOST_URL else None


# Keep pages; what was fetched later wins.
KEEP_SQL: Final = """
INSERT INTO web_documents AS d (space_id, url, title, content, digest, fetched_at, expires_at)
SELECT $1, url, title, content, digest, coalesce(fetched_at, now()), now() + $7
FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[])
    AS p (url, title, content, digest, fetched_at)
ORDER BY url
ON CONFLICT (space_id, url) DO UPDATE SET
    title = EXCLUDED.title, content = EXCLUDED.content, digest = EXCLUDED.digest, fetched_at = EXCLUDED.fetched_at,
    expires_at = EXCLUDED.expires_at
WHERE d.fetched_at <= EXCLUDED.fetched_at
"""

# The kept pages of these addresses.
KEPT_SQL: Final = """
SELECT url, title, content, fetched_at FROM web_documents
WHERE space_id = $1 AND url = ANY($2::text[]) AND expires_at > now()
"""

# Drop the pages that expired so many days ago, oldest first.
EXPIRE_DOCUMENTS_SQL: Final = """
WITH dropped AS (
    DELETE FROM web_documents WHERE (space_id, url) IN (
        SELECT space_id, url FROM web_documents
        WHERE expires_at <= now() - make_interval(days => $1) ORDER BY expires_at LIMIT $2)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""


async def keep(db: Db, space_id: SpaceId, pages: Sequence[Fetched], *, for_days: int) -> None:
    """Keep the pages for so many days from now. Their addresses are canonical, and each stands once."""
    if pages:
        await db.execute(
            KEEP_SQL,
            space_id,
            [page.url for page in pages],
            [page.title[:MOST_TITLE] for page in pages],
            [page.content[:MOST_TEXT] for page in pages],
            [page.digest for page in pages],
            [page.fetched_at for page in pages],
            timedelta(days=for_days),
        )


async def kept(db: Db, space_id: SpaceId, urls: Sequence[str]) -> dict[str, WebDocument]:
    """What is kept of these canonical addresses, by address."""
    if not urls:
        return {}
    return {row["url"]: WebDocument(*row) for row in await db.fetch(KEPT_SQL, space_id, list(urls))}
