"""How channels, messages and people are named: by id, mention or link, and never those of another space (I6)."""

import pytest

from tests.unit.tools.turn import ELSEWHERE, GUILD, HERE, MESSAGE, OTHER_GUILD, context, direct
from tools.errors import Refused
from tools.references import message_named, place_named, user_named

LINK = f"https://discord.com/channels/{GUILD}/{ELSEWHERE}"


@pytest.mark.parametrize(
    "said",
    [
        str(ELSEWHERE),
        f" {ELSEWHERE} ",
        f"<#{ELSEWHERE}>",
        LINK,
        f"<{LINK}>",
        f"{LINK}/",
        f"{LINK}/{MESSAGE}",
        LINK.replace("discord.com", "ptb.discord.com"),
        LINK.replace("discord.com", "canary.discord.com"),
        LINK.replace("discord.com", "discordapp.com"),
    ],
)
def test_a_channel_by_any_of_its_names(said: str) -> None:
    assert place_named(context(), said) == ELSEWHERE


@pytest.mark.parametrize("said", [None, str(HERE), f"<#{HERE}>", f"https://discord.com/channels/{GUILD}/{HERE}"])
def test_the_turns_own_place_is_none_however_it_is_named(said: str | None) -> None:
    """One action, one receipt: naming the place that is meant anyway makes no other action (I4)."""
    assert place_named(context(), said) is None


def test_a_message_by_id_or_link() -> None:
    assert message_named(context(), str(MESSAGE)) == (MESSAGE, None)
    assert message_named(context(), str(MESSAGE), f"<#{ELSEWHERE}>") == (MESSAGE, ELSEWHERE)
    assert message_named(context(), f"{LINK}/{MESSAGE}") == (MESSAGE, ELSEWHERE)
    assert message_named(context(), f"{LINK}/{MESSAGE}", str(ELSEWHERE)) == (MESSAGE, ELSEWHERE)
    assert message_named(context(), f"https://discord.com/channels/{GUILD}/{HERE}/{MESSAGE}") == (MESSAGE, None)


def test_a_person_by_id_or_mention() -> None:
    assert user_named("<@123456789012345678>") == user_named("<@!123456789012345678>") == 123456789012345678
    assert user_named("123456789012345678") == 123456789012345678


@pytest.mark.parametrize(
    "link",
    [
        f"https://discord.com/channels/{OTHER_GUILD}/{ELSEWHERE}",
        f"https://discord.com/channels/{OTHER_GUILD}/{HERE}",
        f"https://discord.com/channels/@me/{ELSEWHERE}",
    ],
)
def test_a_link_to_another_space_is_refused(link: str) -> None:
    """I6: a guild in a link is compared and never taken."""
    for refuse in (lambda: place_named(context(), link), lambda: message_named(context(), f"{link}/{MESSAGE}")):
        with pytest.raises(Refused) as caught:
            refuse()
        assert caught.value.code == "other_space"


@pytest.mark.parametrize("link", [LINK, f"https://discord.com/channels/@me/{ELSEWHERE}"])
def test_from_a_direct_conversation_no_link_leads_out(link: str) -> None:
    with pytest.raises(Refused) as caught:
        place_named(direct(context()), link)
    assert caught.value.code == "other_space"
    assert place_named(direct(context()), f"https://discord.com/channels/@me/{HERE}") is None


@pytest.mark.parametrize(
    "said",
    [
        "",
        "general",
        "#general",
        "12",
        "99999999999999999999",
        "0" * 18,
        "-123456789012345678",
        "1234567890123456789012",
        "<@123456789012345678>",
        "<#123456789012345678> <#123456789012345678>",
        "https://evil.example/channels/100000000000000001/100000000000000002",
        "https://discord.com.evil.example/channels/100000000000000001/100000000000000002",
        "http://discord.com/channels/100000000000000001/100000000000000002",
        "https://discord.com/channels/100000000000000001",
        "１２３４５６７８９０１２３４５６７８",  # noqa: RUF001 - digits, but not Discord's
    ],
)
def test_what_names_no_channel_or_message_is_told(said: str) -> None:
    with pytest.raises(Refused) as caught:
        place_named(context(), said)
    assert caught.value.code == "not_a_channel"
    with pytest.raises(Refused) as caught:
        message_named(context(), said)
    assert caught.value.code == "not_a_message"


@pytest.mark.parametrize("said", ["", "Ada", "@Ada", "<@&123456789012345678>", "12", "99999999999999999999"])
def test_what_names_no_person_is_told(said: str) -> None:
    with pytest.raises(Refused) as caught:
        user_named(said)
    assert caught.value.code == "not_a_user"


def test_a_link_and_a_channel_that_differ_are_told() -> None:
    for said, channel in ((f"{LINK}/{MESSAGE}", str(HERE)), (f"{LINK}/{MESSAGE}", "123456789012345678")):
        with pytest.raises(Refused) as caught:
            message_named(context(), said, channel)
        assert caught.value.code == "contradiction"
    with pytest.raises(Refused) as caught:
        message_named(context(), LINK)
    assert caught.value.code == "not_a_message"
