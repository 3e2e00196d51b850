"""The examples of docs/how-to/write-a-test.md are tests, and run as they stand on the page."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "write-a-test.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _tests_of_the_page() -> dict[str, object]:
    """One namespace for the whole page, line numbers kept, so that a failure points into it."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": __name__}
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(PAGE), "exec"), names)  # noqa: S102 - our own page
    return {name: value for name, value in names.items() if name.startswith("test_")}


globals().update(_tests_of_the_page())


def test_the_page_has_examples() -> None:
    """An extraction that finds nothing would pass for ever."""
    assert sum(name.startswith("test_") for name in globals()) >= 8
