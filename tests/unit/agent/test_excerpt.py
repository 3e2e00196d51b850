"""Results that are too long for the model keep their shape, and say that they were shortened."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.excerpt import LEAST_CHARS, shortened
from agent.results import compact


def repeated(char: str, size: int) -> str:
    return char * size


def listed(item: Any, size: int) -> list[Any]:
    return [item] * size


pieces = st.builds(repeated, st.sampled_from('a"\\\n字👍'), st.sampled_from([0, 1, 15, 90, 1_500]))
leaves: st.SearchStrategy[Any] = st.one_of(st.sampled_from([None, True, 7]), pieces)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.builds(listed, inner, st.sampled_from([0, 1, 4, 40]))
    return st.one_of(lists, st.dictionaries(st.sampled_from(["a", "id", "text", "b" * 50]), inner))


values: st.SearchStrategy[Any] = st.recursive(leaves, nested, max_leaves=6)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["x", "y", "found", "ok", "shortened"]), values), st.integers(0, 2_000))
def test_any_object_becomes_one_that_fits(payload: dict[str, Any], most: int) -> None:
    """Valid JSON, an object, within the bound, and the same when it is done again."""
    content = compact({"ok": True, **payload})
    once = shortened(content, most)
    assert len(once) <= max(most, LEAST_CHARS)
    assert isinstance(json.loads(once), dict)
    assert shortened(once, most) == once
    assert (once == content) == (len(content) <= max(most, LEAST_CHARS))


def test_ids_and_the_first_items_stay() -> None:
    found = [{"message_id": str(10**18 + n), "text": "word " * 200} for n in range(40)]
    seen = json.loads(shortened(compact({"ok": True, "found": found}), 2_000))
    assert seen["ok"] is True
    assert (seen["shortened"], seen["characters"]) == (True, len(compact({"ok": True, "found": found})))
    assert [each["message_id"] for each in seen["found"]] == [
        each["message_id"] for each in found[: len(seen["found"])]
    ]
    assert all(each["text"].endswith("…") for each in seen["found"])


def test_the_first_length_is_told_however_often_it_is_shortened() -> None:
    content = compact({"ok": True, "text": "x" * 9_000})
    assert json.loads(shortened(shortened(content, 2_000), 200))["characters"] == len(content)


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="object"):
        shortened(json.dumps(["x" * 500]), 200)
