"""What a rule has to go by: the request, what was heard, what may be called, and what this/that/#there are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandbox.model.fields import Json
from sandbox.model.practice.hearing import Heard, results_so_far
from sandbox.model.practice.wording import STAND_IN
from sandbox.model.request import ChatRequest
from sandbox.model.turn import Completion, call, say

_CHANNEL_MENTION = re.compile(r"<#\d+>")
_CHANNEL_NAME = re.compile(r"#(?P<name>[\w-]{1,100})")
_MESSAGE = re.compile(r"https://\S*/channels/\S+/\d+/\d+|(?<![\d#@<])\b\d{15,20}\b(?!>)")


@dataclass(frozen=True, slots=True)
class Situation:
    """One request of a person, on its way to an answer."""

    request: ChatRequest
    said: Heard

    def offers(self, tool: str) -> bool:
        """Whether the tool may be called."""
        return tool in self.request.tool_names

    def use(self, tool: str, would: str, **arguments: Json) -> Completion:
        """Call the tool; where it is not offered, say what would have been done."""
        if not self.offers(tool):
            return say(f"I would {would}, but I am not offered that here. {STAND_IN}")
        return call(tool, **{name: value for name, value in arguments.items() if value is not None})

    def message(self) -> str | None:
        """The message that is meant: one that is named by its link or id, else the one replied to, else the last."""
        named = _MESSAGE.search(self.said.raw)
        if named is not None:
            return named[0]
        if self.said.reply_to is not None:
            return self.said.reply_to
        return self.said.earlier.message_id if self.said.earlier is not None else None

    def own_message(self) -> str | None:
        """The bot's own message that is meant: named, replied to, else its last that is shown."""
        named = _MESSAGE.search(self.said.raw)
        if named is not None:
            return named[0]
        replied = self.said.line(self.said.reply_to)
        if replied is not None and replied.own:
            return replied.message_id
        return self.said.last_own.message_id if self.said.last_own is not None else self.said.reply_to

    def channel(self, text: str) -> str | Completion | None:
        """The channel that `text` names, as tools take it; None where it names none.

        A channel by its mere name has to be looked up first: then the call that lists the channels is given.
        """
        mentioned = _CHANNEL_MENTION.search(text)
        if mentioned is not None:
            return mentioned[0]
        named = _CHANNEL_NAME.search(text)
        if named is None:
            return None
        for result in results_so_far(self.request):
            listed = result.json
            if self.request.call_of(result).name != "discord_list_channels" or not isinstance(listed, dict):
                continue
            rows = listed.get("channels")
            for row in rows if isinstance(rows, list) else []:
                if isinstance(row, dict) and str(row.get("name")).casefold() == named["name"].casefold():
                    return f"<#{row.get('id')}>"
            return say(f"I see no channel called #{named['name']} here.")
        return self.use("discord_list_channels", f"look up #{named['name']}")
