"""Forum and media channels: the tags that their posts carry, and the post that is pinned.

Source: https://discord.com/developers/docs/topics/threads#forums and
https://discord.com/developers/docs/resources/channel#forum-tag-object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .errors import Refusal, invalid_form, missing_permissions, unknown
from .permissions import Permission

if TYPE_CHECKING:
    from .events import Payload
    from .people import User
    from .places import Channel, Thread

PINNED: Final = 1 << 1
REQUIRE_TAG: Final = 1 << 4
HIDE_MEDIA_DOWNLOAD_OPTIONS: Final = 1 << 15
MAX_TAGS: Final = 20
MAX_APPLIED: Final = 5


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that posts can carry. A moderated one is for those who manage threads. At most one of the two emoji."""

    id: int
    name: str
    moderated: bool = False
    emoji_id: int | None = None
    emoji_name: str | None = None

    def payload(self) -> Payload:
        return {
            "id": str(self.id),
            "name": self.name,
            "moderated": self.moderated,
            "emoji_id": None if self.emoji_id is None else str(self.emoji_id),
            "emoji_name": self.emoji_name,
        }


def check_tags(forum: Channel, applied: Sequence[int], before: Sequence[int], by: User) -> None:
    """The tags that a post is to carry. Raises 10087 for a tag that the forum has not, 50013 for a moderated one that
    is set or taken by who may not, 40067 for none where one is required."""
    if len(applied) > MAX_APPLIED:
        raise invalid_form("applied_tags", "BASE_TYPE_BAD_LENGTH", f"Must be between 0 and {MAX_APPLIED} in length.")
    if set(applied) - {tag.id for tag in forum.tags}:
        raise unknown("Tag")
    changed = set(applied) ^ set(before)
    moderated = {tag.id for tag in forum.tags if tag.moderated}
    if changed & moderated and Permission.MANAGE_THREADS not in forum.permissions_of(by):
        raise missing_permissions()
    if forum.flags & REQUIRE_TAG and not applied:
        raise Refusal(400, 40067, "A tag is required to create a forum post in this channel")


def check_pin(post: Thread) -> None:
    """A forum has one pinned post. Raises 30047 for a second, 50024 for what is no post."""
    forum = post.trunk
    if not forum.is_forum:
        raise Refusal(400, 50024, "Cannot execute action on this channel type")
    guild = post.home
    if any(other.pinned_post for other in guild.threads.values() if other.parent is forum and other is not post):
        raise Refusal(400, 30047, "Maximum number of pinned threads in a forum channel has been reached (1)")


def check_available(tags: Sequence[Tag], flags: int) -> None:
    """A forum's own tags. Raises 30048, 40061, 40066 as Discord does."""
    if len(tags) > MAX_TAGS:
        raise Refusal(400, 30048, f"Maximum number of tags in a forum channel has been reached ({MAX_TAGS})")
    if len({tag.name for tag in tags}) != len(tags):
        raise Refusal(400, 40061, "Tag names must be unique")
    if flags & REQUIRE_TAG and all(tag.moderated for tag in tags):
        raise Refusal(400, 40066, "There are no tags available that can be set by non-moderators")
