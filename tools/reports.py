"""What the model is told of an action's end. A success that was none is never told as one (I16)."""

from tools.declaration import Payload
from tools.errors import Refused
from tools.ports import ActionReport


def told(report: ActionReport, *, made: str | None = None) -> Payload:
    """The payload of an action that was applied; `made` names the id of what it made or changed.

    Raises Refused for every other end: the report's own code where it was refused, `confirmation_needed`, `unknown`.
    """
    match report.state:
        case "applied":
            payload: dict[str, object] = {"state": "applied"}
            if made is not None and report.external_id is not None:
                payload[made] = str(report.external_id)
            if report.from_record:
                payload["from_record"] = True
            return payload
        case "refused":
            raise Refused(report.code or "refused", report.message or "It was refused and not done.")
        case "asked":
            raise Refused(
                report.code or "confirmation_needed",
                report.message
                or "Nothing was done yet: the member was asked to confirm it by a button. Say so, do not call again.",
            )
        case "unknown":
            raise Refused(
                "unknown",
                report.message or "It is not certain whether it was done. Say so, and do not call again.",
            )
