"""The index of a pandas frame that is stored as columns of tables of Arrow and Polars."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._data.columns import Columns
from .._errors import SourceError
from . import arrow
from .table_columns import is_frame

WITHOUT_NAME = re.compile(r"__index_level_\d+__")
"""The name that pyarrow gives to the column of a level without a name."""

INTEGERS = re.compile(r"u?int\d+")
"""The names of the integer types of Arrow and pandas' metadata, and of Polars in small letters."""


def columns_and_levels(
    table: Any, options: dict[str, Any] | None, dataset: Callable[[], Columns] | None
) -> tuple[list[tuple[str, Any]], set[str]]:
    """The columns of a table of Arrow or of a Polars frame, and the names of those that are levels.

    Levels come first, as in a frame. Those without a name that have integers are left out, unless
    the options, or the dataset that rows are appended to, name them, as the daemon does it for
    files and streams.

    Raises:
        SourceError: no column is left.
    """
    metadata: Any = None
    if is_frame(table):
        columns = [(name, table.get_column(name)) for name in table.columns]
        types = [(name, str(values.dtype).lower()) for name, values in columns]
    else:
        table = arrow.reader_of(table).read_all()
        columns = list(zip(table.column_names, map(tensor_of, table.columns), strict=True))
        types = [(field.name, str(value_type(field.type))) for field in table.schema]
        metadata = pandas_metadata(table.schema)
    levels, positions = levels_of(types, metadata)
    left_out = {name for name in positions if not is_named(name, options, dataset)}
    kept = [(name, values) for name, values in columns if name not in left_out]
    if columns and not kept:
        raise SourceError(
            "has no columns besides an index of pandas without a name",
            field="columns",
            hint="write it with columns, or name the index, as "
            'frame.rename_axis("row") does in pandas',
        )
    places = {name: place - len(levels) for place, name in enumerate(levels)}
    return sorted(kept, key=lambda column: places.get(column[0], 0)), set(levels)


def levels_of(types: Sequence[tuple[str, str]], metadata: Any) -> tuple[list[str], set[str]]:
    """The columns that are levels of the index, and those of them that are positions of rows.

    Args:
        types: the names and types of the columns.
        metadata: pandas' description of the frame; what is not as pandas writes it is ignored.
            Without a list of levels, those without a name are found by their names.
    """
    described = metadata if isinstance(metadata, dict) else {}
    listed, fields = described.get("index_columns"), described.get("columns")
    kept = {
        str(field.get("field_name"))
        for field in (fields if isinstance(fields, list) else ())
        if isinstance(field, dict)
        and (field.get("name") is not None or not INTEGERS.fullmatch(str(field.get("pandas_type"))))
    }
    unnamed = levels = [name for name, _ in types if WITHOUT_NAME.fullmatch(name)]
    if isinstance(listed, list):
        levels = list(dict.fromkeys(name for name in listed if isinstance(name, str)))
    integers = {name for name, kind in types if INTEGERS.fullmatch(kind)}
    return levels, integers & set(levels) & set(unnamed) - kept


def value_type(kind: Any) -> Any:
    """The type of the values of a dictionary; other types as they are."""
    return kind.value_type if hasattr(kind, "index_type") else kind


def pandas_metadata(schema: Any) -> Any:
    """Pandas' description of the frame that a table was made of, None without one."""
    try:
        return schema.pandas_metadata
    except (ValueError, RecursionError):  # it is no JSON
        return None


def is_named(
    name: str, options: dict[str, Any] | None, dataset: Callable[[], Columns] | None
) -> bool:
    """Whether options name a column; in an append, whether it is one of the dataset."""
    if options is None:
        data = dataset() if dataset else None
        return data is not None and (name in data or name in data.items)  # an item if melted
    dtype = options.get("dtype")
    return (isinstance(dtype, Mapping) and name in dtype) or any(
        name == value or (isinstance(value, list) and name in value)
        for value in map(options.get, ("columns", "item_id", "time", "time_parts"))
    )


def tensor_of(column: Any) -> Any:
    """The lists of a column of Arrow's fixed-size lists as ``[rows, n]``; others as they are."""
    width = getattr(column.type, "list_size", 0)
    if not width or column.null_count:
        return column
    return np.asarray(column.combine_chunks().flatten()).reshape(-1, width)
