"""Turns and events: how many at once, and how they are shared."""

from typing import Annotated

from pydantic import BaseModel, Field

from bot.settings.kinds import Count, Seconds


class Work(BaseModel):
    """Turns: how many at once, how they are shared between processes, and what they have time for."""

    workers: Count = Field(default=32, description="Turns that this process works on at the same time.")
    answer_window_s: Seconds = Field(
        default=1_800, description="Seconds after which a message still unanswered stays so; one reaction says it."
    )
    nonce_window_s: Seconds = Field(
        default=120, description="Seconds for which Discord is trusted to recognise a message that is sent again."
    )
    turn_lease_s: Seconds = Field(default=20, description="Seconds after which a silent worker's turn is taken over.")
    turn_heartbeat_s: Seconds = Field(default=5, description="Seconds between a worker's signs of life.")
    reconcile_s: Seconds = Field(
        default=60.0,
        description="Seconds between looks for effects that nobody recorded, and of silence before one is looked up.",
    )
    poll_s: Seconds = Field(default=2.0, description="Seconds between looks for work that no notification announced.")
    progress_s: Annotated[float, Field(ge=0, le=3_600)] = Field(
        default=8.0,
        description="Seconds after which a place is shown what is worked on, with a button to stop it; 0: never.",
    )
    drain_s: Seconds = Field(default=10, description="Seconds that a stop gives to what is under way.")


class Intake(BaseModel):
    """Events on their way into the journal, and after a gap."""

    ingress_queue: Count = Field(default=10_000, description="Events that wait in memory while PostgreSQL is away.")
    ingress_group: Annotated[int, Field(ge=1, le=64)] = Field(
        default=64, description="Events in one transaction, at most."
    )
    backfill_messages: Count = Field(default=500, description="Messages fetched again after a gap, for each place.")
    backfill_places: Count = Field(
        default=200, description="Places that are fetched in one go after a gap, the most recently active first."
    )
