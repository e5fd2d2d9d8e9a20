"""Names of columns, from the keys of a mapping or a frame."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from .._errors import SourceError, show
from .object_kinds import is_missing


def name_of(key: Any, position: int) -> str:
    """The name of a column, ``column_1`` and so on without one; ``position`` counts from 0."""
    name = "" if is_missing(key) else str(key)
    if not name:
        return f"column_{position + 1}"
    if is_compound(key):
        raise SourceError(
            f"columns: the name {key!r} of column {position + 1} is of type {type(key).__name__}, "
            "want text",
            field="columns",
            hint=f"name it by text, such as {show(joined(key))}",
        )
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise SourceError(
            f"columns: the name {name!a} of column {position + 1} is not Unicode: it holds half "
            "of a surrogate pair",
            field="columns",
            hint="name the column anew",
        ) from error
    return name


def named_once(columns: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """The values of columns by name.

    Raises:
        SourceError: a key is no name, or two are the same.
    """
    named: dict[str, Any] = {}
    keys: dict[str, Any] = {}
    for position, (key, value) in enumerate(columns):
        name = name_of(key, position)
        if name in named:
            raise SourceError(
                f'columns: {keys[name]!r} and {key!r} are both "{name}", want one column a name',
                field=name,
                hint="name one of them anew",
            )
        named[name], keys[name] = value, key
    return named


def is_compound(key: Any) -> bool:
    """Whether a name is bytes or has several parts, so that ``str`` makes no name of it."""
    return isinstance(key, Collection) and not isinstance(key, str)


def joined(key: Any) -> str:
    """A name as text: decoded bytes, or the parts with underscores between them."""
    if isinstance(key, (bytes, bytearray)):
        return key.decode(errors="replace")
    return "_".join(map(str, key)) if is_compound(key) else str(key)


def check_levels(names: Any) -> None:
    """Check that the names of a frame's columns have one level."""
    levels = getattr(names, "nlevels", 1)
    if levels > 1 and len(names):
        raise SourceError(
            f"columns: the name {names[0]!r} of column 1 has {levels} levels, want text",
            field="columns",
            hint='frame.columns = ["_".join(map(str, c)) for c in frame.columns] joins them',
        )
