"""The benchmarks' own arithmetic, and that their modules import."""

import importlib
from pathlib import Path

import orjson
import pytest

from bench.figures import at_least, at_most, median, percentile, table, write
from bench.traffic import ME, Traffic
from bot.events import read

MODULES = (
    "journal",
    "loop",
    "roundtrip",
    "start",
    "writing",
    "recall",
    "locomo",
    "precision",
    "bare_bot",
    "loopback_model",
)


@pytest.mark.parametrize("name", MODULES)
def test_each_module_imports(name: str) -> None:
    """Each is a program that `python -m` runs, and does nothing when it is only imported."""
    assert importlib.import_module(f"bench.{name}").main


def test_a_percentile_is_a_value_that_was_measured() -> None:
    """The nearest rank: of a hundred values the 95th, of one that one, of none a ValueError."""
    hundred = [float(n) for n in range(100, 0, -1)]
    assert (percentile(hundred, 0.95), percentile(hundred, 0.99), median(hundred)) == (95, 99, 50)
    assert percentile([7.0], 0.5) == percentile([7.0], 0.0) == 7.0
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_the_table_says_which_targets_are_missed() -> None:
    """A figure with a target stands first and says whether it is met; one without only shows its value."""
    shown = table(
        "x", {"extra": 1.0, "ratio": 7.0, "slow": 4.0}, {"ratio": at_least(8), "slow": at_most(4)}, about="what"
    )
    first, ratio, slow, extra = shown.splitlines()
    assert first == "x: what"
    assert (ratio.split()[0], ratio.split()[-1]) == ("ratio", "MISSED")
    assert (slow.split()[0], slow.split()[-1]) == ("slow", "met")
    assert extra.split() == ["extra", "1.00"]


def test_the_file_is_one_flat_object(tmp_path: Path) -> None:
    """bench/out/NAME.json: from figure name to number."""
    path = write("x", {"ratio": 1 / 3, "rate": 1000.0}, tmp_path / "out")
    assert path.name == "x.json"
    assert orjson.loads(path.read_bytes()) == {"ratio": 0.3333, "rate": 1000.0}


def test_traffic_is_repeatable_and_what_discord_sends() -> None:
    """The same seed gives the same dispatches; each can be read; all kinds are among them, and a few are addressed to
    the bot."""
    dispatches = Traffic(seed=3).take(2_000)
    assert dispatches == Traffic(seed=3).take(2_000)
    events = [event for dispatch in dispatches for event in read(dispatch, ME)]
    assert {event.kind for event in events} == {
        "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE",
    }  # fmt: skip
    assert len({event.place_id for event in events}) > 10
    assert 20 < sum(event.addressed not in (None, "room", "thread") for event in events) < 200
    assert len(events) == len(dispatches)
