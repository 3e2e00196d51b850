"""Parking: what of a dispatch that cannot be journalled is kept, so that an operator can look at it."""

from collections.abc import Mapping
from typing import Any, Final, cast

from bot.events import Dispatch
from bot.payloads import clean, digest, dump, without_secrets
from memory.ids import APPLICATION_SPACE
from memory.incoming import Incoming

MOST_KEY: Final = 400
"""Characters of a key that the index takes."""


def parked_key(key: str) -> str:
    """A key of a length that the index takes; what is cut off is still told apart."""
    key = clean(key)
    return key if len(key) <= MOST_KEY else f"{key[:MOST_KEY]}:{digest(key)}"


def as_parked(dispatch: Dispatch) -> Incoming:
    """A malformed dispatch as a row that can be looked at: without secrets (I13) and other people's words."""
    data = dispatch.data
    if isinstance(data, Mapping):
        data = {key: value for key, value in cast("Mapping[str, Any]", data).items() if key != "referenced_message"}
    try:
        payload = dump(without_secrets(data))
    except (TypeError, RecursionError):
        payload = "It nests too deeply to be kept."
    return Incoming(
        kind=dispatch.kind,
        key=f"malformed:{dispatch.kind.lower()}:{digest(payload)}",
        space_id=APPLICATION_SPACE,
        place_id=None,
        message_id=None,
        subject_ids=(),
        source=dispatch.source,
        payload=payload,
    )
