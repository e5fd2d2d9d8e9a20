"""The package has no import cycle: neither at run time, nor in functions, nor for annotations."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tensorcache

Graph = dict[str, set[str]]

PACKAGE = Path(tensorcache.__file__).parent


def modules_of(package: Path) -> dict[str, Path]:
    """The files of a package by the dotted names of their modules."""
    names = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imported(tree: ast.Module, name: str, is_package: bool) -> Iterator[str]:
    """The dotted names that a module imports anywhere; each is a module or a name in a module."""
    parts = name.split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = len(parts) - node.level + is_package
            base = [*parts[:above], node.module] if node.level else [node.module]
            source = ".".join(part for part in base if part)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def graph_of(package: Path) -> Graph:
    """The modules of a package that each of its modules imports.

    ``from . import b`` imports the module b, and the package itself only if it has no module b.
    """
    modules = modules_of(package)
    graph: Graph = {}
    for name, path in modules.items():
        found = set(imported(ast.parse(path.read_text()), name, path.name == "__init__.py"))
        found = {n for n in found if not any(other.startswith(f"{n}.") for other in found)}
        known = {n if n in modules else n.rpartition(".")[0] for n in found}
        graph[name] = (known & set(modules)) - {name}
    return graph


def circle_in(graph: Graph) -> list[str]:
    """The modules of an import cycle, with the first repeated at the end; empty if none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle[::-1]
    return []


def test_no_module_imports_itself_through_others() -> None:
    circle = circle_in(graph_of(PACKAGE))
    assert not circle, f"modules import each other: {' -> '.join(circle)}"


@pytest.mark.parametrize(
    "back",
    [
        "from ..a import A",
        "from .. import a",
        "import p.a",
        "from p.a import A",
        "if TYPE_CHECKING:\n    from ..a import A",
        "def f():\n    from ..a import A",
    ],
)
def test_a_circle_is_found_however_it_is_closed(tmp_path: Path, back: str) -> None:
    package = tmp_path / "p"
    (package / "sub").mkdir(parents=True)
    sources = {"__init__": "", "a": "from .sub.b import B", "sub/__init__": "", "sub/b": back}
    for name, text in sources.items():
        (package / f"{name}.py").write_text(text)
    assert set(circle_in(graph_of(package))) == {"p.a", "p.sub.b"}
    (package / "sub" / "b.py").write_text("")
    assert circle_in(graph_of(package)) == []
