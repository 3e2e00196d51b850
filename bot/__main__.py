"""`python -m bot` is the `muninn` command."""

from bot.cli import main

main()
