"""/settings: shown to and changed by who governs the guild, from Discord's facts, when shown and when pressed (I5)."""

import re
from datetime import UTC, datetime
from typing import get_args

from bot.guild_settings import WHOLE_SPACE, Change, GuildSettings, Name, Value, fault_in
from bot.settings_card.view import history_line, words
from memory.ids import PlaceId, UserId
from sandbox.discord import Permission
from sandbox.discord.uses import Use
from tests.harness.stage import Stage


async def test_everything_on_the_card_changes_something(stage: Stage) -> None:
    """Menus, buttons and forms: each choice holds at once, is on record with who made it and when, and the card shows
    it; after a restart too. What was chosen for a channel is taken back there."""
    olive = stage.guild.member("Olive")
    admins = stage.guild.create_role("Librarians")
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        use = await olive.slash(stage.general, "settings show")
        card = await use.message()
        assert use.ephemeral
        assert "Speaking unasked: off" in card.content

    async def shows(use: Use, words: str) -> None:
        assert words in (await use.updated()).content

    async with stage.muninn(models="another"):
        await shows(await olive.press(card, "Speaking unasked: off"), "Speaking unasked: on")
        await shows(await olive.press(card, "Answers as plain text"), "Form of answers: an embed")
        await shows(await olive.choose(card, "settings:listening:0", "listening=free"), "Listening: to everything")
        await shows(await olive.choose(card, "settings:mod-log:0", stage.general), f"Cases: <#{stage.general.id}>")
        await shows(await olive.choose(card, "settings:admins:0", [admins]), f"Admins: <@&{admins.id}>")
        form = await (await olive.press(card, "Answers…")).modal()
        await shows(
            await olive.submit(
                form, {"Language": "de", "Quiet hours": "22-7", "Emoji that says: seen": "👀", "Model": "another"}
            ),
            "Quiet hours: 22-7\nMessages are seen with: 👀",
        )
        form = await (await olive.press(card, "Limits…")).modal()
        await shows(
            await olive.submit(
                form, {"Days for which messages are kept": "7", "Tokens a day for each member": "1,000"}
            ),
            "Messages are kept: for 7 days\nTokens a day for all: 10,000,000 · Tokens a day for each member: 1,000",
        )
        await shows(await olive.choose(card, "settings:admins:0", []), "Admins: Discord's administrators")
        form = await (await olive.press(card, "Answers…")).modal()
        refused = await olive.submit(form, {"Language": "fr", "Emoji that says: seen": "seen"})
        assert "no emoji, so nothing was changed" in (await refused.message()).content
        rows = await stage.pool.fetch(
            "SELECT name, version, value::text AS value, set_by, set_at FROM guild_setting_changes ORDER BY 1, 2"
        )
        assert [(row["name"], row["value"]) for row in rows] == [
            ("ack_reaction", '"👀"'), ("admin_role_ids", f"[{admins.id}]"), ("admin_role_ids", "[]"),
            ("ambient", "true"), ("answer_form", '"embed"'),
            ("language", '"de"'), ("listening", '"free"'), ("member_daily_tokens", "1000"),
            ("mod_log_id", str(stage.general.id)), ("model", '"another"'), ("quiet_hours", '"22-7"'),
            ("retention_days", "7"),
        ]  # fmt: skip
        assert {row["set_by"] for row in rows} == {olive.id}
        told = await (await olive.slash(stage.general, "settings history")).message()
        assert told.content.startswith("**12 changes")
        assert f"<@{olive.id}>, for the server: Listening: to everything" in told.content
        assert f"Cases: <#{stage.general.id}>" in told.content
        assert f"Admins: <@&{admins.id}>" in told.content
        await shows(await olive.press(told, "▶"), f"<@{olive.id}>, for the server: Speaking unasked: on")

        here = await (await olive.slash(stage.general, "settings show", channel=stage.general)).message()
        await shows(await olive.press(here, "Speaking unasked: on"), "Speaking unasked: off")
        back = f"settings:back:{stage.general.id}"
        await shows(await olive.choose(here, back, "ambient=inherit"), "Speaking unasked: on")


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
        told = await says("budget", tokens=5_000, each=100)
        assert told == "5,000 tokens may be used here in a day, 100 by each member."


def test_a_value_is_never_shown_as_a_number_of_discord_s() -> None:
    """Every setting, on the card and in the history: channels, roles and emoji stand as a person sees them."""
    big = 412345678901234567
    strange: dict[str, Value] = {
        "listening": "free", "language": "de", "model": "small", "ack_reaction": f"wave:{big}", "quiet_hours": "22-7",
        "mod_log_id": big, "admin_role_ids": [big + each for each in range(20)], "retention_days": 7,
        "answer_form": "panel",
    }  # fmt: skip
    for name in get_args(Name):
        value = strange.get(name, 5_000 if "tokens" in name else 3 if name == "ambient_hourly" else True)
        assert fault_in(name, value) is None, name
        line = history_line(Change(WHOLE_SPACE, name, 1, value, UserId(big), datetime.now(UTC)))
        card = words(GuildSettings(**{name: frozenset(value) if isinstance(value, list) else value}), PlaceId(0))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        for shown in (line, card):
            plain = re.sub(r"<(?:#|@&?|:\w+:|t:)\d+(?::f)?>", "", shown)
            assert not re.search(r"\d{6,}|True|\[|_", plain), shown
        assert len(line) < 200, "ten of them fit into a page"
    assert "`telepathy`: `[1, 2]`" in history_line(
        Change(WHOLE_SPACE, "telepathy", 1, [1, 2], UserId(0), datetime.now(UTC))
    )
