"""Who a message mentions, and who of them is notified.

Source: https://discord.com/developers/docs/resources/message#allowed-mentions-object. Without the object everything
in the text is parsed and a reply pings its author; with it only what it names, and ``replied_user`` is off by default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .messages import Pings
from .permissions import Permission

if TYPE_CHECKING:
    from .people import Role, User
    from .places import Channel, Guild

_CODE: Final = re.compile(r"```.*?```|``.+?``|`[^`\n]+`", re.DOTALL)
_USER: Final = re.compile(r"<@!?(\d{1,20})>")
_ROLE: Final = re.compile(r"<@&(\d{1,20})>")
_EVERYONE: Final = re.compile(r"@(?:everyone|here)\b")


@dataclass(frozen=True, slots=True)
class AllowedMentions:
    parse: frozenset[str] = frozenset()
    users: frozenset[int] = frozenset()
    roles: frozenset[int] = frozenset()
    replied_user: bool = False


PARSE_EVERYTHING: Final = AllowedMentions(frozenset({"users", "roles", "everyone"}), replied_user=True)


def resolve(
    content: str, channel: Channel, author: User, allowed: AllowedMentions, replied_to: User | None = None
) -> Pings:
    """The users, roles and everyone that the text names, as far as ``allowed`` and the author's permissions go."""
    text = _CODE.sub(" ", content) if "`" in content else content
    users: dict[int, User] = {}
    if "<@" in text:
        for found in _USER.finditer(text):
            user = channel.world.users.get(int(found[1]))
            if user is not None and ("users" in allowed.parse or user.id in allowed.users):
                users[user.id] = user
    replied = replied_to if allowed.replied_user else None
    if channel.guild is None:
        return Pings(tuple(users.values()), replied_user=replied)
    may_ping_all = author.webhook_id is not None or Permission.MENTION_EVERYONE in channel.permissions_of(author)
    roles = _roles(text, channel.guild, allowed, may_ping_all) if "<@&" in text else ()
    everyone = may_ping_all and "everyone" in allowed.parse and _EVERYONE.search(text) is not None
    return Pings(tuple(users.values()), roles, everyone, replied)


def _roles(text: str, guild: Guild, allowed: AllowedMentions, may_ping_all: bool) -> tuple[Role, ...]:
    roles: dict[int, Role] = {}
    for found in _ROLE.finditer(text):
        role = guild.roles.get(int(found[1]))
        if role is None or role.id == guild.id:
            continue
        if (role.mentionable or may_ping_all) and ("roles" in allowed.parse or role.id in allowed.roles):
            roles[role.id] = role
    return tuple(roles.values())
