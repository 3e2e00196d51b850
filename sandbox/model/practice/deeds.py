"""What is called, or said, for each kind of request. `found` is how the words fitted the rule's pattern."""

from __future__ import annotations

import re

from sandbox.model.fields import Json
from sandbox.model.practice.matters import matter_of
from sandbox.model.practice.situation import Situation
from sandbox.model.practice.wording import CAN, HOW_TO_REPLACE, STAND_IN, bare, short
from sandbox.model.turn import Completion, say

WHICH_MESSAGE = f"Which message? Reply to it, or give me its link. {STAND_IN}"
_MOST_READ = 50
_AFTER_QUERY = re.compile(r"\s*(?:please|here|in this channel|for me)[.!?]*$", re.IGNORECASE)


# --- messages and reactions ------------------------------------------------------------------------------------------


def react(now: Situation, found: re.Match[str]) -> Completion:
    emoji = found["emoji"].strip("`\"'“”")
    other = found["target"] is not None and now.said.reply_to is not None
    return now.use("discord_react", f"react with {emoji}", emoji=emoji, message=now.said.reply_to if other else None)


def unreact(now: Situation, found: re.Match[str]) -> Completion:
    emoji = (found["emoji"] or "").strip("`\"'“”")
    if not emoji or (emoji.isascii() and not emoji.startswith("<")):
        return say(f"Which reaction? Say for example `take your 👍 back`. {STAND_IN}")
    message = now.message()
    return now.use("discord_remove_own_reaction", f"take my {emoji} back", emoji=emoji, message=message)


def pin(now: Situation, found: re.Match[str]) -> Completion:
    message = now.message()
    if message is None:
        return say(WHICH_MESSAGE)
    if found["un"]:
        return now.use("discord_unpin_message", "unpin that message", message=message)
    return now.use("discord_pin_message", "pin that message", message=message)


def edit_own(now: Situation, found: re.Match[str]) -> Completion:
    message, words = now.own_message(), found["words"].strip(' "“”')
    if message is None:
        return say(f"I see no message of my own here. {STAND_IN}")
    return now.use("discord_edit_own_message", f"change it to “{short(words)}”", message=message, content=words)


def delete_own(now: Situation, found: re.Match[str]) -> Completion:
    message = now.own_message()
    if message is None:
        return say(f"I see no message of my own here. {STAND_IN}")
    return now.use("discord_delete_own_message", "delete my message", message=message)


def reply(now: Situation, found: re.Match[str]) -> Completion:
    message, words = now.message(), found["words"].strip(' "“”')
    if message is None:
        return say(WHICH_MESSAGE)
    return now.use("discord_reply_to_message", f"reply “{short(words)}”", message=message, content=words)


def send(now: Situation, found: re.Match[str]) -> Completion:
    channel, words = now.channel(found["where"]), found["words"].strip(' "“”:')
    if isinstance(channel, Completion):
        return channel
    return now.use("discord_send_message", f"send “{short(words)}” there", content=words, channel=channel)


# --- threads ---------------------------------------------------------------------------------------------------------


def thread(now: Situation, found: re.Match[str]) -> Completion:
    name = bare(found["name"] or "") or "A thread"
    start = now.message() if found["start"] else None
    return now.use("discord_create_thread", f"open a thread called “{name}”", name=name[:100], message=start)


def rename(now: Situation, found: re.Match[str]) -> Completion:
    name = bare(found["name"])
    return now.use("discord_edit_thread", f"rename this thread to “{name}”", name=name[:100])


def shut(now: Situation, found: re.Match[str]) -> Completion:
    change: dict[str, Json]
    match found["what"].lower().replace("-", ""):
        case "lock":
            change = {"locked": True}
        case "unlock":
            change = {"locked": False}
        case "reopen" | "unarchive":
            change = {"archived": False}
        case _:
            change = {"archived": True}
    return now.use("discord_edit_thread", f"{found['what'].lower()} this thread", **change)


def threads(now: Situation, found: re.Match[str]) -> Completion:
    archived = True if found["archived"] else None
    return now.use("discord_list_threads", "list the threads", archived=archived)


# --- memory ----------------------------------------------------------------------------------------------------------


def remember(now: Situation, found: re.Match[str]) -> Completion:
    content = found["content"].strip(" .")
    matter = matter_of(content)
    return now.use("memory_remember", f"remember “{short(content)}”", content=content, kind=matter.kind, key=matter.key)


def forget(now: Situation, found: re.Match[str]) -> Completion:
    content = found["content"].strip(" .")
    number = re.fullmatch(r"(?:memory )?(\d{1,18})", content)
    if number is not None:
        return now.use("memory_forget", f"forget memory {number[1]}", memory_id=number[1])
    if re.fullmatch(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+", content):
        return now.use("memory_forget", f"forget {content}", key=content)
    key = matter_of(content).key
    if key is None:
        return say(f"I do not know how that is called in my memory; say `forget memory <number>`. {STAND_IN}")
    return now.use("memory_forget", f"forget “{short(content)}”", key=key)


def search(now: Situation, found: re.Match[str]) -> Completion:
    query = bare(_AFTER_QUERY.sub("", found["query"]))
    if not query:
        return say(f"What shall I search for? Try `search atlas`. {STAND_IN}")
    if query.lower() in ("me", "i", "myself") and now.said.speaker:
        query = now.said.speaker
    return now.use("memory_search", f"search for “{query}”", query=query[:300])


# --- reading ---------------------------------------------------------------------------------------------------------


def read(now: Situation, found: re.Match[str]) -> Completion | None:
    channel = now.channel(found["where"] or "")
    if isinstance(channel, Completion):
        return channel
    limit = min(int(found["limit"] or 20), _MOST_READ)
    return now.use("discord_read_messages", "read what was said", channel=channel, limit=max(limit, 1))


def show(now: Situation, found: re.Match[str]) -> Completion | None:
    message = now.message()
    return say(WHICH_MESSAGE) if message is None else now.use("discord_get_message", "show it", message=message)


def channels(now: Situation, found: re.Match[str]) -> Completion:
    return now.use("discord_list_channels", "list the channels")


def member(now: Situation, found: re.Match[str]) -> Completion | None:
    mentioned = re.search(r"<@!?(\d+)>", now.said.raw)
    name = bare(found["name"] or "").removeprefix("@")
    user = mentioned[1] if mentioned is not None else now.said.user_named(name) if name else None
    if user is None:
        if "@" not in now.said.raw:
            return None
        return say(f"I do not know who {name or 'that'} is: mention somebody who has spoken here. {STAND_IN}")
    return now.use("discord_get_member", "look them up", user=user)


def who_am_i(now: Situation, found: re.Match[str]) -> Completion:
    if now.offers("discord_get_member"):
        return now.use("discord_get_member", "look you up")
    if now.said.speaker is None:
        return say(f"I cannot tell who you are: your name did not reach me. {STAND_IN}")
    return say(f"You are {now.said.speaker}, as Discord tells it. {STAND_IN}")


def web(now: Situation, found: re.Match[str]) -> Completion:
    query = bare(found["query"])
    if not query:
        return say(f"What shall I search the web for? Try `search the web for herons`. {STAND_IN}")
    return now.use("web_search", f"search the web for “{query}”", query=query[:300])


def activity(now: Situation, found: re.Match[str]) -> Completion:
    query = bare(found["query"] or "")
    if query:
        return now.use("recall_activity", "look up what I did", action="search", query=query)
    return now.use("recall_activity", "look up what I did", action="list")


# --- talk ------------------------------------------------------------------------------------------------------------


def time(now: Situation, found: re.Match[str]) -> Completion:
    at = f"Your message says {now.said.at}." if now.said.at is not None else "I have no clock of my own."
    return say(f"{at} {STAND_IN}")


def help(now: Situation, found: re.Match[str]) -> Completion:
    return say(f"{STAND_IN}\n{CAN}\n{HOW_TO_REPLACE}")


def self(now: Situation, found: re.Match[str]) -> Completion:
    return say(f"I am Muninn, a bot that remembers, and what speaks is a substitute. {STAND_IN} {HOW_TO_REPLACE}")


def greet(now: Situation, found: re.Match[str]) -> Completion:
    name = f", {now.said.speaker}" if now.said.speaker is not None else ""
    return say(f"Hello{name}! {STAND_IN} Say `help` to see what I can do.")


def thanks(now: Situation, found: re.Match[str]) -> Completion:
    return say(f"You are welcome. {STAND_IN}")


def fallback(now: Situation) -> Completion:
    """What is said where no rule fits."""
    if not now.said.words:
        return say(f"I got no words from you. {STAND_IN} Say `help` to see what I can do.")
    return say(
        f"You said: “{short(now.said.words)}”. {STAND_IN} I have no rule for that; say `help` to see my rules. "
        f"{HOW_TO_REPLACE}"
    )
