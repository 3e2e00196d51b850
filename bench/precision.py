"""PrecisionMemBench: of what comes back for a question, how much was called for, and how much of that came.

How its words are ours (docs/how-to/run-benchmarks.md says why):

    scope domain:NAME    a channel that a role of its own can read; several scopes: a channel for who has all roles
    user:universal       a channel that everybody can read
    a belief             a memory of the member, said in its scope's channel; its aliases stand behind its words
    superseded, resolved superseded, and forgotten
    a relation           a memory, with a link to each belief that takes part
    another user         another member of the guild
    a session            the messages before are what the conversation was about

Pinned facts, persona and open questions have tiers of their own there: they are remembered like all others, and where
they come back they are neither right nor wrong; the figures that end in `_strict` count them as wrong.
`DATA=` names the folder with `precisionmembench/`.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

import orjson

from bench.figures import progress, publish
from bench.ground import Ground, open_ground
from bench.vectors import embed_all, open_model
from bot.pool import open_pool
from memory.database import Pool
from memory.ids import MessageId, PlaceId, SpaceId, UserId, time_snowflake
from memory.kinds import Kind
from memory.links import Link, store_links
from memory.owners import Caps, Owner
from memory.ports import Embedder
from memory.recall import Asking, Recall
from memory.scope import Scope
from memory.values import Value, Witness, store

SPACE: Final = SpaceId(1)
UNIVERSAL: Final = "user:universal"
_CAPS: Final = Caps(live=1_000_000, writes=1_000_000)
_KINDS: Final[Mapping[str, Kind]] = {
    "preference": "preference",
    "decision": "decision",
    "relation": "relationship",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A question in a scope, and the beliefs that it calls for: exactly these. `most`: no more than so many."""

    name: str
    user: str
    scope: frozenset[str]
    text: str
    wanted: frozenset[str]
    about: str = ""
    most: int | None = None
    session: bool = False
    learnt: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came back for a case: ids of beliefs, of its tier and of others."""

    case: Case
    came: frozenset[str]
    others: frozenset[str]


def read(folder: Path) -> tuple[list[Mapping[str, Any]], list[Case]]:
    """The beliefs and the cases. Raises FileNotFoundError."""
    names = ("beliefs.seed.json", "retrieval.cases.json", "session-retrieval.cases.json")
    beliefs, single, sessions = (
        cast("list[Mapping[str, Any]]", orjson.loads((folder / "precisionmembench" / name).read_bytes()))
        for name in names
    )
    cases = [
        Case(
            name=str(each["caseId"]),
            user=str(each.get("userId") or "test-user"),
            scope=frozenset(each["scope"]),
            text=str(each["query"]),
            wanted=frozenset(each["expect"]["relevantBeliefs"]["shouldOnlyInclude"]),
            most=cast("Mapping[str, int]", each.get("budget") or {}).get("maxBeliefs"),
        )
        for each in single
        if "shouldOnlyInclude" in each["expect"].get("relevantBeliefs", {})
    ]
    for session in sessions:
        cases += _turns(session)
    return beliefs, cases


def _turns(session: Mapping[str, Any]) -> Iterable[Case]:
    before: list[str] = []
    for turn in session["turns"]:
        yield Case(
            name=f"{session['caseId']}/{turn['turnIndex']}",
            user="test-user",
            scope=frozenset(turn["scope"]),
            text=str(turn["userMessage"]),
            wanted=frozenset(turn["expect"]["relevantBeliefs"]["shouldOnlyInclude"]),
            about=" ".join(before[-2:]),
            session=True,
            learnt=tuple(turn[key] for key in ("createBeliefAtTurn", "updateBeliefAtTurn") if turn.get(key)),
        )
        before.append(str(turn["userMessage"]))


def is_relevant_tier(belief: Mapping[str, Any]) -> bool:
    """Whether a belief is one that questions find, and not one that its own tier always shows."""
    return not belief["pinned"] and belief["type"] != "open_question" and UNIVERSAL not in belief["scope"]


# Who can read what: a class of readers a set of scopes, and into each what its readers could have read.
_CLASS: Final = "INSERT INTO audience_classes (space_id, digest) VALUES ($1, sha256($2::bytea)) RETURNING class_id"
_PLACE: Final = "INSERT INTO places (space_id, place_id, kind, class_id) VALUES ($1, $2, 0, $3)"
_FLOW: Final = "INSERT INTO audience_flow (space_id, into_class, from_class) VALUES ($1, $2, $3)"
_GUILD: Final = "INSERT INTO audience_guilds (space_id, version, computed, confirmed) VALUES ($1, 1, 1, true)"


@dataclass
class Guild:
    """The guild that the benchmark's world is; gives what is remembered its belief's id."""

    pool: Pool
    places: dict[frozenset[str], PlaceId] = field(default_factory=dict[frozenset[str], PlaceId])
    members: dict[str, UserId] = field(default_factory=dict[str, UserId])
    beliefs: dict[int, Mapping[str, Any]] = field(default_factory=dict[int, Mapping[str, Any]])

    async def lay_out(self, scopes: Iterable[frozenset[str]]) -> None:
        """Make a channel of each set of scopes."""
        classes: dict[frozenset[str], int] = {}
        await self.pool.execute(_GUILD, SPACE)
        for number, scope in enumerate(sorted({*scopes, frozenset({UNIVERSAL})}, key=sorted), start=10):
            self.places[scope] = PlaceId(number)
            classes[scope] = await self.pool.fetchval(_CLASS, SPACE, str(number).encode())
            await self.pool.execute(_PLACE, SPACE, number, classes[scope])
        for into in classes:
            for origin in classes:
                if origin - {UNIVERSAL} <= into:
                    await self.pool.execute(_FLOW, SPACE, classes[into], classes[origin])

    def member(self, name: str) -> UserId:
        """The member that a user is."""
        return self.members.setdefault(name, UserId(100 + len(self.members)))

    async def remember(self, belief: Mapping[str, Any]) -> None:
        """Keep a belief as its member's memory, said in its scope's channel; what no longer holds is not kept alive."""
        place, member = self.places[frozenset(belief["scope"])], self.member(str(belief["user_id"]))
        at = datetime.fromisoformat(str(belief["updated_at"]))
        witness = Witness(MessageId(time_snowflake(at) + len(self.beliefs)), place, member, at)
        also = f" (also: {', '.join(belief['aliases'])})" if belief["aliases"] else ""
        value = Value(
            owner=Owner(SPACE, "user", member),
            place_id=place,
            kind=_KINDS.get(str(belief["type"]), "fact"),
            key=None,
            content=f"{belief['content']}{also}",
            source="told",
            author_id=member,
            author_name=str(belief["user_id"]),
            said_id=witness.message_id,
            importance=0.5,
            asserted=float(belief["confidence"]),
        )
        async with self.pool.acquire() as conn, conn.transaction():
            memory_id = (await store(conn, value, _CAPS)).memory_id
            self.beliefs[memory_id] = belief
            if belief["epistemic_status"] == "superseded" or belief["resolved_at"]:
                await conn.execute("UPDATE memory_items SET state = 'superseded' WHERE memory_id = $1", memory_id)
            ends = [one for one, other in self.beliefs.items() if other["_id"] in belief.get("participants", ())]
            await store_links(
                conn, [Link(SPACE, place, memory_id, end, "related_to", 0.85, (witness,)) for end in ends]
            )

    async def learn(self, news: Mapping[str, Any]) -> None:
        """What a session teaches: a belief, or more names for one."""
        if "_id" in news:
            await self.remember(news)
            return
        names = ", ".join(news["addAliases"])
        memory_id = next(one for one, belief in self.beliefs.items() if belief["_id"] == news["beliefId"])
        await self.pool.execute(
            "UPDATE memory_items SET content = content || ' (also: ' || $2 || ')' WHERE memory_id = $1",
            memory_id,
            names,
        )

    async def ask(self, recall: Recall, case: Case) -> Outcome:
        """What comes back for a case."""
        if case.most == 0:
            return Outcome(case, frozenset(), frozenset())
        scope = Scope(SPACE, self.places[case.scope])
        asking = Asking(scope, self.member(case.user), case.text, about=case.about, most=case.most)
        recalled = await recall.answer(asking)
        beliefs = [self.beliefs[each.candidate.memory_id] for each in recalled.items]
        tier = frozenset(str(each["_id"]) for each in beliefs if is_relevant_tier(each))
        return Outcome(case, tier, frozenset(str(each["_id"]) for each in beliefs) - tier)


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Means over the cases that call for something, and how many of the others stayed empty."""
    single = [each for each in outcomes if not each.case.session]
    calling = [each for each in single if each.case.wanted]
    silent = [each for each in single if not each.case.wanted]
    turns = [each for each in outcomes if each.case.session and each.case.wanted]
    return {
        "mean_precision": _mean(_precision(each) for each in calling),
        "mean_recall": _mean(_recall(each) for each in calling),
        "mean_precision_strict": _mean(_precision(each, strict=True) for each in calling),
        "empty_where_nothing_fits": _mean(not each.came for each in silent),
        "session_mean_precision": _mean(_precision(each) for each in turns),
        "session_mean_recall": _mean(_recall(each) for each in turns),
        "cases": float(len(outcomes)),
        "cases_calling_for_something": float(len(calling)),
    }


def _precision(outcome: Outcome, *, strict: bool = False) -> float:
    came = outcome.came | outcome.others if strict else outcome.came
    return len(came & outcome.case.wanted) / len(came) if came else 0.0


def _recall(outcome: Outcome) -> float:
    return len(outcome.came & outcome.case.wanted) / len(outcome.case.wanted)


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given) if given else 0.0


async def measure(
    ground: Ground, beliefs: Sequence[Mapping[str, Any]], cases: Sequence[Case], model: Embedder
) -> dict[str, float]:
    """The figures, by name."""
    outcomes: list[Outcome] = []
    async with _remembering(ground, beliefs, cases, model) as guild:
        recall = Recall(guild.pool, model, query_s=60)
        # Single questions first: a session teaches something that is theirs not to know.
        for case in sorted(cases, key=lambda each: each.session):
            outcomes.append(await guild.ask(recall, case))
            for news in case.learnt:
                await guild.learn(news)
            if case.learnt:
                await embed_all(guild.pool, model, "precision")
        progress(f"precision: {len(outcomes)} cases asked")
    return figures(outcomes)


@asynccontextmanager
async def _remembering(
    ground: Ground, beliefs: Sequence[Mapping[str, Any]], cases: Sequence[Case], model: Embedder
) -> AsyncGenerator[Guild]:
    async with open_pool(ground.database_url) as pool:
        guild = Guild(pool)
        await guild.lay_out([*(frozenset(each["scope"]) for each in beliefs), *(case.scope for case in cases)])
        # What a relation is between comes before it.
        for belief in sorted(beliefs, key=lambda each: each["type"] == "relation"):
            await guild.remember(belief)
        await embed_all(pool, model, "precision")
        yield guild


async def main() -> None:
    """Measure, print and write."""
    folder = Path(os.environ.get("DATA") or "no data named")
    if not (folder / "precisionmembench").is_dir():
        sys.exit("precision: DATA= must name a folder that holds precisionmembench/; nothing was measured.")
    beliefs, cases = read(folder)
    async with open_ground() as ground, open_model() as model:
        publish("precision", await measure(ground, beliefs, cases, model), {}, about="PrecisionMemBench")


if __name__ == "__main__":
    asyncio.run(main())
