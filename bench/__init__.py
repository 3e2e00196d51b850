"""Benchmarks: ratios measured side by side in one run, on one database with fsync on. See docs/how-to/run-benchmarks.md.

`python -m bench` runs all, `python -m bench NAME` one; each writes `bench/out/NAME.json`.
"""
