"""The public names and their signatures are those of testdata/public/python.txt."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from collections.abc import Iterator
from types import ModuleType

import tensorcache
from daemon import REPOSITORY

GOLDEN = REPOSITORY / "testdata" / "public" / "python.txt"
UPDATE = "UPDATE_PUBLIC_NAMES"

NOT_CALLED = {"__getattr__", "__reduce__", "__repr__", "__setstate__"}
"""Special methods that no caller depends on. ``__init__`` is listed for errors alone: functions
make the others."""


def parsed(obj: object) -> ast.stmt:
    return ast.parse(textwrap.dedent(inspect.getsource(obj))).body[0]  # type: ignore[arg-type]


def with_options(node: ast.FunctionDef, function: object) -> None:
    """Replace ``**options`` of a decorated function with its keyword parameters."""
    signature = getattr(function, "__signature__", None)
    if signature is None:
        return
    own = {arg.arg for arg in [*node.args.args, *node.args.kwonlyargs]}
    options = [p for p in signature.parameters.values() if p.name not in own]
    line = ", ".join(f"{p.name}: {p.annotation} = {p.default!r}" for p in options)
    listed = ast.parse(f"def f(*, {line}): ...").body[0]
    assert isinstance(listed, ast.FunctionDef)
    node.args.kwonlyargs += listed.args.kwonlyargs
    node.args.kw_defaults += listed.args.kw_defaults
    node.args.kwarg = None
    node.decorator_list = []


def described(kind: str, node: ast.FunctionDef) -> list[str]:
    """Return what follows a function's name in its lines of the file.

    The first line has the signature; each keyword-only argument has a further line.
    """
    args = node.args
    named = [
        f"({a.arg}=): "
        f"{ast.unparse(a.annotation) if a.annotation else ''}{f' = {ast.unparse(d)}' if d else ''}"
        for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    args.kwonlyargs, args.kw_defaults = [], []
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return [f" {kind}({ast.unparse(args)}){returns}", *named]


def is_public(name: str, cls: type) -> bool:
    if name == "__init__":
        return issubclass(cls, BaseException)
    return not name.startswith("_") or (
        name.endswith("__") and name not in NOT_CALLED | {"__slots__"}
    )


def members(cls: type, body: list[ast.stmt]) -> Iterator[tuple[str, list[str]]]:
    """Yield the names that a class defines, with the rest of their lines.

    If entries share a name, the caller uses the first.
    """
    for node in body:
        if isinstance(node, ast.FunctionDef):
            with_options(node, vars(cls)[node.name])
            decorators = [ast.unparse(d) for d in node.decorator_list]
            if "overload" not in decorators:
                yield node.name, described(" ".join([*decorators, "method"]), node)
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target), [f" attribute: {ast.unparse(node.annotation)}"]
        elif isinstance(node, ast.Assign):
            yield from ((ast.unparse(t), [" attribute"]) for t in node.targets)
    for node in ast.walk(ast.Module(body, [])):  # attributes that methods assign
        if isinstance(node, ast.AnnAssign):
            targets, kind = [node.target], f" attribute: {ast.unparse(node.annotation)}"
        elif isinstance(node, ast.Assign):
            targets, kind = node.targets, " attribute"
        else:
            continue
        for n in (n for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])):
            if (
                isinstance(n, ast.Attribute)
                and isinstance(n.value, ast.Name)
                and n.value.id == "self"
            ):
                yield n.attr, [kind]


def of_class(name: str, cls: type) -> Iterator[str]:
    bases = (base.__name__ for base in cls.__bases__ if not base.__name__.startswith("_"))
    yield f"{name} class({', '.join(bases)})"
    seen: set[str] = set()
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] != "tensorcache":
            continue
        node = parsed(base)
        assert isinstance(node, ast.ClassDef)
        for member, suffixes in members(base, node.body):
            if member not in seen and is_public(member, cls):
                seen.add(member)
                yield from (f"{name}.{member}{suffix}" for suffix in suffixes)


def of_module(module: ModuleType) -> Iterator[str]:
    for name in module.__all__:
        obj, full = getattr(module, name), f"{module.__name__}.{name}"
        if inspect.ismodule(obj):
            yield f"{full} module"
            yield from of_module(obj)
        elif inspect.isclass(obj):
            yield from of_class(full, obj)
        elif inspect.isfunction(obj):
            node = parsed(obj)
            assert isinstance(node, ast.FunctionDef)
            with_options(node, obj)
            yield from (full + suffix for suffix in described("function", node))
        else:
            yield f"{full} {type(obj).__name__}"


def test_public_names_are_in_the_golden_list() -> None:
    lines = sorted(of_module(tensorcache))
    if os.environ.get(UPDATE):
        GOLDEN.write_text("\n".join(lines) + "\n")
    golden = GOLDEN.read_text().splitlines()
    removed, added = sorted(set(golden) - set(lines)), sorted(set(lines) - set(golden))
    assert golden == lines, (
        "\n".join(
            [
                f"{GOLDEN} differs from the package:",
                *(f"- {s}" for s in removed),
                *(f"+ {s}" for s in added),
            ]
        )
        + "\nif the change is intended, add a line to CHANGELOG.md and update the file with "
        f"{UPDATE}=1"
    )
