"""Plain words of moderation: an order for each that asks, none for what does not (I5)."""

from typing import Any

import pytest

from bot.moderation.deeds import DEED_NAMES
from bot.moderation.phrases import GRAMMARS
from bot.moderation.speech import Said, hear

OWN, BOB, AMY, AUTHOR, HERE, ROLE = 42, 100, 101, 700, 5, 900
B, A, C, R = f"<@{BOB}>", f"<@{AMY}>", "<#55>", f"<@&{ROLE}>"


def _said(text: str, *, reply: bool = False, own_reply: bool = False) -> Said:
    author = OWN if own_reply else AUTHOR if reply else None
    return Said(
        text, OWN, HERE, author, 7000 if author else None, "https://discord.com/channels/1/5/7000" if reply else None
    )


ASKS: list[tuple[str, str, dict[str, Any]]] = [
    (f"<@42> ban {B}", "ban", {"users": (BOB,)}),
    (f"<@42> Ban {B}.", "ban", {}),
    (f"<@42> BAN {B}!!!", "ban", {}),
    (f"ban {B} <@42>", "ban", {}),
    (f"hey <@42>, please ban {B}", "ban", {}),
    (f"<@42> please ban {B} for spam", "ban", {"reason": "spam"}),
    (f"<@42> can you ban {B}?", "ban", {}),
    (f"<@42> could you please ban {B} for 7 days for advertising?", "ban",
     {"seconds": 7 * 86400, "reason": "advertising"}),
    (f"<@42> would you kindly ban {B}", "ban", {}),
    (f"<@42> I need you to ban {B} right now", "ban", {}),
    (f"<@42> ban {B} permanently", "ban", {"seconds": None}),
    (f"<@42> permanently ban {B}", "ban", {}),
    (f"<@42> tempban {B} 2w", "ban", {"seconds": 14 * 86400}),
    (f"<@42> ban {B} and {A}", "ban", {"users": (BOB, AMY)}),
    (f"<@42> ban {B}, {A} and 123456789012345678 because they raid", "ban", {"users": (BOB, AMY, 123456789012345678)}),
    ("<@42> ban 123456789012345678", "ban", {"users": (123456789012345678,)}),
    (f"<@42> ban {B} because he said \"ban everybody\"", "ban", {"reason": "he said ban everybody"}),
    (f"<@42> ban {B} for the next 3 days", "ban", {"seconds": 3 * 86400}),
    (f"<@42> ban {B} please, thanks", "ban", {}),
    (f"<@42> ban {B}. He posts scam links.", "ban", {"reason": "He posts scam links."}),
    (f"**<@42> ban {B}**", "ban", {}),
    (f"<@42> give {B} the ban", "ban", {}),
    (f"<@42> unban {B}", "unban", {}),
    ("<@42> unban 123456789012345678 since he apologised", "unban", {"reason": "he apologised"}),
    (f"<@42> lift the ban on {B}", "unban", {}),
    (f"<@42> please remove the ban from {B}", "unban", {}),
    (f"<@42> kick {B}", "kick", {}),
    (f"<@42> kick {B} out", "kick", {}),
    (f"<@42> kick {B} out of the server", "kick", {}),
    (f"<@42> remove {B} from the server", "kick", {}),
    (f"<@42> boot {B} for trolling", "kick", {"reason": "trolling"}),
    (f"<@42> Kick {B} reason: being rude", "kick", {"reason": "being rude"}),
    (f"<@42> timeout {B}", "timeout", {"seconds": 3600}),
    (f"<@42> time out {B} for 10 minutes", "timeout", {"seconds": 600}),
    (f"<@42> time {B} out for an hour", "timeout", {"seconds": 3600}),
    (f"<@42> mute {B} 1h30m", "timeout", {"seconds": 5400}),
    (f"<@42> mute {B} for spamming for 2 hours", "timeout", {"seconds": 7200, "reason": "spamming"}),
    (f"<@42> silence {B} for two days because of insults", "timeout", {"seconds": 2 * 86400, "reason": "insults"}),
    (f"<@42> put {B} in timeout for 5m", "timeout", {"seconds": 300}),
    (f"<@42> give {B} a timeout of 20 minutes", "timeout", {"seconds": 1200}),
    (f"<@42> timeout {B} for 3 months", "timeout", {"clamped": True}),
    (f"<@42> could you mute {B} and {A} for 1 day?", "timeout", {"users": (BOB, AMY)}),
    (f"<@42> unmute {B}", "untimeout", {}),
    (f"<@42> take {B} out of timeout", "untimeout", {}),
    (f"<@42> end the timeout of {B}", "untimeout", {}),
    (f"<@42> remove the timeout from {B} please", "untimeout", {}),
    (f"<@42> warn {B} for shouting", "warn", {"reason": "shouting"}),
    (f"<@42> give {B} a warning because of the language", "warn", {"reason": "the language"}),
    (f"<@42> add a note about {B}: Was friendly in DMs", "note", {"reason": "Was friendly in DMs"}),
    (f"<@42> make a note on {B} second account of someone", "note", {}),
    ("<@42> purge 20", "purge", {}),
    ("<@42> purge the last 50 messages", "purge", {}),
    (f"<@42> delete the last 10 messages from {B}", "purge", {}),
    ("<@42> please clear 5 messages", "purge", {}),
    (f"<@42> can you clean up the last 100 messages in {C}?", "purge", {"place_id": 55}),
    ("<@42> set slowmode to 10 seconds", "slowmode", {"seconds": 10}),
    (f"<@42> set the slow mode in {C} to 1 minute", "slowmode", {"seconds": 60, "place_id": 55}),
    ("<@42> slowmode 30s", "slowmode", {"seconds": 30}),
    ("<@42> turn off slowmode", "slowmode", {"seconds": 0}),
    ("<@42> turn slowmode off please", "slowmode", {"seconds": 0}),
    ("<@42> disable slow mode in this channel", "slowmode", {"seconds": 0}),
    ("<@42> lock this channel", "lock", {}),
    (f"<@42> lock {C} for 1 hour", "lock", {"place_id": 55, "seconds": 3600}),
    ("<@42> lock down this channel because of the raid", "lock", {"reason": "the raid"}),
    (f"<@42> unlock {C}", "unlock", {"place_id": 55}),
    ("<@42> please reopen this channel", "unlock", {}),
    (f"<@42> give {B} the {R} role", "role_add", {"role_id": ROLE}),
    (f"<@42> give {B} {R} for 2 weeks", "role_add", {"seconds": 14 * 86400}),
    (f"<@42> add {R} to {B}", "role_add", {}),
    (f"<@42> add {B} to {R}", "role_add", {}),
    (f"<@42> take {R} from {B}", "role_remove", {"role_id": ROLE}),
    (f"<@42> remove the {R} role from {B}", "role_remove", {}),
    (f"<@42> take {R} away from {B}", "role_remove", {}),
    (f"<@42> rename {B} to Robert Paulson", "nickname", {"name": "Robert Paulson"}),
    (f"<@42> set {B}'s nickname to \"The Boss\"", "nickname", {"name": "The Boss"}),
    (f"<@42> change the nickname of {B} to Bobby", "nickname", {"name": "Bobby"}),
    (f"<@42> reset {B}'s nickname", "nickname", {"name": None}),
    ("<@42> create a channel called book-club", "channel_create", {"name": "book-club"}),
    ("<@42> make a new text channel named \"Movie night\"", "channel_create", {"name": "Movie night"}),
    (f"<@42> rename {C} to archive", "channel_edit", {"name": "archive"}),
    (f"<@42> delete {C}", "channel_delete", {"place_id": 55}),
    # Names and notes that contain commands are names and notes.
    (f"<@42> rename {B} to \"Ban Everyone\"", "nickname", {"name": "Ban Everyone"}),
    (f"<@42> rename {B} to Kick Master", "nickname", {"name": "Kick Master"}),
    ("<@42> create a channel called kick-bob", "channel_create", {"name": "kick-bob"}),
    ("<@42> make a channel named \"Lock this channel\"", "channel_create", {"name": "Lock this channel"}),
    (f"<@42> rename {C} to ban-appeals", "channel_edit", {"name": "ban-appeals"}),
    (f"<@42> add a note about {B}: calls himself Mute Amy", "note", {"reason": "calls himself Mute Amy"}),
]  # fmt: skip

BY_REPLY: list[tuple[str, str]] = [
    ("<@42> ban him", "ban"),
    ("<@42> ban this user for scam links", "ban"),
    ("<@42> please kick them", "kick"),
    ("<@42> can you mute her for 1 hour?", "timeout"),
    ("<@42> warn the author for this tone", "warn"),
    ("<@42> delete this", "purge"),
    ("<@42> remove that message please", "purge"),
    ("<@42> timeout this spammer 1d", "timeout"),
]

NOT_BY_REPLY: list[str] = [
    "<@42> don't ban him",
    "<@42> please do not mute her",
    "<@42> why did you kick them?",
    "<@42> should I ban this user?",
    "<@42> what if we ban him",
    "<@42> ban him if he does it again",
    "<@42> Amy said: kick him",
    "<@42> `ban him`",
    "<@42> ```\nban him\n```",
    "<@42> > delete this",
    '<@42> "mute her"',
    "<@42> ban him? no",
    "<@42> I would ban him",
    "<@42> thanks for banning him",
    "<@42> is this Ban Hammer again?",
]

NONE: list[str] = [
    # Names that contain commands.
    f"<@42> thank Ban Hammer {B} for me",
    f"<@42> who is Kick Master {B}?",
    f"<@42> Warn Brothers {B} play tonight",
    f"<@42> Mute Button {B} is a funny name",
    f"<@42> {B} calls himself Ban Amy",
    "<@42> what is said in #purge-20?",
    f"<@42> is {C} the channel lock this channel was about?",
    # In code, between code, and across it.
    f"<@42> ``ban {B}``",
    f"<@42> ```sh\nban {B}\n``` what does this do?",
    f"<@42> run `x` and `ban {B}`",
    f"<@42> ```\n<@42> kick {B}\n```\nwhy does my bot say so?",
    f"<@42> don't ban {B}",
    f"<@42> please do not ban {B}",
    f"<@42> never ban {B}",
    f"<@42> can you not ban {B}?",
    f"<@42> could you please not kick {B}",
    f"<@42> I don't want you to ban {B}",
    f"<@42> no need to ban {B}",
    f"<@42> ban {B}? no way",
    f"<@42> ban {B}. Just kidding!",
    f"<@42> ban {B}... never mind",
    f"<@42> ban {B}\nactually don't",
    f"<@42> ban {B} or not?",
    f"<@42> ban {B}?",
    f"<@42> should I ban {B}?",
    f"<@42> should we kick {B}",
    f"<@42> what happens when you ban {B}?",
    f"<@42> what if we ban {B}",
    f"<@42> how do I ban {B}",
    f"<@42> why did you ban {B}?",
    f"<@42> did you ban {B}",
    f"<@42> who banned {B}",
    f"<@42> is it ok to ban {B} for spam?",
    f"<@42> if {B} spams again, ban {B}",
    f"<@42> ban {B} if he does it again",
    f"<@42> ban {B} unless he says sorry",
    f"<@42> ban {B} for spam if he does it again",
    f"<@42> ban {B} tomorrow",
    f"<@42> mute {B} when he comes back",
    f"<@42> imagine you ban {B}",
    f"<@42> I would ban {B}",
    f"<@42> I banned {B} yesterday",
    f"<@42> you could ban {B}",
    f"<@42> they want to ban {B}",
    f"<@42> Amy said: ban {B}",
    f"<@42> Amy says ban {B}",
    f"<@42> she told me to kick {B}",
    f'<@42> "ban {B}"',
    f'<@42> what does "ban {B}" do?',
    f"<@42> `ban {B}`",
    f"<@42> ```\nban {B}\n```",
    f"<@42> > ban {B}",
    f"<@42>\n> ban {B}\nwhat did he mean?",
    f"<@42> ||ban {B}||",
    f"<@42> ~~ban {B}~~ hello",
    f"<@42> “kick {B}”",
    f"<@42> translate: kick {B}",
    f"<@42> the command is ban {B}",
    f"<@42> write a story in which the mods ban {B}",
    f"<@42> thanks for the ban of {B}",
    f"<@42> banning {B} was right",
    "<@42> ban everyone",
    "<@42> ban all of them",
    "<@42> ban people who spam",
    "<@42> ban pineapple on pizza",
    "<@42> kick the ball",
    "<@42> mute the tv",
    "<@42> warn me when it rains",
    "<@42> time out",
    "<@42> ban",
    "<@42> ban him",
    "<@42> delete this",
    "<@42> lock the door",
    "<@42> give him a cookie",
    f"<@42> give {B} a hug",
    "<@42> purge",
    "<@42> purge 0",
    "<@42> delete the last message of the story",
    "<@42> clear my doubts",
    "<@42> rename the variable to count",
    f"<@42> hello {B}, ban means what?",
    f"<@42> tell {B} to kick it",
    f"<@42> tell {B} that I will ban {A}",
    f"<@42> {B} ban {A}",
    f"<@42> ban {B} and tell me a joke",
    f"<@42> ban {B} then kick {A}",
    f"<@42> ban {B}. Kick {A}.",
    f"<@42> my name is Ban {B}",
    f"<@42> <@42> do you know how to ban {B}",
    "<@42> create a channel",
    "<@42> set the mood to happy",
    "<@42> " + "x" * 700 + f" ban {B}",
    f"<@42> §u{BOB} ban §u{BOB}",
]


@pytest.mark.parametrize(("text", "deed", "fields"), ASKS, ids=[text for text, _, _ in ASKS])
def test_what_asks_is_heard(text: str, deed: str, fields: dict[str, Any]) -> None:
    """Polite, plain, with times and reasons, several at once: the very order."""
    heard = hear(_said(text))
    assert heard is not None
    assert heard.order.deed == deed
    for name, value in fields.items():
        found = getattr(heard.order, name)
        assert found == value or (name == "reason" and value in found), name
    if not fields.get("users") and heard.order.declared.target in ("member", "user"):
        assert BOB in heard.order.users or 123456789012345678 in heard.order.users


@pytest.mark.parametrize(("text", "deed"), BY_REPLY)
def test_a_reply_says_who_and_what_is_meant(text: str, deed: str) -> None:
    """The author of the message that is replied to, and that message as the evidence; never the bot itself."""
    heard = hear(_said(text, reply=True))
    assert heard is not None
    assert heard.order.deed == deed
    if deed == "purge":
        assert heard.order.messages == (7000,)
    else:
        assert heard.order.users == (AUTHOR,)
        assert heard.order.evidence == ("https://discord.com/channels/1/5/7000",)
        assert hear(_said(text, own_reply=True)) is None


@pytest.mark.parametrize("text", NOT_BY_REPLY)
def test_a_reply_that_does_not_ask_is_not_heard(text: str) -> None:
    """Negated, asked about, reported, quoted, in code: in a reply as elsewhere."""
    assert hear(_said(text, reply=True)) is None


@pytest.mark.parametrize("text", NONE, ids=[text[:60] for text in NONE])
def test_what_does_not_ask_is_not_heard(text: str) -> None:
    """Negated, supposed, conditional, reported, quoted, in code, of something else: no order."""
    assert hear(_said(text)) is None


def test_there_are_enough_of_them_and_every_deed_has_words() -> None:
    """150 phrasings; what can be done by a command can be asked for, but for what is done by a number."""
    assert len(ASKS) + len(BY_REPLY) + len(NOT_BY_REPLY) + len(NONE) >= 150
    for grammar in GRAMMARS:
        assert {deed for deed, _ in grammar.phrases} == set(DEED_NAMES) - {"retract"}
