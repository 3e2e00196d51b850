"""What can go wrong in a run, by who must act.

AgentFault
├── ModelFault
│   ├── ModelUnavailable   (wait) the model could not be reached, was busy, stalled or sent something that is no reply
│   └── ModelRefused       (operator) the endpoint refuses the request: key, quota, model name, size, shape
├── LeaseLost              (worker) another attempt holds the turn: stop at once and write nothing more
├── StoreStalled           (operator) the run's store did not answer within its deadline
├── StoredRunBroken        (developer) what is stored of a run is not what this version writes
└── LimitsBroken           (operator) limits that no run can keep

DeadlinePassed is no fault of its own: whoever set the deadline says what its passing means.
"""


class AgentFault(Exception):
    """The base of all of them."""


class ModelFault(AgentFault):
    """The model gave no reply. `code` is stable, the message is one plain sentence without secrets (I13)."""

    def __init__(self, code: str, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable


class ModelUnavailable(ModelFault):
    """Trying later may help. Codes: timeout, connection, busy, server_error, cut, bad_reply."""

    def __init__(self, code: str, message: str, *, retryable: bool = True) -> None:
        super().__init__(code, message, retryable=retryable)


class ModelRefused(ModelFault):
    """Trying again will not help. Codes: unauthorized, quota, no_such_model, too_long, bad_request.

    `room`: of a request that is too long, the tokens that it may have, where that is known.
    """

    def __init__(self, code: str, message: str, *, room: int | None = None) -> None:
        super().__init__(code, message, retryable=False)
        self.room = room


class LeaseLost(AgentFault):
    """A write matched no row because the turn is no longer ours (I14)."""

    def __init__(self, run_id: int, turn_id: int, lease_no: int) -> None:
        super().__init__(f"turn {turn_id} is no longer held under lease {lease_no} (run {run_id})")
        self.run_id = run_id
        self.turn_id = turn_id
        self.lease_no = lease_no


class StoreStalled(AgentFault):
    """A write of the run may or may not have happened; the next attempt reads what is there."""

    def __init__(self, what: str, within_s: float) -> None:
        super().__init__(f"the run's store did not {what} within {within_s:g} s")
        self.what = what


class StoredRunBroken(AgentFault):
    """A stored prompt, reply or call cannot be read back."""


class LimitsBroken(AgentFault):
    """The message names the limit and the bound."""


class DeadlinePassed(Exception):
    """The work did not end in time; it was cancelled, and abandoned if it did not heed that."""

    def __init__(self, *, abandoned: bool) -> None:
        super().__init__("deadline passed")
        self.abandoned = abandoned
