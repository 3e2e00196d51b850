"""Recall in seven languages with the embedded model: by a phrase, by meaning, and in the language it was said in."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from bot.remembering.embedded import EmbeddedEmbeddings
from tests.harness.recalling import Shelf, contents, open_shelf
from tests.harness.told import NOON

ADA = 701

# What is remembered, a phrase of it as somebody would ask, and a question for the same thing in other words.
SAID = {
    "ja": ("エイダは毎朝コーヒーの代わりに緑茶を飲む。", "緑茶を飲む人は誰?", "エイダの好きな飲み物は何ですか?"),
    "zh": ("艾达的猫对虾过敏。", "艾达的猫对什么过敏?", "宠物不能吃哪种海鲜?"),
    "ko": ("에이다는 부산에서 피아노를 가르친다.", "부산에서 피아노", "에이다의 직업은 무엇인가요?"),
    "ru": ("Ада каждое лето ездит на Байкал с палаткой.", "Байкал с палаткой", "Где Ада проводит отпуск?"),  # noqa: RUF001
    "ar": ("آدا تكتب رواية عن البحارة.", "رواية عن البحارة", "ما الكتاب الذي تعمل عليه آدا؟"),
    "de": ("Ada repariert alte Taschenuhren in ihrer Werkstatt.", "alte Taschenuhren", "Welches Handwerk übt Ada aus?"),
    "mixed": (
        "Ada の新しい laptop は Framework 13 です。",
        "Framework 13 laptop",
        "Which computer does Ada use, 新しいパソコンは?",
    ),
}


@pytest.fixture
async def shelf(database_url: str, pool: asyncpg.Pool, service_folder: Path) -> AsyncGenerator[Shelf]:
    embedder = EmbeddedEmbeddings(service_folder)
    try:
        async with open_shelf(database_url, pool, embedder) as opened:
            for day, (said, _, _) in enumerate(SAID.values()):
                await opened.keeps(ADA, said, at=NOON + timedelta(days=day))
            await opened.exchanges(ADA, "Wo lagern wir das Olivenöl?", "Im Keller, hinter den Kartoffeln.")
            await opened.exchanges(ADA, "京都でおすすめのお寺は?", "清水寺と三十三間堂がおすすめです。")
            await opened.embeds()
            yield opened
    finally:
        await embedder.aclose()


async def test_each_language_is_found_by_phrase_and_by_meaning(shelf: Shelf) -> None:
    """By words alone and with vectors; what comes back is what was said, untranslated. Never-said finds nothing."""
    for language, (said, phrase, meant) in SAID.items():
        assert contents(await shelf.asks(ADA, phrase, embedder=None))[:1] == [said], language
        assert contents(await shelf.asks(ADA, phrase))[:1] == [said], language
        recalled = await shelf.asks(ADA, meant)
        assert recalled.mode == "hybrid"
        assert contents(recalled)[:1] == [said], language
    for question, answer in (
        ("Wo finde ich das Öl?", "Im Keller, hinter den Kartoffeln."),
        ("京都のお寺", "清水寺と三十三間堂がおすすめです。"),
    ):
        found = (await shelf.asks(ADA, question)).episodes
        assert [each.answer for each in found] == [answer], question
    for never in ("xk29 fj3 0zzq qqpw", "How many moons does Jupiter have?", "Wie heißt der Bürgermeister von Oslo?"):
        recalled = await shelf.asks(ADA, never)
        assert (contents(recalled), recalled.episodes, recalled.why) == ([], (), "nothing_relevant"), never
