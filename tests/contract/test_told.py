"""What people are told where something failed is one plain sentence: what happened, what is safe, what to do."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bot.composing import FAILURES

_SENTENCES: Final = re.compile(r"[.!?][\"'\u201d)]* +[A-Z`{]")
_ASKS: Final = re.compile(r"\. Please ")


def _words(node: ast.expr) -> str:
    """The literal words of an expression; what is filled in stands as braces."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_words(each) for each in values)
        case ast.FormattedValue():
            return "{}"
        case _:
            return ""


def _told() -> Iterator[tuple[str, str]]:
    """Each sentence of a refusal, and each that asks somebody to do something, with where it stands."""
    for path in sorted(Path("bot").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="CommandRefused"), args=[first, *_]):
                    yield f"{path}:{node.lineno}", _words(first)
                case ast.Constant() | ast.JoinedStr() if "lease " in _words(node):
                    yield f"{path}:{node.lineno}", _words(node)
                case _:
                    pass


@pytest.mark.parametrize("reason", FAILURES)
def test_what_is_said_instead_of_an_answer_is_one_sentence(reason: str) -> None:
    said = FAILURES[reason]
    assert said.endswith(".")
    assert not _SENTENCES.search(said)


def test_no_refusal_is_two_sentences() -> None:
    """Neither by its own words nor by what it asks for."""
    told = list(_told())
    assert len(told) > 40
    refused = [(where, said) for where, said in told if _ASKS.search(said)]
    refused += [(where, said) for where, said in told if "lease " not in said and _SENTENCES.search(said)]
    assert refused == []
