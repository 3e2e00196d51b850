"""What a value may be. What is wrong with one is a sentence that never repeats it."""

from decimal import Decimal
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from bot.quiet_hours import QuietHours


def _check_address(value: str, schemes: tuple[str, ...]) -> str:
    parts = urlsplit(value)
    # unix:///path and postgresql:///name have no host, and are whole. The message never repeats the value.
    if parts.scheme not in schemes or not (parts.netloc or parts.path):
        raise ValueError(f"it should be an address that begins with {' or '.join(f'{name}://' for name in schemes)}")
    return value


def _http(value: str) -> str:
    return _check_address(value, ("http", "https")).rstrip("/")


def _origins(value: str) -> str:
    return ",".join(_http(each.strip()) for each in value.split(",") if each.strip())


def _websocket(value: str) -> str:
    return _check_address(value, ("ws", "wss")).rstrip("/") + "/"


def _postgres(value: SecretStr) -> SecretStr:
    return SecretStr(_check_address(value.get_secret_value(), ("postgresql", "postgres")))


def _ids(value: str) -> str:
    wrong = [each for each in value.replace(" ", "").split(",") if each and not each.isdecimal()]
    if wrong:
        raise ValueError("it should be ids of digits, separated by commas")
    return value


def _hours(value: str) -> str:
    QuietHours.of(value)
    return value


def _redis(value: SecretStr) -> SecretStr:
    return SecretStr(_check_address(value.get_secret_value(), ("redis", "rediss", "unix")))


Seconds = Annotated[float, Field(gt=0, le=86_400)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Tokens = Annotated[int, Field(ge=0, le=1_000_000_000_000)]
Price = Annotated[Decimal, Field(ge=0, le=1_000_000)]
Http = Annotated[str, AfterValidator(_http)]
Origins = Annotated[str, AfterValidator(_origins)]
Websocket = Annotated[str, AfterValidator(_websocket)]
Postgres = Annotated[SecretStr, AfterValidator(_postgres)]
Redis = Annotated[SecretStr, AfterValidator(_redis)]
Ids = Annotated[str, AfterValidator(_ids)]
Hours = Annotated[str, AfterValidator(_hours)]
