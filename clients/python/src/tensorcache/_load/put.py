"""Sending arrays to the daemon, column by column."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._daemon import frames
from .._data.columns import Columns
from .._errors import SourceError
from . import arrow, frame_index, grids, stored_index, tables
from .by_item import is_by_item, with_items
from .column_names import named_once
from .joined_columns import Parts, Repeated
from .no_columns import is_path
from .sent_columns import Column, column_of
from .steps_of import StoredColumns, with_steps
from .table_columns import columns_in, is_frame


def put(
    path: str,
    name: str,
    columns: Any,
    options: dict[str, Any] | None,
    dataset: Callable[[], Columns] | None = None,
) -> dict[str, Any]:
    """Send arrays, or a table, as a generation of a dataset, and return the daemon's answer.

    Without options they are appended to the rows of ``dataset``.

    Raises:
        SourceError: an array cannot be stored, or the arrays differ in length.
        TensorcacheError: the daemon refuses them.
    """
    dataset = functools.cache(dataset) if dataset else None
    columns = tables.computed(columns)
    streamed = arrow.is_table(columns) and not (is_frame(columns) or grids.is_grid(columns))
    reader = arrow.reader_of(columns) if streamed else None
    append = options is None
    named: Any = ()
    levels: set[str] = set()
    if is_by_item(columns):
        named, options, levels = with_items(columns, options, dataset)
    elif frame_index.has_index(columns):
        named, options = frame_index.with_index(columns, options, dataset)
        levels = frame_index.level_names(columns)
    elif grids.is_grid(columns):
        named, options = grids.with_dimensions(columns, options, dataset)
    elif is_frame(columns):
        named, levels = stored_index.columns_and_levels(columns, options, dataset)
    elif reader is None:
        named = columns_in(columns)
    ready = [] if reader is not None else columns_of(named)
    ready = [replace(column, named_only=column.name in levels) for column in ready]
    stored = StoredColumns(path)
    ready = with_steps(ready, stored, append)
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
            arrow.send(sock, reader, stored)
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
    named = named_once(columns)
    ready = [column_of(name, value) for name, value in named.items()]
    if not ready:
        raise SourceError("columns: got none, want at least one", field="columns")
    for column in ready:
        if column.shape[0] != ready[0].shape[0]:
            raise SourceError(
                f'column "{column.name}" and "{ready[0].name}" differ in rows: '
                f"{column.shape[0]:,} and {ready[0].shape[0]:,}",
                field=column.name,
                hint=f"give one value, or one row of values, for each row{or_items(named)}",
            )
    return ready


def or_items(columns: Mapping[str, Any]) -> str:
    """What to do with arrays that differ in length because each is an item; empty for frames."""
    if any(isinstance(values, (Parts, Repeated)) for values in columns.values()):
        return ""
    series = all(callable(getattr(values, "to_frame", None)) for values in columns.values())
    table = 'values.to_frame(name="value")' if series else '{"value": values}'
    return f"; or, if each is an item, put {{name: {table} for name, values in columns.items()}}"


def is_columns(given: Any) -> bool:
    """Whether :func:`put` takes ``given``, which may also be the paths of files."""
    if tables.is_computed(given) or grids.is_grid(given) or is_by_item(given):
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
