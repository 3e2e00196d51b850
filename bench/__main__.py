"""`python -m bench [NAME ...]`: all benchmarks, or those that are named, one after the other."""

import argparse
import subprocess
import sys
from typing import Final

NAMES: Final = ("journal", "loop", "roundtrip", "start", "writing")


def main() -> int:
    """Run each benchmark as a process of its own, so that none inherits another's memory. Gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Muninn; see docs/how-to.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; none: all")
    names = parser.parse_args().names or list(NAMES)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    codes = [subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode for name in names]  # noqa: S603
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
