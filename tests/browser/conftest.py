"""A real browser for the page: Chromium of this machine, without a window.

Without one these tests are skipped and say so, unless MUNINN_TEST_BROWSER=required, as in CI. Pictures are kept in the
folder that MUNINN_TEST_PICTURES names, or in tests/browser/out.
"""

import os
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.browser.visitor import Visitors, open_browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="session")
def executable() -> str:
    """Where the browser is."""
    found = next((path for name in NAMES if (path := shutil.which(name)) is not None), None)
    if found is None:
        reason = f"there is no browser here (looked for {', '.join(NAMES)})"
        if os.environ.get("MUNINN_TEST_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where pictures of the page are kept."""
    folder = Path(os.environ.get("MUNINN_TEST_PICTURES") or Path(__file__).parent / "out")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
async def visitors(executable: str) -> AsyncGenerator[Visitors]:
    """Opens pages; whatever is wrong in one, in its console or on its network, fails the test at its end."""
    async with open_browser(executable) as opened:
        yield opened
    assert opened.complaints == []
