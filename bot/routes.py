"""Routes: what a message can be for besides the model, in a fixed order, before any context is built.

A route looks at the journalled words and claims a message, or passes. What it claimed is a turn like every other, of
one end and under a lease (I3), which the route serves; there it may still pass, and then the model answers. No route
depends on what a model says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias, get_args

from bot.arrivals.items import Journalled
from bot.turns import Turn

RouteName = Literal["confirmation", "moderation", "reaction", "music", "voice"]
ORDER: Final[tuple[RouteName, ...]] = get_args(RouteName)
"""Who is asked first. A route that is not there (yet) claims nothing."""


@dataclass(frozen=True, slots=True)
class Told:
    """The turn ends with this sentence."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The turn has ended with what stands there already: a card."""

    reason: str


RouteEnd: TypeAlias = Told | Shown | None
"""How a route served a turn; None: it passes after all, and the model answers."""


class Route(Protocol):
    """One deterministic way of a message."""

    @property
    def name(self) -> RouteName:
        """Which it is."""
        ...

    def claims(self, message: Journalled) -> bool:
        """Whether the message is for this route. Quick, and without asking anybody."""
        ...

    async def serve(self, turn: Turn) -> RouteEnd:
        """Do what a turn that it claimed asks for. Raises TurnLost under an older lease."""
        ...


class Routes:
    """The routes that there are."""

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        self._routes: Mapping[str, Route] = {route.name: route for route in routes}

    def claim(self, message: Journalled) -> RouteName | None:
        """The first in the order that claims the message."""
        for name in ORDER:
            route = self._routes.get(name)
            if route is not None and route.claims(message):
                return name
        return None

    async def serve(self, turn: Turn) -> RouteEnd:
        """Have the turn served by the route that claimed it; None where that route is not there any more."""
        route = self._routes.get(turn.route or "")
        return None if route is None else await route.serve(turn)
