"""/settings: shown to and changed by who governs the guild, from Discord's facts, when shown and when pressed (I5)."""

from sandbox.discord import Permission
from tests.harness.stage import Stage

STANDING_SQL = "SELECT value::text AS value, set_by FROM guild_settings WHERE name = $1"


async def test_a_card_is_changed_by_its_menus(stage: Stage) -> None:
    """Each choice holds at once, is on record with who made it, and the card shows it; after a restart too."""
    olive = stage.guild.member("Olive")
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        use = await olive.slash(stage.general, "settings show")
        card = await use.message()
        assert use.ephemeral
        assert "Speaking unasked: off" in card.content
    async with stage.muninn():
        changed = await (await olive.choose(card, "settings:switch:0", "ambient=on")).updated()
        assert "Speaking unasked: on" in changed.content
        row = await stage.until(STANDING_SQL, "ambient")
        assert (row["value"], row["set_by"]) == ("true", olive.id)
        told = await (await olive.slash(stage.general, "settings history")).message()
        assert f"<@{olive.id}>: `ambient` for the server = `True`" in told.content


async def test_who_does_not_govern_changes_nothing(stage: Stage) -> None:
    """Not by the command, and not by a card that they could press before they lost the role."""
    admins = stage.guild.create_role("Admins", permissions=Permission.ADMINISTRATOR)
    stage.ada.give(admins)
    clerk = stage.guild.create_role("Clerks", permissions=Permission.MANAGE_GUILD)
    stage.bob.give(clerk)
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        refused = await (await stage.bob.slash(stage.general, "settings show")).message()
        assert "nothing was changed" in refused.content
        card = await (await stage.ada.slash(stage.general, "settings show", channel=stage.general)).message()
        stage.ada.take(admins)
        use = await stage.ada.choose(card, f"settings:listening:{stage.general.id}", "listening=off")
        assert "Only who administers" in (await use.message()).content
    assert await stage.pool.fetchval("SELECT count(*) FROM guild_settings") == 0


async def test_settings_by_words(stage: Stage) -> None:
    """Retention within the operator's, the mod-log, the language, the budget and who counts as admin."""
    olive = stage.guild.member("Olive")
    role = stage.guild.create_role("Librarians")
    async with stage.muninn(retention_days=90):
        await stage.until("SELECT 1 FROM application_commands")

        async def says(command: str, **options: object) -> str:
            use = await olive.slash(stage.general, f"settings {command}", **options)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            return (await use.message()).content

        assert await says("retention", days=400) == "Messages are kept for 90 days."
        assert await says("mod-log", log=stage.general) == f"Cases are told in <#{stage.general.id}>."
        assert await says("language", language="de") == "I answer in `de`."
        assert f"<@&{role.id}>" in await says("admin-role", role=role)
        assert "nobody" in await says("admin-role", role=role)
