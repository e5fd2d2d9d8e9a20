"""The refusal of what has no columns, with the call that puts it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from typing import Any

import numpy as np

from .._errors import SourceError, show
from .._remote.urls import named


def is_path(value: Any) -> bool:
    """Whether a value may be the path of a file."""
    return isinstance(value, (str, os.PathLike))


def no_columns(columns: Any) -> SourceError:
    """The refusal of a value that is neither a mapping nor a frame nor a table."""
    given = show(named(columns)) if isinstance(columns, str) else type(columns).__name__
    given = "None" if columns is None else given
    return SourceError(
        f"columns: got {given}, want a mapping of names to arrays, a frame or a table",
        field="columns",
        hint=instead_of(columns),
    )


def instead_of(columns: Any) -> str:
    """What to do with a value that has no columns."""
    first: Any = next(iter(columns), None) if isinstance(columns, (list, tuple)) else columns
    if is_path(first):
        return f'cache.load(name, "{named(os.fspath(first))}") reads files'
    if isinstance(columns, type):
        return f"put an object of it, not the class {columns.__name__}"
    if isinstance(columns, (list, tuple)) and isinstance(first, dict):
        return "put {name: [row[name] for row in rows] for name in rows[0]}"
    if isinstance(columns, (list, tuple)) and isinstance(first, (list, tuple)):
        return (
            '{"value": values} has one of them in each row, and [np.array(v) for v in values] '
            "in each item"
        )
    if isinstance(columns, (Iterator, Set)):
        listed = "sorted" if isinstance(columns, Set) else "list"
        return f'give a list a name: {{"value": {listed}(values)}}'
    if isinstance(columns, np.ndarray) and columns.dtype.names:
        return "put one record a row: array.reshape(-1)"
    return of_library(columns) or name_it(columns)


def of_library(columns: Any) -> str:
    """What to do with an object of pandas, Polars, DuckDB or Spark that has no columns."""
    kind = type(columns)
    keys = getattr(columns, "keys", None) if hasattr(columns, "groups") else None
    keys = getattr(columns, "by", None) if keys is None else keys
    if isinstance(keys, tuple) and all(isinstance(key, str) for key in keys):
        keys = keys[0] if len(keys) == 1 else list(keys)
    if isinstance(keys, (str, list)):
        return f"put the frame that was grouped, with item_id={keys!r}"
    if "GroupBy" in kind.__name__:
        return "put the frame that was grouped, with the names of its keys as item_id="
    computes = all(callable(getattr(kind, name, None)) for name in ("agg", "mean"))
    if computes and not hasattr(columns, "dtype"):  # which a series has
        return "put what it computes, such as values.mean()"
    if callable(getattr(kind, "sql", None)) and callable(getattr(kind, "execute", None)):
        return 'put the table of a query: connection.sql("select * from ...")'
    if callable(getattr(kind, "toArrow", None)):
        return "put frame.toArrow()"
    return ""


def name_it(columns: Any) -> str:
    """How to give values a name."""
    axes = getattr(columns, "ndim", 0 if isinstance(columns, (str, bytes)) else 1)
    if not hasattr(columns, "__len__") or axes == 0:
        return 'give values a name: {"value": [1.0, 2.0]}'
    if axes > 2:
        return 'give it a name, as [rows, n]: {"value": values.reshape(len(values), -1)}'
    return 'give it a name: {"value": values}'
