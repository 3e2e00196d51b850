"""What the practice model says of itself, and how it puts other people's words into a line."""

from __future__ import annotations

STAND_IN = "I am the practice model: a stand-in with a few fixed rules, not a language model."
HOW_TO_REPLACE = (
    "For a real one set OPENAI_API_KEY, or MUNINN_OPENAI_BASE_URL, MUNINN_MODEL and MUNINN_MODEL_CONTEXT "
    "(Ollama, vLLM, llama.cpp, OpenRouter), and start again."
)
CAN = """\
What I understand, in these words or nearly so:
- **memory**: `remember that I prefer tea`, `forget that I prefer tea`, `what do you remember about tea?`
- **looking**: `search atlas`, `who said thursday?`, `read #help`, `summarise this channel`, `show message <link>`
- **messages**: `react with 👍`, `take your 👍 back`, `pin this`, `unpin this`, `reply to that: thanks`, \
`send hello to #help`, `change your last message to …`, `delete your last message`
- **threads**: `start a thread called plans`, `rename this thread to plans`, `close this thread`
- **around**: `list channels`, `list threads`, `who is @Ben?`, `who am I?`, `what time is it?`
- **beyond**: `search the web for herons`, `what did you do last?`, `help`, `hello`
`this` and `that` are the message that you reply to, else the one before yours."""

LONGEST_QUOTE = 200


def short(text: str, most: int = LONGEST_QUOTE) -> str:
    """The text on one line, cut where it is too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]}…"


def bare(text: str) -> str:
    """The text without the quotation marks and sentence marks around it."""
    return text.strip(" \t?!.,:;\"'`“”„«»\N{SINGLE LOW-9 QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}")
