"""Names and values of mappings, frames and arrays of records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._data.columns import Columns
from .no_columns import no_columns


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
        names = columns.keys()
        for name in names:
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
