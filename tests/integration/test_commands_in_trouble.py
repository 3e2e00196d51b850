"""Every command while what it stands on is away or broken: one plain sentence for the person alone, no traceback."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any

import asyncpg
import pytest
import structlog

from bot.agency import Agency, assemble
from bot.catalogue import COMMANDS
from bot.commands.declaration import Declaration, Menu
from bot.commands.options import Option
from bot.guild_settings import GuildSettingsDoor
from sandbox.discord import Member, Message, Permission
from sandbox.discord.components import walk
from sandbox.discord.interactions import Callback
from sandbox.discord.uses import Use
from tests.harness.stage import Stage
from tests.integration.test_handlers import BROKEN, PASSING

SECRET = "hunter2-in-a-message-of-an-error"
NEEDS_NOTHING = {"Remember this", "help", "mod unlock", "purge-kept channel"}
"""What asks nobody before it answers."""

FOR_ALL = {"new"}
"""What everybody in the place is told."""


class Shaky:
    """A pool of connections that there are, until there are none."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self.error: Exception | None = None
        self.agency: Agency | None = None

    def __getattr__(self, name: str) -> Any:
        if self.error is not None and name == "acquire":
            raise self.error
        return getattr(self._pool, name)


@pytest.fixture
def _plain_log() -> Iterator[None]:
    """As an operator's: an error is a few lines, and not a page that takes a second to draw."""
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer(default=str)
    structlog.configure(processors=[structlog.processors.format_exc_info, renderer])
    yield
    structlog.reset_defaults()


@pytest.fixture
async def shaky(_plain_log: None, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Shaky]:
    """Muninn, whose commands and buttons have this pool; the journal has its own."""
    made: list[Shaky] = []

    def shaking(settings: Any, pool: Any, *more: Any, **named: Any) -> Agency:
        made.append(Shaky(pool))
        monkeypatch.setattr(next(each for each in more if isinstance(each, GuildSettingsDoor)), "_pool", made[0])
        failing: Any = made[0]
        made[0].agency = assemble(settings, failing, *more, **named)
        return made[0].agency

    monkeypatch.setattr("bot.assembly.assemble_agency", shaking)
    stage.guild.me.give(stage.guild.create_role("Bots", permissions=Permission.ADMINISTRATOR))
    async with stage.muninn(owner_ids=str(stage.guild.member("Olive").id)):
        await stage.until("SELECT 1 FROM application_commands")
        yield made[0]


async def test_every_command_that_fails_is_told_in_a_sentence(stage: Stage, shaky: Shaky) -> None:
    """I13: PostgreSQL is away, and then there is a bug. Nothing of the error reaches Discord, and nobody is left with a
    bot that is thinking."""
    troubles = ((asyncpg.CannotConnectNowError(SECRET), PASSING), (KeyError(SECRET), BROKEN))
    for error, sentence in troubles:
        shaky.error = error
        uses = await _all_used(stage)
        shaky.error = None
        said = {path: "a form" if use.callback is Callback.MODAL else await _words(use) for path, use in uses.items()}
        # Some are refused by Discord's facts alone.
        ended = {path for path, words in said.items() if words != sentence and "nothing was" not in words}
        assert ended == NEEDS_NOTHING
        assert sum(words == sentence for words in said.values()) > len(COMMANDS) * 2 / 3
        assert not any(SECRET in words or "Traceback" in words for words in said.values())


async def test_whatever_a_command_shows_can_be_pressed(stage: Stage, shaky: Shaky) -> None:
    """Every command is used as it is: none breaks, and each button, menu and form that comes of it has a handler."""
    uses = await _all_used(stage)
    assert shaky.agency is not None
    interactions = shaky.agency.interactions
    for path, use in uses.items():
        if use.callback is Callback.MODAL:
            assert (await use.modal()).custom_id.split(":")[0] in interactions.forms, path
            continue
        shown = await use.message(within=20)
        assert shown.content not in (BROKEN, PASSING), path
        known = {str(part["custom_id"]).split(":")[0] for part in walk(shown.components) if "custom_id" in part}
        assert known <= interactions.prefixes, path


async def _all_used(stage: Stage) -> dict[str, Use]:
    """Every command, by the guild's owner, who owns the bot too; answered for the person alone, or by a form."""
    message = await stage.ada.says(stage.general, "something to point at")
    await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", message.id)
    olive = stage.guild.member("Olive")
    found: dict[str, Use] = {}
    for each in COMMANDS:
        use = found[each.path] = await _used(stage, olive, each, message)
        if await use.answer(within=20) is not Callback.MODAL:
            assert use.ephemeral or each.path in FOR_ALL, each.path
            await use.message(within=20)
    return found


async def _used(stage: Stage, who: Member, each: Declaration, message: Message) -> Use:
    if isinstance(each, Menu):
        if each.on == "message":
            return await who.context_menu(each.name, message)
        return await who.context_menu(each.name, stage.ada, in_=stage.general)
    given = {option.name: _given(stage, option, message) for option in each.options}
    return await who.slash(stage.general, each.path, **given)


async def _words(use: Use) -> str:
    return (await use.message(within=20)).content


def _given(stage: Stage, option: Option[Any], message: Message) -> Any:
    """Something that the option takes."""
    if option.choices:
        return option.choices[0][1]
    match option.kind:
        case "text":
            known = {"zone": "Europe/Berlin", "duration": "1h", "delete": "1h", "interval": "5s", "emoji": "🎉"}
            if option.name == "message":
                return str(message.id)
            return known.get(option.name, "12345678")
        case "whole" | "number":
            return option.bounds["min_value"]
        case "flag":
            return True
        case "person":
            return stage.ada
        case "place":
            return stage.general
        case "role":
            return stage.guild.everyone
