"""What is said of orders and cases: on the card, to the member, in audit log and mod-log. Nobody is pinged (I11).

The words are ours; reasons, names and topics are other people's and stand quoted (I12).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from bot.bodies import Component, button, row
from bot.moderation import spans
from bot.moderation.cases import Case
from bot.moderation.deeds import DEEDS, DELETE_MOST_S, DeedName
from bot.moderation.orders import Order
from bot.moderation.requests import highest
from bot.moderation.rules import Refused, Situation
from bot.payloads import clean

AUDIT_MOST: Final = 512
UNKNOWABLE: Final = "unknowable"
"""The code of a case of which Discord's facts do not tell whether it was done."""

CARD_MOST: Final = 1900
SUGGESTED_MOST: Final = 100
SHOWN_OBJECTS: Final = 12

_KINDS: Final[Mapping[int, str]] = {0: "text", 2: "voice", 4: "category", 5: "announcement", 13: "stage", 15: "forum"}

_ENDS: Final[Mapping[str, str]] = {
    "expired": "⌛ Not done: nobody pressed a button in time. Ask again if you still want it.",
    "declined": "Not done, as you wish.",
    "trigger_gone": "Not done: the message that asked for it was deleted.",
    "too_late": "⌛ Not done: I was cut off before I could do it, and it is too long ago now. Ask again.",
}


def quoted(text: str, most: int = 300) -> str:
    """Somebody's words on one line, as a quotation that they cannot leave."""
    shown = " ".join(clean(text).replace("`", "'").split())
    return "`" + (shown if len(shown) <= most else shown[: most - 1] + "…") + "`"


def about(order: Order, object_id: int) -> str:
    """Whom or what it meets, as a mention."""
    match order.declared.target:
        case "member" | "user":
            return f"<@{object_id}>"
        case "place":
            return f"<#{object_id}>"
        case "guild":
            return "this server"
        case "case":
            return "the case"


def question(
    order: Order,
    allowed: Sequence[int],
    refused: Mapping[int, Refused],
    at: Situation,
    *,
    requester_id: int,
    minutes: int,
) -> str:
    """What the card says before it acts: target, action, duration, reason, hierarchy, what cannot be undone."""
    deed = order.declared
    whom = ", ".join(about(order, each) for each in allowed[:SHOWN_OBJECTS])
    lines = [f"**{deed.title}** · <@{requester_id}>, shall I {deed.ask.format(whom)}?"]
    lines += details(order, at)
    if len(allowed) + len(refused) > 1:
        lines.append(f"-# {len(allowed)} of {len(allowed) + len(refused)} can be done:")
    lines += [f"-# • {_rank_line(order, each, at)}" for each in allowed[:SHOWN_OBJECTS] if _rank_line(order, each, at)]
    lines += [f"-# ✗ {each.message}" for each in list(refused.values())[:SHOWN_OBJECTS]]
    lines.append(f"-# Only you can press a button, within {minutes} minutes. {_undoing(order)}".rstrip())
    text = "\n".join(lines)
    return text if len(text) <= CARD_MOST else text[: CARD_MOST - 1] + "…"


def details(order: Order, at: Situation | None = None) -> list[str]:
    """What is particular to the order, a line each."""
    deed, lines = order.declared, list[str]()
    if order.role_id is not None:
        lines.append(f"Role: <@&{order.role_id}>")
    if order.deed == "slowmode":
        lines.append(f"Slow mode: {spans.said(order.seconds) if order.seconds else 'off'}")
    elif deed.span is not None:
        held = spans.said(order.seconds) if order.seconds else "for good"
        lines.append(f"Duration: {held}" + (" (the longest that Discord allows)" if order.clamped else ""))
    elif order.seconds is not None:
        lines.append(f"Slow mode: {spans.said(order.seconds) if order.seconds else 'off'}")
    if order.delete_s:
        lines.append(f"Deletes their messages of the last {spans.said(min(order.delete_s, DELETE_MOST_S))}")
    if order.messages:
        old = f" ({order.old} of them are older than 14 days, and go one by one)" if order.old else ""
        lines.append(f"Messages: {len(order.messages)}{old}")
    if order.deed == "nickname":
        lines.append(f"New name: {quoted(order.name)}" if order.name else "New name: none")
    elif order.name is not None:
        lines.append(f"Name: {quoted(order.name)}" + (f" ({_KINDS.get(order.kind or 0, 'channel')})"
                     if order.deed == "channel_create" else ""))  # fmt: skip
    if order.topic is not None:
        lines.append(f"Topic: {quoted(order.topic)}" if order.topic else "Topic: none")
    lines.append(f"Reason: {quoted(order.reason)}" if order.reason else "Reason: none given")
    if order.evidence:
        lines.append("Evidence: " + " ".join(order.evidence))
    return lines


def _rank_line(order: Order, object_id: int, at: Situation) -> str:
    """What the hierarchy says of one of them."""
    if order.declared.target not in ("member", "user"):
        return ""
    member, name = at.members.get(object_id), at.name_of(object_id)
    if member is None:
        return f"<@{object_id}> {quoted(name, 40)} is not in this server"
    if order.declared.ranks and at.requester is not None:
        own = "the owner" if at.requester.is_owner else quoted(highest(at.requester), 40)
        return f"<@{object_id}> {quoted(name, 40)}: highest role {quoted(highest(member), 40)}, below yours ({own})"
    return f"<@{object_id}> {quoted(name, 40)}"


def _undoing(order: Order) -> str:
    deed = order.declared
    undo = "" if deed.undo is None else "It can be undone with `/mod undo`."
    return f"{undo} {deed.final}".strip()


def buttons(prefix: str, card_id: int, order: Order) -> tuple[Component, ...]:
    """Do it, or not."""
    style = "danger" if order.declared.punishes or order.declared.final else "primary"
    do = button(order.declared.press or order.declared.title, f"{prefix}:{card_id}:do", style)
    return (row(do, button("Cancel", f"{prefix}:{card_id}:no")),)


def working(asked: str) -> str:
    """What stands there while it is done."""
    return f"⏳ {first_line(asked)}"


def outcome(asked: str, state: str, code: str | None, told: str | None) -> str:
    """What the card says when it is over."""
    if state == "used":
        return told or _ENDS.get(code or "", "Not done.")
    return f"{_ENDS.get(code or '', 'Not done.')}\n-# {first_line(asked)}"


def first_line(asked: str) -> str:
    """The question itself, as what it was about."""
    return asked.split("\n", 1)[0].replace(", shall I ", " asked me to ", 1).removesuffix("?") + "."


def audit_reason(requester: str, requester_id: int, case_no: int, reason: str | None) -> str:
    """What the guild's audit log says: who asked for it, the case, and why (I5)."""
    said = f"{requester} ({requester_id}), case {case_no}: {reason or 'no reason given'}"
    return " ".join(clean(said).split())[:AUDIT_MOST]


def is_of_case(reason: str, case_no: int) -> bool:
    """Whether a reason of Discord's record is the one that `audit_reason` gave for that case."""
    return f"), case {case_no}: " in reason


def notice(order: Order, guild_name: str) -> str:
    """What the member is told by direct message."""
    deed = order.declared
    assert deed.notice is not None  # noqa: S101 - asked for only where there is one
    lines = [deed.notice.format(guild=f"**{clean(guild_name)[:100]}**") + "."]
    if deed.span is not None:
        lines.append(f"Duration: {spans.said(order.seconds)}" if order.seconds else "For good.")
    lines.append(f"Reason: {quoted(order.reason)}" if order.reason else "No reason was given.")
    lines.append("-# If you think that this is wrong, write to a moderator of that server. I cannot change it.")
    return "\n".join(lines)


def result(
    order: Order, object_id: int, number: int, *, told_member: bool | None, name: str = "", extra: str = ""
) -> str:
    """One line of what happened to one of them; `name`: what it was called before."""
    # A channel that is gone has no name any more, but this one.
    gone = f"#{clean(name)[:100]}" if order.deed == "channel_delete" and name else None
    said = order.declared.done.format(gone or about(order, object_id))
    held = f" for {spans.said(order.seconds)}" if order.declared.span is not None and order.seconds else ""
    informed = {True: " They were told.", False: " They could not be told by direct message."}
    told = informed[told_member] if told_member is not None else ""
    return f"✅ {said[:1].upper()}{said[1:]}{held} (case {number}).{extra}{told}"


def log_entry(case: Case, number: int, *, name: str, requester: str, told: str) -> str:
    """The entry of the mod-log."""
    order = case.order
    lines = [
        f"**Case {number} · {order.declared.title}** · {about(order, case.object_id)}"
        + (f" {quoted(name, 40)} ({case.object_id})" if order.users else ""),
        f"By <@{case.requester_id}> {quoted(requester, 40)}",
        *details(order),
        f"-# {told}",
    ]
    return "\n".join(lines)[:CARD_MOST]


def case_entry(case: Case) -> str:
    """A case, for who asks for it."""
    order = case.order
    lines = [
        f"**Case {case.case_no} · {order.declared.title}** · {about(order, case.object_id)}"
        + (f" {quoted(case.subject_name, 40)}" if case.subject_name else ""),
        f"By <@{case.requester_id}> {quoted(case.requester_name, 40)} <t:{int(case.made_at.timestamp())}:f>",
        *[line for line in details(order) if not line.startswith("Reason:")],
        f"Reason: {quoted(case.reason)}" if case.reason else "Reason: none given",
        f"Outcome: {_standing(case)}",
    ]
    return "\n".join(lines)[:CARD_MOST]


def case_name(case: Case) -> str:
    """A case as a suggestion: plain text, within Discord's 100 characters."""
    about_whom = f" · {case.subject_name}" if case.subject_name else ""
    why = f": {case.reason}" if case.reason else ""
    said = " ".join(clean(f"{case.case_no} · {DEEDS[_name(case)].title}{about_whom}{why}").split())
    return said if len(said) <= SUGGESTED_MOST else said[: SUGGESTED_MOST - 1] + "…"


def case_line(case: Case) -> str:
    """A case on one line, for a list."""
    why = f": {quoted(case.reason, 80)}" if case.reason else ""
    title = DEEDS[_name(case)].title
    when = int(case.made_at.timestamp())
    return f"`{case.case_no}` **{title}** <t:{when}:d> by <@{case.requester_id}>{why} · {_standing(case)}"


def _name(case: Case) -> DeedName:
    return case.order.deed


def _standing(case: Case) -> str:
    match case.state:
        case "done":
            return "done" + (f", until <t:{int(case.ends_at.timestamp())}:f>" if case.ends_at is not None else "")
        case "undone":
            return "undone by hand" if case.undone_by_no is None else f"undone (case {case.undone_by_no})"
        case "unknown":
            told = "and it cannot be found out any more" if case.code == UNKNOWABLE else "I go on looking"
            return f"not certain: Discord gave no answer, {told}"
        case "acting":
            return "being done"
        case "refused":
            return f"not done ({case.code})"
