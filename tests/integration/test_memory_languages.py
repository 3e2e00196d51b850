"""What people say in seven languages: kept in theirs, under who said it, on the right day."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import asyncpg
import pytest

from memory.choices import Choices, choose
from memory.dates import day_of, resolve, zone_in
from memory.ids import UserId
from memory.items import Draft, remember
from memory.speech import own_words, states_something, supports
from tests.harness.remembering import Mind, entry, open_mind

ADA, BOB = 701, 702
LATE = datetime(2026, 5, 1, 20, 30, tzinfo=UTC)
"""The first of May in most of the world, and the second in Tokyo."""


@pytest.fixture
async def mind(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Mind]:
    async with open_mind(database_url, pool) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Speech:
    """What is said, what a model makes of it (with the date left as it was said), its translation, and the day."""

    zone: str
    said: str
    made: str
    kept: str
    english: str


SPEECHES = {
    "ja": Speech(
        "Asia/Tokyo",
        "昨日京都に引っ越しました。",
        "エイダは昨日京都に引っ越した。",
        "エイダは2026-05-01京都に引っ越した。",
        "Ada moved to Kyoto.",
    ),
    "zh": Speech(
        "Asia/Shanghai",
        "我昨天开始学习弹钢琴了。",
        "艾达昨天开始学习弹钢琴。",
        "艾达2026-05-01开始学习弹钢琴。",
        "Ada began to learn the piano.",
    ),
    "ko": Speech(
        "Asia/Seoul",
        "저는 어제 새 강아지를 입양했어요.",
        "에이다는 어제 강아지를 입양했다.",
        "에이다는 2026-05-01 강아지를 입양했다.",
        "Ada adopted a puppy.",
    ),
    "ru": Speech(
        "Europe/Moscow",
        "Я вчера переехала в Казань.",
        "Ада вчера переехала в Казань.",
        "Ада 2026-04-30 переехала в Казань.",
        "Ada moved to Kazan.",
    ),
    "ar": Speech(
        "America/New_York",
        "انتقلت أمس إلى القاهرة.",
        "انتقلت آدا أمس إلى القاهرة.",
        "انتقلت آدا 2026-04-30 إلى القاهرة.",
        "Ada moved to Cairo.",
    ),
    "de": Speech(
        "Europe/Berlin",
        "Ich bin gestern nach Köln gezogen.",
        "Ada ist gestern nach Köln gezogen.",
        "Ada ist 2026-04-30 nach Köln gezogen.",
        "She relocated.",
    ),
    "mixed": Speech(
        "Asia/Tokyo",
        "I switched to ラーメン yesterday, sorry うどん!",
        "Ada switched to ラーメン yesterday.",
        "Ada switched to ラーメン 2026-05-01.",
        "彼女は麺を変えた。",
    ),
}


@pytest.mark.parametrize("language", SPEECHES)
async def test_it_is_kept_in_its_language_with_its_date(mind: Mind, language: str) -> None:
    """Under the right speaker; "yesterday" is the day before hers, not the server's; a translation is refused."""
    speech = SPEECHES[language]
    async with mind.pool.acquire() as conn, conn.transaction():
        told = speech.zone
        if language == "mixed":  # what was set by command counts more than what was told
            told = "America/Lima"
            await choose(conn, UserId(ADA), Choices(time_zone=speech.zone))
        zone = Draft(f"Ada's time zone is {told}.", "profile", "profile.timezone")
        await remember(conn, mind.talk.author(ADA), zone)
    await mind.talk.says(BOB, "ok", at=LATE - timedelta(minutes=1))
    said = await mind.talk.says(ADA, speech.said, name="Ada", at=LATE)
    seen: list[Mapping[str, Any]] = []

    def extract(data: Mapping[str, Any]) -> list[dict[str, Any]]:
        seen.append(data)
        return [
            entry(said, ADA, speech.made, "event.latest", kind="event"),
            entry(said, ADA, speech.english, "event.translated", kind="event"),
            entry(said, BOB, speech.made, "event.latest", kind="event"),
        ]

    mind.extracts(extract)
    await mind.reads()
    rows = await mind.pool.fetch("SELECT owner_id, content, said_at FROM live_memories WHERE source = 'extracted'")
    assert [(row["owner_id"], row["content"]) for row in rows] == [(ADA, speech.kept)]
    assert abs(rows[0]["said_at"] - LATE) < timedelta(seconds=1)
    counted = await mind.counted()
    assert counted.pop("refused:translated", 0) + counted.pop("refused:unsupported", 0) == 1
    assert counted == {"created": 1, "refused:unknown_user": 1} or counted == {
        "created": 1,
        "refused:not_the_speaker": 1,
    }
    local = LATE.astimezone(ZoneInfo(speech.zone))
    assert seen[0]["messages"][-1]["at"] == local.strftime("%Y-%m-%dT%H:%M%z %A")
    assert {"id": str(ADA), "name": "Ada", "time_zone": speech.zone} in seen[0]["people"]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("the day after tomorrow", "2026-05-03"),
        ("the day before yesterday", "2026-04-29"),
        ("last week", "2026-04-20/2026-04-26"),
        ("next month", "2026-06"),
        ("last year", "2025"),
        ("vorgestern", "2026-04-29"),
        ("übermorgen", "2026-05-03"),
        ("послезавтра", "2026-05-03"),
        ("明後日", "2026-05-03"),
        ("下个月", "2026-06"),
        ("지난주", "2026-04-20/2026-04-26"),
        ("بعد غد", "2026-05-03"),
        ("Yesterday's news", "2026-04-30's news"),
        ("the band Yesterdays", "the band Yesterdays"),
        ("some day", "some day"),
    ],
)
def test_relative_words_become_dates(words: str, kept: str) -> None:
    """As seen from Friday, the first of May 2026; whole words only."""
    assert resolve(words, LATE.date()) == kept


def test_zones_and_days_are_read_carefully() -> None:
    """What is none is none."""
    assert str(zone_in("lives in Europe/Berlin now")) == "Europe/Berlin"
    assert zone_in("somewhere in Middle/Earth, and/or Asia") is None
    assert day_of("2026-05-01") is not None
    assert day_of("next week") is None


@pytest.mark.parametrize(
    ("own", "content"),
    [
        ("Ich liebe Äpfel über alles", "Ada mag ÄPFEL."),
        ("Обожаю гулять по лесу", "Ада обожает прогулки в лесу."),
        ("猫を二匹飼っています", "エイダは猫を飼っている。"),
        ("أحب القهوة", "آدا تحب القهوة."),
        ("고양이를 키워요", "에이다는 고양이를 키운다."),
    ],
)
def test_inflected_words_support_each_other(own: str, content: str) -> None:
    """A stem or a pair of characters is enough; nothing in common is not."""
    assert supports(own, content)
    assert not supports(own, "Bob fährt Rad. Боб плывёт. 犬が好き。 Bob schwimmt.")


@pytest.mark.parametrize(
    ("content", "own"),
    [
        ("> quoted\nmine", "mine"),
        (">>> all of this\nis quoted", ""),
        ("see ```code``` here", "see here"),
        ("```\nnever closed", ""),
        ("hi <@123> and <:wave:456> at https://example.org/x now", "hi and at now"),
        ("/remind me of it", ""),
        ("!play music", ""),
        ("... and so on", "... and so on"),
        ("10:30 is when I get up", "10:30 is when I get up"),
        ("[10:30] Bob: I get up", ""),
        ('Traceback (most recent call last):\n  File "x.py", line 1', ""),
    ],
)
def test_own_words(content: str, own: str) -> None:
    """What is left of a message when everything that is not its author's is gone."""
    assert own_words(content) == own


@pytest.mark.parametrize(
    ("own", "states"),
    [
        ("I like tea", True),
        ("Did you know that I moved to Oslo?", True),
        ("Hast du gehört, dass ich umziehe?", True),
        ("Where is the cat?", False),
        ("猫はどこですか\uff1f", False),
        ("ما هذا؟", False),
        ("1234 !!", False),
        ("Bob left. Where to?", True),
    ],
)
def test_what_states_something(own: str, states: bool) -> None:
    """A question about others states nothing; one that tells of its author may."""
    assert states_something(own) is states
