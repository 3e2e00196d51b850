"""What the doctor asks Discord about the bot itself: token, intents, shards, and whether the gateway answers."""

import asyncio
from typing import Any, Final, cast

import aiohttp
import discord
import orjson

from bot.doctor.findings import Finding, fault, ok, skip, warn
from bot.doctor.visit import FAILURES, Visit, open_visit, reason_of
from bot.errors import SettingsFault
from bot.gateway import point_at
from bot.settings import Settings
from bot.startup import place_of

GATEWAY_S: Final = 10.0
FEW_STARTS: Final = 10

# A switch that is on shows as one of two flags: for bots in fewer than a hundred guilds, and for verified ones.
_CONTENT: Final = (
    discord.ApplicationFlags(gateway_message_content=True).value
    | discord.ApplicationFlags(gateway_message_content_limited=True).value
)


async def examine(visit: Visit, settings: Settings) -> tuple[list[Finding], int | None]:
    """Sign in and look around; gives the application's id too, where the token is accepted. Nothing is changed."""
    token = settings.discord_token.get_secret_value()
    if not token:
        return [
            fault(
                "discord.token",
                "MUNINN_DISCORD_TOKEN is not set.",
                "Take the bot's token from https://discord.com/developers/applications.",
            )
        ], None
    where = place_of(settings.discord_api_url)
    try:
        await visit.sign_in(token)
        application = cast("dict[str, Any]", await visit.get("/oauth2/applications/@me"))
        application_id = int(application["id"])
    except discord.LoginFailure:
        return [
            ok("discord.reachable", f"Discord's REST API at {where} answers."),
            fault(
                "discord.token",
                "Discord does not accept the token.",
                "Set MUNINN_DISCORD_TOKEN to the bot's current token, from the developer portal.",
            ),
        ], None
    except FAILURES as error:
        return [
            fault(
                "discord.reachable",
                f"Discord's REST API at {where} cannot be used: {reason_of(error)}.",
                "Check the network, and MUNINN_DISCORD_API_URL where it is set.",
            )
        ], None
    found = [
        ok("discord.reachable", f"Discord's REST API at {where} answers."),
        ok("discord.token", f"Discord accepts the token, of {visit.user.get('username')} ({visit.user.get('id')})."),
        _content(int(application.get("flags") or 0), wanted=settings.message_content),
    ]
    if application.get("bot_require_code_grant"):
        found.append(
            warn(
                "discord.code_grant",
                "The bot requires a code grant, so its invite link does not work.",
                "Turn off Requires OAuth2 Code Grant under Bot in the developer portal.",
            )
        )
    return [*found, *await _sessions(visit, settings), await _gateway(settings)], application_id


async def application_id(settings: Settings) -> int:
    """The id of the application to which the token belongs. Raises StartupFault, or what `as_startup_fault` knows."""
    token = settings.discord_token.get_secret_value()
    if not token:
        raise SettingsFault("MUNINN_DISCORD_TOKEN is not set: the link is made for the bot that it belongs to.")
    point_at(settings.discord_api_url, settings.discord_gateway_url)
    async with open_visit() as visit:
        await visit.sign_in(token)
        return int((await visit.get("/oauth2/applications/@me"))["id"])


def _content(flags: int, *, wanted: bool) -> Finding:
    if not wanted:
        says = "The Message Content intent is not asked for, so Muninn reads only what is meant for it."
        return ok("discord.message_content", says)
    if flags & _CONTENT:
        return ok("discord.message_content", "The Message Content intent is on.")
    return fault(
        "discord.message_content",
        "The Message Content intent is off, and Muninn asks for it: Discord will refuse the connection.",
        "Turn on Message Content Intent under Bot, Privileged Gateway Intents, in the developer portal, or set "
        "MUNINN_MESSAGE_CONTENT=false and let Muninn read only what is meant for it.",
    )


async def _sessions(visit: Visit, settings: Settings) -> list[Finding]:
    try:
        told = cast("dict[str, Any]", await visit.get("/gateway/bot"))
        shards, limit = int(told["shards"]), cast("dict[str, Any]", told["session_start_limit"])
        left, reset_s = int(limit["remaining"]), float(limit["reset_after"]) / 1000
    except FAILURES as error:
        return [skip("discord.sessions", f"Discord does not tell how often the bot may connect: {reason_of(error)}.")]
    found: list[Finding] = []
    if left < FEW_STARTS:
        found.append(
            warn(
                "discord.sessions",
                f"The bot may connect {left} more times within the next {round(reset_s / 60)} minutes.",
                "Find out what restarts it so often before you start it again.",
            )
        )
    else:
        found.append(ok("discord.sessions", f"The bot may connect {left} more times today."))
    if shards > settings.shard_count:
        found.append(
            warn(
                "discord.shards",
                f"Discord recommends {shards} shards, and MUNINN_SHARD_COUNT is {settings.shard_count}.",
                "Raise MUNINN_SHARD_COUNT, and run one Muninn for each MUNINN_SHARD_ID.",
            )
        )
    return found


async def _gateway(settings: Settings) -> Finding:
    """Whether somebody says hello under the gateway's address. Nothing is said back, so no session begins."""
    url = f"{settings.discord_gateway_url}?v=10&encoding=json"
    where = place_of(settings.discord_gateway_url)
    try:
        async with asyncio.timeout(GATEWAY_S), aiohttp.ClientSession() as client, client.ws_connect(url) as socket:
            hello = orjson.loads(await socket.receive_str())
        if hello.get("op") != 10:
            raise ValueError("it does not say hello")
    except (aiohttp.ClientError, OSError, ValueError, TypeError, AttributeError) as error:
        return fault(
            "discord.gateway",
            f"Discord's gateway at {where} cannot be used: {reason_of(error)}.",
            "Let connections to it through the firewall, and check MUNINN_DISCORD_GATEWAY_URL where it is set.",
        )
    return ok("discord.gateway", f"Discord's gateway at {where} answers.")
