"""What can go wrong in the Discord process, by who must act.

BotFault
├── StartupFault              (operator) Muninn does not start; one plain sentence says why and what to do
│   ├── SettingsFault         a setting is missing or wrong (exit code 2)
│   ├── ServiceFault          an embedded PostgreSQL or Valkey did not start or stop
│   ├── DatabaseUnreachable   nobody answers under MUNINN_DATABASE_URL
│   ├── DatabaseUnfit         the server answers, but its version, extensions or schema are not what Muninn needs
│   └── DiscordRefused        Discord does not accept the token or the intents
├── MalformedDispatch         (ingress: park it) a dispatch lacks what its kind always has
├── EventDropped              (backfill: fetch it again) the queue was full; a gap stands for the event
├── TurnLost                  (worker: stop) another worker has the turn, or it ended meanwhile
├── CommandRefused            (the member) a command or button cannot be obeyed; the sentence is shown as it is
├── DeliveryDelayed           (worker: come back later) Discord takes no messages for this place now
├── WriteFault                (the door: record it) a write to Discord did not succeed
│   ├── WriteRefused          Discord said no, and would say so again
│   └── WriteInDoubt          nobody knows whether Discord did it
└── ReadFault                 (whoever decides: decide for no) something of Discord's could not be read
    ├── ReadRefused           Discord said no, and would say so again
    └── ReadFailed            nobody can say for now
"""

from typing import ClassVar


class BotFault(Exception):
    """The base of all of them."""


class StartupFault(BotFault):
    """Muninn cannot start. The message is shown to the operator as it is, without a traceback and without secrets."""

    exit_code: ClassVar[int] = 1


class SettingsFault(StartupFault):
    """A setting is missing or wrong; the message names its environment variable and never its secret value."""

    exit_code: ClassVar[int] = 2


class ServiceFault(StartupFault):
    """An embedded PostgreSQL or Valkey did not start or stop."""


class DatabaseUnreachable(StartupFault):
    """Nobody answers under the database's address, or it does not let Muninn in."""


class DatabaseUnfit(StartupFault):
    """The database answers, but its version, extensions or schema are not what Muninn needs."""


class DiscordRefused(StartupFault):
    """Discord does not accept the token or the intents."""


class MalformedDispatch(BotFault):
    """A dispatch that lacks what its kind always has; it is parked, and the bot goes on."""


class EventDropped(BotFault):
    """The queue was full: the event is not journalled, and a gap stands for it."""


class TurnLost(BotFault):
    """Another worker has the turn, or it ended meanwhile; nothing more may be done for it here (I14)."""


class CommandRefused(BotFault):
    """What somebody asked for by a command or a button cannot be done. `text`: one plain sentence for them: what
    happened, what is safe, what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class DeliveryDelayed(BotFault):
    """A composed answer could not be sent yet. `after_s`: how long Discord wants to be left alone."""

    def __init__(self, cause: str, after_s: float) -> None:
        super().__init__(cause)
        self.cause = cause
        self.after_s = after_s


class WriteFault(BotFault):
    """A write to Discord did not succeed."""


class WriteRefused(WriteFault):
    """Discord said no, and would say so again. `code`: Discord's own error code, else the HTTP status."""

    def __init__(self, code: int, status: int, text: str) -> None:
        super().__init__(f"{code} (HTTP {status})")
        self.code = code
        self.status = status
        self.text = text


class WriteInDoubt(WriteFault):
    """Nobody knows whether Discord did it. `retry_after_s`: how long Discord wants to be left alone."""

    def __init__(self, cause: str, retry_after_s: float | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.retry_after_s = retry_after_s


class ReadFault(BotFault):
    """Something of Discord's could not be read."""


class ReadRefused(ReadFault):
    """Discord said no, and would say so again. `code`: Discord's own error code, else the HTTP status."""

    def __init__(self, code: int, status: int) -> None:
        super().__init__(f"{code} (HTTP {status})")
        self.code = code
        self.status = status


class ReadFailed(ReadFault):
    """Nobody can say for now. `retry_after_s`: how long Discord wants to be left alone."""

    def __init__(self, cause: str, retry_after_s: float | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.retry_after_s = retry_after_s
