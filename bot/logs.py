"""Logging: structured events to standard error, for people on a terminal and as JSON elsewhere.

discord.py, aiohttp and asyncio log through the standard library and come out the same way. What is bound with `bind`
(run, turn, guild, channel) stands on every line that the same task and its children log. Values that look like secrets,
and those that `protect` was given, are replaced (I13).
"""

import logging
import re
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from types import NoneType
from typing import Any, Final, Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

log = structlog.get_logger(__name__)

HIDDEN: Final = "[hidden]"
# A setting or header whose value is never shown, whatever it is.
_SECRET_NAME: Final = re.compile(r"token|secret|password|passwd|api_?key|authorization|credential", re.IGNORECASE)
# Names that match the pattern above and are counts.
_COUNTS: Final = frozenset({"prompt_tokens", "completion_tokens", "context_tokens", "tokens"})
_SECRET_TEXT: Final = re.compile(
    r"""
      (?<=://) [^/\s:@]* : [^@\s/]+ (?=@)                      # user:password in an address
    | \b (?:Bot|Bearer) \s+ [\w.~+/-]{12,}=*                   # an Authorization header
    | \b [\w-]{23,28} \. [\w-]{6,7} \. [\w-]{27,}              # a Discord bot token
    | \b (?:sk|fc|gh[pousr]|xox[abp]) [-_] [\w-]{16,}          # keys of OpenAI, Firecrawl, GitHub, Slack
    | (?<=/interactions/) \d+ / [\w-]{40,}                     # an interaction's token in an address
    | (?<=/webhooks/) \d+ / [\w-]{40,}                         # a webhook's
    """,
    re.VERBOSE,
)
# Too short to be told from a word.
_SHORTEST_SECRET: Final = 8
# What no secret is, and what is looked into.
_PLAIN: Final = (bool, int, float, NoneType)
_LISTS: Final = (list, tuple, set, frozenset)
_protected: set[str] = set()


def configure(*, level: str, style: Literal["auto", "json", "console"]) -> None:
    """Set up logging for the process; may be called again. `level` is the least that Muninn's own events are logged at.

    The libraries log from warning up, or from debug where `level` is debug.
    """
    console = style == "console" or (style == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendering: list[Processor] = (
        [redact, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
        if console
        else [structlog.processors.format_exc_info, redact, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    if console:
        # The console's own renderer would show a traceback after the redaction.
        rendering.insert(0, structlog.processors.format_exc_info)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    own = logging.getLevelNamesMapping()[level.upper()]
    root.setLevel(own if own == logging.DEBUG else logging.WARNING)
    for package in ("agent", "bot", "memory", "tools", "migrations", "sandbox"):
        logging.getLogger(package).setLevel(own)
    # discord.py says at each start that it lacks the libraries for voice; Muninn does not speak.
    logging.getLogger("discord.client").addFilter(_is_not_about_voice)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _is_not_about_voice(record: logging.LogRecord) -> bool:
    return "voice will NOT be supported" not in str(record.msg)


def protect(secrets: Iterable[str]) -> None:
    """Never show these values, wherever they turn up in a line. Values of less than eight characters are left out."""
    _protected.update(secret for secret in secrets if len(secret) >= _SHORTEST_SECRET)


def bind(**ids: int | str | None) -> AbstractContextManager[Any]:
    """Put these on every line logged inside the block, by this task and those it starts."""
    return structlog.contextvars.bound_contextvars(**{name: value for name, value in ids.items() if value is not None})


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The structlog processor that hides secrets, by the name of a field and by the look of a value."""
    return {name: _redacted(name, value) for name, value in event.items()}


@lru_cache(maxsize=1024)
def _names_a_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None and name not in _COUNTS


def _redacted(name: str, value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if _names_a_secret(name):
        return HIDDEN
    if isinstance(value, str):
        return hide(value) if len(value) >= _SHORTEST_SECRET else value
    if isinstance(value, dict):
        return {str(key): _redacted(str(key), inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, _LISTS):
        return [_redacted(name, inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return hide(str(value))


def hide(text: str) -> str:
    """The text without what looks like a secret and without the protected values."""
    for secret in _protected:
        text = text.replace(secret, HIDDEN)
    return _SECRET_TEXT.sub(HIDDEN, text)
