"""Declared commands: what Discord is told of them fits its rules, and what comes is read in its type, strictly."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.catalogue import COMMANDS
from bot.command_reference import PAGE, reference
from bot.commands.declaration import Family, Menu, Slash, bodies
from bot.commands.options import Option, flag, given, number, person, text, whole
from bot.commands.words import LOCALES
from bot.errors import CommandRefused
from bot.interactions import Command, Submission, Typing
from bot.interactions.payloads import read_interaction
from bot.pages import pages_of
from sandbox.discord.rest.command_forms import read_command
from sandbox.discord.rest.forms import Form

KEY = text("key", "A key.", most=5)
MANY = whole("many", "How many.", required=True, least=1, most=9)


def test_discord_takes_every_command() -> None:
    """Names, lengths, order and nesting are what Discord allows (the loopback's own reader, which raises)."""
    for body in bodies(COMMANDS):
        form = Form(body)
        read_command(form, None)
        form.done()


def test_the_page_about_commands_names_them_all() -> None:
    """docs/reference/commands.md comes from the declarations: `make docs` writes it."""
    written = reference()
    assert [each.path for each in COMMANDS if each.shown not in written and f"| {each.path} |" not in written] == []
    assert (Path(__file__).parents[2] / PAGE).exists()


def test_families_and_groups_become_one_command() -> None:
    """Subcommands share their first word, and what is required stands first whatever the order of declaration."""
    family = Family("role", "Roles.", where="guilds")
    made = bodies(
        [
            Slash("add", "Add one.", (KEY, MANY), family),
            Slash("all", "Add all.", family=family, group="mass"),
            Menu("Do it", "Does it.", on="message"),
        ]
    )
    assert [body["name"] for body in made] == ["Do it", "role"]
    role = made[1]
    assert role["contexts"] == [0]
    assert [(each["type"], each["name"]) for each in role["options"]] == [(1, "add"), (2, "mass")]
    assert [each["name"] for each in role["options"][0]["options"]] == ["many", "key"]


def shown(body: Mapping[str, Any], *, top: bool = True) -> Iterator[tuple[str, Mapping[str, str], int]]:
    """All that Discord shows of a command: the English words, those in other languages, and how long they may be."""
    if top and body["type"] in (2, 3):
        yield body["name"], body.get("name_localizations", {}), 32
    else:
        yield body["description"], body.get("description_localizations", {}), 100
    for choice in body.get("choices", ()):
        yield choice["name"], choice.get("name_localizations", {}), 100
    for option in body.get("options", ()):
        yield from shown(option, top=False)


def test_all_that_is_shown_has_its_words_in_each_language() -> None:
    """Every command, group, option and choice, from one table a language, which holds nothing else: a translation whose
    English was reworded would silently not show."""
    told = [each for body in bodies(COMMANDS) for each in shown(body)]
    for locale, words in LOCALES.items():
        assert [english for english, others, _ in told if locale not in others] == []
        assert set(words) - {english for english, _, _ in told} == set()
        assert [said for _, others, most in told if not 0 < len(said := others[locale]) <= most] == []


def test_names_are_lower_case() -> None:
    """What is typed is typed small: commands, subcommands and options."""
    names = [each.path for each in COMMANDS if isinstance(each, Slash)]
    names += [option.name for each in COMMANDS if isinstance(each, Slash) for option in each.options]
    assert [name for name in names if name != name.lower()] == []


@pytest.mark.parametrize(
    ("option", "raw"),
    [
        (KEY, 5),
        (KEY, ""),
        (KEY, "sixsix"),
        (text("one", "One.", choices=("a", "b")), "c"),
        (MANY, True),
        (MANY, 0),
        (MANY, 2.5),
        (MANY, None),
        (number("share", "Share.", least=0, most=1), math.nan),
        (number("share", "Share.", least=0, most=1), 1.01),
        (flag("sure", "Sure."), "yes"),
        (person("who", "Who."), "someone"),
        (person("who", "Who."), -1),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(option: Option[Any], raw: object) -> None:
    """Discord's clients hold the bounds; whoever gets past them is told, and nothing is done."""
    with pytest.raises(CommandRefused, match="nothing was done"):
        option.value(raw)


def _payload(kind: int, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "5",
        "type": kind,
        "token": "t",
        "channel_id": "7",
        "guild_id": "6",
        "locale": "de",
        "member": {"user": {"id": "8", "username": "ada"}, "nick": "Ada"},
        "data": data,
    }


def test_subcommands_and_options_are_read() -> None:
    """The name is all its words; options come in their type; the names of whom they mention come along."""
    inner = [{"type": 4, "name": "many", "value": 3}, {"type": 6, "name": "who", "value": "9"}]
    options = [{"type": 2, "name": "mass", "options": [{"type": 1, "name": "all", "options": inner}]}]
    resolved = {"users": {"9": {"id": "9", "username": "bob"}}, "members": {"9": {"nick": "Bobby"}}}
    read = read_interaction(_payload(2, {"name": "role", "options": options, "resolved": resolved}))
    assert isinstance(read, Command)
    assert (read.name, read.user_name, read.locale, read.is_direct) == ("role mass all", "Ada", "de", False)
    assert (read.need(MANY), read.get(KEY), read.names) == (3, None, {9: "Bobby"})


def test_typing_names_the_option_with_the_cursor() -> None:
    """What stands in it so far, and in the others."""
    inner = [
        {"type": 3, "name": "key", "value": "pre", "focused": True},
        {"type": 4, "name": "many", "value": 2},
    ]
    options = [{"type": 1, "name": "add", "options": inner}]
    read = read_interaction(_payload(4, {"name": "role", "options": options}))
    assert isinstance(read, Typing)
    assert (read.name, read.focused, read.text, read.options["many"]) == ("role add", "key", "pre", 2)
    assert given(None) == ((), {}, None)


def test_forms_are_read_in_rows_and_under_labels() -> None:
    """Both ways in which Discord lays out a form."""
    components = [
        {"type": 1, "components": [{"type": 4, "custom_id": "a", "value": "x"}]},
        {"type": 18, "component": {"type": 3, "custom_id": "b", "values": ["y", "z"]}},
        {"type": 18, "component": {"type": 4, "custom_id": "c", "value": ""}},
    ]
    read = read_interaction(_payload(5, {"custom_id": "f:1", "components": components}))
    assert isinstance(read, Submission)
    assert (read.written("a"), read.fields["b"], read.written("c"), read.written("d")) == ("x", ("y", "z"), "", "")


def test_pages_are_counted() -> None:
    """An empty list has one page, which says that it is empty."""
    assert [pages_of(n, 10) for n in (0, 1, 10, 11, 300)] == [1, 1, 1, 2, 30]
