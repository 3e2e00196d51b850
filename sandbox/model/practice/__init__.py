"""The practice model: fixed rules instead of a language model, so that Muninn can be tried out without a key.

It says of itself what it is, uses Muninn's tools like a real model would, and reports what they answer. The same
request always gets the same answer.
"""

from __future__ import annotations

import re

from sandbox.model.practice.hearing import Heard, fresh_results, heard
from sandbox.model.practice.reading import EXTRACTION, extract, is_summary, sum_up
from sandbox.model.practice.reports import report
from sandbox.model.practice.rules import decide, rule_for
from sandbox.model.practice.situation import Situation
from sandbox.model.practice.wording import HOW_TO_REPLACE, STAND_IN
from sandbox.model.request import ChatRequest
from sandbox.model.specimen import specimen
from sandbox.model.turn import Completion, call, say, say_json

__all__ = ["HOW_TO_REPLACE", "STAND_IN", "Heard", "heard", "practice"]

# How `muninn doctor --live` and others try a model: told by the system to call one tool.
_TOLD_TO_CALL = re.compile(r"\bCall the tool (?P<name>\w+)")


def practice(request: ChatRequest) -> Completion:
    """The practice model's turn for `request`: a tool call, a report on tool results, or a plain answer."""
    form = request.response_format
    if form.kind == "json_schema":
        return extract(request) if form.name == EXTRACTION else say_json(specimen(form.schema or {}))
    if form.kind == "json_object":
        return say_json({})
    if is_summary(request):
        return sum_up(request)
    now = Situation(request, heard(request))
    results = fresh_results(request)
    if results and not _only_looked_up(now):
        return say("\n".join(report(now, result) for result in results))
    told = _TOLD_TO_CALL.search(request.system_text)
    if told is not None and not results and told["name"] in request.tool_names:
        return call(told["name"])
    return decide(now)


def _only_looked_up(now: Situation) -> bool:
    """Whether the last call was a step on the way: the channels were listed in order to find one of them."""
    names = {now.request.call_of(result).name for result in fresh_results(now.request)}
    return names == {"discord_list_channels"} and rule_for(now.said.words) != "channels"
