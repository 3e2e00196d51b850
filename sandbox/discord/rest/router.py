"""Finding the handler of a request, and what a handler is given and gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from sandbox.discord.clock import looks_like_snowflake
from sandbox.discord.errors import Refusal, invalid_form, missing_access, unknown
from sandbox.discord.messages import File, Message
from sandbox.discord.people import Member, User
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Channel, Guild

from .forms import Form

if TYPE_CHECKING:
    from sandbox.discord.gateway import Gateway
    from sandbox.discord.world import World


UPLOAD: Final = -1
"""The number of the one file that a form of plain fields has; those of messages count from 0."""


@dataclass(slots=True)
class Call:
    """One authorised request on its way to a handler."""

    world: World
    gateway: Gateway
    params: Mapping[str, str]
    query: Mapping[str, str]
    form: Form
    files: Mapping[int, File] = field(default_factory=dict[int, File])
    items: Sequence[object] = ()
    """The body of a route that takes a list."""
    reason: str | None = None

    def id(self, name: str) -> int:
        """A snowflake of the path. Raises 400/50035 when it is none."""
        value = self.params[name]
        if not looks_like_snowflake(value):
            raise invalid_form(name, "NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')
        return int(value)

    def query_id(self, name: str) -> int | None:
        value = self.query.get(name)
        if value is None:
            return None
        if not looks_like_snowflake(value):
            raise invalid_form(name, "NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')
        return int(value)

    @property
    def upload(self) -> File | None:
        """The file of a form that has one file."""
        return self.files.get(UPLOAD)

    def query_flag(self, name: str) -> bool:
        return self.query.get(name, "").lower() in ("true", "1")

    def limit(self, default: int, most: int) -> int:
        """The ``limit`` of the query, 1 to ``most``."""
        value = self.query.get("limit")
        if value is None:
            return default
        if not value.lstrip("-").isdigit():
            raise invalid_form("limit", "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.')
        if not 1 <= int(value) <= most:
            word, code = ("less than or equal to", "MAX") if int(value) > most else ("greater than or equal to", "MIN")
            bound = most if int(value) > most else 1
            raise invalid_form("limit", f"NUMBER_TYPE_{code}", f"int value should be {word} {bound}.")
        return int(value)

    def guild(self) -> Guild:
        """The path's guild as far as the bot is in it: 404/10004 otherwise (Discord says the same for both)."""
        guild = self.world.guilds.get(self.id("guild_id"))
        if guild is None or self.world.bot.id not in guild.members:
            raise unknown("Guild")
        return guild

    def me(self, guild: Guild) -> Member:
        """The bot's own member."""
        return guild.members[self.world.bot.id]

    def member(self, guild: Guild, name: str = "user_id") -> Member:
        """The path's member: 404/10007 for a user who is not there, 10013 for no user at all."""
        user_id = self.id(name)
        if user_id not in guild.members:
            raise unknown("Member" if user_id in self.world.users else "User")
        return guild.members[user_id]

    def user(self, name: str = "user_id") -> User:
        found = self.world.users.get(self.id(name))
        if found is None:
            raise unknown("User")
        return found

    def channel(self) -> Channel:
        """The path's channel: 404/10003 when there is none, 403/50001 when the bot may not see it."""
        channel = self.world.channels.get(self.id("channel_id"))
        if channel is None:
            raise unknown("Channel")
        if not channel.visible_to(self.world.bot):
            raise missing_access()
        return channel

    def message(self, channel: Channel) -> Message:
        message = channel.shelf.get(self.id("message_id"))
        if message is None:
            raise unknown("Message")
        return message

    def may(self, channel: Channel, need: Permission) -> bool:
        return need in channel.permissions_of(self.world.bot)


@dataclass(frozen=True, slots=True)
class Reply:
    """A status and what becomes its JSON; None is an empty body."""

    status: int = 204
    payload: object = None


Handler = Callable[[Call], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    template: str
    handler: Handler
    public: bool = False
    takes_list: bool = False


class Routes:
    """A module's routes; ``@routes.post("/channels/{channel_id}/messages")`` puts a handler on it."""

    def __init__(self) -> None:
        self.all: list[Route] = []

    def _on(
        self, method: str, template: str, *, public: bool = False, takes_list: bool = False
    ) -> Callable[[Handler], Handler]:
        def put(handler: Handler) -> Handler:
            self.all.append(Route(method, template, handler, public, takes_list))
            return handler

        return put

    def get(self, template: str, *, public: bool = False) -> Callable[[Handler], Handler]:
        return self._on("GET", template, public=public)

    def post(self, template: str, *, public: bool = False) -> Callable[[Handler], Handler]:
        return self._on("POST", template, public=public)

    def put(self, template: str, *, takes_list: bool = False) -> Callable[[Handler], Handler]:
        """With ``takes_list`` the body is a list, the call's ``items``."""
        return self._on("PUT", template, takes_list=takes_list)

    def patch(self, template: str, *, public: bool = False, takes_list: bool = False) -> Callable[[Handler], Handler]:
        return self._on("PATCH", template, public=public, takes_list=takes_list)

    def delete(self, template: str, *, public: bool = False) -> Callable[[Handler], Handler]:
        return self._on("DELETE", template, public=public)


class Router:
    """Routes by method and number of segments; a fixed segment wins over a parameter."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes: dict[tuple[str, int], list[tuple[list[str], Route]]] = {}
        self._shapes: list[list[str]] = []
        for route in routes:
            segments = route.template.strip("/").split("/")
            self._routes.setdefault((route.method, len(segments)), []).append((segments, route))
            self._shapes.append(segments)
        for candidates in self._routes.values():
            candidates.sort(key=lambda entry: [segment.startswith("{") for segment in entry[0]])

    def find(self, method: str, raw_path: str) -> tuple[Route, dict[str, str]]:
        """The route and its parameters, decoded. Raises 404 or 405 as Discord words them."""
        given = raw_path.strip("/").split("/")
        for segments, route in self._routes.get((method, len(given)), ()):
            params = _match(segments, given)
            if params is not None:
                return route, params
        if any(len(shape) == len(given) and _match(shape, given) is not None for shape in self._shapes):
            raise Refusal(405, 0, "405: Method Not Allowed")
        raise Refusal(404, 0, "404: Not Found")


def _match(segments: list[str], given: list[str]) -> dict[str, str] | None:
    params: dict[str, str] = {}
    for segment, value in zip(segments, given, strict=True):
        if segment.startswith("{"):
            params[segment[1:-1]] = unquote(value)
        elif segment != value:
            return None
    return params
