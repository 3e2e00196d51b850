"""Files behind signed addresses that expire, as on cdn.discordapp.com since 2024."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from .messages import Attachment
    from .world import World

LIFETIME: Final = 24 * 3600
"""Seconds for which an address is good; it is signed anew each time that a message is shown."""
_KEY: Final = b"loopback"


class Cdn:
    def __init__(self, world: World) -> None:
        self._world = world
        self.served: list[str] = []
        """Names of the files that were fetched, in order."""
        self._files: dict[tuple[int, int, str], Attachment] = {}
        self.base_url = "http://127.0.0.1"

    def keep(self, attachment: Attachment) -> None:
        self._files[attachment.channel_id, attachment.id, attachment.file.filename] = attachment

    def url(self, attachment: Attachment) -> str:
        now = int(self._world.clock.now())
        path = f"/attachments/{attachment.channel_id}/{attachment.id}/{quote(attachment.file.filename)}"
        expires, issued = f"{now + LIFETIME:x}", f"{now:x}"
        return f"{self.base_url}{path}?ex={expires}&is={issued}&hm={_sign(attachment, expires, issued)}&"

    def renewed(self, url: str) -> str:
        """A fresh address of the same file, whether the old one has expired or not; the old one for no file."""
        path = url.partition("?")[0].removeprefix(self.base_url)
        parts = path.split("/")
        if len(parts) != 5 or parts[1] != "attachments" or not (parts[2] + parts[3]).isdigit():
            return url
        found = self._files.get((int(parts[2]), int(parts[3]), unquote(parts[4])))
        return url if found is None else self.url(found)

    def find(self, channel_id: int, attachment_id: int, filename: str, query: dict[str, str]) -> Attachment | None:
        """The file, or None for an unknown, badly signed or expired address."""
        attachment = self._files.get((channel_id, attachment_id, filename))
        if attachment is None:
            return None
        expires, issued = query.get("ex", ""), query.get("is", "")
        if not hmac.compare_digest(query.get("hm", ""), _sign(attachment, expires, issued)):
            return None
        if int(expires, 16) <= self._world.clock.now():
            return None
        self.served.append(filename)
        return attachment


def _sign(attachment: Attachment, expires: str, issued: str) -> str:
    return hmac.new(_KEY, f"{attachment.id}:{expires}:{issued}".encode(), hashlib.sha256).hexdigest()
