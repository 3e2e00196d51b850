"""Moderation without a model: a command, a menu or plain words, a card, a press, a case, a line in the log, an undo."""
