"""Who is answered, how often, and when Muninn speaks unasked."""

from typing import Annotated

from pydantic import BaseModel, Field

from bot.settings.kinds import Count, Hours, Ids, Seconds, Tokens


class Rates(BaseModel):
    """How often somebody is answered."""

    member_turns: Count = Field(default=10, description="Turns a member may start in one window.")
    place_turns: Count = Field(default=30, description="Turns a channel may start in one window.")
    space_turns: Count = Field(default=120, description="Turns a guild may start in one window.")
    rate_window_s: Seconds = Field(default=60, description="Seconds of that window.")


class Company(BaseModel):
    """Other bots, and speaking unasked."""

    answered_bots: Ids = Field(
        default="",
        description="Other bots that are answered when they name Muninn in their words, by user id, separated by "
        "commas. All others never are.",
    )
    bot_turns: Count = Field(
        default=2,
        description="How often such a bot is answered in one place in ten minutes while no member says anything there.",
    )
    ambient_hourly: Count = Field(
        default=4,
        description="Where a guild lets Muninn speak unasked: how often in an hour it considers it, in one place. "
        "A guild may set less.",
    )
    ambient_pause_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=300, description="Seconds between two such considerations in one place."
    )
    ambient_lull_s: Annotated[float, Field(ge=0, le=300)] = Field(
        default=20, description="Seconds for which others may answer first; who does keeps Muninn silent."
    )
    ambient_quiet_hours: Hours = Field(
        default="",
        description="Hours of the day in which Muninn says nothing unasked, such as `22-7` (until 6:59, UTC) or "
        "`22-7 Europe/Berlin`. A guild may set its own.",
    )
    ambient_daily_tokens: Tokens = Field(
        default=100_000, description="Tokens that this may cost a guild in a day (UTC); 0: no budget of its own."
    )
