"""Moderation from end to end: a command, a card, a press, a case, a log, an undo (I4, I5)."""

import re

import pytest

from sandbox.discord import Permission
from tests.harness.moderating import Court, court
from tests.harness.stage import Stage


@pytest.fixture
def scene(stage: Stage) -> Court:
    """A guild with moderators."""
    return court(stage)


async def test_a_timeout_from_the_command_to_its_undoing(scene: Court) -> None:
    """The card says all before anything happens; then it is done, told, numbered, logged, and can be undone."""
    async with scene.muninn():
        await scene.logs_to(scene.log)
        card = await scene.asks(scene.mia, "timeout", member=scene.bob, duration="2h", reason="spam @everyone")
        for words in ("time out", scene.bob.mention, "2 hours", "spam", "below yours", "`Mods`", "/mod undo"):
            assert words in card.content
        assert scene.changes() == []
        said = await scene.confirms(scene.mia, card)
        assert "(case 1)" in said
        assert "They were told" in said
        assert scene.bob.timed_out_until is not None
        [entry] = scene.stage.discord.world.audit.of(scene.stage.guild)
        assert entry.reason == f"Mia ({scene.mia.id}), case 1: spam @everyone"
        [notice] = scene.stage.discord.messages_in(scene.bob.dm())
        assert "timed out in **Workshop**" in notice.content
        [logged] = scene.stage.discord.bot_messages(scene.log)
        assert "Case 1 · Timeout" in logged.content

        assert "Case 1 · Timeout" in await scene.says_no(scene.max, "case", number=1)
        assert "`1` **Timeout**" in await scene.says_no(scene.max, "history", member=scene.bob)
        assert "coins" in await scene.says_no(scene.max, "reason", number=1, reason="coins")
        card = await scene.asks(scene.max, "undo", number=1)
        assert "(case 2)" in await scene.confirms(scene.max, card)
        assert scene.bob.timed_out_until is None
        assert "undone (case 2)" in await scene.says_no(scene.mia, "case", number=1)
    assert [(c["case_no"], c["deed"], c["state"]) for c in await scene.cases()] == [
        (1, "timeout", "undone"),
        (2, "untimeout", "done"),
    ]
    assert not scene.stage.discord.pings


async def test_every_deed_is_done_and_undone(scene: Court) -> None:
    """Each by its command, once, and back again by its case where undoing exists; else it is said why not."""
    guild, bob, general = scene.stage.guild, scene.bob, scene.general
    bob.give(scene.badge)
    annex = guild.create_channel("annex", topic="old")

    def writable() -> bool:
        return Permission.SEND_MESSAGES in general.permissions_of(scene.robot.user)

    async with scene.muninn():

        async def does(command: str, **options: object) -> int:
            said = await scene.does(scene.mia, command, **options)
            found = re.search(r"\(case (\d+)\)", said)
            assert found is not None, said
            return int(found[1])

        async def undoes(number: int) -> None:
            card = await scene.asks(scene.mia, "undo", number=number)
            assert "✅" in await scene.confirms(scene.mia, card)

        number = await does("nickname", member=bob, name="Robert")
        assert bob.nick == "Robert"
        await undoes(number)
        assert bob.nick is None

        number = await does("role add", member=bob, role=scene.colour)
        assert scene.colour in bob.roles
        await undoes(number)
        assert scene.colour not in bob.roles

        number = await does("role remove", member=bob, role=scene.badge)
        assert scene.badge not in bob.roles
        await undoes(number)
        assert scene.badge in bob.roles

        number = await does("slowmode", interval="10s", channel=annex)
        assert annex.slowmode == 10
        await undoes(number)
        assert annex.slowmode == 0

        number = await does("lock")
        assert not writable()
        assert not general.permissions_of(scene.mia.user) & Permission.SEND_MESSAGES
        await undoes(number)
        assert writable()
        await does("lock")
        await does("unlock")
        assert writable()

        number = await does("channel edit", channel=annex, name="archive", topic="new")
        assert (annex.name, annex.topic) == ("archive", "new")
        await undoes(number)
        assert (annex.name, annex.topic) == ("annex", "old")

        number = await does("channel create", name="lounge", kind="voice", topic="chat")
        [lounge] = [c for c in guild.channels.values() if c.name == "lounge"]
        await undoes(number)
        assert lounge.id not in guild.channels

        number = await does("channel delete", channel=annex)
        assert annex.id not in guild.channels
        assert "cannot be undone" in await scene.says_no(scene.mia, "undo", number=number)

        number = await does("warn", member=bob, reason="shouting")
        assert "warned in **Workshop**" in scene.stage.discord.messages_in(bob.dm())[-1].content
        await undoes(number)
        number = await does("note", member=bob, reason="new here")
        await undoes(number)

        number = await does("ban", member=bob, duration="7d", delete="1d", reason="coins")
        assert bob.id in guild.bans
        await undoes(number)
        assert bob.id not in guild.bans
        assert f"Case {number} was undone already" in await scene.says_no(scene.mia, "undo", number=number)

        number = await does("kick", member=guild.add_member("Kim"))
        assert "without their roles" in await scene.says_no(scene.mia, "undo", number=number)
    numbers = [case["case_no"] for case in await scene.cases()]
    assert numbers == list(range(1, len(numbers) + 1)), "numbers without gaps"
    left = await scene.stage.pool.fetch("SELECT 1 FROM mod_timers WHERE closed_at IS NULL")
    assert left == [], "an undone ban ends no more by itself"
    open_receipts = await scene.stage.pool.fetch("SELECT * FROM action_receipts WHERE state <> 'applied'")
    assert open_receipts == []


async def test_messages_are_purged_and_truly_counted(scene: Court) -> None:
    """Together while younger than 14 days, one by one beyond; pinned stay; what was gone before is not counted."""
    discord, general = scene.stage.discord, scene.general
    old = [await scene.bob.says(general, f"old {n}") for n in range(2)]
    discord.clock.advance(15 * 86_400)
    kept = await scene.bob.says(general, "pinned")
    await scene.olive.pins(kept)
    young = [await scene.bob.says(general, f"young {n}") for n in range(4)]
    other = await scene.sam.says(general, "not Bob's")
    async with scene.muninn():
        card = await scene.asks(scene.mia, "purge", count=50, member=scene.bob)
        assert "Messages: 6" in card.content
        assert "2 of them are older than 14 days" in card.content
        await scene.bob.deletes(young[0])
        said = await scene.confirms(scene.mia, card)
        assert "5 of 6 messages; 1 were gone before" in said
    assert all(message.deleted for message in [*old, *young])
    assert not kept.deleted
    assert not other.deleted
    assert len(discord.requests_to("POST", "/channels/*/messages/bulk-delete")) == 1


async def test_many_at_once_show_the_list_first(scene: Court) -> None:
    """Each is judged for itself: the card lists who can be banned and who cannot, and each is a case."""
    guild = scene.stage.guild
    raiders = [guild.add_member(f"Raider{n}") for n in range(3)]
    async with scene.muninn():
        more = " ".join([*(r.mention for r in raiders[1:]), scene.olive.mention, str(scene.bob.id)])
        card = await scene.asks(scene.mia, "ban", member=raiders[0], more=more, reason="raid")
        assert "4 of 5 can be done" in card.content
        assert "owns this server" in card.content
        said = await scene.confirms(scene.mia, card)
        assert said.count("✅") == 4
        assert "at most 10 members" in await scene.says_no(
            scene.mia, "ban", member=raiders[0], more=" ".join(str(10**17 + n) for n in range(10))
        )
    assert {r.id for r in raiders} | {scene.bob.id} == set(guild.bans)
    assert [case["case_no"] for case in await scene.cases()] == [1, 2, 3, 4]


async def test_a_timeout_is_clamped_and_said(scene: Court) -> None:
    """28 days is Discord's limit; just under it, by two clocks that need not agree."""
    async with scene.muninn():
        card = await scene.asks(scene.mia, "timeout", member=scene.bob, duration="2 months")
        assert "27 days, 23 hours and 59 minutes (the longest that Discord allows)" in card.content
        assert "(case 1)" in await scene.confirms(scene.mia, card)
        assert "do not read that as a time" in await scene.says_no(
            scene.mia, "timeout", member=scene.bob, duration="soon"
        )


async def test_one_who_takes_no_direct_messages(scene: Court) -> None:
    """The ban does not wait for it, and the card says that they could not be told."""
    scene.stage.discord.faults.rest("POST", "/users/@me/channels", times=None).status(403)
    async with scene.muninn():
        said = await scene.does(scene.mia, "kick", member=scene.bob)
        assert "could not be told" in said
    assert scene.bob.id not in scene.stage.guild.members


async def test_somebody_who_is_not_here_is_banned_by_id(scene: Court) -> None:
    """By id, and nobody is told; an id of nobody is refused."""
    gone = scene.stage.guild.add_member("Gone")
    gone.leaves()
    async with scene.muninn():
        card = await scene.asks(scene.mia, "ban", member=gone.user)
        assert "is not in this server" in card.content
        await scene.confirms(scene.mia, card)
    assert gone.id in scene.stage.guild.bans


async def test_the_menus_of_members_and_messages(scene: Court) -> None:
    """A timeout from a message has the message as its evidence; a message is deleted with a case."""
    spam = await scene.bob.says(scene.general, "buy coins")
    async with scene.muninn():
        await (await scene.mia.context_menu("Time out author", spam)).message()
        card = await scene.card()
        assert str(spam.id) in card.content
        await scene.confirms(scene.mia, card)
        assert scene.bob.timed_out_until is not None
        await (await scene.mia.context_menu("Delete message", spam)).message()
        await scene.confirms(scene.mia, await scene.card())
        assert spam.deleted
        use = await scene.mia.context_menu("Moderation history", scene.bob, in_=scene.general)
        assert "Timeout" in (await use.message()).content
    [first, second] = await scene.cases()
    assert str(spam.id) in first["evidence"][0]
    assert second["deed"] == "purge"
