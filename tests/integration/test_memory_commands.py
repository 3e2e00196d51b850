"""/memory over real interactions: what people see and change of memory, with its receipts, undone and paged."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from sandbox.discord import Channel, Member, Message, Permission
from sandbox.discord.uses import Use
from tests.harness.stage import Stage


@pytest.fixture
async def running(stage: Stage) -> AsyncGenerator[Stage]:
    """Muninn, with its commands known to Discord."""
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        yield stage


async def _told(stage: Stage, who: Member, command: str, **options: Any) -> Message:
    use = await who.slash(stage.general, f"memory {command}", **options)
    told = await use.message()
    assert use.ephemeral, "what is remembered is shown to who asked alone"
    return told


async def _adds(stage: Stage, who: Member, content: str, **options: Any) -> int:
    told = await _told(stage, who, "add", content=content, **options)
    assert told.content.startswith("Remembered as `#"), told.content
    return int(told.content.split("`#")[1].split("`")[0])


async def _undone(who: Member, message: Message) -> str:
    use = await who.press(message, "Undo")
    return (await use.updated()).content


async def _contents(stage: Stage) -> list[str]:
    rows = await stage.pool.fetch("SELECT content FROM live_memories ORDER BY memory_id")
    return [row["content"] for row in rows]


def _pressed(use: Use) -> Message:
    source = use.interaction.source
    assert source is not None
    return source


async def test_each_change_has_its_receipt_and_is_undone(running: Stage) -> None:
    """I4: added, edited, pinned, forgotten and restored, each with one receipt, and each taken back by its button."""
    stage = running
    told = await _told(stage, stage.ada, "add", content="I drink tea.", kind="preference", key="preference.drink")
    assert await _contents(stage) == ["I drink tea."]
    assert "Undone" in await _undone(stage.ada, told)
    assert await _contents(stage) == []

    number = await _adds(stage, stage.ada, "I drink coffee.", key="preference.drink", importance=0.9)
    told = await _told(stage, stage.ada, "edit", memory=str(number), content="I drink mate.")
    assert await _contents(stage) == ["I drink mate."]
    await _undone(stage.ada, told)
    assert await _contents(stage) == ["I drink coffee."]

    told = await _told(stage, stage.ada, "pin", memory="preference.drink")
    assert await stage.pool.fetchval("SELECT pinned FROM memory_items WHERE memory_id = $1", number)
    await _undone(stage.ada, told)
    assert not await stage.pool.fetchval("SELECT pinned FROM memory_items WHERE memory_id = $1", number)

    told = await _told(stage, stage.ada, "forget", memory=f"#{number}")
    assert await _contents(stage) == []
    await _undone(stage.ada, told)
    assert await _contents(stage) == ["I drink coffee."]

    await _told(stage, stage.ada, "forget", memory=str(number))
    told = await _told(stage, stage.ada, "restore", memory=str(number))
    assert "I drink coffee." in told.content
    await _undone(stage.ada, told)
    assert await _contents(stage) == []

    rows = await stage.pool.fetch("SELECT action, state, requester_id, args::text FROM action_receipts")
    assert len(rows) == 12
    assert {(row["state"], row["requester_id"]) for row in rows} == {("applied", stage.ada.id)}
    assert not any("coffee" in row["args"] for row in rows), "a receipt keeps no words of a memory"


async def test_a_former_version_comes_back_and_goes_again(running: Stage) -> None:
    """What replaced a memory by its key is undone to what stood there; so is a former version that was restored."""
    stage = running
    number = await _adds(stage, stage.ada, "I drink tea.", key="preference.drink")
    told = await _told(stage, stage.ada, "add", content="I drink coffee.", key="preference.drink")
    assert "stood under that key" in told.content
    await _undone(stage.ada, told)
    assert await _contents(stage) == ["I drink tea."]
    told = await _told(stage, stage.ada, "restore", memory=str(number), version=2)
    assert await _contents(stage) == ["I drink coffee."]
    await _undone(stage.ada, told)
    assert await _contents(stage) == ["I drink tea."]
    lost = await _told(stage, stage.ada, "restore", memory=str(number), version=99)
    assert await _contents(stage) == ["I drink tea."]
    assert not lost.components, "nothing was done, so there is nothing to undo"


async def test_an_undo_of_what_changed_since_does_nothing(running: Stage) -> None:
    """The newer change stays, and it is said."""
    stage = running
    told = await _told(stage, stage.ada, "add", content="Blue.", key="fact.colour")
    await _told(stage, stage.ada, "edit", memory="fact.colour", content="Green.")
    use = await stage.ada.press(told, "Undo")
    assert "changed since" in (await use.message()).content
    assert await _contents(stage) == ["Green."]
    assert await stage.pool.fetchval("SELECT count(*) FROM action_receipts") == 2


async def test_a_button_that_was_pressed_by_somebody_else_finds_nothing(running: Stage) -> None:
    """I5, I6: another member reaches nobody's memory by its number, whatever command or key names it."""
    stage = running
    number = await _adds(stage, stage.ada, "My door code hint is under the mat.", key="fact.door")
    for command in ("forget", "edit", "pin", "why", "history", "restore"):
        for named in (str(number), "fact.door"):
            more = {"content": "Mine."} if command == "edit" else {}
            told = await _told(stage, stage.bob, command, memory=named, **more)
            assert "no such memory" in told.content
    assert "nothing" in (await _told(stage, stage.bob, "show")).content
    olive = stage.guild.member("Olive")
    assert "no such memory" in (await _told(stage, olive, "why", memory=str(number))).content, "not even the owner's"
    assert await _contents(stage) == ["My door code hint is under the mat."]


async def test_the_channels_and_the_guilds_are_for_who_governs(running: Stage) -> None:
    """I5: anybody who reads the channel sees them; administrators change them; the others are told in a sentence."""
    stage = running
    olive = stage.guild.member("Olive")
    for whose in ("this channel's", "this server's"):
        told = await _told(stage, stage.ada, "add", content="Ships go on Fridays.", whose=whose)
        assert "for administrators" in told.content
        number = await _adds(stage, olive, f"Ships go on Fridays, {whose}.", whose=whose)
        assert f"#{number}" in (await _told(stage, stage.bob, "show", whose=whose)).content
        told = await _told(stage, stage.bob, "forget", memory=str(number))
        assert "for administrators" in told.content
    assert len(await _contents(stage)) == 2


async def test_a_guilds_memory_shows_only_where_its_origin_may(running: Stage) -> None:
    """I7: what an administrator kept in a hidden channel is not shown in an open one, but to administrators."""
    stage = running
    olive = stage.guild.member("Olive")
    hidden = stage.guild.create_channel("hidden")
    hidden.set_permissions(stage.guild.everyone, deny=Permission.VIEW_CHANNEL)
    use = await olive.slash(hidden, "memory add", content="The merger is in May.", whose="this server's")
    await use.message()
    number = await stage.pool.fetchval("SELECT memory_id FROM memory_items")
    assert "nothing" in (await _told(stage, stage.bob, "show", whose="this server's")).content
    assert "no such memory" in (await _told(stage, stage.bob, "why", memory=str(number))).content
    assert f"#{number}" in (await _told(stage, olive, "show", whose="this server's")).content


async def test_hundreds_are_paged_in_a_stable_order(running: Stage) -> None:
    """Forward, back, by jump, after a restart; what is added meanwhile moves nothing out of its order."""
    stage = running
    await _adds(stage, stage.ada, "Number 0 of the list.")
    await stage.pool.execute(
        """INSERT INTO memory_items (space_id, scope, owner_id, place_id, kind, content, content_hash, source, rests_on,
               author_id, author_name, said_at, said_id, importance, asserted, confidence)
           SELECT space_id, scope, owner_id, place_id, kind, 'Number ' || n || ' of the list.', sha256(n::text::bytea),
               source, rests_on, author_id, author_name, said_at, said_id, importance, asserted, confidence
           FROM memory_items CROSS JOIN generate_series(1, 299) AS n"""
    )
    told = await _told(stage, stage.ada, "show")
    assert "300 things" in told.content
    seen = [told.content]
    for _ in range(37):
        assert len(told.content) <= 2000
        use = await stage.ada.press(told, "▶")
        told = await use.updated()
        seen.append(told.content)
    numbers = [int(line.split("Number ")[1].split()[0]) for page in seen for line in page.splitlines()[1:]]
    assert numbers == list(range(299, -1, -1))
    use = await stage.ada.press(told, "38 / 38")
    use = await stage.ada.submit(await use.modal(), {"Page": "2"})
    assert (await use.updated()).content == seen[1]
    use = await stage.ada.press(_pressed(use), "2 / 38")
    use = await stage.ada.submit(await use.modal(), {"Page": "two"})
    assert "whole number" in (await use.message()).content
    found = await _told(stage, stage.ada, "search", words="number 77")
    assert [line for line in found.content.splitlines() if "Number 77 " in line]
    assert "3 things" in found.content


async def test_a_list_outlives_a_restart(stage: Stage) -> None:
    """Nothing of it is in memory."""
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        for number in range(9):
            await _adds(stage, stage.ada, f"Number {number}.")
        told = await _told(stage, stage.ada, "show")
    async with stage.muninn():
        use = await stage.ada.press(told, "▶")
        assert "Number 0." in (await use.updated()).content


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"content": "Tea.", "key": "Tea Time"}, "A key is two to five names"),
        ({"content": "Tea.", "key": "x." + "a" * 120}, "A key is two to five names"),
        ({"content": "!?"}, "no words"),
        ({"content": "My key is sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7"}, "never keeps"),
    ],
)
async def test_strict_input_is_refused_in_a_sentence(running: Stage, options: dict[str, Any], said: str) -> None:
    """What Discord's bounds let through is refused by memory's own rules; nothing is stored."""
    told = await _told(running, running.ada, "add", **options)
    assert said in told.content
    assert await _contents(running) == []
    assert await running.pool.fetchval("SELECT count(*) FROM action_receipts") == 0


async def test_why_shows_evidence_and_history_shows_versions(running: Stage) -> None:
    """Jump links, confirmations, former versions with who and when; gone with the message (I8)."""
    stage = running
    message = await stage.bob.says(stage.general, "the harbour closes at nine")
    await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", message.id)
    use = await stage.ada.context_menu("Remember this", message)
    use = await stage.ada.submit(await use.modal(), {"kind": "fact", "whose": "user"})
    told = await use.message()
    assert "Remembered as" in told.content
    number = await stage.pool.fetchval("SELECT memory_id FROM memory_items")
    row = await stage.pool.fetchrow("SELECT owner_id, author_id, rests_on FROM memory_items")
    assert row is not None
    assert tuple(row) == (stage.ada.id, stage.bob.id, "messages")
    why = (await _told(stage, stage.ada, "why", memory=str(number))).content
    assert f"/channels/{stage.guild.id}/{stage.general.id}/{message.id}" in why
    assert f"<@{stage.bob.id}>" in why
    await _told(stage, stage.ada, "edit", memory=str(number), importance=1.0)
    assert str(message.id) in (await _told(stage, stage.ada, "why", memory=str(number))).content
    past = (await _told(stage, stage.ada, "history", memory=str(number))).content
    assert "`v1`" in past
    assert f"changed by hand by <@{stage.ada.id}>" in past
    await stage.bob.deletes(message)
    await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1 AND deleted_at IS NOT NULL", message.id)
    for command in ("why", "history", "restore"):
        assert "no such memory" in (await _told(stage, stage.ada, command, memory=str(number))).content


async def test_edit_asks_in_a_form_where_nothing_was_given(running: Stage) -> None:
    """The form holds what stands there; what is sent back is read strictly."""
    stage = running
    number = await _adds(stage, stage.ada, "I live in Bergen.", key="profile.city")
    for importance, said in (("much", "from 0 to 1"), ("7", "from 0 to 1")):
        use = await stage.ada.slash(stage.general, "memory edit", memory=str(number))
        use = await stage.ada.submit(await use.modal(), {"importance": importance})
        assert said in (await use.message()).content
    use = await stage.ada.slash(stage.general, "memory edit", memory=str(number))
    use = await stage.ada.submit(await use.modal(), {"content": "I live in Oslo."})
    assert "I live in Oslo." in (await use.message()).content
    row = await stage.pool.fetchrow("SELECT content, key, version FROM memory_items")
    assert row is not None
    assert tuple(row) == ("I live in Oslo.", "profile.city", 2)


async def test_suggestions_are_ones_own(running: Stage) -> None:
    """While it is typed: what fits, to who may see it, and nothing in a list of errors."""
    stage = running
    mine = await _adds(stage, stage.ada, "I play the cello.")
    await _adds(stage, stage.ada, "I swim.")
    use = await stage.ada.autocomplete(stage.general, "memory forget", "memory", memory="cello")
    [choice] = await use.choices()
    assert (choice.name, choice.value) == (f"#{mine} I play the cello.", str(mine))
    assert await (await stage.bob.autocomplete(stage.general, "memory why", "memory", memory="c")).choices() == []
    await _told(stage, stage.ada, "forget", memory=str(mine))
    use = await stage.ada.autocomplete(stage.general, "memory restore", "memory", memory="cello")
    assert [choice.value for choice in await use.choices()] == [str(mine)]


async def test_export_is_a_file_for_who_asked(running: Stage) -> None:
    """All of one's own as JSON, and nobody else's."""
    stage = running
    await _adds(stage, stage.ada, "I play the cello.")
    await _adds(stage, stage.bob, "I play the drum.")
    told = await _told(stage, stage.ada, "export")
    [attached] = told.attachments
    found = json.loads(attached.file.content)
    assert [each["content"] for each in found] == ["I play the cello."]


async def test_memory_that_is_off_keeps_nothing_and_still_forgets(running: Stage, news: Channel) -> None:
    """A guild's setting for the place; and who chose not to be remembered is not."""
    stage = running
    number = await _adds(stage, stage.ada, "I play the cello.")
    await stage.pool.execute(
        """INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by)
           VALUES ($1, $2, 'memory', 'false', 1, 1)""",
        stage.guild.id,
        stage.general.id,
    )
    assert "switched off" in (await _told(stage, stage.ada, "add", content="I swim.")).content
    assert "Forgotten" in (await _told(stage, stage.ada, "forget", memory=str(number))).content
    await stage.pool.execute("INSERT INTO member_choices (user_id, remembered) VALUES ($1, false)", stage.bob.id)
    message = await stage.bob.says(news, "I like rain")
    await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", message.id)
    use = await stage.ada.context_menu("Remember this", message)
    use = await stage.ada.submit(await use.modal(), {})
    assert "chose not to be remembered" in (await use.message()).content
    assert await _contents(stage) == []


@pytest.fixture
def news(stage: Stage) -> Channel:
    """Another channel."""
    return stage.guild.create_channel("news")


async def test_exchanges_are_listed_and_deleted_for_good(running: Stage) -> None:
    """Episodes: one's own, never edited; another's number deletes nothing."""
    stage = running
    await stage.pool.execute(
        """INSERT INTO memory_episodes (space_id, place_id, asker_id, asker_name, question, answer, content_hash, terms,
               said_at, said_id)
           VALUES ($1, $2, $3, 'Ada', 'What is up?', 'The sky.', sha256('x'), '{}', now(), 1)""",
        stage.guild.id,
        stage.general.id,
        stage.ada.id,
    )
    number = await stage.pool.fetchval("SELECT episode_id FROM memory_episodes")
    assert "The sky." in (await _told(stage, stage.ada, "episodes")).content
    assert "none" in (await _told(stage, stage.bob, "episodes")).content
    assert "no such" in (await _told(stage, stage.bob, "drop-episode", episode=number)).content
    assert "Deleted for good" in (await _told(stage, stage.ada, "drop-episode", episode=number)).content
    assert await stage.pool.fetchval("SELECT count(*) FROM memory_episodes") == 0
