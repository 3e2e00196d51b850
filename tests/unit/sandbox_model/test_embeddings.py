"""Vectors of the loopback model: deterministic, unit length, near for texts that share words."""

import math

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import AsyncOpenAI

from sandbox.model import Model
from sandbox.model.embedding import embed


def near(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


async def test_both_encodings_give_the_same_vectors(model: Model, client: AsyncOpenAI) -> None:
    """`float` and the client's default, base64, agree to the precision of 32 bits; `dimensions` is kept."""
    texts = ["deploy the atlas database", "🦅"]
    plain = await client.embeddings.create(
        model=model.embedding_name, input=texts, encoding_format="float", dimensions=384
    )
    packed = await client.embeddings.create(model=model.embedding_name, input=texts, dimensions=384)
    for left, right in zip(plain.data, packed.data, strict=True):
        assert len(left.embedding) == 384
        assert left.embedding == pytest.approx(right.embedding, abs=1e-6)
    assert [item.index for item in plain.data] == [0, 1]
    assert [request.encoding_format for request in model.embedding_requests] == ["float", "base64"]


async def test_the_models_own_length(model: Model, client: AsyncOpenAI) -> None:
    """Without `dimensions` a vector has the length that the model was started with."""
    got = await client.embeddings.create(model=model.embedding_name, input="atlas")
    assert len(got.data[0].embedding) == model.embedding_dimensions == 1024


@pytest.mark.parametrize("texts", [[""], [], "", ["x", ""]])
async def test_empty_input_is_refused(model: Model, client: AsyncOpenAI, texts: str | list[str]) -> None:
    """A provider refuses empty texts and empty lists."""
    with pytest.raises(openai.BadRequestError):
        await client.embeddings.create(model=model.embedding_name, input=texts)


def test_texts_that_share_words_are_near() -> None:
    """Shared words and inflections bring texts together, other texts stay apart, in several scripts."""
    asked = embed("Where is the Atlas database deployed?", 1024)
    assert near(asked, embed("we deploy the atlas database in Oslo", 1024)) > 0.4
    assert abs(near(asked, embed("cats sleep all day", 1024))) < 0.15
    assert near(embed("данные атласа", 1024), embed("данные атлас", 1024)) > 0.5
    assert near(embed("東京の天気", 1024), embed("東京の天気は", 1024)) > 0.5


@given(st.text(min_size=1), st.integers(1, 64))
def test_every_text_has_a_unit_vector(text: str, dimensions: int) -> None:
    """Whatever the text, the vector is finite, of length one, and the same the second time."""
    vector = embed(text, dimensions)
    assert math.isclose(near(vector, vector), 1.0, rel_tol=1e-9)
    assert vector == embed(text, dimensions)
