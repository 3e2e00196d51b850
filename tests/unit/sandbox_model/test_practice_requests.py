"""Two dozen everyday requests to the practice model: what it calls for each, by names that Muninn really offers, with
arguments that Muninn really takes, and what it says of the results."""

import json
from typing import Any

import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam

from memory.keys import is_key
from sandbox.model import Model
from sandbox.model.practice import STAND_IN, practice
from sandbox.model.practice.matters import matter_of
from sandbox.model.practice.rules import RULES
from tests.unit.sandbox_model.wire import user
from tools.registry import Registry

REGISTRY = Registry()
TOOLS = {tool.name: tool for tool in REGISTRY.all}
EVERY_TOOL: list[ChatCompletionFunctionToolParam] = [
    {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)},
    }
    for spec in REGISTRY.spec_of.values()
]
BEFORE = "1234567890123456701"
OWN = "1234567890123456702"
ASKED = "1234567890123456703"
LINK = "https://discord.com/channels/1234567890123456000/1234567890123456001/1234567890123456789"


def prompt(words: str, *, reply_to: str | None = None) -> str:
    """As Muninn puts it: Ben said something, Muninn answered, and now Ada asks."""
    reply = f", in reply to message {reply_to}" if reply_to else ""
    return f"""Recent messages in this place, oldest first, quoted:
[message {BEFORE}, 2026-01-02 03:02 UTC, "Ben" (id 1234567890123456006)]
> The Atlas database moves on Thursday.
[message {OWN}, 2026-01-02 03:03 UTC, Muninn (you), in reply to message {BEFORE}]
> Noted.
Answer this message now. It is from the member whom you are answering, quoted:
[message {ASKED}, 2026-01-02 03:04 UTC, "Ada" (id 1234567890123456005){reply}]
> @Muninn {words}"""


async def asked(
    client: AsyncOpenAI, model: Model, *messages: ChatCompletionMessageParam
) -> tuple[str, dict[str, Any]] | str:
    """The call that is made, its arguments checked by the tool itself; else the text."""
    model.default(practice)
    got = await client.chat.completions.create(model=model.name, messages=messages, tools=EVERY_TOOL)
    message = got.choices[0].message
    if not message.tool_calls:
        return message.content or ""
    (made,) = message.tool_calls
    assert made.type == "function"
    TOOLS[made.function.name].arguments.model_validate_json(made.function.arguments)
    return made.function.name, json.loads(made.function.arguments)


REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("react with 👍", "discord_react", {"emoji": "👍"}),
    ("take your 👍 back", "discord_remove_own_reaction", {"emoji": "👍", "message": OWN}),
    ("please remove your <:raven:123456789012345678> reaction", "discord_remove_own_reaction",
     {"emoji": "<:raven:123456789012345678>", "message": OWN}),
    ("start a thread called Moving the database", "discord_create_thread", {"name": "Moving the database"}),
    ("open a thread from that message, named plans", "discord_create_thread", {"name": "plans", "message": OWN}),
    ("rename this thread to Winter plans", "discord_edit_thread", {"name": "Winter plans"}),
    ("close this thread", "discord_edit_thread", {"archived": True}),
    ("reopen the thread", "discord_edit_thread", {"archived": False}),
    ("lock this thread please", "discord_edit_thread", {"locked": True}),
    ("unlock this thread", "discord_edit_thread", {"locked": False}),
    ("pin that", "discord_pin_message", {"message": OWN}),
    (f"can you pin {LINK}", "discord_pin_message", {"message": LINK}),
    ("unpin this message", "discord_unpin_message", {"message": OWN}),
    ("change your last message to: Noted, on Friday.", "discord_edit_own_message",
     {"message": OWN, "content": "Noted, on Friday."}),
    ("delete your last message", "discord_delete_own_message", {"message": OWN}),
    ("reply to that: thank you all", "discord_reply_to_message", {"message": OWN, "content": "thank you all"}),
    ("send hello there to <#1234567890123456001>", "discord_send_message",
     {"content": "hello there", "channel": "<#1234567890123456001>"}),
    ("tell <#1234567890123456001> that lunch is ready", "discord_send_message",
     {"content": "lunch is ready", "channel": "<#1234567890123456001>"}),
    ("remember that I prefer tea", "memory_remember",
     {"content": "I prefer tea", "kind": "preference", "key": "preference.tea"}),
    ("please note: my favourite editor is vim", "memory_remember",
     {"content": "my favourite editor is vim", "kind": "preference", "key": "preference.editor"}),
    ("forget that I prefer tea", "memory_forget", {"key": "preference.tea"}),
    ("forget my favourite editor is vim", "memory_forget", {"key": "preference.editor"}),
    ("forget memory 12", "memory_forget", {"memory_id": "12"}),
    ("forget preference.editor", "memory_forget", {"key": "preference.editor"}),
    ("what do you remember about tea?", "memory_search", {"query": "tea"}),
    ("what do I like?", "memory_search", {"query": "like"}),
    ("what do you know about me?", "memory_search", {"query": "Ada"}),
    ("what did Ben say about atlas?", "memory_search", {"query": "atlas"}),
    ("who said thursday?", "memory_search", {"query": "thursday"}),
    ("search for atlas", "memory_search", {"query": "atlas"}),
    ("summarise this channel", "discord_read_messages", {"limit": 20}),
    ("sum up the last 30 messages", "discord_read_messages", {"limit": 30}),
    ("read <#1234567890123456001>", "discord_read_messages", {"channel": "<#1234567890123456001>", "limit": 20}),
    ("what's new in <#1234567890123456001>?", "discord_read_messages",
     {"channel": "<#1234567890123456001>", "limit": 20}),
    (f"show message {LINK}", "discord_get_message", {"message": LINK}),
    ("list channels", "discord_list_channels", {}),
    ("which channels are there?", "discord_list_channels", {}),
    ("list threads", "discord_list_threads", {}),
    ("show the archived threads", "discord_list_threads", {"archived": True}),
    ("who is @Ben?", "discord_get_member", {"user": "1234567890123456006"}),
    ("tell me about <@1234567890123456099>", "discord_get_member", {"user": "1234567890123456099"}),
    ("who am I?", "discord_get_member", {}),
    ("search the web for ravens", "web_search", {"query": "ravens"}),
    ("look up the moon online", "web_search", {"query": "the moon"}),
    ("what did you do last?", "recall_activity", {"action": "list"}),
    ("what have you done about the database", "recall_activity", {"action": "search", "query": "the database"}),
    # A channel by its mere name has to be found first.
    ("send hello to #help", "discord_list_channels", {}),
    ("read #help", "discord_list_channels", {}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "tool", "arguments"), REQUESTS)
async def test_what_it_calls(
    model: Model, client: AsyncOpenAI, words: str, tool: str, arguments: dict[str, Any]
) -> None:
    """Each request calls one tool that Muninn declares, with arguments that the tool's own schema takes."""
    assert await asked(client, model, user(prompt(words))) == (tool, arguments)


def test_every_tool_is_known() -> None:
    """There is no tool of Muninn's that no everyday request reaches, and there are two dozen kinds of requests."""
    assert {tool for _, tool, _ in REQUESTS} == set(TOOLS)
    assert len({name for name, _, _ in RULES}) >= 24


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("pin that", "discord_pin_message"),
        ("react to that with 🎉", "discord_react"),
        ("reply to this with yes", "discord_reply_to_message"),
        ("start a thread from this message called x", "discord_create_thread"),
    ],
)
async def test_what_is_replied_to_is_meant(model: Model, client: AsyncOpenAI, words: str, tool: str) -> None:
    """`this` and `that` are the message that the request is a reply to."""
    made = await asked(client, model, user(prompt(words, reply_to=BEFORE)))
    assert isinstance(made, tuple)
    assert (made[0], made[1]["message"]) == (tool, BEFORE)


async def test_somebody_elses_message_is_not_its_own(model: Model, client: AsyncOpenAI) -> None:
    """Asked to delete its message in reply to another's, it takes its own last one."""
    made = await asked(client, model, user(prompt("delete your last message", reply_to=BEFORE)))
    assert made == ("discord_delete_own_message", {"message": OWN})


@pytest.mark.parametrize(
    "words",
    [
        "hello",
        "help",
        "thanks!",
        "who are you?",
        "are you an AI?",
        "what time is it?",
        "tell me a joke",
        "forget it",
        "🦅",
    ],
)
async def test_what_it_answers_itself(model: Model, client: AsyncOpenAI, words: str) -> None:
    """Without a tool, and saying what it is."""
    text = await asked(client, model, user(prompt(words)))
    assert isinstance(text, str)
    assert STAND_IN in text
    assert "2026-01-02 03:04 UTC" in text or words != "what time is it?"


def after(words: str, tool: str, arguments: dict[str, Any], result: object) -> list[ChatCompletionMessageParam]:
    return [
        user(prompt(words)),
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(result)},
    ]


async def test_a_channel_is_found_by_its_name(model: Model, client: AsyncOpenAI) -> None:
    """In two steps: the channels are listed, and the message goes to the one of that name; an unknown one is said."""
    channels = {"ok": True, "channels": [{"id": "1234567890123456001", "name": "help", "kind": "text"}]}
    listed = after("send hello to #help", "discord_list_channels", {}, channels)
    assert await asked(client, model, *listed) == (
        "discord_send_message",
        {"content": "hello", "channel": "<#1234567890123456001>"},
    )
    missing = await asked(client, model, *after("read #nowhere", "discord_list_channels", {}, channels))
    assert missing == "I see no channel called #nowhere here."
    plain = await asked(client, model, *after("list channels", "discord_list_channels", {}, channels))
    assert plain == "You and I both see 1 channels: <#1234567890123456001>."


ROWS = [
    {"id": BEFORE, "author": "Ben", "at": "2026-01-02 03:02 UTC", "text": "The Atlas database moves on Thursday."},
    {"id": OWN, "author": "Muninn", "at": "2026-01-02 03:03 UTC", "text": "Noted."},
]
REPORTS: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    ("who said thursday?", "memory_search", {"query": "thursday"}, {"found": ROWS[:1]},
     "Ben did, 2026-01-02 03:02: The Atlas database moves on Thursday."),
    ("remember that I prefer tea", "memory_remember", {"content": "I prefer tea"}, {"memory_id": "7"},
     "I will remember: I prefer tea (memory 7)."),
    ("read this channel", "discord_read_messages", {}, {"messages": ROWS},
     "The last 2:\n- Ben, 2026-01-02 03:02: The Atlas database moves on Thursday.\n- Muninn, 2026-01-02 03:03: Noted."),
    ("summarise this channel", "discord_read_messages", {}, {"messages": ROWS}, "2 messages, by Ben (1), Muninn (1)."),
    ("start a thread called x", "discord_create_thread", {"name": "x"}, {"thread_id": "5"},
     "I opened the thread “x”: <#5>."),
    ("take your 👍 back", "discord_remove_own_reaction", {"emoji": "👍"}, {}, "I took my 👍 back."),
    ("list threads", "discord_list_threads", {}, {"threads": [{"id": "5", "name": "plans"}]},
     "The threads here:\n- <#5> plans"),
    ("list threads", "discord_list_threads", {}, {"threads": []}, "There are no such threads."),
    ("who am I?", "discord_get_member", {}, {"name": "ada", "display_name": "Ada", "roles": ["Crew"], "joined": "2025"},
     "You are Ada (ada), roles: Crew, here since 2025."),
    ("search the web for x", "web_search", {"query": "x"},
     {"pages": [{"url": "https://x.example", "title": "X", "fetched": "2026-01-01", "text": "About x."}]},
     "I searched the web for “x” and found:\n- X (<https://x.example>, fetched 2026-01-01): About x."),
    ("what did you do?", "recall_activity", {"action": "list"},
     {"runs": [{"at": "2026-01-01", "asked": "search atlas", "state": "answered"}]},
     "What I did here, newest first:\n- 2026-01-01: “search atlas”, answered"),
    ("show message 1234567890123456701", "discord_get_message", {}, {"message": ROWS[0]},
     "- Ben, 2026-01-02 03:02: The Atlas database moves on Thursday."),
    ("pin that", "discord_pin_message", {"message": OWN}, {}, "It is pinned."),
]  # fmt: skip


@pytest.mark.parametrize(("words", "tool", "arguments", "payload", "told"), REPORTS)
async def test_what_it_says_of_results(
    model: Model,
    client: AsyncOpenAI,
    words: str,
    tool: str,
    arguments: dict[str, Any],
    payload: dict[str, Any],
    told: str,
) -> None:
    """In plain sentences, without a word of its own invention."""
    text = await asked(client, model, *after(words, tool, arguments, {"ok": True, **payload}))
    assert isinstance(text, str)
    assert text.startswith(told)


async def test_a_question_back_and_a_refusal(model: Model, client: AsyncOpenAI) -> None:
    """A confirmation is pointed at; a failure's words for the model are left out, those for the member stay (I16)."""

    def failing(code: str, message: str) -> list[ChatCompletionMessageParam]:
        return after("pin that", "discord_pin_message", {}, {"ok": False, "error": {"code": code, "message": message}})

    asking = await asked(client, model, *failing("confirmation_needed", "Nothing was done. Say so, do not call again."))
    assert asking == "I have put the question to you with a button: press it, and it is done."
    refused = await asked(client, model, *failing("not_an_administrator", "Only an administrator may. Say so."))
    assert refused == "`discord_pin_message` did not work: Only an administrator may."


@pytest.mark.parametrize(
    ("sentence", "kind", "key"),
    [
        ("I prefer tea over coffee", "preference", "preference.tea_over_coffee"),
        ("my favourite colour is blue", "preference", "preference.colour"),
        ("my favourite colour is now red", "preference", "preference.colour"),
        ("My name is Ada", "profile", "profile.name"),
        ("I live in Bergen", "profile", "profile.city"),
        ("we decided to use PostgreSQL", "decision", "decision.use_postgresql"),
        ("I'll bring the key on Friday", "commitment", "commitment.bring_key_friday"),
        ("The Atlas database moves on Thursday", "fact", "fact.atlas_database"),
        ("日本語", "fact", None),
    ],
)
def test_what_a_sentence_is_about(sentence: str, kind: str, key: str | None) -> None:
    """The same matter has the same key whatever its value, so that a new value replaces the old; each key is one."""
    matter = matter_of(sentence)
    assert (matter.kind, matter.key) == (kind, key)
    assert key is None or is_key(key)


async def test_it_extracts_what_people_say_of_themselves(model: Model, client: AsyncOpenAI) -> None:
    """As strict JSON: each memory rests on its message; questions, the bot's own words and chatter give none."""
    model.default(practice)
    said = {
        "people": [{"id": "5", "name": "Ada", "time_zone": None}],
        "known": [],
        "earlier": [],
        "messages": [
            {"id": "11", "at": "…", "by": "5", "name": "Ada", "text": "I prefer tea over coffee."},
            {"id": "12", "at": "…", "by": "assistant", "name": "Muninn", "text": "I like ravens."},
            {"id": "13", "at": "…", "by": "5", "name": "Ada", "text": "do I prefer tea?"},
            {"id": "14", "at": "…", "by": "5", "name": "Ada", "text": "good morning everybody"},
        ],
    }
    got = await client.chat.completions.create(
        model=model.name,
        messages=[{"role": "system", "content": "Extract."}, user(json.dumps(said))],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "memory_extraction", "strict": False, "schema": {"type": "object"}},
        },
    )
    answer = json.loads(got.choices[0].message.content or "")
    assert [(m["user"], m["key"], m["content"], m["evidence"]) for m in answer["memories"]] == [
        ("5", "preference.tea_over_coffee", "Ada: I prefer tea over coffee.", ["11"])
    ]
    assert answer["relations"] == []


async def test_it_sums_up(model: Model, client: AsyncOpenAI) -> None:
    """The summary so far and what was said since, the newest kept, within its bound."""
    model.default(practice)
    said = {
        "summary": "Ben: The database moves." + " x" * 2_000,
        "messages": [{"at": "…", "name": "Ada", "by": "member", "text": "On Thursday then."}],
    }
    got = await client.chat.completions.create(
        model=model.name, messages=[{"role": "system", "content": "Sum up."}, user(json.dumps(said))]
    )
    text = got.choices[0].message.content or ""
    assert text.endswith("Ada: On Thursday then.")
    assert len(text) <= 2_000


async def test_it_calls_what_the_system_tells_it_to_call(model: Model, client: AsyncOpenAI) -> None:
    """As `muninn doctor --live` tries a model."""
    model.default(practice)
    tool: ChatCompletionFunctionToolParam = {
        "type": "function",
        "function": {"name": "doctor_word", "parameters": {"type": "object", "properties": {}}},
    }
    got = await client.chat.completions.create(
        model=model.name,
        messages=[{"role": "system", "content": "Call the tool doctor_word, then answer."}, user("the word?")],
        tools=[tool],
    )
    (made,) = got.choices[0].message.tool_calls or []
    assert made.type == "function"
    assert made.function.name == "doctor_word"
