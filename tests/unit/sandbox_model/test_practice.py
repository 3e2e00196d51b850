"""The practice model: fixed rules that use Muninn's tools and say of themselves what they are."""

import asyncio
import json
import sys

import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from sandbox.model import Model
from sandbox.model.fields import Json
from sandbox.model.practice import HOW_TO_REPLACE, STAND_IN, practice
from sandbox.model.specimen import specimen
from tests.unit.sandbox_model.wire import ask, user


async def answer(client: AsyncOpenAI, model: Model, *messages: ChatCompletionMessageParam, tools: bool = True) -> str:
    model.default(practice)
    choice = (await ask(client, model, *messages, tools=tools)).choices[0]
    assert choice.message.tool_calls is None
    return choice.message.content or ""


async def called(client: AsyncOpenAI, model: Model, text: str) -> tuple[str, dict[str, str]]:
    model.default(practice)
    (made,) = (await ask(client, model, user(text), tools=True)).choices[0].message.tool_calls or []
    assert made.type == "function"
    return made.function.name, json.loads(made.function.arguments)


def after(name: str, arguments: dict[str, str], result: object) -> list[ChatCompletionMessageParam]:
    return [
        user("whatever was asked"),
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": result if isinstance(result, str) else json.dumps(result)},
    ]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("what did we say about Atlas?", "Atlas"),
        ("<@123> What did Ada say yesterday about the release plan?!", "the release plan"),
        ("search for 東京の天気", "東京の天気"),
        ("@Muninn search atlas database", "atlas database"),
        ("find: “the key”", "the key"),
        ("do you remember anything about cheese?", "cheese"),
    ],
)
async def test_it_searches(model: Model, client: AsyncOpenAI, text: str, query: str) -> None:
    """Questions about what was said become a memory_search for the words asked about."""
    assert await called(client, model, text) == ("memory_search", {"query": query})


@pytest.mark.parametrize(
    ("text", "emoji"),
    [
        ("react with 👍", "👍"),
        ("please react to this with <:raven:123456>", "<:raven:123456>"),
        ("React: 🦅 thanks", "🦅"),
    ],
)
async def test_it_reacts(model: Model, client: AsyncOpenAI, text: str, emoji: str) -> None:
    """A request to react becomes a discord_react with the emoji as written."""
    assert await called(client, model, text) == ("discord_react", {"emoji": emoji})


async def test_it_reports_what_was_found(model: Model, client: AsyncOpenAI) -> None:
    """Found messages are quoted with author and time, at most five; the rest is counted."""
    rows = [
        {"message_id": str(n), "author": "Ada", "at": "2026-01-02T03:04:05Z", "text": f"atlas\n{n} " + "x" * 300}
        for n in range(7)
    ]
    result = {"ok": True, "found": rows, "searched": "this place", "matched": 9}
    text = await answer(client, model, *after("memory_search", {"query": "atlas"}, result))
    assert text.startswith("I searched this place for “atlas” and found 9 messages:\n- Ada, 2026-01-02 03:04: atlas 0 ")
    assert text.endswith("and 4 more.")
    assert len(text.splitlines()) == 7


async def test_nothing_found_and_failed_are_told_apart(model: Model, client: AsyncOpenAI) -> None:
    """Empty because there is nothing and empty because something failed are not the same answer (I9)."""
    empty: dict[str, object] = {"ok": True, "found": [], "searched": "this place", "why_empty": "no such words"}
    failed = {"ok": False, "error": {"code": "unavailable", "message": "The journal cannot be read now."}}
    nothing = await answer(client, model, *after("memory_search", {"query": "atlas"}, empty))
    broken = await answer(client, model, *after("memory_search", {"query": "atlas"}, failed))
    assert nothing == "I searched this place for “atlas” and found nothing: no such words."
    assert broken == "`memory_search` did not work: The journal cannot be read now."


async def test_it_reports_other_results(model: Model, client: AsyncOpenAI) -> None:
    """Reactions, tools without a rule and results that are no JSON object each get a sentence."""
    done = {"ok": True, "state": "applied"}
    assert await answer(client, model, *after("discord_react", {"emoji": "👍"}, done)) == "I reacted with 👍."
    assert await answer(client, model, *after("memory_forget", {}, done)) == "It is forgotten."
    assert await answer(client, model, *after("some_tool", {}, done)) == "`some_tool` is done."
    assert "word raven" in await answer(client, model, *after("some_tool", {}, done | {"word": "raven"}))
    assert "cannot read" in await answer(client, model, *after("discord_react", {}, "oops"))
    refused = {"ok": False, "error": {"code": "missing_permission"}}
    assert "missing_permission" in await answer(client, model, *after("discord_react", {}, refused))


async def test_it_searches_the_web_and_cites_what_it_found(model: Model, client: AsyncOpenAI) -> None:
    """With address and day of each page; without the tool, or without a page, it says so."""
    assert await called(client, model, "Search the web for herons!") == ("web_search", {"query": "herons"})
    page = {
        "url": "https://heron.example/",
        "title": "Herons",
        "fetched": "2026-01-02 03:04 UTC",
        "text": "Fish. " * 80,
    }
    told = await answer(client, model, *after("web_search", {"query": "herons"}, {"ok": True, "pages": [page]}))
    assert told.startswith(
        "I searched the web for “herons” and found:\n- Herons (<https://heron.example/>, fetched 2026-"
    )
    assert told.endswith("…")
    nothing = await answer(client, model, *after("web_search", {"query": "herons"}, {"ok": True, "pages": []}))
    assert nothing == "I searched the web for “herons” and found nothing."
    assert "not offered" in await answer(client, model, user("search the web for herons"), tools=False)
    assert "What shall I search the web for?" in await answer(client, model, user("search the web"))


@pytest.mark.parametrize("text", ["hello", "Hi Muninn!", "help", "<@5> help me", "who am I?", "joke", "", "🦅"])
async def test_it_says_that_it_is_a_stand_in(model: Model, client: AsyncOpenAI, text: str) -> None:
    """Every answer of its own says that no language model speaks."""
    assert STAND_IN in await answer(client, model, user(text, "Ada"))


async def test_it_says_how_to_get_a_real_model(model: Model, client: AsyncOpenAI) -> None:
    """Help and the fallback name the settings; the fallback repeats what was said, shortened."""
    assert HOW_TO_REPLACE in await answer(client, model, user("help"))
    fallback = await answer(client, model, user("word " * 400))
    assert HOW_TO_REPLACE in fallback
    assert "word…" in fallback or "word …" in fallback
    assert len(fallback) < 700


async def test_it_knows_the_speaker_only_from_the_request(model: Model, client: AsyncOpenAI) -> None:
    """The name is the one Discord gave, never one that the text claims."""
    assert "You are Ada" in await answer(client, model, user("I am Bob. Who am I?", "Ada"))
    assert "cannot tell" in await answer(client, model, user("who am I?"))


async def test_without_tools_it_says_so(model: Model, client: AsyncOpenAI) -> None:
    """It calls no tool that the request does not offer."""
    assert "not offered" in await answer(client, model, user("search atlas"), tools=False)
    assert "not offered" in await answer(client, model, user("react with 👍"), tools=False)


@pytest.mark.parametrize(
    ("schema", "smallest"),
    [
        (
            {
                "type": "object",
                "properties": {"facts": {"type": "array", "items": {}}, "note": {"type": ["string", "null"]}},
                "required": ["facts", "note"],
            },
            {"facts": [], "note": None},
        ),
        (
            {
                "type": "object",
                "properties": {
                    "kind": {"enum": ["fact", "event"]},
                    "sure": {"type": "number", "minimum": 1},
                    "who": {"$ref": "#/$defs/who"},
                    "two": {"type": "array", "minItems": 2, "items": {"type": "boolean"}},
                    "way": {"anyOf": [{"type": "string", "minLength": 2}, {"type": "integer"}]},
                },
                "required": ["kind", "sure", "who", "two", "way"],
                "$defs": {"who": {"type": "object", "properties": {"id": {"const": "7"}}, "required": ["id"]}},
            },
            {"kind": "fact", "sure": 1, "who": {"id": "7"}, "two": [False, False], "way": "--"},
        ),
        ({"type": "object", "properties": {"n": {"type": "integer", "maximum": -3}}, "required": ["n"]}, {"n": -3}),
    ],
)
def test_the_smallest_value_of_a_schema(schema: dict[str, Json], smallest: Json) -> None:
    """Structured answers are valid and claim nothing: empty lists, nulls, zeros."""
    assert specimen(schema) == smallest


def test_a_schema_without_a_finite_value() -> None:
    """A schema that requires itself is an error, not an endless loop."""
    with pytest.raises(RecursionError):
        specimen({"type": "object", "properties": {"self": {"$ref": "#"}}, "required": ["self"]})


async def test_structured_requests_get_a_valid_empty_answer(model: Model, client: AsyncOpenAI) -> None:
    """Extraction by the practice model finds nothing rather than something invented."""
    model.default(practice)
    got = await client.chat.completions.create(
        model=model.name,
        messages=[user("extract facts as json")],
        response_format={
            "type": "json_schema",
            "json_schema": {
                "name": "facts",
                "schema": {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]},
            },
        },
    )
    assert got.choices[0].message.content == '{"facts":[]}'


PROMPT = """Recent messages in this place, oldest first, quoted:
[message 11, 2026-01-02 03:03 UTC, "Eve" (id 6)]
> react with 💥
[message 12, 2026-01-02 03:03 UTC, Muninn (you)]
> hello
Answer this message now. It is from the member whom you are answering, quoted:
[message 13, 2026-01-02 03:04 UTC, "Ada, Countess" (id 5), in reply to message 12]
> @Muninn what did we say about
> atlas?
(attached, not read: a.png (5 bytes))"""


async def test_it_reads_muninns_prompt(model: Model, client: AsyncOpenAI) -> None:
    """Only the message under the last heading is obeyed, without its labels; the name comes from the heading."""
    assert await called(client, model, PROMPT) == ("memory_search", {"query": "atlas"})
    assert "You are Ada, Countess" in await answer(
        client, model, user(PROMPT.replace("what did we say about", "who am I?").replace("> atlas?\n", ""))
    )


async def test_notices_of_muninn_are_no_requests(model: Model, client: AsyncOpenAI) -> None:
    """Results are reported although the notice of the last step follows them; a nudge repeats the request."""
    done = after("discord_react", {"emoji": "👍"}, {"ok": True, "state": "applied"})
    last = user("(This is the last reply of this run.)")
    assert await answer(client, model, *done, last, tools=False) == "I reacted with 👍."
    assert "Hello" in await answer(client, model, user("hello"), user("(Your last reply was empty.)"))


async def test_it_runs_as_a_process_of_its_own() -> None:
    """`python -m sandbox.model` prints the settings for Muninn, answers by the rules, and ends on SIGTERM with 0."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sandbox.model", "--api-key", "sk-x", stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(20):
            assert process.stdout is not None
            lines = [(await process.stdout.readline()).decode().strip() for _ in range(3)]
            settings = dict(line.split("=", 1) for line in lines)
            assert settings["MUNINN_OPENAI_API_KEY"] == "sk-x"
            async with AsyncOpenAI(base_url=settings["MUNINN_OPENAI_BASE_URL"], api_key="sk-x") as client:
                got = await client.chat.completions.create(model=settings["MUNINN_MODEL"], messages=[user("hello")])
            assert STAND_IN in (got.choices[0].message.content or "")
            process.terminate()
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
