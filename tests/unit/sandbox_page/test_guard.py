"""Only the page itself, on this machine and with the key, reaches its server."""

import aiohttp
import pytest
from yarl import URL

from sandbox.page import Page
from tests.unit.sandbox_page.tab import tab


async def _status(page: Page, path: str, **headers: str) -> int:
    home = str(URL(page.url).origin())
    async with aiohttp.ClientSession() as session, session.get(f"{home}{path}", headers=headers) as answer:
        return answer.status


def _key(page: Page) -> str:
    return f"/?{URL(page.url).query_string}"


@pytest.mark.parametrize(
    "host", ["evil.test", "evil.test:{port}", "127.0.0.1", "127.0.0.1.evil.test:{port}", "localhost:1"]
)
async def test_a_name_that_was_made_to_point_here_is_turned_away(page: Page, host: str) -> None:
    """DNS rebinding: the browser names the site that it believes to talk to, and that is not us."""
    port = URL(page.url).port
    assert await _status(page, _key(page), Host=host.format(port=port)) == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_names_of_loopback_are_admitted(page: Page, host: str) -> None:
    """With our own port."""
    assert await _status(page, _key(page), Host=f"{host}:{URL(page.url).port}") == 200


async def test_without_the_key_nothing_is_shown(page: Page) -> None:
    """Nor with a wrong one; the answer says how to get in."""
    assert await _status(page, "/") == 401
    assert await _status(page, "/?key=wrong") == 401
    assert await _status(page, "/files/1/2/3") == 401


@pytest.mark.parametrize("origin", [None, "http://evil.test", "null", "https://127.0.0.1"])
async def test_other_sites_open_no_socket(page: Page, origin: str | None) -> None:
    """Another page in the same browser may name our address, and even with our cookie it is refused."""
    home = str(URL(page.url).origin())
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        await (await session.get(page.url)).read()
        headers = {} if origin is None else {"Origin": origin}
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"{home}/feed", headers=headers)
        assert refused.value.status == 403
        for path in ("/uploads", "/"):
            async with session.post(f"{home}{path}", data=b"x", headers=headers) as answer:
                assert answer.status == 403


async def test_the_socket_needs_the_cookie(page: Page) -> None:
    """An Origin alone can be made up by anybody on the machine."""
    home = str(URL(page.url).origin())
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"{home}/feed", headers={"Origin": home})
    assert refused.value.status == 401


async def test_every_answer_forbids_what_the_page_does_not_need(page: Page) -> None:
    """Scripts, pictures and connections of others, framing; also for what is not there."""
    home = str(URL(page.url).origin())
    async with tab(page) as open_tab:
        for path in ("/", "/main.js", "/missing", "/files/1/2/3"):
            async with open_tab.session.get(f"{home}{path}") as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'; script-src 'self';" in policy
                assert "require-trusted-types-for 'script'" in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_the_cookie_is_kept_from_scripts_and_other_sites(page: Page) -> None:
    """HttpOnly and SameSite, under a name of this port."""
    async with aiohttp.ClientSession() as session, session.get(page.url) as answer:
        cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"muninn_page_{URL(page.url).port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
