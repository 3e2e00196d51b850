"""What a model thinks aloud in its content, taken off: it is neither an answer nor a call.

Most servers send it in a field of its own, which nobody reads here. Some leave it in the content, between tags; and
where a chat template has written the opening tag itself, only the closing one comes.
"""

import re

_OPENED = re.compile(r"\s*<(?P<tag>think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSED_ALONE = re.compile(r"^[ \t]*</think>[ \t]*$", re.IGNORECASE | re.MULTILINE)
_CHANNEL = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>final\b[^<]*<\|message\|>(?P<said>.*?)(?:<\|(?:return|end)\|>|\Z)", re.DOTALL)
_FENCE = "```"


def without_thoughts(text: str) -> str:
    """What is left of `text`: all of it, where it does not begin with a thought. A thought without an end is all of it.

    Tags that stand later are words like any other, since answers speak about tags too.
    """
    left = text
    if left.lstrip().startswith(_CHANNEL):  # the raw format of gpt-oss, where a server passes it through
        final = _FINAL.search(left)
        return final["said"].strip() if final else ""
    while opened := _OPENED.match(left):
        closing = f"</{opened['tag'].lower()}>"
        end = left.lower().find(closing, opened.end())
        if end < 0:
            return ""
        left = left[end + len(closing) :].lstrip()
    closed = _CLOSED_ALONE.search(left)
    if closed is not None and left.count(_FENCE, 0, closed.start()) % 2 == 0:
        return left[closed.end() :].lstrip()
    return left
