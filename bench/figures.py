"""What a benchmark found: named figures, their targets, the table, and the JSON file."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import orjson

OUT: Final = Path("bench/out")


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should be: at least or at most `value`. Nothing fails where it is missed; the table says so."""

    kind: Literal["least", "most"]
    value: float

    def met(self, figure: float) -> bool:
        """Whether the figure is on the good side."""
        return figure >= self.value if self.kind == "least" else figure <= self.value

    def __str__(self) -> str:
        return f"{'≥' if self.kind == 'least' else '≤'} {self.value:g}"


def at_least(value: float) -> Target:
    """A ratio or rate that should not be lower."""
    return Target("least", value)


def at_most(value: float) -> Target:
    """A ratio or time that should not be higher."""
    return Target("most", value)


def percentile(values: Sequence[float], share: float) -> float:
    """The measured value below which `share` (0 to 1) of them lie. Raises ValueError where there are none."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return percentile(values, 0.5)


def table(name: str, figures: Mapping[str, float], targets: Mapping[str, Target], *, about: str = "") -> str:
    """The figures as text: name, value, target, whether it is met. Those with a target stand first."""
    ordered = [key for key in figures if key in targets] + [key for key in figures if key not in targets]
    width = max(map(len, ordered), default=0)
    lines = [f"{name}: {about}".rstrip(": ")]
    for key in ordered:
        target = targets.get(key)
        told = "" if target is None else f"{target!s:>8}  {'met' if target.met(figures[key]) else 'MISSED'}"
        lines.append(f"  {key:<{width}}  {_shown(figures[key]):>10}  {told}".rstrip())
    return "\n".join(lines)


def _shown(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.2f}"


def write(name: str, figures: Mapping[str, float], folder: Path = OUT) -> Path:
    """Write `folder`/NAME.json: one flat object from figure name to number. Gives the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    rounded = {key: round(value, 4) for key, value in figures.items()}
    path.write_bytes(orjson.dumps(rounded, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return path


def publish(name: str, figures: Mapping[str, float], targets: Mapping[str, Target], *, about: str) -> None:
    """Print the table and write the file."""
    sys.stdout.write(table(name, figures, targets, about=about) + "\n")
    sys.stdout.write(f"  -> {write(name, figures)}\n")
    sys.stdout.flush()


def progress(line: str) -> None:
    """Say on standard error what is under way."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
