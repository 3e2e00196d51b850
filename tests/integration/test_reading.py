"""Discord read for a turn: both must see it, nothing is of another space, and a refusal tells nothing (I5, I6)."""

from collections.abc import AsyncGenerator, Sequence

import pytest

from bot import rest
from bot.addressing import Identity
from bot.reading import Silent, TurnReads
from bot.rest import Reads
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.scope import Scope
from sandbox.discord import Channel, Discord, File, Guild, Kind, Member, Permission
from tests.harness.rest import open_reads
from tools.errors import Refused


@pytest.fixture
async def discord() -> AsyncGenerator[Discord]:
    async with Discord.start() as started:
        yield started


@pytest.fixture
async def reads(discord: Discord) -> AsyncGenerator[Reads]:
    async with open_reads(discord) as opened:
        yield opened


@pytest.fixture
def guild(discord: Discord) -> Guild:
    return discord.create_guild("Atlas")


async def nobody(people: Sequence[UserId]) -> frozenset[UserId]:
    """Nobody of them chose not to be read."""
    return frozenset()


def turn(reads: Reads, who: Member, place: Channel, silent: Silent = nobody) -> TurnReads:
    """A turn of somebody's in a place."""
    bot = place.world.bot
    scope = Scope(SpaceId(place.id if place.guild is None else place.guild.id), PlaceId(place.id))
    return TurnReads(reads, silent, scope, UserId(who.id), Identity(place.world.application.id, bot.id))


async def code(work: object) -> str:
    with pytest.raises(Refused) as caught:
        await work  # type: ignore[misc]
    return caught.value.code


async def test_a_page_is_in_order_and_knows_whether_there_is_more(guild: Guild, reads: Reads) -> None:
    hall, ada = guild.create_channel("hall"), guild.add_member("Ada")
    said = [await ada.says(hall, f"line {n}") for n in range(6)]
    view = turn(reads, ada, hall)
    newest = await view.read_messages(place_id=None, limit=3)
    assert [each.content for each in newest.messages] == ["line 3", "line 4", "line 5"]
    assert (newest.place_id, newest.more) == (hall.id, True)
    older = await view.read_messages(place_id=None, limit=3, before=MessageId(said[3].id))
    assert ([each.content for each in older.messages], older.more) == (["line 0", "line 1", "line 2"], False)
    after = await view.read_messages(place_id=PlaceId(hall.id), limit=2, after=MessageId(said[1].id))
    assert ([each.content for each in after.messages], after.more) == (["line 2", "line 3"], True)
    assert (await view.read_messages(place_id=None, limit=100)).more is False


async def test_who_chose_not_to_be_read_is_not_read(guild: Guild, reads: Reads) -> None:
    """Their messages are left out of a page, and are not there when they are asked for by id."""
    hall, ada, bob = guild.create_channel("hall"), guild.add_member("Ada"), guild.add_member("Bob")
    await ada.says(hall, "mine")
    theirs = await bob.says(hall, "not for machines")

    async def bob_alone(people: Sequence[UserId]) -> frozenset[UserId]:
        return frozenset(people) & {UserId(bob.id)}

    view = turn(reads, ada, hall, bob_alone)
    assert [each.content for each in (await view.read_messages(place_id=None, limit=5)).messages] == ["mine"]
    assert await code(view.get_message(MessageId(theirs.id), place_id=None)) == "not_found"


async def test_a_message_as_discord_shows_it_now(guild: Guild, reads: Reads, discord: Discord) -> None:
    """Edits, replies, files, embeds, forwards and reactions; whose words they are."""
    hall, ada = guild.create_channel("hall"), guild.add_member("Ada", nick="Countess")
    robot = guild.add_bot("Robot")
    first = await ada.says(hall, "One", files=[File("plan.pdf", b"..", "application/pdf")])
    await ada.edits(first, "Two")
    await robot.reacts(first, "👍")
    second = await robot.says(hall, "", reply_to=first, embeds=[{"title": "Build", "description": "green"}])
    third = await ada.says(hall, forward=first)
    view = turn(reads, ada, hall)
    one = await view.get_message(MessageId(first.id), place_id=None)
    assert (one.content, one.author_name, one.author_kind) == ("Two", "Ada", "member")
    assert one.edited_at is not None
    assert (one.attachments, one.reactions) == (("plan.pdf (2 bytes)",), (("👍", 1),))
    two = await view.get_message(MessageId(second.id), place_id=None)
    assert (two.author_kind, two.reply_to_id, two.embeds) == ("bot", first.id, ("Build\ngreen",))
    three = await view.get_message(MessageId(third.id), place_id=None)
    assert three.forwarded == ("Two\nplan.pdf (2 bytes)",)
    assert three.reply_to_id is None


async def test_what_either_cannot_see_is_not_read(guild: Guild, reads: Reads) -> None:
    """I5: hidden from the requester, from the bot, without the history, and not there at all: one answer for all."""
    ada, bob = guild.add_member("Ada"), guild.add_member("Bob")
    hall, bobs = guild.create_channel("hall"), guild.create_channel("bobs", private_to=[bob])
    blind, mute = guild.create_channel("blind"), guild.create_channel("past")
    blind.set_permissions(guild.me, deny=Permission.VIEW_CHANNEL)
    mute.set_permissions(ada, deny=Permission.READ_MESSAGE_HISTORY)
    secret = await bob.says(bobs, "the secret")
    view = turn(reads, ada, hall)
    answers: set[str] = set()
    for place in (bobs.id, blind.id, mute.id, 123456789012345678, guild.id):
        for work in (
            view.read_messages(place_id=PlaceId(place), limit=5),
            view.get_message(MessageId(secret.id), place_id=PlaceId(place)),
            view.list_threads(place_id=PlaceId(place), archived=False),
        ):
            with pytest.raises(Refused) as caught:
                await work
            answers.add(str(caught.value))
    assert len(answers) == 1
    assert next(iter(answers)).startswith("no_access")
    assert (await turn(reads, bob, hall).read_messages(place_id=PlaceId(bobs.id), limit=5)).messages[-1].content


async def test_what_is_age_restricted_is_not_quoted_where_anybody_reads(guild: Guild, reads: Reads) -> None:
    """Neither from the channel nor from a thread of it; in another one of its kind, and in itself, it may stand."""
    hall, cellar, bar = (guild.create_channel(name, nsfw=name != "hall") for name in ("hall", "cellar", "bar"))
    ada = guild.add_member("Ada")
    said = await ada.says(cellar, "for adults")
    thread = await ada.starts_thread(said, "More", text="and more")
    for place in (cellar, thread):
        assert await code(turn(reads, ada, hall).read_messages(place_id=PlaceId(place.id), limit=1)) == "age_restricted"
    single = turn(reads, ada, hall).get_message(MessageId(said.id), place_id=PlaceId(cellar.id))
    assert await code(single) == "age_restricted"
    for here in (cellar, thread, bar):
        page = await turn(reads, ada, here).read_messages(place_id=PlaceId(cellar.id), limit=5)
        assert "for adults" in [each.content for each in page.messages]
    assert await turn(reads, ada, cellar).read_messages(place_id=PlaceId(hall.id), limit=5)


async def test_another_space_is_impossible(discord: Discord, guild: Guild, reads: Reads) -> None:
    """I6: Ada and the bot are in both guilds and could read there; from here they cannot, nor into a conversation."""
    other = discord.create_guild("Other")
    ada = guild.add_member("Ada")
    there = other.add_member(ada.user)
    hall, den = guild.create_channel("hall"), other.create_channel("den")
    said = await there.says(den, "elsewhere")
    private = await ada.says(ada.dm(), "in private")
    view = turn(reads, ada, hall)
    for message, place in ((said, den), (private, ada.dm())):
        assert await code(view.read_messages(place_id=PlaceId(place.id), limit=5)) == "no_access"
        assert await code(view.get_message(MessageId(message.id), place_id=PlaceId(place.id))) == "no_access"
        assert await code(view.get_message(MessageId(message.id), place_id=None)) == "not_found"
    assert await code(turn(reads, ada, ada.dm()).read_messages(place_id=PlaceId(hall.id), limit=5)) == "no_access"
    assert [each.name for each in await view.list_channels()] == ["hall"]


async def test_a_direct_conversation_stays_in_itself(guild: Guild, reads: Reads) -> None:
    ada, eve = guild.add_member("Ada"), guild.add_member("Eve")
    await ada.says(ada.dm(), "between us")
    await eve.says(eve.dm(), "not yours")
    view = turn(reads, ada, ada.dm())
    assert [each.content for each in (await view.read_messages(place_id=None, limit=5)).messages] == ["between us"]
    assert await code(view.read_messages(place_id=PlaceId(eve.dm().id), limit=5)) == "no_access"
    assert await code(view.list_channels()) == "not_here"
    assert await code(view.list_threads(place_id=None, archived=False)) == "not_here"
    assert await code(view.get_member(UserId(eve.id))) == "not_here"


async def test_private_threads_are_for_their_members(guild: Guild, reads: Reads) -> None:
    ada, bob = guild.add_member("Ada"), guild.add_member("Bob")
    hall = guild.create_channel("hall")
    secret = await ada.starts_thread(hall, "secret", text="psst", private=True)
    secret.add(guild.me)
    unseen = await ada.starts_thread(hall, "unseen", private=True)
    await bob.starts_thread(hall, "open", text="hello")
    for who, names in ((ada, ["open", "secret"]), (bob, ["open"])):
        view = turn(reads, who, hall)
        assert [each.name for each in await view.list_threads(place_id=None, archived=False)] == names
    assert (await turn(reads, ada, hall).read_messages(place_id=PlaceId(secret.id), limit=5)).messages
    assert await code(turn(reads, bob, hall).read_messages(place_id=PlaceId(secret.id), limit=5)) == "no_access"
    assert await code(turn(reads, ada, hall).read_messages(place_id=PlaceId(unseen.id), limit=5)) == "no_access"


async def test_threads_of_a_place_and_of_a_forum(guild: Guild, reads: Reads) -> None:
    """From inside a thread its channel's threads are meant; archived ones are listed for themselves."""
    ada = guild.add_member("Ada")
    hall, forum = guild.create_channel("hall"), guild.create_channel("ideas", kind=Kind.FORUM)
    old, new = await ada.starts_thread(hall, "old", text="x"), await ada.starts_thread(hall, "new", text="x")
    other = guild.create_channel("other")
    await ada.starts_thread(other, "elsewhere", text="x")
    old.archive(locked=True)
    view = turn(reads, ada, new)
    assert [each.name for each in await view.list_threads(place_id=None, archived=False)] == ["new"]
    (archived,) = await view.list_threads(place_id=None, archived=True)
    assert (archived.name, archived.archived, archived.locked, archived.parent_id) == ("old", True, True, hall.id)
    assert await code(view.read_messages(place_id=PlaceId(forum.id), limit=5)) == "no_messages"


@pytest.mark.parametrize("manages", [False, True])
async def test_archived_private_threads(discord: Discord, reads: Reads, manages: bool) -> None:
    """I5: those that the bot sees, being in them or managing threads, to who is in them, and to nobody else."""
    guild = discord.create_guild("Atlas", bot_permissions=Permission.MANAGE_THREADS if manages else Permission(0))
    ada, bob = guild.add_member("Ada"), guild.add_member("Bob")
    hall = guild.create_channel("hall")
    joined = await ada.starts_thread(hall, "joined", private=True)
    apart = await ada.starts_thread(hall, "apart", private=True)
    await ada.adds(guild.me, joined)
    for thread in (joined, apart):
        thread.archive()
    shown = await turn(reads, ada, hall).list_threads(place_id=None, archived=True)
    assert [each.name for each in shown] == (["apart", "joined"] if manages else ["joined"])
    assert await turn(reads, bob, hall).list_threads(place_id=None, archived=True) == []


async def test_channels_as_the_requester_sees_them(guild: Guild, reads: Reads) -> None:
    """In Discord's order: without a category first, voice last; no category's name for who sees nothing of it."""
    ada, bob = guild.add_member("Ada"), guild.add_member("Bob")
    office = guild.create_category("Office")
    guild.create_channel("booth", kind=Kind.VOICE, category=office)
    guild.create_channel("desk", category=office, topic="Work")
    guild.create_channel("staff", category=office, private_to=[bob])
    hall = guild.create_channel("hall")
    shown = await turn(reads, ada, hall).list_channels()
    assert [(each.name, each.kind, each.category, each.topic) for each in shown] == [
        ("hall", "text", None, None),
        ("desk", "text", "Office", "Work"),
        ("booth", "voice", "Office", None),
    ]
    assert "staff" in [each.name for each in await turn(reads, bob, hall).list_channels()]


async def test_members_without_secrets(guild: Guild, reads: Reads) -> None:
    mods = guild.create_role("Mods", permissions=Permission.MANAGE_MESSAGES)
    ada, bob = guild.add_member("Ada", nick="Countess"), guild.add_member("Bob", roles=[mods])
    view = turn(reads, ada, guild.create_channel("hall"))
    own, other = await view.get_member(None), await view.get_member(UserId(bob.id))
    assert (own.user_id, own.nick, own.display_name, own.roles) == (ada.id, "Countess", "Countess", ())
    assert (other.name, other.roles, other.is_bot, other.is_owner) == ("bob", ("Mods",), False, False)
    assert other.joined_at is not None
    assert await code(view.get_member(UserId(123456789012345678))) == "not_found"


async def test_what_is_deleted_is_not_found(guild: Guild, reads: Reads) -> None:
    ada, hall, gone = guild.add_member("Ada"), guild.create_channel("hall"), guild.create_channel("gone")
    said = await ada.says(hall, "oops")
    await ada.deletes(said)
    gone.delete()
    view = turn(reads, ada, hall)
    assert await code(view.get_message(MessageId(said.id), place_id=None)) == "not_found"
    assert await code(view.read_messages(place_id=PlaceId(gone.id), limit=5)) == "no_access"


async def test_who_left_reads_nothing_more(guild: Guild, reads: Reads) -> None:
    """I5: the requester left, or was hidden from, between asking and reading."""
    ada, hall = guild.add_member("Ada"), guild.create_channel("hall")
    await ada.says(hall, "hello")
    view = turn(reads, ada, hall)
    assert (await view.read_messages(place_id=None, limit=5)).messages
    ada.leaves()
    assert await code(view.read_messages(place_id=None, limit=5)) == "no_access"
    assert await code(view.list_channels()) == "no_access"


@pytest.mark.parametrize("path", ["/channels/*", "/channels/*/messages", "/guilds/*/members/*"])
async def test_what_discord_cannot_say_is_told(
    discord: Discord, guild: Guild, reads: Reads, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """I9, I16: never an empty page instead of a fault."""
    monkeypatch.setattr(rest, "READ_ATTEMPTS", 1)
    ada, hall = guild.add_member("Ada"), guild.create_channel("hall")
    discord.faults.rest("GET", path, times=None).status(503)
    assert await code(turn(reads, ada, hall).read_messages(place_id=None, limit=5)) == "discord_unavailable"


@pytest.mark.parametrize("body", [b'{"id": 5}', b"[5]", b'[{"id": "1"}]', b"null", b'[{"id": "x", "author": {}}]'])
async def test_a_nonsensical_answer_is_no_answer(
    discord: Discord, guild: Guild, reads: Reads, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setattr(rest, "READ_ATTEMPTS", 1)
    ada, hall = guild.add_member("Ada"), guild.create_channel("hall")
    fault = discord.faults.rest("GET", "/channels/*/messages", times=None)
    fault.status(200, body)
    fault.headers = {"Content-Type": "application/json"}
    assert await code(turn(reads, ada, hall).read_messages(place_id=None, limit=5)) == "discord_unavailable"
