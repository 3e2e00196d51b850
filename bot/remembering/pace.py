"""When what was said is due to be read and summed up."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """In seconds.

    quiet_s    so long a place must be silent before it is read
    longest_s  so long the first unread message waits, even if talk goes on
    poll_s     between looks for work
    lease_s    after which a job whose worker is silent is somebody else's

    `stopped`: no model is asked, by the settings; the operator's switch says so for all processes.
    """

    quiet_s: float
    longest_s: float
    poll_s: float
    lease_s: float = 300.0
    stopped: bool = False

    @property
    def work_s(self) -> float:
        """Seconds after which a job is given up, before its lease is over."""
        return self.lease_s * 0.9
