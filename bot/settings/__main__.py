"""`python -m bot.settings` writes docs/reference/settings.md again."""

from pathlib import Path

from bot.settings.reference import reference

if __name__ == "__main__":
    Path("docs/reference/settings.md").write_text(reference(), encoding="utf-8")
