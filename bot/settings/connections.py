"""What Muninn connects to."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, field_validator

from bot.settings.kinds import Count, Http, Origins, Postgres, Redis, Websocket


class Discord(BaseModel):
    """The bot's account, where Discord is, and what is asked of it."""

    discord_token: SecretStr = Field(
        default=SecretStr(""), description="The bot's token, from the Discord Developer Portal. Needed by `muninn run`."
    )
    discord_api_url: Http = Field(
        default="https://discord.com/api/v10", description="Discord's REST API, or a proxy of it."
    )
    discord_gateway_url: Websocket = Field(
        default="wss://gateway.discord.gg/", description="Discord's gateway, or a proxy of it."
    )
    discord_cdn_urls: Origins = Field(
        default="https://cdn.discordapp.com,https://media.discordapp.net,https://images-ext-1.discordapp.net,"
        "https://images-ext-2.discordapp.net",
        description="Where files that people attach are fetched from, separated by commas; from nowhere else.",
    )
    message_content: bool = Field(
        default=True,
        description="Ask Discord for the Message Content intent. Off: Muninn reads only what mentions it, replies to "
        "it with a ping, or is written to it directly, and remembers no more than that.",
    )
    guild_notice: bool = Field(
        default=True, description="Tell each guild that Muninn joins, once, what is kept and how to change it."
    )
    shard_id: Annotated[int, Field(ge=0)] = Field(default=0, description="This process's shard, from 0.")
    shard_count: Count = Field(default=1, description="How many shards the bot has in all.")

    @field_validator("discord_token")
    @classmethod
    def _one_word(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value().split()) > 1:
            raise ValueError("it should be the token alone, without spaces and without `Bot` before it")
        return value


class Stores(BaseModel):
    """Where what is kept stands."""

    database_url: Postgres | None = Field(
        default=None,
        description="PostgreSQL 17 or newer with pgvector 0.8 or newer. Not set: Muninn starts one in its data folder.",
    )
    redis_url: Redis | None = Field(
        default=None, description="Valkey or Redis. Not set: Muninn starts one in its data folder."
    )
    data_dir: Path = Field(
        default=Path(".muninn"),
        description="Where the embedded services keep their files; relative to the working directory.",
    )
