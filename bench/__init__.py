"""Benchmarks: ratios measured side by side in one run, on one database with fsync on.

`python -m bench` runs all, `python -m bench NAME` one; each writes `bench/out/NAME.json`. docs/how-to/run-benchmarks.md
says what is measured.
"""
