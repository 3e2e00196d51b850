"""The command /settings: how the bot behaves in a guild and in its channels, as one card, for who governs it."""

from bot.settings_card.desk import SettingsCard
from bot.settings_card.slash import SETTINGS_COMMANDS

__all__ = ["SETTINGS_COMMANDS", "SettingsCard"]
