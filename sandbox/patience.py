"""How long a test waits for what must come."""

from typing import Final

WITHIN_S: Final = 20.0
"""Seconds that a wait has unless it says otherwise: what a slow and busy machine may need.

It is no measure of speed. What comes ends the wait at once, and only what does not come takes so long."""
