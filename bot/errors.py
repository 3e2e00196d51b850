"""What can go wrong in the Discord process, by who must act.

BotFault
└── StartupFault              (operator) Muninn does not start; one plain sentence says why and what to do
    ├── SettingsFault         a setting is missing or wrong (exit code 2)
    ├── ServiceFault          an embedded PostgreSQL or Valkey did not start or stop
    ├── DatabaseUnreachable   nobody answers under MUNINN_DATABASE_URL
    ├── DatabaseUnfit         the server answers, but its version, extensions or schema are not what Muninn needs
    └── DiscordRefused        Discord does not accept the token or the intents
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
