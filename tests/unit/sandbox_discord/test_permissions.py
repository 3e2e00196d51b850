"""Discord's permission arithmetic: roles, overwrites in their order, and what is implied."""

import pytest

from sandbox.discord import Discord, Guild, Member, Permission
from sandbox.discord.permissions import EVERYTHING, NOTHING

VIEW, SEND, FILES = Permission.VIEW_CHANNEL, Permission.SEND_MESSAGES, Permission.ATTACH_FILES


@pytest.fixture
def guild() -> Guild:
    return Discord.start().create_guild("Rules")


@pytest.fixture
def ada(guild: Guild) -> Member:
    return guild.add_member("Ada")


def test_owner_and_administrator_may_everything_whatever_a_channel_says(guild: Guild) -> None:
    chief = guild.add_member("Chief", roles=[guild.create_role("chief", permissions=Permission.ADMINISTRATOR)])
    shut = guild.create_channel("shut")
    shut.set_permissions(guild.everyone, deny=EVERYTHING)
    shut.set_permissions(chief, deny=EVERYTHING)
    assert shut.permissions_of(chief) == EVERYTHING
    assert shut.permissions_of(guild.members[guild.owner_id]) == EVERYTHING
    assert shut.permissions_of(guild.me) == NOTHING


def test_overwrites_apply_everyone_then_roles_at_once_then_the_member(guild: Guild, ada: Member) -> None:
    """Between roles an allow beats a deny, however they are ordered."""
    one, two = guild.create_role("one"), guild.create_role("two")
    ada.give(one, two)
    room = guild.create_channel("room")
    room.set_permissions(guild.everyone, deny=VIEW)
    assert not room.visible_to(ada)
    room.set_permissions(one, allow=VIEW)
    room.set_permissions(two, deny=VIEW)
    assert room.visible_to(ada)
    room.set_permissions(ada, deny=VIEW)
    assert not room.visible_to(ada)


def test_without_view_there_is_nothing_and_without_send_nothing_to_send(guild: Guild, ada: Member) -> None:
    room = guild.create_channel("room")
    room.set_permissions(guild.everyone, deny=SEND)
    assert FILES not in room.permissions_of(ada)
    assert Permission.READ_MESSAGE_HISTORY in room.permissions_of(ada)
    room.set_permissions(guild.everyone, deny=VIEW)
    assert room.permissions_of(ada) == NOTHING


def test_a_timed_out_member_can_only_read(guild: Guild, ada: Member) -> None:
    """Until the time is over, and never an administrator."""
    room = guild.create_channel("room")
    ada.time_out(60)
    assert room.permissions_of(ada) == VIEW | Permission.READ_MESSAGE_HISTORY
    guild.world.clock.advance(61)
    assert SEND in room.permissions_of(ada)


async def test_a_thread_has_its_parents_permissions_and_its_own_kind_of_sending(guild: Guild, ada: Member) -> None:
    room = guild.create_channel("room")
    thread = await ada.starts_thread(room, "thread")
    secret = await ada.starts_thread(room, "secret", private=True)
    room.set_permissions(guild.everyone, deny=SEND)
    await ada.says(thread, "a thread needs Send Messages in Threads, not Send Messages")
    eve = guild.add_member("Eve")
    mod = guild.add_member("Mo", roles=[guild.create_role("mods", permissions=Permission.MANAGE_THREADS)])
    assert [secret.visible_to(who) for who in (ada, eve, mod, guild.me)] == [True, False, True, False]
    room.set_permissions(guild.everyone, deny=VIEW)
    assert not thread.visible_to(ada)


def test_a_stranger_may_nothing(guild: Guild) -> None:
    stranger = guild.world.create_user("Stranger")
    assert guild.create_channel("room").permissions_of(stranger) == NOTHING
