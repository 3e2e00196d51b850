"""What bot.gateway relies on inside discord.py: when an update moves it, this fails before a guild does."""

import inspect

import discord
import yarl
from discord import utils
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route
from discord.state import ConnectionState

from bot.gateway import RECONNECT_MOST_S, Backoff, Gateway, intents, point_at


def test_the_version_is_the_one_that_was_read() -> None:
    """The wrapper reaches into the library, so its version is pinned."""
    assert discord.__version__ == "2.7.1"


async def test_every_parser_is_wrapped_and_unknown_kinds_reach_us() -> None:
    """I1: the websocket is handed the very mapping that we replaced, and looks handlers up by item."""
    gateway = Gateway(shard=(0, 1))
    parsers = gateway._connection.parsers  # pyright: ignore[reportPrivateUsage]
    for kind in ("READY", "RESUMED", "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "INTERACTION_CREATE"):
        assert parsers[kind].__qualname__.startswith("Gateway._wrapped"), kind
    assert callable(parsers["SOMETHING_NEW"])
    source = inspect.getsource(DiscordWebSocket)
    assert "ws._discord_parsers = client._connection.parsers" in source
    assert "func = self._discord_parsers[event]" in source
    assert "self.parsers = parsers = {}" in inspect.getsource(ConnectionState)
    await gateway.stop()


def test_sequence_and_session_are_set_before_a_handler_runs() -> None:
    """I2: the key of a dispatch without identity is its place in its session."""
    source = inspect.getsource(DiscordWebSocket.received_message)
    assert source.index("self.sequence = seq") < source.index("func(data)")
    assert source.index("self.session_id = data['session_id']") < source.index("func(data)")


def test_addresses_and_json_are_read_where_we_set_them() -> None:
    """MUNINN_DISCORD_API_URL and MUNINN_DISCORD_GATEWAY_URL reach every request and connection."""
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, utils._from_json  # pyright: ignore[reportPrivateUsage]
    try:
        point_at("http://127.0.0.1:1/api/v10", "ws://127.0.0.1:1/gateway/")
        assert Route("GET", "/users/@me").url == "http://127.0.0.1:1/api/v10/users/@me"
        assert yarl.URL("ws://127.0.0.1:1/gateway/") == DiscordWebSocket.DEFAULT_GATEWAY
        assert "utils._from_json(msg)" in inspect.getsource(DiscordWebSocket.received_message)
        assert utils._from_json('"\\ud800"') == "\ud800"  # pyright: ignore[reportPrivateUsage]
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, utils._from_json = before  # pyright: ignore[reportPrivateUsage]


def test_a_global_limit_closes_the_gate_that_we_open() -> None:
    """I10: bot.rest opens it again after a request that was cancelled in the library's sleep."""
    source = inspect.getsource(HTTPClient.request)
    assert source.index("self._global_over.clear()") < source.index("await asyncio.sleep(retry_after)")
    assert source.index("retry_after > self.max_ratelimit_timeout") < source.index("self._global_over.clear()")


def test_the_library_says_before_each_try_which_one_it_is() -> None:
    """I4: bot.rest stops a second try of what Discord would do twice, in the place of a file that is rewound."""
    source = inspect.getsource(HTTPClient.request)
    assert source.index("for tries in range(5):") < source.index("f.reset(seek=tries)")
    assert source.index("f.reset(seek=tries)") < source.index("self.__session.request")


async def test_pauses_between_attempts_to_connect_are_bounded() -> None:
    """I1: the library alone would wait up to seventeen minutes after an outage."""
    gateway = Gateway(shard=(0, 1))
    assert "backoff = ExponentialBackoff()" in inspect.getsource(discord.Client.connect)
    assert inspect.getmodule(discord.Client.connect).ExponentialBackoff is Backoff  # type: ignore[union-attr]
    backoff = Backoff()
    assert max(backoff.delay() for _ in range(50)) == RECONNECT_MOST_S
    await gateway.stop()


def test_the_calls_that_we_make_exist() -> None:
    """Requests go through HTTPClient.request; history through logs_from."""
    assert list(inspect.signature(HTTPClient.request).parameters)[:2] == ["self", "route"]
    assert {"channel_id", "limit", "before", "after"} <= set(inspect.signature(HTTPClient.logs_from).parameters)
    assert list(inspect.signature(HTTPClient.get_message).parameters) == ["self", "channel_id", "message_id"]


def test_the_intents_are_those_that_the_readme_names() -> None:
    """Message content is the only privileged one."""
    assert {name for name, on in intents() if on} == {
        "guilds", "guild_messages", "dm_messages", "guild_reactions", "dm_reactions", "message_content",
    }  # fmt: skip
