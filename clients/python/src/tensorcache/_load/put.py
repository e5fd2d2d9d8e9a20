"""Sending arrays to the daemon, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._daemon import frames
from .._data.columns import Columns
from .._errors import SourceError
from . import arrow, frame_index, grids, tables
from .column_names import name_of
from .no_columns import is_path, no_columns
from .sent_columns import Column, column_of


def put(
    path: str,
    name: str,
    columns: Any,
    options: dict[str, Any] | None,
    dataset: Callable[[], Columns] | None = None,
) -> dict[str, Any]:
    """Send arrays, or a table, as a dataset's next generation, and return the daemon's answer.

    Without options they are appended to the rows of ``dataset``.

    Raises:
        SourceError: an array cannot be stored, or the arrays differ in length.
        TensorcacheError: the daemon refuses them.
    """
    columns = tables.computed(columns)
    streamed = arrow.is_table(columns) and not (is_frame(columns) or grids.is_grid(columns))
    reader = arrow.reader_of(columns) if streamed else None
    append = options is None
    named: Any = ()
    if frame_index.has_index(columns):
        named, options = frame_index.with_index(columns, options, dataset)
    elif grids.is_grid(columns):
        named, options = grids.with_dimensions(columns, options, dataset)
    elif reader is None:
        named = columns_in(columns)
    ready = [] if reader is not None else columns_of(named)
    levels = frame_index.level_names(columns)
    ready = [replace(column, named_only=column.name in levels) for column in ready]
    body = {
        "request": "put",
        "dataset": name,
        **({"append": True} if append else {"options": options}),
        **(
            {"format": "arrow"}
            if reader
            else {"format": "columns", "columns": [column.description() for column in ready]}
        ),
    }
    sock = frames.dial(path)
    try:
        frames.request(sock, body)
        if reader is not None:
            arrow.send(sock, reader)
        for column in ready:
            for piece in column.pieces:
                frames.send(sock, piece)
        reply, fds = frames.receive_reply(sock)
        frames.close_all(fds)
    finally:
        sock.close()
    return reply


def columns_of(columns: Iterable[tuple[Any, Any]]) -> list[Column]:
    """The columns of names and values, all of one length."""
    ready: list[Column] = []
    names: dict[str, Any] = {}
    for position, (key, value) in enumerate(columns):
        name = name_of(key, position)
        if name in names:
            raise SourceError(
                f'columns: {names[name]!r} and {key!r} are both "{name}", want one column a name',
                field=name,
                hint="name one of them anew",
            )
        names[name] = key
        ready.append(column_of(name, value))
    if not ready:
        raise SourceError("columns: got none, want at least one", field="columns")
    for column in ready:
        if column.shape[0] != ready[0].shape[0]:
            raise SourceError(
                f'column "{column.name}" and "{ready[0].name}" differ in rows: '
                f"{column.shape[0]:,} and {ready[0].shape[0]:,}",
                field=column.name,
                hint="give one value, or one row of values, for each row",
            )
    return ready


def is_columns(given: Any) -> bool:
    """Whether :func:`put` takes ``given``, which may also be the paths of files."""
    if tables.is_computed(given) or grids.is_grid(given):
        return True
    if getattr(given, "ndim", 2) == 1 and is_path(next(iter(given), None)):
        return False
    return not isinstance(given, type) and (
        isinstance(given, Mapping)
        or hasattr(given, "columns")
        or hasattr(given, "keys")
        or isinstance(given, np.ndarray)
        or arrow.is_table(given)
    )


def is_frame(columns: Any) -> bool:
    """Whether ``columns`` is a Polars frame."""
    return hasattr(columns, "get_column")


def columns_in(columns: Any) -> Iterator[tuple[Any, Any]]:
    """Names and values of a mapping, a dataset, a data frame, or an array of records."""
    series = getattr(columns, "ndim", 2) == 1 or isinstance(columns, type)
    mapping = callable(getattr(columns, "items", None)) and not isinstance(columns, Columns)
    if mapping and not series:  # pandas too
        yield from columns.items()
    elif callable(getattr(columns, "keys", None)) and not series:  # a dataset, whose items differ
        for name in columns.keys():  # noqa: SIM118 - it need not be a mapping
            yield name, columns[name]
    elif is_frame(columns):
        for name in columns.columns:
            yield name, columns.get_column(name)
    elif has_fields(columns):
        for name in columns.dtype.names:
            yield name, columns[name]
    else:
        raise no_columns(columns)


def has_fields(columns: Any) -> bool:
    """Whether ``columns`` is a structured array, one record a row."""
    return isinstance(columns, np.ndarray) and bool(columns.dtype.names) and columns.ndim == 1
