"""What a run may use, do and cost."""

from typing import Annotated

from pydantic import BaseModel, Field

from bot.settings.kinds import Count, Ids, Seconds, Tokens


class Runs(BaseModel):
    """The limits of a run."""

    max_steps: Count = Field(default=6, description="Model calls in one run, the last one without tools included.")
    max_calls: Count = Field(default=12, description="Tool calls in one run.")
    max_writes: Annotated[int, Field(ge=0, le=1_000)] = Field(
        default=8, description="Tool calls in one run that change something; each runs alone, in the model's order."
    )
    run_s: Seconds = Field(default=120, description="Seconds for one run, the time to say the end included.")
    final_reserve_s: Seconds | None = Field(
        default=None,
        description="Of those, the seconds that only the last step may use. Not set: a quarter, at most 20.",
    )
    tool_s: Seconds = Field(default=20, description="Seconds for one tool call.")
    parallel_reads: Count = Field(default=4, description="Reading tools that may run at the same time in one run.")
    identical_calls: Count = Field(default=2, description="How often one run may repeat the same call.")


class Budgets(BaseModel):
    """What a day may cost, and the switch that stops it."""

    member_daily_tokens: Tokens = Field(
        default=1_000_000, description="Tokens that one member may use in a guild or DM in a day (UTC); 0: no budget."
    )
    space_daily_tokens: Tokens = Field(
        default=10_000_000, description="Tokens that a guild or a DM may use in a day (UTC); 0: no budget."
    )
    stopped: bool = Field(
        default=False,
        description="Journal everything and answer nobody but by saying so. `muninn stop` does the same while it runs.",
    )


class Acting(BaseModel):
    """What the model may do and who is asked, and how long it is told afterwards."""

    tool_result_chars: Annotated[int, Field(ge=1_000, le=200_000)] = Field(
        default=12_000, description="Characters of a tool's result that the model sees; the rest is kept with the run."
    )
    transcript_days: Annotated[int, Field(ge=1, le=3_650)] = Field(
        default=14,
        description="Days for which prompts, replies and tool results are kept; after them the audit remains.",
    )
    ai_event_days: Annotated[int, Field(ge=1, le=3_650)] = Field(
        default=90, description="Days for which a row a model request is kept."
    )
    actions: bool = Field(
        default=True,
        description="Whether the model may act in Discord where nothing else was set; each act is still one that the "
        "member plainly asked for, or confirmed, and may do themselves.",
    )
    actions_off_in: Ids = Field(
        default="", description="Guilds (or DM channels) in which the model may not act, by id, separated by commas."
    )
    owner_ids: Ids = Field(
        default="",
        description="Who owns this bot, by user id, separated by commas; they may do with it what administrators may.",
    )
    card_s: Seconds = Field(default=600, description="Seconds for which a member may confirm an action by a button.")
