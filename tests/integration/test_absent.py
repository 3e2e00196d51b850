"""Whoever names what is not there is told so before anything is asked or done: no card, and nothing reaches Discord."""

from sandbox.discord.options import Value
from sandbox.model import call
from tests.harness.moderating import court
from tests.harness.stage import Stage
from tests.harness.tool_use import tools_used

NOWHERE = "412345678901234567"


async def test_what_is_not_there_is_said_before_any_card(stage: Stage) -> None:
    """Cases, members who left, bans, memories, exchanges, versions of rules, messages and definitions of reactions."""
    scene = court(stage)
    left = stage.guild.add_member("Lea")
    left.leaves()
    wanted: list[tuple[str, dict[str, Value], str]] = [
        ("mod undo", {"number": 99}, "no case 99"),
        ("mod case", {"number": 99}, "no case 99"),
        ("mod reason", {"number": 99, "reason": "x"}, "no case 99"),
        ("mod kick", {"member": left}, "not in this server"),
        ("mod unban", {"member": left}, "is not banned"),
        ("memory forget", {"memory": "12"}, "no such memory"),
        ("memory edit", {"memory": "12", "content": "x"}, "no such memory"),
        ("memory pin", {"memory": "preference.tea"}, "no such memory"),
        ("memory restore", {"memory": "12"}, "no such memory"),
        ("memory drop-episode", {"episode": 12}, "no such exchange"),
        ("rules revert", {"version": 9}, "no such version"),
        ("reactions role-add", {"message": NOWHERE, "emoji": "📚", "role": scene.colour}, "no such message"),
        ("reactions role-remove", {"message": NOWHERE, "emoji": "📚"}, "nothing was changed"),
        ("reactions shortcut-remove", {"emoji": "📚"}, "nothing was changed"),
    ]
    async with scene.muninn():
        for command, options, said in wanted:
            told = await (await scene.olive.slash(scene.general, command, **options)).message()
            assert said in told.content, command
        spam = await scene.bob.says(scene.general, "buy coins")
        looking = stage.discord.faults.rest("GET", "/channels/*/messages").hold()
        use = await scene.mia.context_menu("Delete message", spam)
        await looking.hit()
        await scene.bob.deletes(spam)
        looking.release()
        assert "no such message" in (await use.message()).content

        [by_number, by_key] = await tools_used(
            stage, call("memory_forget", memory_id="12"), call("memory_forget", key="preference.tea"),
            words="forget memory 12", who=stage.ada,
        )  # fmt: skip
        [kept] = await tools_used(
            stage, call("memory_remember", content="Bob likes tea", kind="preference"),
            words="remember that Bob likes tea", who=stage.ada,
        )  # fmt: skip
        [of_somebody_else] = await tools_used(
            stage, call("memory_forget", memory_id=kept["memory_id"]), words="forget that", who=stage.bob
        )
    for refused in (by_number, by_key, of_somebody_else):
        assert refused["error"]["code"] == "not_found"
    assert await stage.pool.fetchval("SELECT count(*) FROM action_cards") == 0
    assert not scene.changes()
