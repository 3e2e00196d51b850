"""memory.search over PostgreSQL: what is found, in which order, and what never is."""

from dataclasses import dataclass
from typing import TypeAlias

import asyncpg
import pytest

from memory.ids import MessageId, PlaceId, SpaceId
from memory.scope import Scope
from memory.search import FoundWords, search_words

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
HERE = Scope(SpaceId(10), PlaceId(20))


@dataclass
class Journal:
    """Messages with ids from 1 on, written straight into the journal's table."""

    pool: Pool
    last: int = 0

    async def write(self, content: str, *, scope: Scope = HERE, deleted: bool = False, known: bool = True) -> MessageId:
        self.last += 1
        await self.pool.execute(
            "INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_kind, author_name, content, "
            "created_at, version_at, deleted_at) "
            "VALUES ($1, $2, $3, $4, 'member', 'Ada', $5, now(), now(), CASE WHEN $6 THEN now() END)",
            scope.space_id,
            self.last,
            scope.place_id,
            7 if known else None,
            content,
            deleted,
        )
        return MessageId(self.last)

    async def find(self, query: str, *, limit: int = 10, before: int | None = None) -> FoundWords:
        return await search_words(
            self.pool, HERE, query, limit=limit, before_id=None if before is None else MessageId(before)
        )

    async def texts(self, query: str, *, limit: int = 10, before: int | None = None) -> list[str]:
        return [each.content for each in (await self.find(query, limit=limit, before=before)).found]


@pytest.fixture
def journal(pool: Pool) -> Journal:
    return Journal(pool)


async def test_a_message_comes_with_the_names_of_those_whom_it_mentions(journal: Journal, pool: Pool) -> None:
    """By words and by pieces of words alike; who has no name is left out."""
    for words in ("heron <@701>", "鷺が来た <@701>"):
        await journal.write(words)
    await pool.execute("""UPDATE chat_messages SET extras = '{"mentions": {"701": "Bob", "702": null}}'""")
    for query in ("heron", "鷺が来た"):
        (found,) = (await journal.find(query)).found
        assert found.names == {701: "Bob"}


async def test_any_word_matches_and_the_rare_one_counts_most(journal: Journal) -> None:
    """OR, never AND, and IDF: ts_rank alone would rank four common words over one rare one."""
    for at in range(8):
        await journal.write(f"the plan for the week is the plan {at}")
    await journal.write("heron")
    found = await journal.find("what is the plan for the heron", limit=3)
    assert found.found[0].content == "heron"
    assert (found.how, found.matched, found.why_empty) == ("words", 9, None)


@pytest.mark.parametrize("query", ["the release", "release of the", "wann ist der release", "le release pour qui"])
async def test_a_word_that_says_nothing_finds_no_message_alone(journal: Journal, query: str) -> None:
    """What has only "the" of the question is no answer to it; with the word that counts, all of them are."""
    for at in range(3):
        await journal.write(f"the cat and the dog, der Hund pour {at}")
    found = await journal.find(query)
    assert (found.found, found.matched) == ((), 0)
    assert found.why_empty == "no earlier message that may show here has any of these words"
    await journal.write("release: friday")
    await journal.write("the big release of the cat, der and pour")
    assert await journal.texts(query) == ["release: friday", "the big release of the cat, der and pour"]


async def test_where_nothing_else_is_asked_such_words_are_found(journal: Journal) -> None:
    """ "The Who", "Die": the query means them, so nothing is kept back."""
    await journal.write("die is a word, too")
    await journal.write("atlas")
    assert await journal.texts("die the who") == ["die is a word, too"]


async def test_beside_scripts_without_spaces_such_words_find_nothing_alone_either(journal: Journal) -> None:
    await journal.write("another weather")
    await journal.write("明日の天気")
    assert await journal.texts("the 天気") == ["明日の天気"]
    assert (await journal.find("the 月曜")).found == ()


async def test_more_of_the_words_and_shorter_messages_come_first(journal: Journal) -> None:
    await journal.write("atlas " + "and so on " * 40)
    await journal.write("atlas budget")
    await journal.write("atlas")
    assert (await journal.texts("atlas budget"))[:2] == ["atlas budget", "atlas"]


async def test_a_word_that_stands_more_often_counts_more(journal: Journal) -> None:
    """By BM25, exactly, up to ten times; beyond that it makes no difference. Here all messages have as many words."""
    said = {times: await journal.write("raven " * times + "flew home") for times in range(12, 0, -1)}
    await journal.write("the weather is fine")
    found = {each.message_id: each.score for each in (await journal.find("raven", limit=12)).found}
    scores = [found[said[times]] for times in range(1, 13)]
    weight = scores[0]
    expected = [weight * min(times, 10) * 2.2 / (min(times, 10) + 1.2) for times in range(1, 13)]
    assert scores == pytest.approx(expected)


async def test_equals_are_newest_first_and_the_order_is_stable(journal: Journal) -> None:
    for _ in range(5):
        await journal.write("atlas")
    found = await journal.find("atlas", limit=3)
    assert [each.message_id for each in found.found] == [5, 4, 3]
    assert found.matched == 5


async def test_what_never_shows(journal: Journal) -> None:
    """I6, I9: other places, other spaces, what was deleted or only heard of, and the trigger and what came after."""
    await journal.write("atlas elsewhere", scope=Scope(SpaceId(10), PlaceId(21)))
    await journal.write("atlas in another guild", scope=Scope(SpaceId(11), PlaceId(20)))
    await journal.write("atlas deleted", deleted=True)
    await journal.write("atlas heard of", known=False)
    assert (await journal.find("atlas")).why_empty == "no earlier message that may show here has any of these words"
    await journal.write("atlas before")
    trigger = await journal.write("atlas?")
    await journal.write("atlas after")
    assert await journal.texts("atlas", before=trigger) == ["atlas before"]


@pytest.mark.parametrize("query", ["", "   ", "!?", "\U0001f426", "-- '", "& | ! ( ) :*"])
async def test_a_query_without_words_says_so(journal: Journal, query: str) -> None:
    """I9: nothing to search for is not the same as nothing found."""
    await journal.write("atlas ! ?")
    found = await journal.find(query)
    assert (found.found, found.how, found.why_empty) == ((), "none", "the query has no word to search for")


@pytest.mark.parametrize(
    "query",
    ["o'brien", "back\\slash", "it's", "a:*b", "foo-bar", "user@example.org", "https://example.org/a?b=1", "x" * 3000,
     "' | 'atlas", "\\' | \\'", "%", "1.5e3", " ".join(f"w{at}" for at in range(200))],
    ids=lambda query: query[:20],
)  # fmt: skip
async def test_no_query_breaks_the_statement(journal: Journal, query: str) -> None:
    """Quotes, operators and backslashes are text; what was written is found by the same words."""
    await journal.write(query)
    await journal.write("nothing of it")
    found = await journal.find(query)
    assert found.found == () or found.found[0].content == query


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Das Häuschen steht in KÖLN", "köln"),
        ("Встреча в МОСКВЕ завтра", "москве"),  # noqa: RUF001 - Cyrillic is meant
        ("الاجتماع غدا في القاهرة", "القاهرة"),
        ("明日は東京に行きます", "東京"),
        ("明日は東京に行きます", "東京の天気"),
        ("我们在北京见面", "北京"),
        ("회의는 서울에서 합니다", "서울"),
        ("ประชุมที่กรุงเทพพรุ่งนี้", "กรุงเทพ"),
        ("deploy は明日です", "明日の deploy"),
        ("釣", "釣"),
    ],
)
async def test_all_scripts(journal: Journal, content: str, query: str) -> None:
    """Scripts without spaces are found by pieces, since a text search configuration sees a sentence as one word."""
    for other in ("something else", "全然違う話", "совсем другое"):
        await journal.write(other)
    await journal.write(content)
    assert (await journal.texts(query))[0] == content


async def test_the_piece_that_is_rare_counts_most(journal: Journal) -> None:
    for _ in range(5):
        await journal.write("明日の天気")
    await journal.write("東京")
    found = await journal.find("明日の東京")
    assert (found.found[0].content, found.how) == ("東京", "pieces")


async def test_signs_of_a_pattern_are_text_in_pieces_too(journal: Journal) -> None:
    await journal.write("100 日")
    assert await journal.texts("日本 1_0") == []
    assert (await journal.find("日本%")).why_empty is not None


@pytest.mark.parametrize(("common", "rare"), [("the common words", "heron"), ("明日の天気", "東京")])
async def test_an_old_message_with_the_rare_word_is_not_crowded_out(journal: Journal, common: str, rare: str) -> None:
    """The work is bounded where words are common, and a rare word is still found behind any number of newer matches."""
    await journal.write(rare)
    await journal.pool.execute(
        "INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_name, content, created_at, "
        "version_at) SELECT 10, 1000 + n, 20, 7, 'Ada', $1 || n, now(), now() FROM generate_series(1, 6000) n",
        common + " ",
    )
    found = await journal.find(f"{common} {rare}", limit=2)
    assert found.found[0].content == rare
    assert found.matched == 5_001
