"""New addresses for attachments whose old ones have expired.

Discord's clients and libraries use this route; its documentation does not name it. What it says of the addresses:
https://discord.com/developers/docs/reference#signed-attachment-cdn-urls
"""

from __future__ import annotations

from .router import Call, Reply, Routes

routes = Routes()


@routes.post("/attachments/refresh-urls")
def refresh(call: Call) -> Reply:
    """Each address with a fresh one, or with itself where there is no such file."""
    given = call.form.items("attachment_urls", least=1, most=50)
    if not call.form.has("attachment_urls"):
        call.form.error("attachment_urls", "BASE_TYPE_REQUIRED", "This field is required")
    call.form.done()
    urls = [{"original": str(url), "refreshed": call.world.cdn.renewed(str(url))} for url in given]
    return Reply(200, {"refreshed_urls": urls})
