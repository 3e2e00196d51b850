"""What no memory may hold: credentials, payment cards and identity numbers, each found by a rule with a name (I13).

Numbers count only where their check digits are right, so that ids of Discord, dates and phone numbers pass. A rule that
is wrong once in a while costs a member a rewording; a secret that is kept costs more.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

# Words for a secret, in the languages that memory is tested with and a few more.
_SECRETS: Final = (
    "password|passwd|passphrase|passcode|pwd|pin code|passwort|kennwort|contraseña|mot de passe|senha|пароль|"
    "パスワード|暗証番号|密码|密碼|비밀번호|كلمة السر|كلمة المرور"
)
_KEYS: Final = (
    "api[ _-]?key|access[ _-]?key|secret[ _-]?key|auth[ _-]?token|access[ _-]?token|client[ _-]?secret|bearer"
)
# What stands between the word and the secret: a colon, an equals sign (also full-width), or "is".
_IS: Final = r"\s*(?:[:=\uff1a\uff1d]|\b(?:is|was|ist|lautet|es|est|é)\b|это|は|是|는|은|هي|هو)\s*[\"'“”„«»`「]?"
_APOSTROPHES: Final = "-'\u2019"


@dataclass(frozen=True, slots=True)
class Rule:
    """A shape that is refused. `what` names it for people."""

    name: str
    what: str
    matches: Callable[[str], bool]


def caught_by(text: str) -> Rule | None:
    """The first rule that `text` breaks; None if it may be kept."""
    return next((rule for rule in RULES if rule.matches(text)), None)


def _pattern(pattern: str, flags: int = 0) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.search(text) is not None


def _assigned(words: str, value: str) -> Callable[[str], bool]:
    """A word for a secret, "is", and then something that looks like one."""
    compiled = re.compile(rf"(?:{words}){_IS}(?P<value>{value})", re.IGNORECASE)

    def matches(text: str) -> bool:
        return any(_looks_secret(found["value"]) for found in compiled.finditer(text))

    return matches


def _looks_secret(value: str) -> bool:
    """Not a plain word of a sentence ("my password is weak"): a digit or a sign in it, or capitals inside."""
    plain = value.rstrip(".,;!?。、")
    return len(plain) >= 4 and (
        any(each.isdigit() for each in plain)
        or any(not each.isalnum() and each not in _APOSTROPHES for each in plain)
        or any(each.isupper() for each in plain[1:])
    )


# --- numbers with check digits ---------------------------------------------------------------------------------------

_DIGITS: Final = re.compile(r"(?<![\w<@#&:/.-])\d(?:[ .\-]?\d)*(?![\w>])")


def _numbers(text: str, lengths: range | tuple[int, ...]) -> Iterator[str]:
    """Runs of digits of these lengths, single spaces, dots and dashes taken out."""
    for found in _DIGITS.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if len(digits) in lengths:
            yield digits


def luhn(digits: str) -> bool:
    """The check of ISO/IEC 7812, which payment cards have."""
    total = 0
    for at, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if at % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


# Issuers' first digits and lengths: Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro.
_ISSUERS: Final = re.compile(
    r"4\d{12}|4\d{15}|4\d{18}|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|62\d{14}|62\d{17}|(?:50|5[6-9]|6\d)\d{14}"
)


def _card(text: str) -> bool:
    return any(_ISSUERS.fullmatch(number) and luhn(number) for number in _numbers(text, range(13, 20)))


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def _cpf(text: str) -> bool:
    """Brazil: eleven digits, the last two check the others."""

    def valid(number: str) -> bool:
        checks = [_weighted(number[:length], tuple(range(length + 1, 1, -1))) * 10 % 11 % 10 for length in (9, 10)]
        return len(set(number)) > 1 and number[9:] == "".join(map(str, checks))

    return bool(re.search(r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b", text)) or (
        bool(re.search(r"\bcpf\b", text, re.IGNORECASE)) and any(valid(number) for number in _numbers(text, (11,)))
    )


def _chinese(text: str) -> bool:
    """China: birth date inside, ISO 7064 MOD 11-2 at the end."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    found = re.finditer(
        r"(?<!\d)[1-8]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\d)", text
    )
    return any("10X98765432"[_weighted(each[0][:17], weights) % 11] == each[0][17].upper() for each in found)


def _korean(text: str) -> bool:
    """South Korea: birth date, a dash, and seven digits."""
    return bool(re.search(r"(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}(?!\d)", text))


def _my_number(text: str) -> bool:
    """Japan: twelve digits, the last checks the others; only where the text says what it is."""

    def valid(number: str) -> bool:
        total = sum(
            int(digit) * (at + 1 if at <= 6 else at - 5) for at, digit in enumerate(reversed(number[:11]), start=1)
        )
        return int(number[11]) == (0 if total % 11 <= 1 else 11 - total % 11)

    named = re.search(r"my ?number|マイナンバー|個人番号", text, re.IGNORECASE)
    return named is not None and any(valid(number) for number in _numbers(text, (12,)))


_VERHOEFF_D: Final = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 4, 0, 6, 7, 8, 9, 5), (2, 3, 4, 0, 1, 7, 8, 9, 5, 6),
    (3, 4, 0, 1, 2, 8, 9, 5, 6, 7), (4, 0, 1, 2, 3, 9, 5, 6, 7, 8), (5, 9, 8, 7, 6, 0, 4, 3, 2, 1),
    (6, 5, 9, 8, 7, 1, 0, 4, 3, 2), (7, 6, 5, 9, 8, 2, 1, 0, 4, 3), (8, 7, 6, 5, 9, 3, 2, 1, 0, 4),
    (9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
)  # fmt: skip
_VERHOEFF_P: Final = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 5, 7, 6, 2, 8, 3, 0, 9, 4), (5, 8, 0, 3, 7, 9, 6, 1, 4, 2),
    (8, 9, 1, 6, 0, 4, 3, 5, 2, 7), (9, 4, 5, 3, 1, 2, 6, 8, 7, 0), (4, 2, 8, 6, 5, 7, 3, 9, 0, 1),
    (2, 7, 9, 3, 8, 0, 6, 4, 1, 5), (7, 0, 4, 6, 9, 1, 3, 2, 5, 8),
)  # fmt: skip


def _aadhaar(text: str) -> bool:
    """India: twelve digits in fours, checked by Verhoeff's scheme."""

    def valid(number: str) -> bool:
        check = 0
        for at, digit in enumerate(reversed(number)):
            check = _VERHOEFF_D[check][_VERHOEFF_P[at % 8][int(digit)]]
        return check == 0

    grouped = re.findall(r"(?<!\d)[2-9]\d{3}[ -]\d{4}[ -]\d{4}(?![ -]?\d)", text)
    named = list(_numbers(text, (12,))) if re.search(r"aadhaar|आधार", text, re.IGNORECASE) else []
    return any(valid(re.sub(r"\D", "", number)) for number in [*grouped, *named])


def _iban(text: str) -> bool:
    """ISO 13616: two letters, two check digits, and modulo 97 is one."""
    for found in re.finditer(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,8}\b", text):
        whole = found[0].replace(" ", "")
        moved = "".join(str(int(each, 36)) for each in whole[4:] + whole[:4])
        if 15 <= len(whole) <= 34 and int(moved) % 97 == 1:
            return True
    return False


def _named_number(words: str, number: str) -> Callable[[str], bool]:
    """A number that only its name gives away."""
    return _pattern(rf"(?:{words})[^\n]{{0,24}}?(?<!\w)(?:{number})(?!\w)", re.IGNORECASE)


RULES: Final[tuple[Rule, ...]] = (
    Rule("private_key", "a private key", _pattern(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY")),
    Rule("openai_key", "an API key", _pattern(r"\bsk-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}")),
    Rule("github_token", "a GitHub token", _pattern(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    Rule("aws_key", "an AWS key", _pattern(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    Rule("google_key", "a Google key", _pattern(r"\bAIza[A-Za-z0-9_-]{35}")),
    Rule("slack_token", "a Slack token", _pattern(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}")),
    Rule("stripe_key", "a Stripe key", _pattern(r"\b[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    Rule("gitlab_token", "a GitLab token", _pattern(r"\bglpat-[A-Za-z0-9_-]{16,}")),
    Rule("package_token", "a registry's token", _pattern(r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{32,})")),
    Rule(
        "discord_token",
        "a Discord token",
        _pattern(r"\b(?:mfa\.[\w-]{20,}|[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,})"),
    ),
    Rule("webhook_url", "a webhook's address", _pattern(r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[\w-]{20,}")),
    Rule("web_token", "a signed token", _pattern(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
    Rule("address_with_password", "an address with a password", _pattern(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]{3,}@")),
    Rule("bearer_token", "a token", _pattern(r"\b(?:bearer|basic)\s+[A-Za-z0-9._~+/-]{16,}=*", re.IGNORECASE)),
    Rule("password", "a password", _assigned(_SECRETS, r"[^\s\"'“”«»`」]{4,}")),
    Rule("secret", "a secret", _assigned(_KEYS, r"[A-Za-z0-9._~+/=-]{8,}")),
    Rule("card_number", "a payment card number", _card),
    Rule("bank_account", "a bank account number", _iban),
    Rule(
        "us_social_security",
        "a social security number",
        _pattern(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])"),
    ),
    Rule("uk_national_insurance", "a national insurance number",
         _pattern(r"\b(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b")),
    Rule("brazilian_cpf", "an identity number", _cpf),
    Rule("chinese_id", "an identity number", _chinese),
    Rule("korean_id", "an identity number", _korean),
    Rule("japanese_my_number", "an identity number", _my_number),
    Rule("indian_aadhaar", "an identity number", _aadhaar),
    Rule(
        "identity_number",
        "an identity number",
        _named_number(
            r"passport|reisepass|passeport|pasaporte|паспорт|パスポート|旅券|护照|護照|여권|جواز|steuer-?id|tax id|"
            r"personalausweis|ausweisnummer|driver'?s licen[cs]e|social security|national id|\bdni\b|\bnie\b|снилс|инн",
            r"[A-Z]{0,3}[ -]?(?:\d[ -]?){6,14}[A-Z]?",
        ),
    ),
)  # fmt: skip
