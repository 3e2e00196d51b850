"""Who may do what to whom, by every action: what is allowed, and what is refused in which words, before it happens."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from sandbox.discord import Member, Message, Permission
from tests.harness.moderating import MODERATES, Court, court
from tests.harness.stage import Stage

CARD: Final = "Look at the card below"
ABSENT: Final = "is not in this server"
NOT_BELOW: Final = "does not stand below you"
NOT_BELOW_ME: Final = "does not stand below my own role"
OWNER: Final = "owns this server"
MYSELF: Final = "I do not do this to myself"
YOURSELF: Final = "You cannot do this to yourself"
BOT: Final = "is a bot: manage it under"
ADMINISTRATOR: Final = "is an administrator, whom Discord lets nobody time out"

# By whom, to whom: what is said to each of the deeds that meet a member, in the order of DEEDS.
DEEDS: Final = (
    "ban", "kick", "timeout", "warn", "untimeout", "nickname", "role add", "role remove", "note", "unban",
)  # fmt: skip
NOT_TIMED_OUT: Final = "is not timed out"
NOT_BANNED: Final = "is not banned here"

POSITIONS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("mia", "bob"): (CARD,) * 4 + (NOT_TIMED_OUT, CARD, CARD, CARD, CARD, NOT_BANNED),
    ("mia", "max"): (NOT_BELOW,) * 6 + (CARD, CARD, CARD, NOT_BANNED),
    ("mia", "sam"): (NOT_BELOW,) * 6 + (CARD, CARD, CARD, NOT_BANNED),
    ("sam", "max"): (CARD,) * 4 + (NOT_TIMED_OUT, CARD, CARD, CARD, CARD, NOT_BANNED),
    ("mia", "amy"): (NOT_BELOW,) * 6 + (CARD, CARD, CARD, NOT_BANNED),
    ("olive", "amy"): (CARD, CARD, ADMINISTRATOR, CARD, NOT_TIMED_OUT, CARD, CARD, CARD, CARD, NOT_BANNED),
    ("olive", "chief"): (NOT_BELOW_ME,) * 6 + (CARD, CARD, CARD, NOT_BANNED),
    ("mia", "olive"): (OWNER,) * 6 + (CARD, CARD, CARD, NOT_BANNED),
    ("mia", "mia"): (YOURSELF,) * 4 + (NOT_TIMED_OUT, CARD, CARD, CARD, CARD, NOT_BANNED),
    ("mia", "me"): (MYSELF,) * 6 + (CARD, CARD, CARD, NOT_BANNED),
    ("olive", "robot"): (BOT,) * 4 + (NOT_TIMED_OUT, CARD, CARD, CARD, CARD, NOT_BANNED),
    ("mia", "gone"): (CARD, *(ABSENT,) * 7, CARD, NOT_BANNED),
    ("mia", "banned"): ("is banned already", *(ABSENT,) * 7, CARD, CARD),
}
NEEDED: Final = {
    "ban": "Ban Members", "kick": "Kick Members", "timeout": "Timeout Members", "warn": "Timeout Members",
    "untimeout": "Timeout Members", "nickname": "Manage Nicknames", "role add": "Manage Roles",
    "role remove": "Manage Roles", "note": "Timeout Members", "unban": "Ban Members", "purge": "Manage Messages",
    "slowmode": "Manage Channels", "lock": "Manage Roles", "unlock": "Manage Roles",
    "channel create": "Manage Channels", "channel edit": "Manage Channels", "channel delete": "Manage Channels",
}  # fmt: skip


@pytest.fixture
def scene(stage: Stage) -> Court:
    """A guild with moderators."""
    return court(stage)


def _options(scene: Court, deed: str, target: Any) -> dict[str, Any]:
    match deed:
        case "warn" | "note":
            return {"member": target, "reason": "because"}
        case "nickname":
            return {"member": target, "name": "Nicky"}
        case "role add":
            return {"member": target, "role": scene.colour}
        case "role remove":
            return {"member": target, "role": scene.badge}
        case "purge":
            return {"count": 2}
        case "slowmode":
            return {"interval": "5s"}
        case "channel create":
            return {"name": "annex"}
        case "channel edit":
            return {"channel": scene.log, "name": "archive"}
        case "channel delete":
            return {"channel": scene.log}
        case "lock" | "unlock":
            return {}
        case _:
            return {"member": target}


async def test_the_table_of_positions(scene: Court) -> None:
    """I5: each requester and target times each deed: a card, or one sentence; and nothing of it reaches Discord."""
    guild = scene.stage.guild
    gone, banned = guild.add_member("Gone"), guild.add_member("Nick")
    everybody: dict[str, Member] = {
        **{name: getattr(scene, name) for name in ("bob", "mia", "max", "sam", "amy", "chief", "olive", "robot")},
        "me": guild.members[scene.stage.discord.bot.id],
        "gone": gone,
        "banned": banned,
    }
    for each in everybody.values():
        each.give(scene.badge)
    gone.leaves()
    await scene.olive.bans(banned)
    wrong: list[str] = []
    async with scene.muninn(card_s=600):
        for (requester, target), expected in POSITIONS.items():
            for deed, words in zip(DEEDS, expected, strict=True):
                options = _options(scene, deed, everybody[target].user)
                said = await scene.says_no(everybody[requester], deed, **options)
                if words not in said or (words != CARD and said.count("\n")):
                    wrong.append(f"{requester} {deed} {target}: {said!r} instead of {words!r}")
        assert not wrong, "\n".join(wrong)
        assert scene.changes() == []
    assert await scene.cases() == []


async def test_who_lacks_the_permission_is_told_which(scene: Court) -> None:
    """I5: the requester's permission and then the bot's, for every deed; nobody else's right counts, a name neither."""
    guild = scene.stage.guild
    async with scene.muninn():
        await scene.olive.sets_command(guild, "mod", guild.everyone, allow=True)
        for deed, needed in NEEDED.items():
            said = await scene.says_no(scene.bob, deed, **_options(scene, deed, scene.robot.user))
            assert said == f"You need the permission “{needed}” for this.", deed
        scene.bots.edit(permissions=Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES)
        for deed, needed in NEEDED.items():
            said = await scene.says_no(scene.mia, deed, **_options(scene, deed, scene.bob.user))
            if deed in ("warn", "note"):
                assert said.startswith(CARD), deed
            else:
                assert said == f"I lack the permission “{needed}” for this; nothing was done.", deed
        assert scene.changes() == []


async def test_what_is_taken_away_between_card_and_press(scene: Court) -> None:
    """I5: for every deed the permissions of requester and bot, and whether its member is there, as they are at the
    press; nothing reaches Discord, and no case gets a number."""
    guild = scene.stage.guild
    banned = guild.add_member("Nick")
    await scene.olive.bans(banned)
    scene.bob.give(scene.badge)
    await scene.olive.times_out(scene.bob, 600)
    wrong: list[str] = []

    async def cards(deeds: tuple[str, ...]) -> dict[str, Message]:
        found: dict[str, Message] = {}
        for deed in deeds:
            target = banned if deed == "unban" else scene.bob
            found[deed] = await scene.asks(scene.mia, deed, **_options(scene, deed, target.user))
        return found

    async def pressed(asked: dict[str, Message], words: Mapping[str, str]) -> None:
        for deed, card in asked.items():
            said = await scene.confirms(scene.mia, card)
            if words[deed] not in said:
                wrong.append(f"{deed}: {said!r} instead of {words[deed]!r}")

    async with scene.muninn(card_s=600):
        deeds = tuple(deed for deed in NEEDED if deed != "unlock")
        before = scene.changes()
        asked = await cards(deeds)
        scene.mia.take(scene.mods)
        await pressed(asked, {deed: f"You need the permission “{NEEDED[deed]}” for this." for deed in deeds})
        scene.mia.give(scene.mods)
        needs_bot = tuple(deed for deed in deeds if deed not in ("warn", "note"))
        asked = await cards(needs_bot)
        scene.bots.edit(permissions=Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES)
        await pressed(asked, {deed: f"I lack the permission “{NEEDED[deed]}” for this" for deed in needs_bot})
        scene.bots.edit(permissions=MODERATES)
        meets = ("kick", "timeout", "warn", "untimeout", "nickname", "role add", "role remove")
        asked = await cards(meets)
        scene.bob.leaves()
        await pressed(asked, dict.fromkeys(meets, ABSENT))
        assert not wrong, "\n".join(wrong)
        assert scene.changes() == before
    made = await scene.cases()
    assert {case["state"] for case in made} == {"refused"}
    assert {case["case_no"] for case in made} == {None}
