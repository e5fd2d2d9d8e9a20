"""The indexes of pandas frames as columns; pandas itself is not imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .._data.columns import Columns
from .._errors import SourceError, show
from .column_names import check_levels, is_compound, joined


def has_index(columns: Any) -> bool:
    """Whether ``columns`` is a frame with an index, as those of pandas."""
    index = getattr(columns, "index", None)
    return (
        not isinstance(columns, type)
        and hasattr(columns, "iloc")
        and callable(getattr(columns, "items", None))
        and getattr(columns, "ndim", 0) == 2
        and hasattr(index, "nlevels")
        and hasattr(index, "get_level_values")
    )


def level_names(columns: Any) -> set[str]:
    """The names of the levels of a frame's index; empty without an index."""
    names = columns.index.names if has_index(columns) else ()
    return {str(name) for name in names if name is not None}


def is_period(kind: Any) -> bool:
    """Whether a dtype is that of pandas' periods."""
    return str(kind).startswith("period[") and hasattr(kind, "freq")


def is_time(level: Any) -> bool:
    """Whether a level of an index has times or periods."""
    return getattr(level.dtype, "kind", "") == "M" or is_period(level.dtype)


def is_position(level: Any) -> bool:
    """Whether a level without a name may be left out: whole numbers, or a level of no rows."""
    return getattr(level.dtype, "kind", "") in "iu" or len(level) == 0


def with_index(
    columns: Any, options: dict[str, Any] | None, dataset: Callable[[], Columns] | None
) -> tuple[Iterator[tuple[Any, Any]], dict[str, Any] | None]:
    """The columns of a frame after those of its index, and the options with its time column.

    Levels with a name are columns. Of those without one, whole numbers are left out, and times have
    the name of the option ``time``; in an append, which has no options, that of the time column of
    ``dataset``.

    Raises:
        SourceError: a level has no name, or that of a column.
    """
    check_levels(columns.columns)
    index = columns.index
    levels = [index.get_level_values(at) for at in range(index.nlevels)]
    given = options or {}
    time = given.get("time")
    if dataset and options is None and any(is_time(one) and one.name is None for one in levels):
        time = dataset().time
    named: dict[str, Any] = {}
    for level in levels:
        if level.name is None and is_position(level):
            continue
        name = time if level.name is None and is_time(level) else level.name
        if name is None:
            raise without_name(columns, levels, level, time, append=options is None)
        if is_compound(name):
            raise SourceError(
                f"index: the name {name!r} of a level is of type {type(name).__name__}, want text",
                field="index",
                hint=f"{renamed(columns, levels, time)} names it by text",
            )
        if str(name) in named:
            raise SourceError(
                f'index: has two levels "{name}", want one',
                field=str(name),
                hint=f"{renamed(columns, levels, time)} names them apart",
            )
        named[str(name)] = level
    for name in map(str, columns.columns):
        if name in named:
            raise SourceError(
                f'index: its level "{name}" has the name of a column',
                field=name,
                hint=f"frame.rename_axis(index={{{name!r}: ...}}) names the level anew, and "
                "frame.reset_index(drop=True) leaves the index out"
                if name in map(str, index.names)
                else "frame.reset_index(drop=True) leaves the index out",
            )
    times = [name for name, level in named.items() if is_time(level)]
    if options is not None and time is None and "time_parts" not in given and len(times) == 1:
        options = {**options, "time": times[0]}
    return chained(named, columns), options


def chained(named: Mapping[str, Any], columns: Any) -> Iterator[tuple[Any, Any]]:
    """The levels, then the columns."""
    yield from named.items()
    yield from columns.items()


def without_name(
    columns: Any, levels: list[Any], level: Any, time: str | None, append: bool
) -> SourceError:
    """The refusal of a level that needs a name."""
    nameless = [one for one in levels if one.name is None and not is_position(one)]
    if is_time(level) and not append and len(nameless) == 1:
        hint = 'time="time" names it, as in cache.put(name, frame, time="time")'
    else:
        hint = (
            f"{renamed(columns, levels, time)} names it, and frame.reset_index(drop=True) leaves "
            f"{'it' if len(levels) == 1 else 'the index'} out"
        )
    what = "times" if is_time(level) else f"{level.dtype}"
    return SourceError(f"index: got {what} without a name, want a name", field="index", hint=hint)


def renamed(columns: Any, levels: list[Any], time: str | None) -> str:
    """The call that names the levels which need a name of their own; ``time`` is that of times."""
    names: list[str | None] = []
    taken = set(map(str, columns.columns))
    for level in levels:
        if level.name is None and is_position(level):
            names.append(None)
            continue
        first = str(time or "time") if is_time(level) else "item"
        if level.name is not None:
            first = joined(level.name)
        name, number = first, 2
        while name in taken:
            name, number = f"{first}_{number}", number + 1
        taken.add(name)
        names.append(name)
    shown = ["None" if name is None else show(name) for name in names]
    return f"frame.rename_axis({shown[0] if len(shown) == 1 else '[' + ', '.join(shown) + ']'})"
