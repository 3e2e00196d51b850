"""`muninn sandbox`, whole, as a newcomer starts it: the link that it prints leads to a page on which Muninn answers."""

import asyncio
import os
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from yarl import URL

from tests.unit.sandbox_page.tab import tab

_UP_WITHIN_S = 90.0


@dataclass(frozen=True, slots=True)
class Link:
    """What was printed."""

    url: str


async def _link(process: asyncio.subprocess.Process) -> Link:
    assert process.stderr is not None
    said: list[str] = []
    while line := (await process.stderr.readline()).decode():
        said.append(line)
        if line.startswith("Talk to it in a browser: "):
            return Link(line.removeprefix("Talk to it in a browser: ").strip())
    raise AssertionError("no link was printed:\n" + "".join(said))


@pytest.mark.timeout(180)
async def test_the_printed_link_leads_to_a_page_on_which_muninn_answers(service_folder: Path, tmp_path: Path) -> None:
    """On a free port where the usual one is taken; the answer and what is on record for it are shown; it ends well."""
    kept = {name: value for name, value in os.environ.items() if "MUNINN" not in name and "OPENAI" not in name}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "sandbox", "--no-chat", "--page-port", str(port)),
            env={**kept, "MUNINN_DATA_DIR": str(service_folder), "PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=tmp_path,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_UP_WITHIN_S):
                link = await _link(process)
            assert URL(link.url).port != port
            async with tab(link) as ada:
                me = next(person["id"] for person in ada.hello["people"] if person["name"] == "Ada")
                await ada.ask("be", who=me)
                await ada.ask("open", place=ada.places["Muninn"]["id"])
                asked = await ada.ask("say", place=ada.places["Muninn"]["id"], text="hello")
                await ada.until(lambda: len(ada.messages) == 2)
                where = {"place": ada.places["Muninn"]["id"], "message": asked["message"]}
                report = await ada.ask("inspect", **where)
                assert report["message"]["content"] == "hello"
                assert report["turn"]["trigger_id"] == asked["message"]
                [run] = report["runs"]
                whole = await ada.ask("inspect_run", place=where["place"], run=run["run_id"])
                assert whole["steps"][-1]["said"]["text"] == list(ada.texts)[-1]
        finally:
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(30):
                code = await process.wait()
        assert code == 0
