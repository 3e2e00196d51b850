"""What a model is asked about a batch of messages, and how its answer reads. Checking it is memory.checks' part.

The schema and the instructions (memory/prompts/extract.v1.md) belong together: the version stands in the file's name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar, cast

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory.batches import Batch, Heard, Known
from memory.errors import QuestionRefused
from memory.kinds import KINDS, RELATIONS, SCOPES, Kind, MemoryScope, Relation
from memory.ports import Answer, Question
from memory.prompts import EXTRACT, instructions

_INSTRUCTIONS: Final = instructions(EXTRACT)
SCHEMA_NAME: Final = "memory_extraction"
MOST_MEMORIES: Final = 50
"""More than this from one batch is no extraction."""

_TEXT: Final[dict[str, object]] = {"type": "string"}
_UNIT: Final[dict[str, object]] = {"type": "number", "minimum": 0, "maximum": 1}
_IDS: Final[dict[str, object]] = {"type": "array", "items": {"type": "string"}}
_NO_TEXT: Final[dict[str, object]] = {"type": ["string", "null"]}


def _strict(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


EXTRACTION_SCHEMA: Final = _strict(
    {
        "memories": {
            "type": "array",
            "items": _strict(
                {
                    "ref": _TEXT,
                    "scope": {"type": "string", "enum": list(SCOPES)},
                    "user": _NO_TEXT,
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "key": _NO_TEXT,
                    "content": _TEXT,
                    "importance": _UNIT,
                    "confidence": _UNIT,
                    "evidence": _IDS,
                    "expires": _NO_TEXT,
                }
            ),
        },
        "relations": {
            "type": "array",
            "items": _strict(
                {
                    "from": _TEXT,
                    "to": _TEXT,
                    "relation": {"type": "string", "enum": list(RELATIONS)},
                    "confidence": _UNIT,
                    "evidence": _IDS,
                }
            ),
        },
    }
)
"""OpenAI's strict subset: everything is required, nothing may be added."""


class _Item(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


Entry = TypeVar("Entry", bound=_Item)
_Id = Annotated[str, Field(pattern=r"^\d{1,20}$")]
_Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Candidate(_Item):
    """A memory as the model wrote it; nothing of it is believed yet. Ids are Discord's, as text."""

    ref: str = ""
    scope: MemoryScope
    user: _Id | None = None
    kind: Kind
    key: str | None = None
    content: str
    importance: _Unit = 0.5
    confidence: _Unit = 0.7
    evidence: Annotated[list[_Id], Field(min_length=1)]
    expires: str | None = None


class CandidateLink(_Item):
    """A relation as the model wrote it. Ends are refs, or ids of known memories."""

    from_ref: str = Field(alias="from")
    to_ref: str = Field(alias="to")
    relation: Relation
    confidence: _Unit = 0.7
    evidence: Annotated[list[_Id], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What could be read, and how many entries could not."""

    memories: tuple[Candidate, ...]
    links: tuple[CandidateLink, ...]
    malformed: int


def question(batch: Batch) -> Question:
    """What to ask about a batch."""
    data: dict[str, object] = {
        "people": [
            {"id": str(person.user_id), "name": person.name, "time_zone": person.zone_name} for person in batch.people
        ],
        "known": [_known(known) for known in batch.known],
        "earlier": [_heard(batch, heard) for heard in batch.earlier],
        "messages": [_heard(batch, heard) for heard in batch.messages],
    }
    return Question(
        "extraction", _INSTRUCTIONS, orjson.dumps(data).decode(), name=SCHEMA_NAME, schema=EXTRACTION_SCHEMA
    )


def _known(known: Known) -> dict[str, object]:
    entry: dict[str, object] = {"id": str(known.memory_id), "scope": known.owner.scope, "kind": known.kind}
    if known.owner.scope == "user":
        entry["user"] = str(known.owner.owner_id)
    entry["key"] = known.key
    if known.content is not None:
        entry["content"] = known.content
    return entry


_BY: Final[dict[str, Literal["assistant", "bot", "system"]]] = {
    "self": "assistant",
    "bot": "bot",
    "webhook": "bot",
    "system": "system",
}


def _heard(batch: Batch, heard: Heard) -> dict[str, object]:
    entry: dict[str, object] = {
        "id": str(heard.message_id),
        "at": batch.local_time(heard).strftime("%Y-%m-%dT%H:%M%z %A"),
        "by": _BY.get(heard.author_kind, str(heard.author_id)),
        "name": heard.author_name,
        "text": heard.content,
    }
    if heard.reply_to_id is not None:
        entry["reply_to"] = str(heard.reply_to_id)
    return entry


def read(answer: Answer) -> Extracted:
    """The entries of an answer. One that is malformed is left out and counted; the others stand.

    Raises QuestionRefused where the answer as a whole is none.
    """
    if not answer.whole:
        raise QuestionRefused("cut", "The model's answer was cut off or filtered.")
    try:
        whole: Any = orjson.loads(_bare(answer.text))
    except orjson.JSONDecodeError:
        raise QuestionRefused("bad_json", "The model's answer is not JSON.") from None
    fields = cast("dict[str, object]", whole) if isinstance(whole, dict) else {}
    memories, relations = fields.get("memories"), fields.get("relations")
    if not isinstance(memories, list):
        raise QuestionRefused("bad_json", "The model's answer does not have the form that was asked for.")
    given = cast("list[object]", memories)
    if len(given) > MOST_MEMORIES:
        raise QuestionRefused("too_many", "The model made more memories than a batch can hold.")
    memories_read, bad_memories = _each(Candidate, given)
    links, bad_links = _each(CandidateLink, cast("list[object]", relations) if isinstance(relations, list) else [])
    return Extracted(memories_read, links, bad_memories + bad_links)


def _each(entry: type[Entry], given: Sequence[object]) -> tuple[tuple[Entry, ...], int]:
    """Those of `given` that read as an entry, and how many do not."""
    read_well: list[Entry] = []
    for one in given:
        try:
            read_well.append(entry.model_validate(one))
        except ValidationError:
            continue
    return tuple(read_well), len(given) - len(read_well)


def _bare(text: str) -> str:
    """Without the fence that some models put around JSON."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        return stripped.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    return stripped
