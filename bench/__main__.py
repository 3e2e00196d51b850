"""`python -m bench [NAME ...]`: all benchmarks, or those that are named, one after the other."""

import argparse
import os
import subprocess
import sys
from typing import Final

NAMES: Final = ("journal", "loop", "roundtrip", "start", "writing", "gateway", "recall", "locomo", "precision", "soak")
NEED_DATA: Final = frozenset({"gateway", "locomo", "precision"})
"""Of these, `DATA` has to name the folder of the benchmark's data."""
NEED_TIME: Final = frozenset({"soak"})
"""These take half an hour, and are only run where they are named."""


def main() -> int:
    """Run each benchmark as a process of its own, so that none inherits another's memory. Gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Muninn; see docs/how-to.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; none: all")
    names = parser.parse_args().names
    if not names:
        left_out = sorted(NEED_DATA) if not os.environ.get("DATA") else []
        names = [name for name in NAMES if name not in left_out and name not in NEED_TIME]
        if left_out:
            sys.stderr.write(f"without DATA=: {', '.join(left_out)} are left out\n")
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    codes = [subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode for name in names]  # noqa: S603
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
