"""The words of durable memory: kinds, scopes, states and relations. The schema's CHECK constraints list the same."""

from typing import Final, Literal, get_args

Kind = Literal[
    "profile",
    "preference",
    "fact",
    "decision",
    "project",
    "relationship",
    "commitment",
    "event",
    "skill",
    "correction",
]
MemoryScope = Literal["user", "channel", "guild"]
"""Whose it is: one member's in this space, a place's, or the guild's."""

ItemState = Literal["active", "superseded", "forgotten", "revoked"]
"""superseded: its words were edited away; forgotten: somebody asked; revoked: its last evidence was deleted."""

EndReason = Literal["revised", "corrected", "superseded", "forgotten", "revoked"]
"""Why a value is no longer the one: replaced by extraction or by hand, or see ItemState."""

Source = Literal["told", "extracted"]
Relation = Literal["supports", "contradicts", "updates", "part_of", "caused_by", "related_to"]
Taken = Literal["edited", "deleted"]
"""What became of a message that evidence rested on."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SCOPES: Final[tuple[MemoryScope, ...]] = get_args(MemoryScope)
RELATIONS: Final[tuple[Relation, ...]] = get_args(Relation)
