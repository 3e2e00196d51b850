"""Vectors made from a text's words: the same text gives the same vector, texts that share words lie near each other.

Feature hashing: each word, and with less weight each run of three characters in it (so that inflections and
misspellings stay near), adds to a few places of the vector with signs taken from its hash. No model, no meaning:
"car" and "automobile" are strangers here.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import struct
import unicodedata
from collections import Counter

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_PLACES = 4  # places a feature touches; more of them make chance collisions matter less


def embed(text: str, dimensions: int) -> list[float]:
    """The unit vector of `text`, `dimensions` long."""
    vector = [0.0] * dimensions
    for feature, weight in _features(text).items():
        digest = hashlib.blake2b(feature.encode(errors="replace"), digest_size=_PLACES * 8).digest()
        for number in struct.unpack(f"<{_PLACES}Q", digest):
            vector[(number >> 1) % dimensions] += weight if number & 1 else -weight
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0.0:  # everything cancelled out, possible where there are few dimensions
        vector[0] = length = 1.0
    return [value / length for value in vector]


def base64_floats(vector: list[float]) -> str:
    """Little-endian 32-bit floats in base64, as `encoding_format: base64` gives them."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _features(text: str) -> dict[str, float]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    counts = Counter(part for word in _WORD.findall(folded) for part in _parts(word)) or Counter({folded: 1})
    features: dict[str, float] = {}
    for word, count in counts.items():
        weight = 1.0 + math.log(count)
        features[f"w:{word}"] = features.get(f"w:{word}", 0.0) + weight
        framed = f"<{word}>"
        runs = [framed[start : start + 3] for start in range(len(framed) - 2)]
        for run in runs:
            features[f"r:{run}"] = features.get(f"r:{run}", 0.0) + 0.6 * weight / math.sqrt(len(runs))
    return features


def _parts(word: str) -> list[str]:
    """The word itself; in scripts that put no spaces between words, its pairs of characters instead."""
    if len(word) < 3 or _UNSPACED.search(word) is None:
        return [word]
    return [word[start : start + 2] for start in range(len(word) - 1)]
