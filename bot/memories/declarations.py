"""The commands about memory, as Discord is told."""

from typing import Final

from bot.commands.declaration import Declaration, Family, Menu, Slash
from bot.commands.options import Option, flag, number, text, whole
from bot.pages import ARGUMENT_CHARS
from memory.items import CONTENT_CHARS
from memory.kinds import KINDS, MemoryScope

MEMORY: Final = Family("memory", "What I remember of you, of this channel and of this server.")

WHOSE_CHOICES: Final[tuple[tuple[str, MemoryScope], ...]] = (
    ("mine", "user"),
    ("this channel's", "channel"),
    ("this server's", "guild"),
)
WHOSE: Final[Option[str]] = Option("whose", "Whose memories; yours if left out.", "text", str, choices=WHOSE_CHOICES)
QUERY: Final = text("words", "Words that it holds, or its key.", required=True, most=ARGUMENT_CHARS)
CONTENT: Final = text("content", "What I shall remember, in a sentence.", required=True, most=CONTENT_CHARS)
NEW_CONTENT: Final = text("content", "What it shall say instead.", most=CONTENT_CHARS)
KIND: Final = text("kind", "What kind of memory it is.", choices=KINDS)
KEY: Final = text("key", "A stable name, such as preference.editor; the same key replaces.", most=128)
IMPORTANCE: Final = number("importance", "How much it matters, from 0 to 1.", least=0, most=1)
WHICH: Final = text("memory", "Which one: its number or its key.", required=True, most=130, suggested=True)
LOST: Final = text("memory", "Which one: its number.", required=True, most=130, suggested=True)
VERSION: Final = whole("version", "Which former version; see /memory history.", least=1, most=1_000_000)
PINNED: Final = flag("pinned", "False takes the pin away.")
EPISODE: Final = whole("episode", "Its number, from /memory episodes.", required=True, least=1, most=2**53)

SHOW: Final = Slash("show", "Show what I remember.", (WHOSE,), MEMORY)
SEARCH: Final = Slash("search", "Search what I remember, by words.", (QUERY, WHOSE), MEMORY)
ADD: Final = Slash("add", "Have me remember something.", (CONTENT, KIND, KEY, IMPORTANCE, WHOSE), MEMORY)
EDIT: Final = Slash("edit", "Change a memory.", (WHICH, NEW_CONTENT, KIND, KEY, IMPORTANCE), MEMORY)
FORGET: Final = Slash("forget", "Have me forget a memory.", (WHICH,), MEMORY)
PIN: Final = Slash("pin", "Let a memory stand out, or no longer.", (WHICH, PINNED), MEMORY)
WHY_MEMORY: Final = Slash("why", "Why I remember it: what it rests on.", (WHICH,), MEMORY)
HISTORY: Final = Slash("history", "How a memory came to be as it is.", (WHICH,), MEMORY)
RESTORE: Final = Slash("restore", "Bring back a forgotten memory, or a former version.", (LOST, VERSION), MEMORY)
EXPORT: Final = Slash("export", "Get what I remember as a file.", (WHOSE,), MEMORY)
EPISODES: Final = Slash("episodes", "Show the exchanges of yours that I keep for a while.", family=MEMORY)
DROP_EPISODE: Final = Slash("drop-episode", "Have me delete one of them for good.", (EPISODE,), MEMORY)
REMEMBER_THIS: Final = Menu("Remember this", "Have me remember a message, for you or for everybody.", on="message")

MEMORY_COMMANDS: Final[tuple[Declaration, ...]] = (
    SHOW,
    SEARCH,
    ADD,
    EDIT,
    FORGET,
    PIN,
    WHY_MEMORY,
    HISTORY,
    RESTORE,
    EXPORT,
    EPISODES,
    DROP_EPISODE,
    REMEMBER_THIS,
)
