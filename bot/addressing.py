"""Whether a message is meant for the bot: a pure look at the payload and at who we are.

It runs inside the journal's transaction (I1), so it asks nobody. @everyone and role mentions do not address the bot;
other bots, webhooks and Discord's own notices are never answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

Reason = Literal["mention", "reply", "dm"]

# Plain messages and replies (Discord's message types); the rest are notices such as a join or a pin.
PERSONAL_TYPES: Final = frozenset({0, 19})


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is, as Discord's login told it."""

    application_id: int
    user_id: int


def addressed(data: Mapping[str, Any], me: Identity) -> Reason | None:
    """Why the message is the bot's to answer, or None. `data` is a MESSAGE_CREATE payload."""
    author = cast("Mapping[str, Any]", data["author"])
    if author.get("bot") or author.get("system") or data.get("webhook_id") is not None:
        return None
    if int(author["id"]) == me.user_id or int(data.get("type") or 0) not in PERSONAL_TYPES:
        return None
    if data.get("guild_id") is None:
        return "dm"
    if any(int(user["id"]) == me.user_id for user in cast("Sequence[Mapping[str, Any]]", data.get("mentions") or ())):
        return "mention"
    answered = data.get("referenced_message")
    if isinstance(answered, dict):
        replied_to = cast("Mapping[str, Any]", answered).get("author")
        if isinstance(replied_to, dict) and int(cast("Mapping[str, Any]", replied_to)["id"]) == me.user_id:
            return "reply"
    return None
