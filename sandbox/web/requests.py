"""What may be asked: Firecrawl's request bodies, as strictly as its own schema takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasGenerator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from .errors import BadRequest


class _Body(BaseModel):
    """Names in camelCase, nothing undeclared, no type in place of another."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=AliasGenerator(validation_alias=to_camel), frozen=True
    )


def _http(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("Invalid URL")
    return url


class _Format(_Body):
    type: Literal["markdown", "html", "rawHtml", "links", "summary", "screenshot", "json"]


_FormatName = Literal["markdown", "html", "rawHtml", "links", "summary", "screenshot"]


class _ScrapeOptions(_Body):
    formats: list[_FormatName | _Format] = ["markdown"]
    only_main_content: bool = True
    include_tags: list[str] | None = None
    exclude_tags: list[str] | None = None
    max_age: Annotated[int, Field(ge=0)] | None = None
    min_age: Annotated[int, Field(ge=0)] | None = None
    headers: dict[str, str] | None = None
    wait_for: Annotated[int, Field(ge=0, le=60_000)] | None = None
    timeout: Annotated[int, Field(ge=1_000)] | None = None
    mobile: bool | None = None
    skip_tls_verification: bool | None = None
    remove_base64_images: bool | None = Field(None, alias="removeBase64Images")
    fast_mode: bool | None = None
    block_ads: bool | None = None
    store_in_cache: bool | None = None
    proxy: Literal["basic", "stealth", "enhanced", "auto"] | None = None
    location: dict[str, Any] | None = None
    parsers: list[Any] | None = None


class _Source(_Body):
    type: Literal["web", "news", "images"]


class _SearchBody(_Body):
    query: Annotated[str, Field(min_length=1, max_length=500)]
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    sources: list[Literal["web", "news", "images"] | _Source] | None = None
    categories: list[Any] | None = None
    include_domains: list[str] | None = None
    exclude_domains: list[str] | None = None
    tbs: str | None = None
    location: str | None = None
    country: str | None = None
    timeout: Annotated[int, Field(ge=1_000, le=300_000)] = 60_000
    ignore_invalid_urls: bool | None = Field(None, alias="ignoreInvalidURLs")
    scrape_options: _ScrapeOptions | None = None
    origin: str | None = None
    integration: str | None = None


class _ScrapeBody(_ScrapeOptions):
    url: Annotated[str, AfterValidator(_http)]
    origin: str | None = None
    integration: str | None = None


_Asked = TypeVar("_Asked", bound=_Body)


@dataclass(frozen=True, slots=True)
class Search:
    """An accepted search. `formats` is empty where nothing was to be scraped; `timeout_s` is Firecrawl's deadline."""

    query: str
    limit: int
    formats: tuple[str, ...]
    only_main_content: bool
    timeout_s: float
    max_age_s: float | None


@dataclass(frozen=True, slots=True)
class Scrape:
    """An accepted scrape of one page."""

    url: str
    formats: tuple[str, ...]
    only_main_content: bool


def read_search(body: bytes) -> Search:
    """Raises BadRequest."""
    read = _read(_SearchBody, body)
    options = read.scrape_options
    return Search(
        read.query,
        read.limit,
        () if options is None else _formats(options),
        options is not None and options.only_main_content,
        read.timeout / 1000,
        None if options is None or options.max_age is None else options.max_age / 1000,
    )


def read_scrape(body: bytes) -> Scrape:
    """Raises BadRequest."""
    read = _read(_ScrapeBody, body)
    return Scrape(read.url, _formats(read), read.only_main_content)


def _formats(options: _ScrapeOptions) -> tuple[str, ...]:
    return tuple(each.type if isinstance(each, _Format) else each for each in options.formats)


def _read(model: type[_Asked], body: bytes) -> _Asked:
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        raise BadRequest("Bad Request", [{**each, "loc": list(each["loc"])} for each in details]) from error
