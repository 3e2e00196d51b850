"""What is left of a run when it is over: one to three sentences and a few keywords, made from the run itself.

No model is asked for it, so it costs nothing and invents nothing; and it holds no word of any member, so that nothing
in it has to be forgotten. Whoever shows it adds the words of the trigger, as they stand then.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent.contracts import CallEnd

_WHY: Final[Mapping[str, str]] = {
    "answered": "Answered",
    "truncated": "Answered, cut off at the length limit,",
    "limit_steps": "Stopped at the limit of model calls",
    "limit_calls": "Stopped at the limit of tool calls",
    "limit_time": "Stopped at the time limit",
    "empty_answer": "Gave no answer, since the model said nothing,",
    "content_filter": "Gave no answer, since the provider filtered it,",
    "model_unavailable": "Gave no answer, since the model could not be reached,",
    "model_refused": "Gave no answer, since the model refused the request,",
    "trigger_deleted": "Cancelled, since the message was deleted,",
    "stopped": "Stopped from outside",
    "expired": "Given up, since it came too late,",
    "broken": "Given up, since it kept breaking,",
}
_NAMELESS: Final = "unknown_tool"


@dataclass(frozen=True, slots=True)
class Summary:
    """`text` is one to three sentences; `keywords` are tools, error codes and the end, each once, in order."""

    text: str
    keywords: tuple[str, ...]


def summarise(reason: str, steps: int, ends: Sequence[CallEnd]) -> Summary:
    """The same run gives the same summary. `reason` is why it ended, `steps` how often the model answered."""
    known = [each for each in ends if each.error_code != _NAMELESS]
    sentences = [f"{_WHY.get(reason, f'Ended ({reason})')} after {_count(steps, 'model call')}."]
    if known:
        sentences.append(f"Called {_listed(each.tool for each in known)}.")
    failed = Counter((each.tool, each.error_code) for each in known if each.error_code is not None)
    nameless = len(ends) - len(known)
    told = [f"{tool} failed{_times(count)} ({code})" for (tool, code), count in failed.items()]
    told += [f"{_count(nameless, 'call')} named no tool that there is"] if nameless else []
    if told:
        sentences.append(f"{'; '.join(told)}.")
    keywords = [*(each.tool for each in known), *(each.error_code for each in ends if each.error_code), reason]
    return Summary(" ".join(sentences), tuple(dict.fromkeys(keywords)))


def _listed(tools: Iterable[str]) -> str:
    return ", ".join(f"{tool}{_times(count)}" for tool, count in Counter(tools).items())


def _times(count: int) -> str:
    return "" if count == 1 else " twice" if count == 2 else f" {count} times"


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
