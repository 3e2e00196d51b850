"""Bodies that no library sends, and the edges of those that it does."""

import io

import aiohttp
import pytest

from sandbox.discord import Discord, Workshop

from .bots import wire


@pytest.mark.parametrize(
    ("raw", "content_type", "code"),
    [
        (b"{", "application/json", 50109),
        (b"[]", "application/json", 50035),
        (b"content=x", "application/x-www-form-urlencoded", 50035),
        (b"", "application/json", 50006),
    ],
)
async def test_what_is_no_json_object_is_refused(
    discord: Discord, shop: Workshop, raw: bytes, content_type: str, code: int
) -> None:
    async with aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bot {discord.token}", "Content-Type": content_type}
        url = f"{discord.api_url}/channels/{shop.general.id}/messages"
        async with session.post(url, data=raw, headers=headers) as answer:
            assert (answer.status, (await answer.json())["code"]) == (400, code)


async def test_the_reason_of_the_audit_log_is_kept(discord: Discord, shop: Workshop) -> None:
    message = await shop.ada.says(shop.general, "x")
    async with aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bot {discord.token}", "X-Audit-Log-Reason": "because%20%C3%A4"}
        url = f"{discord.api_url}/channels/{shop.general.id}/messages/{message.id}"
        async with session.delete(url, headers=headers):
            pass
    assert discord.requests[-1].reason == "because ä"


GOOD_EMBED: dict[str, object] = {
    "title": "t",
    "footer": {"text": "f"},
    "author": {"name": "a"},
    "fields": [{"name": "n", "value": "v", "inline": True}],
    "color": 255,
}
LONG_ID = {"type": 1, "components": [{"type": 2, "custom_id": "c" * 101}]}
BAD: list[tuple[dict[str, object], str]] = [
    ({"embeds": [{"fields": [{"name": "n"}]}]}, "embeds.0.fields.0.value"),
    ({"embeds": [{"color": 1 << 24}]}, "embeds.0.color"),
    ({"embeds": [{"footer": "f"}]}, "embeds.0.footer"),
    ({"embeds": ["x"]}, "embeds.0"),
    ({"nonce": 1.5}, "nonce"),
    ({"message_reference": {}}, "message_reference.message_id"),
    ({"message_reference": "x"}, "message_reference"),
    ({"message_reference": {"message_id": "5", "channel_id": "6"}}, "message_reference"),
    ({"message_reference": {"message_id": "5", "type": 1}}, "message_reference.channel_id"),
    ({"message_reference": {"message_id": "5", "type": 9}}, "message_reference.type"),
    ({"allowed_mentions": {"users": ["x"]}}, "allowed_mentions.users.0"),
    ({"allowed_mentions": {"roles": ["1"] * 101}}, "allowed_mentions.roles"),
    ({"allowed_mentions": []}, "allowed_mentions"),
    (
        {"components": [LONG_ID]},
        "components.0.components.0.custom_id",
    ),
    ({"poll": {}}, "poll.question"),
    ({"flags": -1}, "flags"),
]


@pytest.mark.parametrize(("body", "field"), BAD)
async def test_the_place_of_an_error_is_named(
    discord: Discord, shop: Workshop, body: dict[str, object], field: str
) -> None:
    async with wire(discord) as rest:
        answer = await rest.post(shop.general, content="x", **body)
    assert answer.code == 50035
    node = answer.body["errors"]
    for part in field.split("."):
        node = node[part]
    assert node["_errors"]


async def test_all_errors_come_in_one_answer(discord: Discord, shop: Workshop) -> None:
    async with wire(discord) as rest:
        answer = await rest.post(shop.general, content=[], tts=1, nonce={})
    assert set(answer.body["errors"]) == {"content", "tts", "nonce"}


async def test_what_is_good_comes_back_whole(discord: Discord, shop: Workshop) -> None:
    """Numbers become text as Discord coerces them, and unknown fields are ignored."""
    async with wire(discord) as rest:
        sent = await rest.post(shop.general, content=5, embeds=[GOOD_EMBED], nonce=12345, unheard_of=True)
        assert sent.status == 200
        assert sent.body["content"] == "5"
        assert sent.body["nonce"] == 12345
        assert sent.body["embeds"] == [{"type": "rich", **GOOD_EMBED}]
        path = f"/channels/{shop.general.id}/messages/{sent.body['id']}"
        edited = await rest.send("PATCH", path, {"content": None, "flags": 4})
        assert (edited.body["content"], edited.body["flags"]) == ("", 4)
        assert (await rest.send("PATCH", path, {"embeds": []})).code == 50006


async def test_a_system_message_cannot_be_replied_to(discord: Discord, shop: Workshop) -> None:
    thread = await shop.ada.starts_thread(await shop.ada.says(shop.general, "x"), "talk")
    opener = discord.messages_in(thread)[0]
    async with wire(discord) as rest:
        answer = await rest.post(thread, content="x", message_reference={"message_id": str(opener.id)})
    assert answer.body["errors"]["message_reference"]["_errors"][0]["code"] == "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"


async def test_attachments_stay_or_go_by_an_edit(discord: Discord, shop: Workshop) -> None:
    """A file over ten megabytes is 413/40005; an edit's list says which files stay."""
    async with wire(discord) as rest:
        path = f"/channels/{shop.general.id}/messages"

        async def upload(content: bytes) -> tuple[int, dict[str, object]]:
            form = aiohttp.FormData(quote_fields=False)
            note = '{"attachments":[{"id":0,"filename":"n.txt","description":"notes"}]}'
            form.add_field("payload_json", note, content_type="application/json")
            form.add_field("files[0]", io.BytesIO(content), filename="raw.txt")
            answer = await rest.send("POST", path, data=form)
            return answer.status, answer.body

        assert (await upload(b"x" * (10 * 1024 * 1024 + 1)))[0] == 413
        status, body = await upload(b"notes")
        assert status == 200
        (attachment,) = discord.bot_messages()[0].attachments
        assert (attachment.file.filename, attachment.file.description) == ("n.txt", "notes")
        kept = await rest.send("PATCH", f"{path}/{body['id']}", {"attachments": [{"id": str(attachment.id)}]})
        assert len(kept.body["attachments"]) == 1
        gone = await rest.send("PATCH", f"{path}/{body['id']}", {"content": "none", "attachments": []})
        assert gone.body["attachments"] == []
        async with aiohttp.ClientSession() as session:
            bare = kept.body["attachments"][0]["url"].partition("?")[0]
            for url in (bare, bare + "?ex=ffffffff&is=1&hm=00&", bare.replace(str(attachment.id), "x")):
                async with session.get(url) as refused:
                    assert refused.status == 404
