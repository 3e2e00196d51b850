"""I6: a memory statement without its scope raises before it runs."""

import pytest

from memory import arms, around, assembly, candidates, context, episode_recall, former, hops, inventory, recall, search
from memory.errors import ScopeMissing
from memory.ids import PlaceId, SpaceId
from memory.scope import Scope, fetch_scoped

SCOPE = Scope(SpaceId(1), PlaceId(2))
STATEMENTS = {
    f"{module.__name__}.{name}": value
    for module in (arms, around, assembly, candidates, context, episode_recall, former, hops, inventory, recall, search)
    for name, value in vars(module).items()
    if name.endswith("_SQL") and name not in ("ITERATE_SQL", "NOTE_RECALL_SQL")  # reads no memory
}


class _Untouched:
    """A database that nothing may reach."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError("a statement without its scope was run")


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize("mark", ["space_id = $1", "place_id = $2"])
async def test_each_statement_is_refused_without_either_half_of_its_scope(name: str, mark: str) -> None:
    """Each real statement, with one comparison taken out."""
    statement = STATEMENTS[name]
    assert mark in statement
    with pytest.raises(ScopeMissing) as caught:
        await fetch_scoped(_Untouched(), statement.replace(mark, "true"), SCOPE)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert mark in caught.value.missing
