"""How the page looks and behaves: at three widths, light and dark, with hostile text, and while things arrive."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import expect

from sandbox.discord import Discord, File, Workshop
from sandbox.page import Page, serve_page
from tests.browser.visitor import Visitors

pytestmark = pytest.mark.timeout(60)

MARKDOWN = """# Release notes
Some **bold**, *italic*, __underlined__, ~~gone~~, `code`, ||a secret|| and https://example.org/x.
> quoted words
- one
- two
```python
def answer(question: str) -> int:
    return 42
```"""
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    '[press](javascript:alert(1)) <javascript:alert(1)> [x](https://example.org"onclick="alert(1))',
    "<@&999> <@999> <#999> <:x:1> <t:99999999999999:R> </x:1>",
    "".join(["*_~|`[(<"] * 400),
    "||" * 900,
    "> " * 400 + "deep",
    "```" + "`" * 500,
    "\u202eevil\u202c \u0000\ufeff\u200b",
]


@asynccontextmanager
async def workshop_page(visitors: Visitors) -> AsyncGenerator[tuple[Page, Workshop]]:
    async with Discord.start(world="workshop") as discord:
        shop = discord.workshop
        assert shop is not None
        async with serve_page(discord, shop.guild) as page:
            try:
                yield page, shop
            finally:
                await visitors.leave()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_pictures_at_three_widths(visitors: Visitors, pictures: Path, scheme: Literal["light", "dark"]) -> None:
    """Nothing is wider than the window, all can be read, what can be pressed has a name; pictures are kept."""
    async with workshop_page(visitors) as (page, shop):
        await shop.ben.says(shop.general, MARKDOWN)
        asked = await shop.ada.says(shop.general, f"{shop.ben.mention} nice! " + "long" * 40)
        await shop.mod.says(shop.general, "Indeed.", reply_to=asked)
        await shop.mod.reacts(asked, "👍")
        await shop.ada.starts_thread(asked, "A thread with a name that is rather long for a sidebar", text="here")
        for width, height in ((360, 740), (768, 900), (1280, 800)):
            seen = await visitors.visit(page.url, width=width, height=height, scheme=scheme)
            await seen.keeps_a_picture(pictures / f"welcome-{width}-{scheme}.png")
            await seen.comes_in("Ada")
            await expect(seen.message("Indeed.")).to_be_visible()
            await seen.keeps_a_picture(pictures / f"talk-{width}-{scheme}.png")
            assert not await seen.is_wider_than_its_window()
            assert await seen.nameless() == []
            assert await seen.faint() == []
            await seen.press("Control+.")
            await seen.keeps_a_picture(pictures / f"record-{width}-{scheme}.png")
            assert not await seen.is_wider_than_its_window()
            await seen.press("Control+.")
            await seen.press("Control+k")
            await expect(seen.page.get_by_role("dialog", name="Go to")).to_be_visible()
            assert await seen.nameless() == []
            await seen.press("Escape")
            await seen.page.get_by_role("heading", level=1).click()
            await seen.press("?")
            await expect(seen.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
            assert not await seen.is_wider_than_its_window()
        ground = await seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (int(ground.removeprefix("rgb(").split(",")[0]) < 128) is (scheme == "dark")


async def test_hostile_text_stays_text(visitors: Visitors) -> None:
    """No markup, no script, no address but http, nothing loaded; in messages, names, embeds and the record."""
    async with workshop_page(visitors) as (page, shop):
        for text in HOSTILE:
            await shop.ben.says(shop.general, text)
        shop.ben.rename("<b onclick=x>")
        await shop.mod.says(
            shop.general,
            "",
            embeds=[{"title": "<i>", "url": "javascript:alert(1)", "image": {"url": "https://example.org/spy.png"}}],
        )
        seen = await visitors.visit(page.url)
        await seen.comes_in("Ada")
        await expect(seen.messages).to_have_count(len(HOSTILE) + 1)
        inside = seen.page.locator("#messages .body")
        for tag in ("img", "script", "b", "i", "[onclick]", "[onerror]"):
            await expect(inside.locator(tag)).to_have_count(0)
        links = await seen.page.locator("#messages a").evaluate_all("(all) => all.map((each) => each.href)")
        assert [link for link in links if not link.startswith("https://example.org/")] == []
        await expect(seen.message("<script>alert(1)</script>")).to_be_visible()


async def test_nothing_jumps_while_one_reads(visitors: Visitors) -> None:
    """Scrolled back, what arrives, grows or is deleted moves nothing; at the end, the newest stays in sight."""
    async with workshop_page(visitors) as (page, shop):
        for number in range(60):
            await shop.ben.says(shop.general, f"line {number}\nand more")
        reader = await visitors.visit(page.url)
        await reader.comes_in("Ada")
        watched = reader.message("line 30")
        await watched.scroll_into_view_if_needed()
        before = await watched.bounding_box()
        await shop.mod.says(shop.general, "news", files=[File("a.png", DOT, "image/png", None, 400, 300)])
        await expect(reader.message("news")).to_have_count(1)
        await shop.mod.reacts(next(m for m in shop.general.shelf.live() if "line 19" in m.content), "👍")
        await expect(reader.message("line 19")).to_contain_text("1")
        for message in list(shop.general.shelf.live())[14:18]:
            await shop.ben.deletes(message)
        await expect(reader.message("line 17")).to_have_count(0)
        after = await watched.bounding_box()
        assert before is not None
        assert after is not None
        assert abs(before["y"] - after["y"]) <= 1

        await reader.page.get_by_role("button", name="Newer messages below").click()
        await shop.mod.says(shop.general, "the very last\n" * 9)
        await expect(reader.message("the very last")).to_be_in_viewport(ratio=0.9)


async def test_the_choice_of_light_or_dark_is_kept(visitors: Visitors) -> None:
    """By a key, over a reload; somebody's place in the address too."""
    async with workshop_page(visitors) as (page, shop):
        seen = await visitors.visit(page.url, scheme="light")
        await seen.comes_in("Ada")
        await seen.goes("help")
        await seen.press("Control+Shift+L")
        assert await seen.page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert "key=" not in seen.page.url
        await seen.page.reload()
        await expect(seen.page.get_by_role("heading", level=1, name="help")).to_be_visible()
        assert await seen.page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert seen.page.url.endswith(f"#ada/{shop.help.id}")


async def test_what_is_faint_or_nameless_would_be_found(visitors: Visitors) -> None:
    """The checks above can fail."""
    async with workshop_page(visitors) as (page, _):
        seen = await visitors.visit(page.url)
        await seen.comes_in("Ada")
        await seen.page.evaluate("document.querySelector('h1').style.color = '#aaa'")
        await seen.page.evaluate("document.querySelector('#attach').removeAttribute('aria-label')")
        assert len(await seen.faint()) == 1
        assert len(await seen.nameless()) == 1


async def test_a_sandbox_that_ends_is_told(visitors: Visitors) -> None:
    """The page says that the connection is gone, and keeps what was written."""
    visitors.expected = ("console: WebSocket connection",)
    async with Discord.start(world="workshop") as discord:
        assert discord.workshop is not None
        async with serve_page(discord, discord.workshop.guild) as page:
            seen = await visitors.visit(page.url)
            await seen.comes_in("Ada")
        await expect(seen.page.get_by_text("The connection was lost.")).to_be_visible()
        await seen.box.fill("not lost")
        await seen.press("Enter")
        await expect(seen.page.get_by_text("There is no connection")).to_be_visible()
        await expect(seen.box).to_have_value("not lost")


DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360f8cf500f000386018027c0ae4a0000000049454e44ae426082"
)
