"""What no memory may hold, and what must not be taken for it (I13)."""

import pytest

from memory.credentials import RULES, caught_by, luhn

SECRETS = [
    ("private_key", "-----BEGIN OPENSSH PRIVATE KEY-----"),
    ("openai_key", "use sk-" + "proj-abcdefghij0123456789"),
    ("github_token", "ghp_" + "a1B2" * 9),
    ("aws_key", "AKIA" + "ABCDEFGHIJ234567"),
    ("google_key", "AIza" + "Sy" * 17 + "x"),
    ("slack_token", "xoxb-" + "123456789012-abcdef"),
    ("stripe_key", "sk_live_" + "4eC39HqLyjWDarjtT1"),
    ("gitlab_token", "glpat-" + "x" * 20),
    ("package_token", "npm_" + "a" * 36),
    ("discord_token", "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs"),
    ("webhook_url", "https://discord.com/api/webhooks/123456789012345678/" + "a" * 40),
    ("web_token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef"),
    ("address_with_password", "postgres://ada:s3cret@db/atlas"),
    ("bearer_token", "Authorization: Basic " + "dXNlcjpwYXNzd29yZA=="),
    ("password", "my password is hunter2!"),
    ("password", "Mein Passwort lautet Ge.heim1"),
    ("password", "パスワードは abc123! です"),
    ("password", "пароль: q1w2e3"),
    ("password", "密码是 A1b2c3d4"),
    ("password", "비밀번호는 test1234"),
    ("password", "كلمة السر هي abc123"),
    ("secret", "api_key = 0a1b2c3d4e5f"),
    ("card_number", "4111 1111 1111 1111"),
    ("card_number", "5500-0000-0000-0004"),
    ("card_number", "card 378282246310005."),
    ("bank_account", "DE89 3704 0044 0532 0130 00"),
    ("us_social_security", "SSN 123-45-6789"),
    ("uk_national_insurance", "AB 12 34 56 C"),
    ("brazilian_cpf", "123.456.789-09"),
    ("chinese_id", "11010519491231002X"),
    ("korean_id", "900101-1234567"),
    ("japanese_my_number", "マイナンバー 123456789018"),
    ("indian_aadhaar", "2341 2341 2346"),
    ("identity_number", "Passport no. C01X00T47 1234567"),
    ("identity_number", "паспорт 4510 123456"),
]
HARMLESS = [
    "Ada's password manager is KeePass.",
    "I forgot my password again",
    "my password is weak",
    "The pin code is secret",
    "<@123456789012345678> likes tea",
    "message 1157603049283584000 in #general",
    "https://discord.com/channels/1157603049283584000/1157603049283584001",
    "Released on 2026-05-01 at 12:30, build 20260501.1234",
    "Call 555 0199 at 4 pm",
    "4111 1111 1111 1112 fails the check",
    "The database of atlas is PostgreSQL 18.",
    "Ihre Reisepass-Erneuerung ist 2027.",
    "Das Token-Budget ist 8000.",
    "ISBN 978-3-16-148410-0",
    "пароль сменили вчера",
    "10.0.0.1:8080",
]


@pytest.mark.parametrize(("rule", "text"), SECRETS)
def test_each_is_caught_by_the_rule_of_its_name(rule: str, text: str) -> None:
    """Alone, and in the middle of a sentence."""
    for given in (text, f"remember: {text} ok"):
        found = caught_by(given)
        assert found is not None, given
        assert found.name == rule


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_a_little_like_it_passes(text: str) -> None:
    """Ids of Discord, dates, and talk about passwords."""
    found = caught_by(text)
    assert found is None, found and found.name


def test_every_rule_is_tried() -> None:
    """A rule without an example above could be broken unseen."""
    assert {rule for rule, _ in SECRETS} == {rule.name for rule in RULES}


def test_luhn_refuses_each_changed_digit() -> None:
    """ISO/IEC 7812: any single wrong digit is found."""
    number = "4111111111111111"
    assert luhn(number)
    for at, digit in enumerate(number):
        assert not luhn(number[:at] + str((int(digit) + 1) % 10) + number[at + 1 :])
