"""What is said of an effect: to the model by a stable code, to the member in one sentence (I16)."""

from collections.abc import Mapping
from typing import Final

from bot.outgoing import Outcome
from bot.wishes import Wish
from bot.writes import HELD_BACK
from tools.ports import ActionReport

# Discord's refusals of what may well be asked for, by its own codes.
# https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
REFUSALS: Final[Mapping[str, tuple[str, str]]] = {
    "discord_10003": ("no_such_place", "Discord knows no such channel."),
    "discord_10008": ("no_such_message", "Discord knows no such message (any more)."),
    "discord_10014": ("no_such_emoji", "Discord knows no such emoji, or I cannot use it here."),
    "discord_20016": ("slowmode", "The channel's slow mode does not let me write yet."),
    "discord_30003": ("too_many_pins", "The channel holds as many pins as Discord allows."),
    "discord_30010": ("too_many_reactions", "The message has as many reactions as Discord allows."),
    "discord_30046": ("edited_too_often", "Discord lets an old message be edited only so often."),
    "discord_50001": ("bot_may_not", "Discord says that I have no access there."),
    "discord_50005": ("not_mine", "Discord says that this message is not mine."),
    "discord_50006": ("empty", "Discord takes no empty message."),
    "discord_50013": ("bot_may_not", "Discord says that I lack the permission for this."),
    "discord_50021": ("not_on_this_message", "Discord does not allow this on a notice of its own."),
    "discord_50024": ("not_in_this_channel", "Discord does not allow this in a channel of that kind."),
    "discord_50083": ("thread_archived", "The thread is archived; it has to be reopened first."),
    "discord_90001": ("reaction_blocked", "Discord does not let me react to that person's messages."),
    "discord_160004": ("thread_exists", "That message has a thread already."),
    "discord_160005": ("thread_locked", "The thread is locked."),
    "discord_160006": ("too_many_threads", "There are as many active threads as Discord allows."),
    "discord_200000": ("blocked_by_automod", "A rule of this server's AutoMod blocked it."),
    "discord_200001": ("blocked_by_automod", "A rule of this server's AutoMod blocked the title."),
    "not_applied": ("not_done", "It was tried and not done; Discord shows no trace of it."),
}


def refused_by_discord(failure: str | None) -> ActionReport:
    """The report of an effect that Discord refused."""
    code, said = REFUSALS.get(failure or "", ("discord_refused", f"Discord refused this ({failure})."))
    return ActionReport("refused", code, f"{said} Nothing was changed.")


def report_of(wish: Wish, outcome: Outcome) -> ActionReport:
    """The report of an effect that was tried just now."""
    match outcome.state:
        case "applied":
            return ActionReport("applied", None, "", outcome.external_id, wish.place_id)
        case "refused":
            return refused_by_discord(outcome.failure)
        case "unknown" if outcome.certain and outcome.failure in HELD_BACK:
            said = "Discord wants to be left alone for a while, so it was not even tried. It can be asked for later."
            return ActionReport("refused", "rate_limited", said)
        case "unknown":
            said = "Discord gave no answer, so it is not certain whether it was done. Do not repeat it; say so."
            return ActionReport("unknown", "unknown", said)
