"""Research on the web by the real firecrawl-py against the loopback web: what is found, kept, and told if it fails."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from dirty_equals import IsNow
from pydantic import SecretStr

from bot import research
from bot.ageing import Ageing
from bot.research import Research, SpaceResearch
from memory.ids import SpaceId
from memory.web_documents import MOST_TEXT
from sandbox.web import (
    Page,
    Web,
    broken_json,
    forbidden,
    html_page,
    out_of_credits,
    rate_limited,
    reset_connection,
    server_error,
    stall,
    timed_out,
    unsuccessful,
)
from sandbox.web.faults import Failure, Fault
from tools.errors import Refused

Pool = asyncpg.Pool
SPACE = SpaceId(1)
ATLAS = Page("https://atlas.example/release", "Atlas 2 is out", "Atlas 2 came out on **Friday**.", "About Atlas")


@pytest.fixture
async def web() -> AsyncGenerator[Web]:
    async with Web.start(pages=[ATLAS]) as started:
        yield started


@pytest.fixture
def opened(pool: Pool, web: Web) -> SpaceResearch:
    return Research(pool, api_url=web.api_url, api_key=SecretStr(web.api_key), keep_days=30).of(SPACE)


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that a test does not have to wait for."""
    monkeypatch.setattr(research, "BACKOFF_FIRST_S", 0.01)


async def rows(pool: Pool) -> list[tuple[str, ...]]:
    return [tuple(row) for row in await pool.fetch("SELECT url, title, content FROM web_documents ORDER BY url")]


async def test_a_search_brings_the_main_content_and_keeps_it(web: Web, opened: SpaceResearch, pool: Pool) -> None:
    (page,) = await opened.search("atlas release", limit=3)
    assert (page.url, page.title, page.text) == (ATLAS.url, ATLAS.title, ATLAS.markdown)
    assert page.is_read
    assert page.fetched_at == IsNow(tz=UTC, delta=20)
    (asked,) = web.searches
    assert (asked.query, asked.limit, asked.formats, asked.only_main_content) == (
        "atlas release", 3, ("markdown",), True,
    )  # fmt: skip
    assert asked.timeout_s <= research.SEARCH_S
    assert await rows(pool) == [(ATLAS.url, ATLAS.title, ATLAS.markdown)]


async def test_nothing_found_is_no_fault(opened: SpaceResearch) -> None:
    """I9."""
    assert await opened.search("zanzibar", limit=3) == []


async def test_a_page_is_refreshed_by_its_address(web: Web, opened: SpaceResearch, pool: Pool) -> None:
    """The newest fetch wins; the same page under the same address is one row a space."""
    await opened.search("atlas", limit=1)
    web.pages[:] = [Page("https://Atlas.example:443/release?utm_source=x#top", "Atlas 3", "Atlas 3 is out.")]
    (page,) = await opened.search("atlas", limit=1)
    assert (page.url, page.title) == (ATLAS.url, "Atlas 3")
    assert await rows(pool) == [(ATLAS.url, "Atlas 3", "Atlas 3 is out.")]
    web.pages[:] = [Page(ATLAS.url, "Atlas 1", "An old copy of Atlas.", cached_s=3_000)]
    assert (await opened.search("atlas", limit=1))[0].title == "Atlas 3"


async def test_a_page_from_firecrawls_cache_says_when_it_was_fetched(web: Web, opened: SpaceResearch) -> None:
    web.pages[:] = [Page(ATLAS.url, "Atlas", "Atlas.", cached_s=1_800)]
    (page,) = await opened.search("atlas", limit=1)
    age = datetime.now(UTC) - page.fetched_at
    assert timedelta(minutes=29) < age < timedelta(minutes=32)
    assert web.searches[0].max_age_s == 3_600


async def test_what_cannot_be_read_now_stands_as_it_was_read(web: Web, opened: SpaceResearch, pool: Pool) -> None:
    """With the time of that reading; and what never was read says so (I9)."""
    await opened.search("atlas", limit=1)
    await pool.execute("UPDATE web_documents SET fetched_at = fetched_at - interval '2 days'")
    web.pages[:] = [
        Page(ATLAS.url, "Atlas 2 is out", "", "Atlas in short", readable=False),
        Page("https://other.example/", "Other", "Not found", "More on Atlas", status=404),
    ]
    known, unknown = await opened.search("atlas", limit=2)
    assert (known.text, known.is_read) == (ATLAS.markdown, True)
    assert datetime.now(UTC) - known.fetched_at > timedelta(days=1)
    assert (unknown.text, unknown.is_read) == ("More on Atlas", False)
    assert len(await rows(pool)) == 1


async def test_what_is_kept_is_kept_for_a_space_and_a_time(web: Web, opened: SpaceResearch, pool: Pool) -> None:
    """I7: another space finds nothing of it; what has expired stands in for nothing and is removed."""
    await opened.search("atlas", limit=1)
    web.pages[:] = [Page(ATLAS.url, "Atlas", "", "Atlas in short", readable=False)]
    other = Research(pool, api_url=web.api_url, api_key=SecretStr(web.api_key), keep_days=30).of(SpaceId(2))
    assert not (await other.search("atlas", limit=1))[0].is_read
    await Ageing(pool, 14, 90).sweep()
    assert len(await rows(pool)) == 1
    await pool.execute("UPDATE web_documents SET expires_at = now()")
    assert not (await opened.search("atlas", limit=1))[0].is_read
    await Ageing(pool, 14, 90).sweep()
    assert await rows(pool) == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://atlas.example/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user:secret@atlas.example/",
        "https://atlas.example/" + "x" * 2_000,
        "https://atlas.example/a\nb",
        "https:///path",
        "https://[::1/",
        "not an address",
        "",
    ],
)
async def test_what_is_no_plain_address_is_left_out(web: Web, opened: SpaceResearch, pool: Pool, url: str) -> None:
    web.answers(Page(url, "Atlas", "Atlas."), ATLAS)
    assert [page.url for page in await opened.search("atlas", limit=5)] == [ATLAS.url]


async def test_mirrors_of_a_page_are_one_page(web: Web, opened: SpaceResearch) -> None:
    web.answers(ATLAS, Page("http://mirror.example/", "Copy", ATLAS.markdown), Page(ATLAS.url + "#a", "Again", "x"))
    assert [page.url for page in await opened.search("atlas", limit=5)] == [ATLAS.url]


async def test_a_huge_or_broken_page_is_kept_within_bounds(web: Web, opened: SpaceResearch, pool: Pool) -> None:
    """Five megabytes, U+0000 and half a surrogate pair: what PostgreSQL and a prompt can hold is left."""
    web.answers(Page(ATLAS.url, "At\0las\n" * 100, "Atlas \0 " + "word " * 1_000_000))
    (page,) = await opened.search("atlas", limit=1)
    assert len(page.text) == MOST_TEXT
    assert "\0" not in page.text + page.title
    assert len(page.title) == 300


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (rate_limited(), "web_rate_limited"),
        (rate_limited(0.01), "web_rate_limited"),
        (server_error(), "web_unavailable"),
        (server_error(503), "web_unavailable"),
        (html_page(), "web_unavailable"),
        (html_page(200), "web_unavailable"),
        (broken_json(), "web_unavailable"),
        (unsuccessful(), "web_unavailable"),
        (reset_connection(), "web_unavailable"),
        (timed_out(), "web_timeout"),
        (Failure(200, b"[]"), "web_unavailable"),
        (Failure(200, b'{"success": true, "data": {"web": [7]}}'), "web_unavailable"),
        (Failure(200, b'{"success": true, "data": {"web": [{"markdown": 7}]}}'), "web_unavailable"),
    ],
)
async def test_what_passes_is_tried_again_and_what_does_not_is_told(
    web: Web, opened: SpaceResearch, monkeypatch: pytest.MonkeyPatch, fault: Fault, code: str
) -> None:
    """I16: three tries, then a code and a sentence that says that live research failed."""
    monkeypatch.setattr(research, "RETRY_AFTER_S", 0.01)
    web.script(fault, fault)
    assert [page.url for page in await opened.search("atlas", limit=1)] == [ATLAS.url]
    web.script(fault, fault, fault)
    with pytest.raises(Refused) as caught:
        await opened.search("atlas", limit=1)
    assert caught.value.code == code
    assert caught.value.message.startswith("Live research failed: ")
    assert len(web.searches) == 6


@pytest.mark.parametrize("fault", [out_of_credits(), forbidden()])
async def test_what_only_the_operator_can_change_is_not_tried_again(
    web: Web, opened: SpaceResearch, fault: Fault
) -> None:
    web.script(fault)
    with pytest.raises(Refused) as caught:
        await opened.search("atlas", limit=1)
    assert caught.value.code == "web_refused"
    assert len(web.searches) == 1


async def test_a_wrong_key_is_told_without_the_key(web: Web, pool: Pool) -> None:
    """I13."""
    wrong = Research(pool, api_url=web.api_url, api_key=SecretStr("fc-wrong-and-secret"), keep_days=1)
    with pytest.raises(Refused) as caught:
        await wrong.of(SPACE).search("atlas", limit=1)
    assert caught.value.code == "web_refused"
    assert "fc-wrong" not in str(caught.value)


async def test_a_stalled_search_ends_by_our_deadline(
    web: Web, opened: SpaceResearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I10."""
    monkeypatch.setattr(research, "SEARCH_S", 0.4)
    web.script(stall(30))
    with pytest.raises(Refused) as caught:
        await opened.search("atlas", limit=1)
    assert caught.value.code == "web_timeout"


async def test_a_pause_that_does_not_fit_is_not_waited_for(web: Web, opened: SpaceResearch) -> None:
    web.script(rate_limited(60))
    with pytest.raises(Refused) as caught:
        await opened.search("atlas", limit=1)
    assert caught.value.code == "web_rate_limited"
    assert len(web.searches) == 1
