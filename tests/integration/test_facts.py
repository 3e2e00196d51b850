"""Facts fresh from Discord, held against the loopback Discord's own permission engine (I5, I6)."""

import random
from collections.abc import AsyncGenerator

import pytest

from bot import rest
from bot.errors import ReadFailed
from bot.facts import Facts
from bot.rest import Reads
from memory.ids import PlaceId, SpaceId, UserId
from sandbox.discord import Channel, Discord, Guild, Kind, Member, Permission, Thread
from sandbox.discord.permissions import EVERYONE_DEFAULT
from tests.harness.rest import open_reads

NOWHERE = PlaceId(123456789012345678)


@pytest.fixture
async def discord() -> AsyncGenerator[Discord]:
    async with Discord.start() as started:
        yield started


@pytest.fixture
async def reads(discord: Discord) -> AsyncGenerator[Reads]:
    async with open_reads(discord) as opened:
        yield opened


def facts_of(reads: Reads, space: Guild | Channel) -> Facts:
    return Facts(reads, SpaceId(space.id), space.world.bot.id)


def ids(member: Member, place: Channel) -> tuple[UserId, PlaceId]:
    return UserId(member.id), PlaceId(place.id)


def some(chance: random.Random, *, least: float = 0.1) -> Permission:
    """A random handful of permissions, the administrator's seldom among them."""
    found = Permission(0)
    for each in Permission:
        if chance.random() < (0.02 if each is Permission.ADMINISTRATOR else least):
            found |= each
    return found


def random_guild(discord: Discord, chance: random.Random) -> Guild:
    """Roles, members, channels with overwrites, threads of both kinds and time-outs, all by chance."""
    guild = discord.create_guild("Chance", bot_permissions=some(chance) | Permission.VIEW_CHANNEL)
    guild.everyone.edit(permissions=EVERYONE_DEFAULT if chance.random() < 0.7 else some(chance, least=0.4))
    roles = [guild.create_role(f"r{n}", permissions=some(chance)) for n in range(4)]
    members = [guild.add_member(f"m{n}", roles=chance.sample(roles, chance.randint(0, 3))) for n in range(5)]
    targets = [guild.everyone, *roles, *members, guild.me]
    for n in range(5):
        kind = chance.choice([Kind.TEXT, Kind.TEXT, Kind.VOICE, Kind.NEWS])
        channel = guild.create_channel(f"c{n}", kind=kind)
        for target in chance.sample(targets, chance.randint(0, 4)):
            channel.set_permissions(target, allow=some(chance, least=0.3), deny=some(chance, least=0.2))
        if kind is Kind.TEXT:
            private = chance.random() < 0.6
            thread = discord.world.threads.start(
                channel, f"t{n}", owner=discord.world.users[guild.owner_id], private=private
            )
            for member in chance.sample(members, 2):
                thread.add(member)
            if private and chance.random() < 0.7:
                thread.add(guild.me)
            if chance.random() < 0.3:
                thread.archive()
    for member in chance.sample(members, 2):
        member.time_out(chance.choice([-60, 3600]))
    return guild


@pytest.mark.parametrize("seed", range(16))
async def test_permissions_are_what_discord_itself_computes(discord: Discord, reads: Reads, seed: int) -> None:
    """I5: over random guilds, for everybody and everywhere; what the bot cannot see gives nobody anything."""
    guild = random_guild(discord, random.Random(seed))  # noqa: S311 - a seed, so that it can be repeated
    for member in list(guild.members.values()):
        facts = facts_of(reads, guild)
        for place in guild.places():
            seen = place.visible_to(guild.me) and place.visible_to(member)
            expected = place.permissions_of(member).value if seen else 0
            granted = (await facts.permissions(*ids(member, place))).value
            told = sum(each.value for each in Permission)
            assert Permission(granted & told) == Permission(expected), f"{member} in {place}"


async def test_each_fact_is_asked_for_once_in_a_decision_and_again_in_the_next(discord: Discord, reads: Reads) -> None:
    """I5: what changed between two decisions counts in the second one; within one nothing changes."""
    guild = discord.create_guild("Atlas")
    ada, hall = guild.add_member("Ada"), guild.create_channel("hall")
    facts = facts_of(reads, guild)
    assert (await facts.permissions(*ids(ada, hall))).send_messages
    hall.set_permissions(ada, deny=Permission.SEND_MESSAGES)
    asked = len(discord.requests)
    assert (await facts.permissions(*ids(ada, hall))).send_messages
    assert len(discord.requests) == asked
    assert not (await facts_of(reads, guild).permissions(*ids(ada, hall))).send_messages


async def test_what_is_of_another_space_is_not_there(discord: Discord, reads: Reads) -> None:
    """I6: another guild's channel, a stranger, a direct conversation: none of them exists for this guild's facts."""
    guild, other = discord.create_guild("Atlas"), discord.create_guild("Other")
    ada = guild.add_member("Ada")
    eve, den = other.add_member("Eve"), other.create_channel("den")
    other.add_member(ada.user)
    facts = facts_of(reads, guild)
    for place in (PlaceId(den.id), PlaceId(ada.dm().id), NOWHERE, PlaceId(0)):
        assert await facts.place(place) is None
        assert (await facts.permissions(UserId(ada.id), place)).value == 0
    assert await facts.member(UserId(eve.id)) is None
    assert (await facts.permissions(UserId(eve.id), PlaceId(guild.create_channel("hall").id))).value == 0


async def test_a_direct_conversation_has_its_two_people(discord: Discord, reads: Reads) -> None:
    guild = discord.create_guild("Atlas")
    ada, eve = guild.add_member("Ada"), guild.add_member("Eve")
    room = ada.dm()
    facts = facts_of(reads, room)
    for user_id, may in ((ada.id, True), (discord.bot.id, True), (eve.id, False)):
        granted = await facts.permissions(UserId(user_id), PlaceId(room.id))
        assert (granted.send_messages, granted.read_message_history) == (may, may)
        assert not granted.manage_messages
    assert await facts.member(UserId(ada.id)) is None
    assert await facts.place(PlaceId(eve.dm().id)) is None
    assert await facts.channels() == ()


async def test_members_come_with_their_rank(discord: Discord, reads: Reads) -> None:
    guild = discord.create_guild("Atlas")
    low = guild.create_role("low")
    high = guild.create_role("high", permissions=Permission.MANAGE_MESSAGES)
    ada = guild.add_member("Ada", roles=[low, high], nick="Countess")
    facts = facts_of(reads, guild)
    member = await facts.member(UserId(ada.id))
    assert member is not None
    assert [role.name for role in member.roles] == ["high", "low"]
    assert member.top_position == high.position
    assert (member.nick, member.display_name, member.name) == ("Countess", "Countess", "ada")
    assert (member.is_owner, member.is_administrator, member.is_bot) == (False, False, False)
    assert member.permissions.manage_messages
    owner = await facts.member(UserId(guild.owner_id))
    assert owner is not None
    assert owner.is_owner
    assert owner.is_administrator
    assert owner.top_position == 0


async def test_a_private_thread_is_nothing_to_who_is_not_in_it(discord: Discord, reads: Reads) -> None:
    guild = discord.create_guild("Atlas", bot_permissions=Permission.MANAGE_THREADS)
    ada, bob = guild.add_member("Ada"), guild.add_member("Bob")
    hall = guild.create_channel("hall")
    thread: Thread = await ada.starts_thread(hall, "secret", private=True)
    facts = facts_of(reads, guild)
    assert await facts.can_read(*ids(ada, thread))
    assert not await facts.can_read(*ids(bob, thread))
    place = await facts.place(PlaceId(thread.id))
    assert place is not None
    assert (place.is_thread, place.is_private, place.parent_id, place.owner_id) == (True, True, hall.id, ada.id)


async def test_the_chat_of_a_voice_channel_is_for_those_who_may_join(discord: Discord, reads: Reads) -> None:
    """Discord asks for Connect beside View Channel before it shows a voice channel's messages."""
    guild = discord.create_guild("Atlas")
    ada, booth = guild.add_member("Ada"), guild.create_channel("booth", kind=Kind.VOICE)
    assert await facts_of(reads, guild).can_read(*ids(ada, booth))
    booth.set_permissions(guild.everyone, deny=Permission.CONNECT)
    assert not await facts_of(reads, guild).can_read(*ids(ada, booth))


@pytest.mark.parametrize("path", ["/channels/*", "/guilds/*", "/guilds/*/members/*"])
@pytest.mark.parametrize("how", ["status", "reset", "nonsense", "edge"])
async def test_unknown_is_never_yes(
    discord: Discord, reads: Reads, monkeypatch: pytest.MonkeyPatch, path: str, how: str
) -> None:
    """I5: whatever keeps Discord from saying it, nobody is told that somebody may; the next decision asks again."""
    guild = discord.create_guild("Atlas")
    ada, hall = guild.add_member("Ada"), guild.create_channel("hall")
    monkeypatch.setattr(rest, "READ_ATTEMPTS", 1)
    fault = discord.faults.rest("GET", path, times=None)
    match how:
        case "status":
            fault.status(503)
        case "reset":
            fault.reset()
        case "edge":
            fault.rate_limit(0.5, via=False)
        case _:
            fault.status(200)
    with pytest.raises(ReadFailed):
        await facts_of(reads, guild).permissions(*ids(ada, hall))
    assert fault.hits >= 1


async def test_a_read_that_failed_is_tried_again(discord: Discord, reads: Reads) -> None:
    guild = discord.create_guild("Atlas")
    ada, hall = guild.add_member("Ada"), guild.create_channel("hall")
    discord.faults.rest("GET", "/channels/*").status(503)
    discord.faults.rest("GET", "/guilds/*/members/*").reset()
    assert (await facts_of(reads, guild).permissions(*ids(ada, hall))).view_channel


async def test_a_token_that_is_not_taken_is_no_answer(discord: Discord, reads: Reads) -> None:
    """401 is about us: it must not read as "there is no such place"."""
    guild = discord.create_guild("Atlas")
    discord.faults.rest("GET", "/channels/*").status(401)
    with pytest.raises(ReadFailed, match="unauthorized"):
        await facts_of(reads, guild).place(PlaceId(guild.create_channel("hall").id))
