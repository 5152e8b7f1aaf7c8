"""The code is built like the house of docs/design.md: read the table, parse the imports."""

import ast
import re
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "cuecard"
VAGUE_NAMES = {"utils", "helpers", "base", "core", "manager"}

Floors = dict[str, int]


class Import(NamedTuple):
    """An import statement: the file and line that hold it, and the module that it names."""

    room: str
    place: str
    target: str

    @property
    def target_room(self) -> str | None:
        """The room that is imported, `""` for the package itself, None for other packages."""
        package, _, inside = self.target.partition(".")
        return inside.partition(".")[0] if package == "cuecard" else None


def read_floors(design: str) -> Floors:
    """Floor by room, from the rows of the section "The house"."""
    house = re.split(r"^#+ .*The house\s*$", design, maxsplit=1, flags=re.MULTILINE)[1]
    section = re.split(r"^#+ ", house, maxsplit=1, flags=re.MULTILINE)[0]
    return {
        room.rstrip("/"): int(floor)
        for floor, cell in re.findall(r"^\| (\d+) \| (.*) \|\s*$", section, re.MULTILINE)
        for room in re.findall(r"`([^`]+)`", re.sub(r"\([^()]*\)", "", cell))
    }


def read_layers(pyproject: str) -> list[set[str]]:
    """The rooms of the layers contract of import-linter, lowest floor first."""
    contracts = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [set(re.findall(r"\w+", layer)) for layer in reversed(layers)]


def modules(package: Path = PACKAGE) -> list[Path]:
    return sorted(package.rglob("*.py"))


def room_of(module: Path, package: Path) -> str:
    """The room that a file belongs to, `""` for the package's own `__init__` and `__main__`."""
    room = module.relative_to(package).parts[0].removesuffix(".py")
    return "" if room in {"__init__", "__main__"} else room


def imports(package: Path = PACKAGE) -> list[Import]:
    """Every import in the package, inside functions too."""
    return [
        Import(room_of(module, package), f"{module.relative_to(package)}:{node.lineno}", target)
        for module in modules(package)
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for target in targets(node, ("cuecard", *module.parent.relative_to(package).parts), package)
    ]


def targets(
    node: ast.Import | ast.ImportFrom, parents: tuple[str, ...], package: Path
) -> Iterator[str]:
    """The modules that a statement in the package `parents` imports, by their absolute names.

    `from cuecard import x` names the room cuecard.x if there is one, else the package itself,
    unless it only asks for the version.
    """
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    above = parents[: len(parents) + 1 - node.level] if node.level else ()
    origin = ".".join([*above, *filter(None, [node.module])])
    for name in [alias.name for alias in node.names if alias.name != "__version__"]:
        is_room = (package / name).is_dir() or (package / f"{name}.py").is_file()
        yield f"cuecard.{name}" if origin == "cuecard" and is_room else origin


def upward(found: list[Import], floors: Floors) -> list[str]:
    """Imports between rooms that go up a floor."""
    return [
        f"{place}: {room} (floor {floors[room]}) imports {target} (floor {floors[target]})"
        for room, target, place in room_edges(found)
        if room in floors and target in floors and floors[target] > floors[room]
    ]


def cycle(found: list[Import], floors: Floors) -> list[str]:
    """A cycle of imports between the rooms of one floor, as the rooms on it."""
    neighbours: dict[str, set[str]] = {}
    for room, target, _ in room_edges(found):
        if room in floors and floors[room] == floors.get(target):
            neighbours.setdefault(room, set()).add(target)
    try:
        TopologicalSorter(neighbours).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def room_edges(found: list[Import]) -> Iterator[tuple[str, str, str]]:
    """Imports from a room of another room: the two, and the place."""
    for statement in found:
        target = statement.target_room
        if statement.room and target and target != statement.room:
            yield statement.room, target, statement.place


@pytest.fixture(scope="module")
def floors() -> Floors:
    return read_floors((ROOT / "docs" / "design.md").read_text(encoding="utf-8"))


def test_table_is_read() -> None:
    """Text in parentheses names no room, a package may end in a slash, other rows are not read."""
    design = """
## 7. The house

| floor | rooms in `src/cuecard/` |
|---|---|
| 0 | `source` (text, `Span`) |
| 1 | `engine` (the only importer of `minijinja`), `stores/` |

### Habits

| 2 | `elsewhere` |
"""
    assert read_floors(design) == {"source": 0, "engine": 1, "stores": 1}


def test_broken_rules_are_seen(tmp_path: Path) -> None:
    """However it is written, an import upward and a cycle are found, at their place."""
    (tmp_path / "stores").mkdir()
    (tmp_path / "stores" / "files.py").write_text("def f():\n    from ..cli import main\n")
    (tmp_path / "source.py").write_text("from cuecard import cli\n")
    (tmp_path / "cli.py").write_text("import cuecard.source\nfrom .server.app import run\n")
    (tmp_path / "server.py").write_text("from cuecard.cli import main\n")
    floors = {"source": 0, "stores": 1, "cli": 2, "server": 2}
    found = imports(tmp_path)
    assert upward(found, floors) == [
        "source.py:1: source (floor 0) imports cli (floor 2)",
        "stores/files.py:2: stores (floor 1) imports cli (floor 2)",
    ]
    assert set(cycle(found, floors)) == {"cli", "server"}


def test_every_module_has_a_room(floors: Floors) -> None:
    """Each module or package of src/cuecard is a room of the table."""
    rooms = {room_of(module, PACKAGE) for module in modules()} - {""}
    assert rooms, "no module found"
    assert sorted(rooms - floors.keys()) == []


def test_imports_run_downward(floors: Floors) -> None:
    """A room imports rooms of its own floor and of lower ones, inside functions too."""
    assert upward(imports(), floors) == []


def test_no_cycle_within_a_floor(floors: Floors) -> None:
    """Rooms of one floor may import each other, but never in a circle."""
    assert cycle(imports(), floors) == []


def test_rooms_do_not_import_the_package() -> None:
    """A room imports other rooms, never the front door, which imports them all."""
    found = [(statement.place, statement.target_room) for statement in imports() if statement.room]
    assert [place for place, target in found if target == ""] == []


def test_only_the_engine_imports_minijinja() -> None:
    """The template engine is known in one room, so that it can be changed in one room."""
    importers = {
        statement.room
        for statement in imports()
        if statement.target.partition(".")[0] == "minijinja"
    }
    assert importers <= {"engine"}


def test_contract_and_table_agree(floors: Floors) -> None:
    """The layers that import-linter checks are the floors of the table."""
    layers = read_layers((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert layers == [
        {room for room, number in floors.items() if number == floor} for floor in range(len(layers))
    ]
    assert set(floors.values()) == set(range(len(layers)))


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
class TestEachModule:
    def test_has_a_telling_name(self, module: Path) -> None:
        """A name says what is inside; `utils` and its like say nothing."""
        assert not VAGUE_NAMES.intersection(module.relative_to(PACKAGE).with_suffix("").parts)

    def test_has_a_docstring(self, module: Path) -> None:
        """Each module says in its docstring what it is for."""
        assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
