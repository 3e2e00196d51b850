"""The doctor on Discord: token, intents, gateway, and what Muninn may do in each guild, by name where it may not."""

import pytest
from pydantic import SecretStr

from bot.doctor import examination
from bot.doctor.findings import Finding, exit_code
from bot.invitation import ATTACH, EMBED, SEND, WANTED, Wanted, invite_link, permission_bits
from sandbox.discord import Channel, Discord, Member, Permission
from sandbox.discord.events import Intent
from sandbox.discord.permissions import EVERYONE_DEFAULT
from tests.harness.diagnosis import assert_plain, named
from tests.harness.stage import Stage

NOTHING = Permission(0)
MISSING = Permission.PIN_MESSAGES
"""What @everyone of a new guild lacks of what Muninn asks for."""


async def visited(stage: Stage, **overrides: object) -> list[Finding]:
    """The whole examination of a set-up in which only Discord may be at fault."""
    stage.model.default(lambda request: pytest.fail("no model is asked"))
    found = await examination.examine(stage.settings(**overrides))
    assert_plain(found, stage.discord.token, stage.model.api_key)
    others = [f for f in found if f.group not in ("discord", "guilds", "clocks") and f.level == "fault"]
    assert others == []
    return found


@pytest.fixture
async def me(stage: Stage) -> Member:
    """The bot in the guild, with everything that it asks for."""
    stage.guild.everyone.edit(permissions=EVERYONE_DEFAULT | MISSING)
    return stage.guild.me


@pytest.mark.usefixtures("me")
async def test_a_sound_bot(stage: Stage) -> None:
    """Nothing is at fault and nothing is warned about; Discord was only read, and no session was begun."""
    found = await visited(stage)
    assert exit_code(found) == 0
    of_discord = [f for f in found if f.group in ("discord", "guilds", "clocks")]
    assert {f.level for f in of_discord} == {"ok"}, of_discord
    assert {request.method for request in stage.discord.requests} == {"GET"}
    assert stage.discord.identifies == 0
    assert "1 of 1 channels" in named(found, "guilds.speaks").says


async def test_a_token_that_is_not_taken(stage: Stage) -> None:
    """Wrong, or not set at all; nothing else of Discord can be looked at then."""
    found = await visited(stage, discord_token=SecretStr("not-the-token-at-all"))
    assert named(found, "discord.token").level == "fault"
    assert exit_code(found) == 1
    found = await visited(stage, discord_token=SecretStr(""))
    assert "not set" in named(found, "discord.token").says


async def test_discord_cannot_be_reached(stage: Stage) -> None:
    """REST, or the gateway alone, which a firewall may close."""
    found = await visited(stage, discord_api_url="http://127.0.0.1:1/api/v10")
    assert named(found, "discord.reachable").level == "fault"
    async with stage.discord.gateway_offline():
        found = await visited(stage)
    assert named(found, "discord.gateway").level == "fault"
    assert named(found, "discord.token").level == "ok"


async def test_an_intent_that_is_switched_off(stage: Stage) -> None:
    """Message Content is off in the portal: Discord would refuse the connection."""
    stage.discord.world.application.privileged = Intent.GUILD_MEMBERS
    finding = named(await visited(stage), "discord.message_content")
    assert finding.level == "fault"
    assert "Message Content Intent" in (finding.next_step or "")


async def test_a_bot_in_no_guild(stage: Stage) -> None:
    """The next step is the link that invites it."""
    stage.guild.remove_bot()
    finding = named(await visited(stage), "guilds.listed")
    assert finding.level == "warn"
    assert invite_link(stage.discord.bot.id) in (finding.next_step or "")


@pytest.mark.usefixtures("me")
async def test_a_role_without_a_permission(stage: Stage) -> None:
    """Each permission that the role lacks is named, with the guild and what fails without it."""
    for wanted in WANTED:
        stage.guild.everyone.edit(permissions=(EVERYONE_DEFAULT | MISSING) & ~Permission(wanted.bit))
        found = await visited(stage)
        if wanted.essential:
            finding = named(found, "guilds.speaks", subject=stage.guild.id)
            assert finding.level == "fault", wanted
        else:
            name = f"guilds.{wanted.label.lower().replace(' ', '_')}"
            finding = named(found, name, subject=stage.guild.id)
            assert finding.level == "warn", wanted
            assert wanted.without in finding.says
        assert wanted.label in finding.says
        assert wanted.label in (finding.next_step or "")
        assert stage.guild.name in finding.says


@pytest.mark.usefixtures("me")
async def test_channels_in_which_it_lacks_something(stage: Stage) -> None:
    """By name: one that it does not see, one in which it may not speak, one in which it may not react."""
    me = stage.guild.me
    rules = stage.guild.create_channel("rules")
    rules.set_permissions(stage.guild.everyone, deny=Permission.SEND_MESSAGES)
    cellar = stage.guild.create_channel("cellar")
    cellar.set_permissions(stage.guild.everyone, deny=Permission.VIEW_CHANNEL)
    quiet = stage.guild.create_channel("quiet")
    quiet.set_permissions(me, deny=Permission.ADD_REACTIONS)
    found = await visited(stage)
    assert exit_code(found) == 0
    speaks = named(found, "guilds.speaks")
    assert "2 of 4 channels" in speaks.says
    assert "does not see #cellar" in speaks.says
    assert "in #rules," in named(found, "guilds.send_messages").says
    assert "in #quiet," in named(found, "guilds.add_reactions").says


async def test_overwrites_follow_discords_order(stage: Stage) -> None:
    """The loopback Discord and the doctor agree on every channel, whatever overwrites and roles there are."""
    me, guild = stage.guild.me, stage.guild
    red, blue = guild.create_role("Red"), guild.create_role("Blue", permissions=Permission.PIN_MESSAGES)
    me.give(red, blue)
    steps = [
        (guild.everyone, NOTHING, Permission.SEND_MESSAGES),
        (red, NOTHING, Permission.ADD_REACTIONS),
        (blue, Permission.SEND_MESSAGES | Permission.ADD_REACTIONS, NOTHING),
        (me, NOTHING, Permission.SEND_MESSAGES | Permission.EMBED_LINKS),
    ]
    for number in range(1 << len(steps)):
        channel = guild.create_channel(f"case-{number}")
        for n, (target, allow, deny) in enumerate(steps):
            if number >> n & 1:
                channel.set_permissions(target, allow=allow, deny=deny)
    found = await visited(stage)
    for wanted in WANTED:
        places = [c for c in guild.channels.values() if wanted not in (EMBED, ATTACH) or _may(c, me, SEND)]
        lacking = [c.name for c in places if not _may(c, me, wanted)]
        told = [f.says for f in found if f.name == f"guilds.{wanted.label.lower().replace(' ', '_')}"]
        assert bool(lacking) == bool(told), wanted
        if 0 < len(lacking) < 8:
            assert [name for name in lacking if f"#{name}" not in told[0]] == []


def _may(channel: Channel, who: Member, wanted: Wanted) -> bool:
    return Permission(wanted.bit) in channel.permissions_of(who)


async def test_an_administrator_may_everything(stage: Stage) -> None:
    """Overwrites do not bind a bot whose role has Administrator."""
    role = stage.guild.create_role("Admin", permissions=Permission.ADMINISTRATOR)
    stage.guild.me.give(role)
    stage.general.set_permissions(stage.guild.everyone, deny=Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES)
    found = await visited(stage)
    assert {f.level for f in found if f.group == "guilds"} == {"ok"}


async def test_a_bot_that_is_timed_out(stage: Stage) -> None:
    """A moderator silenced it."""
    stage.guild.me.time_out(3_600)
    assert named(await visited(stage), "guilds.timed_out").level == "fault"


async def test_clocks_that_differ(stage: Stage) -> None:
    """Discord's clock is an hour ahead of this machine's; PostgreSQL's, on this machine, is not."""
    assert named(await visited(stage), "clocks.discord").level == "ok"
    stage.discord.clock.advance(3_600)
    found = await visited(stage)
    assert named(found, "clocks.discord").level == "fault"
    assert "1 hour ahead" in named(found, "clocks.discord").says
    assert named(found, "clocks.database").level == "ok"


async def test_names_cannot_pretend_to_be_lines_of_ours(stage: Stage) -> None:
    """A guild's name is somebody else's text: in a report it stays within its line."""
    from bot.doctor.report import as_text

    stage.guild.name = "Workshop\n\x1b[31m  FAULT  everything"
    found = await examination.examine(stage.settings())
    shown = as_text(found)
    assert "\x1b" not in shown
    assert not any(line.strip().startswith("FAULT") for line in shown.splitlines())


async def test_the_invite_link_asks_for_what_is_wanted() -> None:
    """The integer is the sum of the bits that Discord documents, and nothing that moderates is among them."""
    async with Discord.start() as discord:
        link = invite_link(discord.bot.id)
    assert f"client_id={discord.bot.id}" in link
    assert f"permissions={permission_bits()}" in link
    asked = Permission(permission_bits())
    assert Permission.ADMINISTRATOR not in asked
    assert asked == (
        Permission.VIEW_CHANNEL
        | Permission.SEND_MESSAGES
        | Permission.SEND_MESSAGES_IN_THREADS
        | Permission.READ_MESSAGE_HISTORY
        | Permission.ADD_REACTIONS
        | Permission.CREATE_PUBLIC_THREADS
        | Permission.CREATE_PRIVATE_THREADS
        | Permission.EMBED_LINKS
        | Permission.ATTACH_FILES
        | Permission.PIN_MESSAGES
    )
