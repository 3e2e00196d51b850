"""Every button, menu and form in the code, also those that come second: it fits Discord's limits, and has a handler.

Source of the limits: https://discord.com/developers/docs/components/reference. The code is read, so that what no other
test happens to bring before anybody is held to them too.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, get_args

from bot.guild_settings import GuildSettings
from bot.settings_card.forms import TITLES, Form, fields

ID_MOST, BUTTON_MOST, LABEL_MOST, TITLE_MOST, HINT_MOST, ABOUT_MOST = 100, 80, 45, 45, 150, 100
FILLED: Final = 20
"""As many characters as an id of Discord's may have; what is filled into an id is no longer."""

_BUILDERS: Final = frozenset({"button", "menu", "choose_places", "choose_roles"})
_PASSED_ON: Final = frozenset({"press.custom_id", "submission.custom_id"})
_GIVEN: Final = {"prefix": "card"}
"""What is handed in as a word: cards of every office have the same prefix."""


@dataclass(slots=True)
class Module:
    """A module, with the words that it names, and what it takes from others."""

    path: Path
    tree: ast.Module
    words: dict[str, str] = field(default_factory=dict[str, str])
    taken: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])


def _modules() -> dict[str, Module]:
    found: dict[str, Module] = {}
    for path in sorted(Path("bot").rglob("*.py")):
        made = Module(path, ast.parse(path.read_text(encoding="utf-8")))
        for node in made.tree.body:
            match node:
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text))):
                    made.words[name] = text
                case ast.ImportFrom(module=str(source)):
                    made.taken |= {(each.asname or each.name): (source, each.name) for each in node.names}
                case _:
                    pass
        found[".".join(path.with_suffix("").parts).removesuffix(".__init__")] = made
    return found


MODULES: Final = _modules()


def _named(module: Module, name: str) -> str | None:
    """The word that a name stands for in a module."""
    if name in module.words:
        return module.words[name]
    source, original = module.taken.get(name, ("", ""))
    return _named(MODULES[source], original) if source in MODULES else _GIVEN.get(name)


def _parts(module: Module, around: ast.AST, node: ast.expr) -> list[str | None] | None:
    """An expression as its words, None for what is filled in; None where it is not made of words."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            inner = [_parts(module, around, value) for value in values]
            return [part for each in inner for part in (each or [None])]
        case ast.FormattedValue(value=ast.Name(id=name)):
            return [_named(module, name)]
        case ast.FormattedValue():
            return [None]
        case ast.Name(id=name) if (word := _named(module, name)) is not None:
            return [word]
        case ast.Name(id=name):
            return next((_parts(module, around, value) for value in _assigned(around, name)), None)
        case ast.IfExp(body=body, orelse=other):
            either = [_parts(module, around, body), _parts(module, around, other)]
            return max((each for each in either if each is not None), key=_length, default=None)
        case ast.Call(func=ast.Name(id=name), args=args):
            source, original = module.taken.get(name, ("", name))
            there = MODULES.get(source, module)
            for made in ast.walk(there.tree):
                if isinstance(made, ast.FunctionDef) and made.name == original:
                    result = next(each.value for each in ast.walk(made) if isinstance(each, ast.Return))
                    first = _parts(module, around, args[0]) if args else None
                    found = _parts(there, made, result) if result is not None else None
                    # The first argument is the prefix, where the function is handed one.
                    return [*first, *found[1:]] if found and first and found[0] is None else found
            return None
        case _:
            return None


def _assigned(around: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(around):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                yield value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                yield from (v for n, v in zip(names, values, strict=True) if isinstance(n, ast.Name) and n.id == name)
            case _:
                pass


def _length(parts: list[str | None]) -> int:
    return sum(FILLED if part is None else len(part) for part in parts)


def _functions(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.Call]]:
    """Each call, with the outermost function around it."""
    for outer in ast.walk(tree):
        if isinstance(outer, ast.ClassDef | ast.Module):
            for node in outer.body:
                if not isinstance(node, ast.ClassDef):
                    yield from ((node, call) for call in ast.walk(node) if isinstance(call, ast.Call))


def _calls(*names: str) -> Iterator[tuple[Module, ast.AST, ast.Call, str]]:
    for module in MODULES.values():
        if module.path.name != "bodies.py":
            for around, call in _functions(module.tree):
                match call.func:
                    case ast.Name(id=name) | ast.Attribute(attr=name) if name in names:
                        yield module, around, call, name
                    case _:
                        pass


def _argument(call: ast.Call, at: int, name: str) -> ast.expr | None:
    named = next((each.value for each in call.keywords if each.arg == name), None)
    return named if named is not None or len(call.args) <= at else call.args[at]


def _registered(name: str) -> frozenset[str]:
    found = {
        _named(module, each.id) for module, _, call, _ in _calls(name) if isinstance(each := call.args[0], ast.Name)
    }
    return frozenset(each for each in found if each is not None)


def _fits(where: str, parts: list[str | None] | None, most: int) -> list[str]:
    if parts is None:
        return []
    literal = sum(len(part) for part in parts if part is not None)
    return [f"{where}: {parts}"] if literal > most or (parts == [""]) else []


def test_every_component_has_an_id_that_fits_and_a_handler() -> None:
    """The id of each button and menu, with the longest that is filled in, and its handler for presses; of each form,
    its handler for what is sent."""
    presses, forms = _registered("on_press"), _registered("on_submit")
    assert len(presses) >= 10
    assert len(forms) >= 6
    wrong: list[str] = []
    seen = 0
    for module, around, call, name in _calls(*_BUILDERS, "ask"):
        given = _argument(call, 1 if name == "button" else 0, "custom_id")
        if given is None or (name == "ask" and ast.unparse(call.func) != "reply.ask"):
            continue
        where = f"{module.path}:{call.lineno}"
        seen += 1
        parts = None if ast.unparse(given) in _PASSED_ON else _parts(module, around, given)
        if parts is None:
            # A form may go by the id of the button that asked for it.
            if name != "ask" or ast.unparse(given) not in _PASSED_ON:
                wrong.append(f"{where}: {ast.unparse(given)} is not known")
            continue
        prefix = (parts[0] or "").split(":")[0]
        if prefix not in (forms if name == "ask" else presses):
            wrong.append(f"{where}: nobody handles {prefix!r}")
        if _length(parts) > ID_MOST:
            wrong.append(f"{where}: {parts} is too long")
    assert wrong == []
    assert seen >= 30


def test_every_label_fits() -> None:
    """What stands on a button, over a question and a form, and as a hint: there, and not longer than Discord shows."""
    wrong: list[str] = []
    for module, around, call, name in _calls(*_BUILDERS, "ask", "Field"):
        texts: list[tuple[int, str, int]] = []
        match name:
            case "button":
                texts = [(0, "label", BUTTON_MOST)]
            case "Field":
                texts = [(1, "label", LABEL_MOST), (3, "about", ABOUT_MOST)]
            case "ask" if ast.unparse(call.func) == "reply.ask":
                texts = [(1, "title", TITLE_MOST)]
            case _:
                texts = [(9, "hint", HINT_MOST)]
        for at, keyword, most in texts:
            given = _argument(call, at, keyword)
            if given is not None and not (keyword == "about" and ast.unparse(given) == "''"):
                wrong += _fits(f"{module.path}:{call.lineno}", _parts(module, around, given), most)
    # Those that are made of tables.
    for form in get_args(Form):
        asked = fields(form, GuildSettings(), ["one", "another"])
        wrong += [title for title in (TITLES[form],) if not 0 < len(title) <= TITLE_MOST]
        wrong += [each.label for each in asked if not 0 < len(each.label) <= LABEL_MOST or len(each.about) > ABOUT_MOST]
        wrong += [form] if len(asked) > 5 else []
    assert wrong == []
