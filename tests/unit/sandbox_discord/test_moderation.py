"""Kicks, bans, time-outs, nicknames, roles and the audit log, as discord.py asks for them and as members do them."""

from datetime import timedelta

import discord as dpy
import pytest
from discord.utils import utcnow

from sandbox.discord import Discord, Misuse, NotPermitted, Permission, Role, Workshop

from .bots import Bot, connected, rest_only, wire

P = Permission
STAFF = P.KICK_MEMBERS | P.BAN_MEMBERS | P.MODERATE_MEMBERS | P.MANAGE_NICKNAMES | P.MANAGE_ROLES | P.VIEW_AUDIT_LOG


def promote(shop: Workshop, permissions: Permission = STAFF) -> Role:
    """The bot's own role, with these permissions, above the moderators and below the administrators."""
    role = shop.guild.me.roles[0]
    role.edit(permissions=permissions)
    role.move(2)
    return role


async def refused(bot: Bot, what: object) -> int:
    with pytest.raises(dpy.HTTPException) as failed:
        await what  # type: ignore[misc]
    return failed.value.code


async def test_a_member_is_kicked_and_the_log_says_why(discord: Discord, shop: Workshop) -> None:
    promote(shop)
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        await guild.kick(dpy.Object(shop.ada.id), reason="ädvertising")
        await bot.until_event("GUILD_MEMBER_REMOVE")
        await bot.until_event("GUILD_AUDIT_LOG_ENTRY_CREATE")
        assert shop.ada.id not in shop.guild.members
        (entry,) = [entry async for entry in guild.audit_logs(action=dpy.AuditLogAction.kick)]
        assert (entry.reason, entry.user_id) == ("ädvertising", discord.bot.id)
        assert isinstance(entry.target, dpy.Object | dpy.User)
        assert entry.target.id == shop.ada.id
    with pytest.raises(NotPermitted, match="not in Workshop any more"):
        await shop.ada.kicks(shop.ben)
    with pytest.raises(Misuse, match="not in Workshop any more"):
        shop.ada.leaves()


async def test_a_ban_takes_the_words_of_a_week_at_most(discord: Discord, shop: Workshop) -> None:
    promote(shop)
    old = await shop.ada.says(shop.general, "old")
    discord.clock.advance(7200)
    new = [await shop.ada.says(place, "new") for place in (shop.general, shop.general, shop.help)]
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        assert await refused(bot, guild.ban(dpy.Object(shop.ada.id), delete_message_seconds=7 * 86_400 + 1)) == 50035
        await guild.ban(dpy.Object(shop.ada.id), delete_message_seconds=3600, reason="spam")
        await bot.until_event("GUILD_BAN_ADD")
        await bot.until_event("MESSAGE_DELETE_BULK", 2)
        assert [message.deleted for message in (old, *new)] == [False, True, True, True]
        assert (await guild.fetch_ban(dpy.Object(shop.ada.id))).reason == "spam"
        await guild.ban(dpy.Object(shop.ada.id))  # twice is once
        with pytest.raises(NotPermitted, match="banned"):
            shop.guild.add_member(shop.ada.user)
        await guild.unban(dpy.Object(shop.ada.id))
        await bot.until_event("GUILD_BAN_REMOVE")
        assert await refused(bot, guild.unban(dpy.Object(shop.ada.id))) == 10026
        assert await refused(bot, guild.fetch_ban(dpy.Object(shop.ada.id))) == 10026
        assert await refused(bot, guild.ban(dpy.Object(1))) == 10013
    shop.guild.add_member(shop.ada.user)


async def test_bans_are_listed_in_pages_by_id(discord: Discord, shop: Workshop) -> None:
    promote(shop)
    strangers = [discord.create_user(f"Stranger {n}") for n in range(5)]
    for stranger in reversed(strangers):
        await shop.admin.bans(stranger, reason=f"no. {stranger.name}")
    async with rest_only(discord) as bot:
        guild = await bot.fetch_guild(shop.guild.id)
        assert [ban.user.id async for ban in guild.bans(limit=None)] == [user.id for user in strangers]
        after = [ban.user.id async for ban in guild.bans(limit=2, after=dpy.Object(strangers[1].id))]
        assert after == [strangers[2].id, strangers[3].id]
        before = [ban.user.id async for ban in guild.bans(limit=2, before=dpy.Object(strangers[3].id))]
        assert sorted(before) == [strangers[1].id, strangers[2].id]
    async with wire(discord) as rest:
        assert (await rest.send("GET", f"/guilds/{shop.guild.id}/bans?limit=1001")).code == 50035
        shop.guild.me.roles[0].edit(permissions=P.VIEW_AUDIT_LOG)
        assert (await rest.send("GET", f"/guilds/{shop.guild.id}/bans")).code == 50013


async def test_many_are_banned_at_once(discord: Discord, shop: Workshop) -> None:
    """Needs Manage Server too; whoever stands above is passed over; if nobody is left it is an error."""
    promote(shop, P.BAN_MEMBERS)
    async with rest_only(discord) as bot:
        guild = await bot.fetch_guild(shop.guild.id)
        wanted = [dpy.Object(who.id) for who in (shop.ada, shop.ben, shop.admin)]
        assert await refused(bot, guild.bulk_ban(wanted)) == 50013
        shop.guild.me.roles[0].edit(permissions=P.BAN_MEMBERS | P.MANAGE_GUILD)
        result = await guild.bulk_ban(wanted, reason="raid")
        assert [user.id for user in result.banned] == [shop.ada.id, shop.ben.id]
        assert [user.id for user in result.failed] == [shop.admin.id]
        assert await refused(bot, guild.bulk_ban(wanted)) == 500000
        assert await refused(bot, guild.bulk_ban([dpy.Object(n + 1) for n in range(201)])) == 50035


async def test_a_timeout_is_28_days_at_most(discord: Discord, shop: Workshop) -> None:
    promote(shop)
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        ada = await guild.fetch_member(shop.ada.id)
        assert await refused(bot, ada.timeout(utcnow() + timedelta(days=28, minutes=5))) == 50035
        await ada.timeout(utcnow() + timedelta(days=27), reason="calm down")
        await bot.until_event("GUILD_MEMBER_UPDATE")
        with pytest.raises(NotPermitted):
            await shop.ada.says(shop.general, "but")
        assert (await guild.fetch_member(shop.ada.id)).is_timed_out()
        await ada.timeout(None)
        await shop.ada.says(shop.general, "thank you")
        entries = [entry async for entry in guild.audit_logs(action=dpy.AuditLogAction.member_update)]
        assert [entry.reason for entry in entries] == [None, "calm down"]
        assert entries[1].after.timed_out_until is not None


@pytest.mark.parametrize("target", ["admin", "owner", "bot", "mod"])
async def test_who_stands_above_is_out_of_reach(discord: Discord, shop: Workshop, target: str) -> None:
    """50013 for kick, ban, time-out and nickname; an administrator cannot be timed out by anybody."""
    role = promote(shop)
    olive = shop.guild.members[shop.guild.owner_id]
    who = {"admin": shop.admin, "owner": olive, "bot": shop.guild.me, "mod": shop.mod}[target]
    if target == "mod":
        shop.mod.give(shop.guild.create_role("Higher"))
    async with wire(discord) as rest:
        member, ban = f"/guilds/{shop.guild.id}/members/{who.id}", f"/guilds/{shop.guild.id}/bans/{who.id}"
        until = (utcnow() + timedelta(hours=1)).isoformat()
        assert (await rest.send("DELETE", member)).code == 50013
        assert (await rest.send("PUT", ban, {})).code == 50013
        assert (await rest.send("PATCH", member, {"communication_disabled_until": until})).code == 50013
        if target == "bot":
            role.edit(permissions=STAFF & ~P.CHANGE_NICKNAME)
            shop.guild.everyone.edit(permissions=P.VIEW_CHANNEL)
        assert (await rest.send("PATCH", member, {"nick": "x"})).code == 50013
        role.move(9)
        shop.admin.give(*shop.mod.roles)
        answer = await rest.send("PATCH", member, {"communication_disabled_until": until})
        assert answer.status == (200 if target == "mod" else 403)


async def test_each_deed_needs_its_permission(discord: Discord, shop: Workshop) -> None:
    promote(shop, P.VIEW_CHANNEL)
    guild, ada = f"/guilds/{shop.guild.id}", f"/guilds/{shop.guild.id}/members/{shop.ada.id}"
    role = shop.guild.create_role("low")
    role.move(1)
    deeds: list[tuple[Permission, str, str, object]] = [
        (P.KICK_MEMBERS, "DELETE", ada, None),
        (P.MANAGE_ROLES, "DELETE", f"{guild}/roles/{role.id}", None),
        (P.BAN_MEMBERS, "PUT", f"{guild}/bans/{shop.ben.id}", {}),
        (P.BAN_MEMBERS, "DELETE", f"{guild}/bans/{shop.ben.id}", None),
        (P.MODERATE_MEMBERS, "PATCH", ada, {"communication_disabled_until": None}),
        (P.MANAGE_NICKNAMES, "PATCH", ada, {"nick": "A"}),
        (P.MANAGE_ROLES, "PATCH", ada, {"roles": [str(role.id)]}),
        (P.MANAGE_ROLES, "PUT", f"{ada}/roles/{role.id}", None),
        (P.MANAGE_ROLES, "DELETE", f"{ada}/roles/{role.id}", None),
        (P.MANAGE_ROLES, "POST", f"{guild}/roles", {"name": "new"}),
        (P.MANAGE_ROLES, "PATCH", f"{guild}/roles/{role.id}", {"name": "old"}),
        (P.MANAGE_ROLES, "PATCH", f"{guild}/roles", [{"id": str(role.id), "position": 2}]),
        (P.VIEW_AUDIT_LOG, "GET", f"{guild}/audit-logs", None),
    ]
    async with wire(discord) as rest:
        for _, method, path, body in deeds:
            assert (await rest.send(method, path, body)).code == 50013, (method, path)
        for need, method, path, body in reversed(deeds):
            shop.guild.me.roles[0].edit(permissions=P.VIEW_CHANNEL | need)
            answer = await rest.send(method, path, body)
            assert answer.status in (200, 204) or answer.code in (10026, 10011), (method, path, answer)


async def test_voice_deeds_need_somebody_in_voice(discord: Discord, shop: Workshop) -> None:
    promote(shop, P.MUTE_MEMBERS | P.MOVE_MEMBERS)
    async with wire(discord) as rest:
        path = f"/guilds/{shop.guild.id}/members/{shop.ada.id}"
        assert (await rest.send("PATCH", path, {"mute": True})).code == 40032
        assert (await rest.send("PATCH", path, {"channel_id": None})).code == 40032
        assert (await rest.send("PATCH", path, {"deaf": True})).code == 50013
        bad: list[dict[str, object]] = [{"roles": ["5"]}, {"nick": "x" * 33}, {"communication_disabled_until": "soon"}]
        for body in bad:
            assert (await rest.send("PATCH", path, body)).code == 50035
        assert (await rest.send("PATCH", f"/guilds/{shop.guild.id}/members/5", {"nick": "x"})).code == 10013


async def test_roles_are_made_changed_sorted_and_deleted(discord: Discord, shop: Workshop) -> None:
    promote(shop, P.MANAGE_ROLES | P.MANAGE_MESSAGES | P.VIEW_AUDIT_LOG)
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        made = await guild.create_role(
            name="Helpers", permissions=dpy.Permissions(manage_messages=True), colour=dpy.Colour(0xABCDEF), reason="r"
        )
        assert (made.position, made.colour.value) == (1, 0xABCDEF)
        await made.edit(name="Menders", hoist=True, mentionable=True)
        await bot.until_event("GUILD_ROLE_UPDATE")
        assert shop.guild.roles[made.id].name == "Menders"
        other = await guild.create_role(name="Others")
        await bot.until_event("GUILD_ROLE_CREATE", 2)
        assert await refused(bot, guild.create_role(permissions=dpy.Permissions(ban_members=True))) == 50013
        assert await refused(bot, made.edit(permissions=dpy.Permissions(ban_members=True))) == 50013
        assert await refused(bot, guild.edit_role_positions({made: 9})) == 50013
        assert await refused(bot, guild.roles[-1].edit(name="mine")) == 50013
        shop.guild.me.roles[0].move(9)
        await guild.edit_role_positions({other: 2})
        assert shop.guild.roles[other.id].position == 2
        ada = await guild.fetch_member(shop.ada.id)
        await ada.add_roles(made, other, reason="helps")
        assert shop.guild.roles[made.id] in shop.ada.roles
        assert (await guild.role_member_counts())[made] == 1
        await ada.remove_roles(other)
        assert await refused(bot, ada.add_roles(dpy.Object(shop.guild.me.roles[0].id))) == 50028
        higher = shop.guild.create_role("Higher")
        assert await refused(bot, ada.add_roles(dpy.Object(higher.id))) == 50013
        assert await refused(bot, ada.add_roles(dpy.Object(5))) == 10011
        await made.delete(reason="over")
        await bot.until_event("GUILD_ROLE_DELETE")
        assert shop.ada.roles == []
        shown = [entry async for entry in guild.audit_logs(user=dpy.Object(discord.bot.id))]
        assert [entry.action.name for entry in shown] == [
            "role_delete", "member_role_update", "member_role_update", "member_role_update", "role_update",
            "role_create", "role_update", "role_create",
        ]  # fmt: skip
        assert shown[0].reason == "over"
        assert shown[-1].after.name == "Helpers"
        assert [role.name for role in shown[1].before.roles] == ["Others"]


async def test_clients_know_the_order_of_roles(discord: Discord, shop: Workshop) -> None:
    """Whatever is made, moved and deleted: discord.py's cache has the positions that Discord has."""
    async with connected(discord) as bot:
        crew = shop.guild.create_role("Crew")
        await shop.admin.creates_role("Bottom")
        crew.move(2)
        shop.mod.roles[0].delete()
        await bot.until_event("GUILD_ROLE_DELETE")
        seen = {role.name: role.position for role in bot.guilds[0].roles}
        assert seen == {role.name: role.position for role in shop.guild.roles.values()}


async def test_a_guild_has_250_roles(discord: Discord, shop: Workshop) -> None:
    promote(shop)
    for n in range(250 - len(shop.guild.roles)):
        shop.guild.create_role(f"r{n}")
    async with wire(discord) as rest:
        assert (await rest.send("POST", f"/guilds/{shop.guild.id}/roles", {})).code == 30005


async def test_the_audit_log_is_filtered_and_paged(discord: Discord, shop: Workshop) -> None:
    promote(shop)
    for n in range(3):
        await shop.admin.renames(shop.ada, f"A{n}", reason=f"reason {n}")
    await shop.mod.times_out(shop.ben, 60)
    async with rest_only(discord) as bot:
        guild = await bot.fetch_guild(shop.guild.id)
        newest = [entry async for entry in guild.audit_logs(limit=None)]
        assert [entry.user_id for entry in newest] == [shop.mod.id, *[shop.admin.id] * 3]
        assert [entry.after.nick for entry in newest[1:]] == ["A2", "A1", "A0"]
        by_mod = [entry async for entry in guild.audit_logs(user=dpy.Object(shop.mod.id))]
        assert [entry.id for entry in by_mod] == [newest[0].id]
        oldest = [entry async for entry in guild.audit_logs(oldest_first=True, limit=2)]
        assert [entry.id for entry in oldest] == [newest[3].id, newest[2].id]
        earlier = [entry async for entry in guild.audit_logs(before=dpy.Object(newest[1].id), limit=1)]
        assert [entry.id for entry in earlier] == [newest[2].id]
    async with wire(discord) as rest:
        assert (await rest.send("GET", f"/guilds/{shop.guild.id}/audit-logs?action_type=x")).code == 50035
        discord.clock.advance(46 * 86_400)
        assert (await rest.send("GET", f"/guilds/{shop.guild.id}/audit-logs")).body["audit_log_entries"] == []


async def test_a_reason_has_512_characters_at_most(discord: Discord, shop: Workshop) -> None:
    promote(shop)
    async with rest_only(discord) as bot:
        guild = await bot.fetch_guild(shop.guild.id)
        assert await refused(bot, guild.kick(dpy.Object(shop.ada.id), reason="ö" * 513)) == 50035
        await guild.kick(dpy.Object(shop.ada.id), reason="ö" * 512)


async def test_log_and_bans_are_told_to_whom_they_concern(discord: Discord, shop: Workshop) -> None:
    """GUILD_AUDIT_LOG_ENTRY_CREATE needs View Audit Log, GUILD_BAN_ADD that or Ban Members."""
    async with connected(discord) as bot:
        await shop.admin.bans(discord.create_user("First"))
        promote(shop, P.BAN_MEMBERS)
        await shop.admin.bans(discord.create_user("Second"))
        await bot.until_event("GUILD_BAN_ADD")
        assert "GUILD_AUDIT_LOG_ENTRY_CREATE" not in bot.events
        shop.guild.me.roles[0].edit(permissions=P.VIEW_AUDIT_LOG)
        await shop.admin.bans(discord.create_user("Third"))
        await bot.until_event("GUILD_AUDIT_LOG_ENTRY_CREATE")
        assert bot.events.count("GUILD_BAN_ADD") == 2


async def test_the_bot_names_itself(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        me = bot.guilds[0].me
        await me.edit(nick="Raven")
        await bot.until_event("GUILD_MEMBER_UPDATE")
        assert shop.guild.me.nick == "Raven"
        shop.guild.everyone.edit(permissions=P.VIEW_CHANNEL)
        assert await refused(bot, me.edit(nick="Crow")) == 50013


async def test_members_act_within_their_powers(discord: Discord, shop: Workshop) -> None:
    """Each method in the member's name, with Discord's words for what they may not."""
    ada, ben, mod, admin = shop.ada, shop.ben, shop.mod, shop.admin
    with pytest.raises(NotPermitted, match="Ada cannot ban Ben: Missing Permissions"):
        await ada.bans(ben)
    with pytest.raises(NotPermitted, match="Mo cannot kick Agnes"):
        await mod.kicks(admin)
    with pytest.raises(NotPermitted, match="Invalid Form Body"):
        await mod.times_out(ben, 29 * 86_400)
    await mod.times_out(ben, 60)
    await mod.lifts_timeout(ben)
    await ben.says(shop.general, "free")
    await ben.renames(ben, "Benny")
    crew = await admin.creates_role("Crew", permissions=P.MANAGE_MESSAGES)
    await admin.edits_role(crew, name="Team", mentionable=True)
    await admin.moves_role(crew, 2)
    await admin.gives(ben, crew)
    with pytest.raises(NotPermitted):
        await mod.gives(ada, crew)
    await admin.takes(ben, crew)
    await admin.deletes_role(crew)
    await admin.bans(ben, delete_seconds=3600, reason="enough")
    assert [m for m in discord.messages_in(shop.general) if m.author is ben.user] == []
    await admin.unbans(ben)
    with pytest.raises(NotPermitted, match="Unknown Ban"):
        await admin.unbans(ben)
    await mod.kicks(ada)
    assert [entry.action.name for entry in discord.world.audit.of(shop.guild)] == [
        "MEMBER_UPDATE", "MEMBER_UPDATE", "MEMBER_UPDATE", "ROLE_CREATE", "ROLE_UPDATE", "ROLE_UPDATE",
        "MEMBER_ROLE_UPDATE", "MEMBER_ROLE_UPDATE", "ROLE_DELETE", "MEMBER_BAN_ADD", "MEMBER_BAN_REMOVE", "MEMBER_KICK",
    ]  # fmt: skip


async def test_a_timed_out_moderator_moderates_nobody(discord: Discord, shop: Workshop) -> None:
    await shop.admin.times_out(shop.mod, 60)
    with pytest.raises(NotPermitted):
        await shop.mod.kicks(shop.ada)
    discord.clock.advance(61)
    await shop.mod.kicks(shop.ada)
