"""What the audit shows: bounded, no secrets, and of private tools no words (I13)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts import Audit
from agent.preview import MOST_CHARS, masked, preview
from agent.results import compact

audits: st.SearchStrategy[Audit] = st.sampled_from(["words", "counts"])
FOUND = compact(
    {
        "ok": True,
        "found": [{"message_id": "1576000000000000001", "author": "Ada", "text": "my phone is 123"}] * 3,
        "how": "words",
        "matched": 12,
        "balance": 491512345678,
    }
)


def test_of_a_private_tool_only_ids_counts_and_codes() -> None:
    shown = preview(FOUND, "counts")
    assert json.loads(shown) == {
        "ok": True,
        "found": {"count": 3, "ids": ["1576000000000000001"] * 3},
        "how": "words",
        "matched": 12,
        "balance": "(number)",
    }


def test_of_another_tool_the_beginnings_of_texts() -> None:
    shown = preview(FOUND, "words")
    assert "my phone is 123" in shown
    assert len(preview(compact({"text": "long " * 1_000}), "words")) < 150


def test_an_error_keeps_its_code() -> None:
    told = compact({"ok": False, "error": {"code": "not_found", "message": "There is no Ada here."}})
    assert json.loads(preview(told, "counts"))["error"] == {"code": "not_found", "message": "(21 characters)"}


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdEFGH1234567890",
        "ghp_abcdefghijklmnopqrst0123456789ABCD",
        "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
        "xoxb-123456789012-abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "password: hunter2hunter2",
        "Bearer abcdefghijklmnop",
        "dGhpcyBpcyBhIHZlcnkgbG9uZyBzZWNyZXQx",
    ],
)
def test_what_looks_like_a_credential_is_masked(secret: str) -> None:
    """Also in tools of which words are kept; ids and plain words are left alone."""
    assert secret not in preview(compact({"query": f"is {secret} mine?"}), "words")
    assert masked("the atlas project, message 1576000000000000001") == "the atlas project, message 1576000000000000001"


@given(st.text(), audits)
def test_anything_gives_a_bounded_preview(text: str, audit: Audit) -> None:
    for content in (text, json.dumps({"q": text}), json.dumps({text: [text] * 50})):
        assert len(preview(content, audit)) <= MOST_CHARS


@given(st.text(min_size=4).filter(lambda text: not text.isdigit()))
def test_no_words_get_through_counts(text: str) -> None:
    """Whatever key they stand under, and also as a key, unless it is a name such as tools use."""
    secret = f"Zq {text}qz"
    content = json.dumps({"query": secret, "found": [secret, {"text": secret, "id": secret}], secret: 1})
    assert secret not in preview(content, "counts")


def test_deep_nesting_is_no_trouble() -> None:
    assert preview("[" * 50_000, "words").startswith("(50000 characters")
    assert preview('{"a":' * 500 + "1" + "}" * 500, "counts")
