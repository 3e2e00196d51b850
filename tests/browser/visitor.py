"""Somebody at the page, in a real browser: what they can press, type and read, by its role and name."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

from playwright.async_api import Browser, ConsoleMessage, Locator, Page, Request, Response, async_playwright, expect

ARGUMENTS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS: Final = 8000

_FAINT: Final = """() => {
    const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const read = (colour) => {
        pixel.clearRect(0, 0, 1, 1);
        pixel.fillStyle = colour;
        pixel.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3]));
    const behind = (element) => {
        const layers = [];
        for (let each = element; each; each = each.parentElement) {
            layers.push(read(getComputedStyle(each).backgroundColor));
            if (layers.at(-1)[3] === 1) break;
        }
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
    };
    const light = (colour) => colour.slice(0, 3)
        .map((each) => each / 255)
        .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
        .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
    const faint = [];
    for (const element of document.body.querySelectorAll('*')) {
        const texts = [...element.childNodes].filter((node) => node.nodeType === 3);
        const words = texts.map((node) => node.data).join('').trim();
        if (!words || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        if (element.closest(':disabled, .unseen, .spoiler, [inert]')) continue;
        const ground = behind(element);
        const ink = light(over(read(getComputedStyle(element).color), ground));
        const [low, high] = [ink, light(ground)].sort((one, other) => one - other);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < 4.5) faint.push(`${ratio.toFixed(2)}: ${words.slice(0, 40)}`);
    }
    return faint;
}"""


class Visitor:
    """One open page. Their name is chosen when they come in."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.box = page.get_by_role("combobox", name="Message")
        self.messages = page.get_by_role("list", name="Messages").locator(".message")
        self.panel = page.get_by_role("complementary", name="What is on record")

    async def comes_in(self, name: str) -> None:
        """Choose who to be, in the dialog that the page opens with."""
        await self.page.get_by_role("dialog", name="Who do you want to be?").get_by_role("button", name=name).click()
        await expect(self.box).to_be_focused()

    async def becomes(self, name: str) -> None:
        await self.press("Control+p")
        await self.page.get_by_role("dialog", name="Be somebody else").get_by_role("button", name=name).click()
        await expect(self.page.get_by_title("Be somebody else")).to_contain_text(name)

    async def says(self, text: str) -> Locator:
        """Write it into the box and send it with Enter; gives the message, once it is shown."""
        count = await self.messages.count()
        await self.box.fill(text)
        await self.box.press("Enter")
        await expect(self.box).to_have_value("")
        await expect(self.messages).not_to_have_count(count)
        return self.message(text.split("\n")[0][:40])

    def message(self, text: str) -> Locator:
        """The last message that says this itself, and does not only quote it."""
        return self.messages.filter(has=self.page.locator(".body", has_text=text)).last

    async def press(self, keys: str) -> None:
        await self.page.keyboard.press(keys)

    async def writes(self, text: str) -> None:
        """On the keyboard, wherever the focus is."""
        await self.page.keyboard.type(text)

    async def goes(self, place: str) -> None:
        """To a place of the sidebar."""
        await self.page.get_by_role("navigation", name="Places").get_by_role("button", name=place).click()
        await expect(
            self.page.get_by_role("heading", level=1, name=place.removeprefix("#"), exact=True)
        ).to_be_visible()

    async def does(self, message: Locator, action: str) -> None:
        """Something of a message's menu."""
        await message.hover()
        await message.get_by_role("button", name="More", exact=True).click()
        await self.page.get_by_role("menuitem", name=re.compile(rf"^{re.escape(action)}(?! message)")).first.click()

    async def uses(self, command: str, **options: str) -> None:
        """A slash command; options are typed or chosen, and asked for where they are optional."""
        await self.box.fill(f"/{command}")
        await self.page.get_by_role("option", name=f"/{command}").first.click()
        form = self.page.get_by_role("form", name=f"/{command}")
        for name, value in options.items():
            more = form.get_by_role("button", name=f"+ {name}")
            if await more.count():
                await more.click()
            field = form.get_by_label(re.compile(rf"^{re.escape(name)}(?: \(optional\))?$"))
            if await field.evaluate("(field) => field.tagName") != "SELECT":
                await field.fill(value)
            elif value.isdecimal():
                await field.select_option(label="Somebody else, by id …")
                await form.get_by_label("The id").fill(value)
            else:
                await field.select_option(label=value)
        await form.get_by_role("button", name="Use", exact=True).click()
        await form.wait_for(state="detached")

    async def keeps_a_picture(self, path: Path) -> None:
        await self.page.screenshot(path=path)

    async def is_wider_than_its_window(self) -> bool:
        return await self.page.evaluate("document.scrollingElement.scrollWidth > innerWidth")

    async def faint(self) -> list[str]:
        """Words that can hardly be read: their contrast to what is behind them is below WCAG's 4.5 to 1."""
        return await self.page.evaluate(_FAINT)

    async def nameless(self) -> list[str]:
        """What can be pressed or filled in and has no name for who cannot see it."""
        return await self.page.evaluate(
            """() => [...document.querySelectorAll('button, input, select, textarea, a[href], dialog[open], summary')]
                .filter((each) => each.offsetParent && !each.hidden)
                .filter((each) => !(each.getAttribute('aria-label') || each.getAttribute('aria-labelledby')
                    || each.textContent.trim() || each.labels?.length || each.querySelector('img[alt]:not([alt=""])')))
                .map((each) => each.outerHTML.slice(0, 120))"""
        )


class Visitors:
    """Opens pages in one browser, and notes what goes wrong in any of them."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.complaints: list[str] = []
        self.expected: tuple[str, ...] = ()
        """Beginnings of what may be complained about in this test."""

    async def visit(
        self, url: str, *, width: int = 1280, height: int = 800, scheme: Literal["light", "dark"] = "light"
    ) -> Visitor:
        """A visitor with a window of that size, before they have chosen who they are."""
        context = await self._browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", locale="en-GB"
        )
        await context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self._complain(f"error: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)
        await page.goto(url)
        return Visitor(page)

    async def leave(self) -> None:
        """Everybody closes their page."""
        for context in self._browser.contexts:
            await context.close()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._complain(f"console: {message.text}")

    def _failed(self, request: Request) -> None:
        self._complain(f"network: {request.url} {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self._complain(f"network: {response.status} {response.url}")
        if not response.url.startswith(("http://127.0.0.1:", "blob:http://127.0.0.1:")):
            self._complain(f"elsewhere: {response.url}")

    def _complain(self, text: str) -> None:
        if not text.startswith(self.expected or ("\0",)):
            self.complaints.append(text)


@asynccontextmanager
async def open_browser(executable: str) -> AsyncGenerator[Visitors]:
    """The browser, until the block ends."""
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        try:
            yield Visitors(browser)
        finally:
            await browser.close()
