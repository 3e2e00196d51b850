"""When what was said is due to be read and summed up."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """In seconds.

    quiet_s    so long a place must be silent before it is read
    longest_s  so long the first unread message waits, even if talk goes on
    poll_s     between looks for work

    `stopped`: no model is asked, by the settings; the operator's switch says so for all processes.
    """

    quiet_s: float
    longest_s: float
    poll_s: float
    stopped: bool = False
