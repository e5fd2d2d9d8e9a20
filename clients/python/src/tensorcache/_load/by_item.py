"""One table for each item, or one array, as columns of all items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .._data.columns import Columns
from .._errors import SourceError, show
from . import arrow, frame_index, grids, stored_index, tables
from .column_names import named_once
from .joined_columns import Parts, Repeated, of_item, words_of
from .table_columns import columns_in, has_fields, is_frame
from .typed_arrays import array_of

VALUE = "value"
"""The column of arrays without a name."""

ITEM = "item_id"
"""The column that names the items, if the option of the same name does not name it."""

Options = dict[str, Any]

ItemColumns = tuple[Iterable[tuple[Any, Any]], Options | None, set[str]]
"""Names and values of columns, the options with the time, and the levels of an index."""


def is_by_item(given: Any) -> bool:
    """Whether ``given`` is a mapping of items to tables, or a list of tables or of arrays."""
    if isinstance(given, Columns) or grids.is_grid(given):
        return False
    if isinstance(given, Mapping):
        return bool(given) and all(map(is_table, given.values()))
    if not isinstance(given, (list, tuple)) or not given:
        return False
    if all(isinstance(one, (list, tuple)) for one in given) and len(set(map(len, given))) == 1:
        return False  # which may be rows of one array
    return all(map(is_table, given)) or all(map(is_array, given))


def is_table(given: Any) -> bool:
    """Whether ``given`` has columns of its own."""
    if grids.is_grid(given):
        return hasattr(given, "data_vars")
    if isinstance(given, Mapping):
        return bool(given) and all(
            hasattr(values, "__len__") and not isinstance(values, (str, bytes))
            for values in given.values()
        )
    kind = type(given)
    has_names = hasattr(kind, "schema") or hasattr(kind, "columns")  # which a series has not
    return not tables.is_hugging_face(given) and (
        frame_index.has_index(given)
        or is_frame(given)
        or has_fields(given)
        or isinstance(given, Columns)
        or tables.is_computed(given)
        or (arrow.is_table(given) and has_names)
    )


def is_array(given: Any) -> bool:
    """Whether ``given`` has the values of an item: an array, a series, or a list of numbers."""
    if is_table(given) or tables.is_hugging_face(given):
        return False
    if isinstance(given, (list, tuple)):
        numbers = (int, float, np.number)
        return bool(given) and all(value is None or isinstance(value, numbers) for value in given)
    return hasattr(given, "__len__") and len(getattr(given, "shape", ())) in (1, 2)


def with_items(
    given: Any, options: Options | None, dataset: Callable[[], Columns] | None
) -> tuple[list[tuple[str, Any]], Options | None, set[str]]:
    """The columns of all items, one item after the other, and the options with item and time.

    The third result has the names of the columns that are levels of an index.

    The keys of a mapping name the items; those of a list are numbers from 0. An append has no
    options, and the items of ``dataset``. Items of no rows are left out.

    Raises:
        SourceError: the items differ in their columns, or a key names no item.
    """
    after = options
    found: dict[Any, dict[str, Any]] = {}
    rows: dict[Any, int] = {}
    levels: set[str] = set()
    for key, table in given.items() if isinstance(given, Mapping) else enumerate(given):
        try:
            columns, with_time, indexed = columns_of_item(table, options, dataset)
            levels |= indexed
            found[key] = named_once(columns)
            rows[key] = rows_of(found[key])
        except SourceError as error:
            raise of_item(key, error) from error
        if options is not None and with_time != options:
            after = with_time
    parts = {key: columns for key, columns in found.items() if rows[key]} or found
    first = next(iter(parts))
    for key, values in parts.items():
        check_names(first, set(parts[first]), key, set(values))
    joined: list[tuple[str, Any]] = [
        (name, Parts([(key, columns[name]) for key, columns in parts.items()]))
        for name in parts[first]
    ]
    stored = dataset().manifest if dataset and options is None else options or {}
    names = list(stored.get("item_id") or ([] if dataset and options is None else [ITEM]))
    has = [name for name in names if name in parts[first]]
    if has and len(has) < len(names):
        raise SourceError(
            f'columns: the items have a column "{has[0]}", and no other one of item_id',
            field=has[0],
            hint="give all columns of item_id, or none: then the keys name the items",
        )
    if not has:
        joined = [*items_of(names, list(parts), [rows[key] for key in parts]), *joined]
    elif isinstance(given, Mapping):
        for key, values in parts.items():
            check_items(key, names, values)
    if after is not None:
        after = {**after, "item_id": names}
    return joined, after, levels


def columns_of_item(
    table: Any, options: Options | None, dataset: Callable[[], Columns] | None
) -> ItemColumns:
    """The columns of an item, the options with its time, and the levels of its index."""
    table = tables.computed(table)
    if grids.is_grid(table) and hasattr(table, "data_vars"):
        raise SourceError(
            "got a Dataset of xarray, want a frame",
            field="columns",
            hint="put {key: dataset.to_dataframe() for key, dataset in datasets.items()}",
        )
    if callable(getattr(table, "to_frame", None)):  # a series of pandas or Polars
        table = table.to_frame(name=VALUE if table.name in (None, "") else table.name)
    elif is_array(table):
        return [(VALUE, table)], options, set()
    if frame_index.has_index(table):
        return *frame_index.with_index(table, options, dataset), frame_index.level_names(table)
    if arrow.is_table(table) or is_frame(table):
        columns, levels = stored_index.columns_and_levels(table, options, dataset)
        return columns, options, levels
    return columns_in(table), options, set()


def check_names(first: Any, names: set[str], key: Any, others: set[str]) -> None:
    """Check that an item has the columns of the first one."""
    for has, lacks, missing in ((first, key, names - others), (key, first, others - names)):
        if missing:
            name = min(missing)
            raise SourceError(
                f'columns: item {show(lacks)} has no column "{name}", and item {show(has)} has',
                field=name,
                hint="give all items the same columns, with None where values are missing",
            )


def check_items(key: Any, names: list[str], columns: Mapping[str, Any]) -> None:
    """Check that the columns that name the item have its key in every row."""
    parts = key if isinstance(key, tuple) else (key,)
    for name, part in zip(names, parts, strict=False):
        values = array_of(name, words_of(name, columns[name]))
        wrong = np.flatnonzero(values != part)
        if len(parts) != len(names) or len(wrong):
            got = repr(values[wrong[:1]].tolist()[0]) if len(wrong) else "no part for each name"
            raise SourceError(
                f'item {key!r}: column "{name}" names the items, and has {got}',
                field=name,
                hint="put list(tables.values()), so that the columns alone name them",
            )


def rows_of(columns: Mapping[str, Any]) -> int:
    """The number of rows of an item, in all of its columns."""
    rows = 0
    for at, (name, values) in enumerate(columns.items()):
        if not hasattr(values, "__len__") or getattr(values, "shape", None) == ():
            raise SourceError(
                f'column "{name}" is {show(values)}, want one value, or one row of values, for '
                "each row",
                field=name,
                hint="give a list or an array of the values",
            )
        count = int(values.shape[0]) if hasattr(values, "shape") else len(values)
        if at and count != rows:
            raise SourceError(
                f'column "{name}" has {count:,} rows, and "{next(iter(columns))}" {rows:,}',
                field=name,
                hint="give one value, or one row of values, for each row",
            )
        rows = count
    return rows


def items_of(names: list[str], keys: list[Any], rows: list[int]) -> list[tuple[str, Any]]:
    """The columns that name the item of each row.

    Raises:
        SourceError: a key has another number of parts than there are names, or is no item.
    """
    parts = [key if isinstance(key, tuple) else (key,) for key in keys]
    for key, part in zip(keys, parts, strict=True):
        if len(part) != len(names):
            listed = ", ".join(f'"name{at + 1}"' for at in range(len(part)))
            raise SourceError(
                f"columns: the key {key!r} names an item by {len(part)} values, and the dataset's "
                f"items have {len(names)}",
                field="item_id",
                hint=f"item_id=[{listed}] names the parts of the keys"
                if names
                else "the dataset has no items: append one table, or arrays by column",
            )
    out: list[tuple[str, Any]] = []
    for name, values in zip(names, zip(*parts, strict=True), strict=True):
        wrong = [value for value in values if not isinstance(value, str)]
        if wrong and not all(is_item_number(value) for value in values):
            raise SourceError(
                f'columns: {wrong[0]!r} names no item of "{name}", want texts, or whole numbers of '
                "64 bits",
                field=name,
                hint="{str(key): table for key, table in tables.items()} makes texts of the keys",
            )
        out.append((name, Repeated(values, rows)))
    return out


def is_item_number(value: Any) -> bool:
    """Whether a value is a whole number that may name an item."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and -(2**63) <= value < 2**63
