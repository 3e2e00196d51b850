"""Health, metrics and logs."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class Serving(BaseModel):
    """What others ask a process for."""

    http_host: Annotated[str, Field(min_length=1)] = Field(
        default="127.0.0.1",
        description="Where /healthz, /readyz and /metrics are served; `0.0.0.0` in a container that others ask.",
    )
    http_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        default=8741, description="Their port; 0 serves them nowhere."
    )


class Logs(BaseModel):
    """What is logged."""

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least that is logged."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto", description="`auto` is for people on a terminal and JSON elsewhere."
    )
