"""Datasets of xarray as columns, one row for each point of the grid; xarray is not imported."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.columns import Columns
from .._errors import SourceError
from .column_names import named_once
from .grid_series import Column, kind_of, on_grid, spanned, time_and_items


def is_grid(given: Any) -> bool:
    """Whether ``given`` is a dataset or an array of xarray."""
    kind = type(given)  # a frame may have columns of these names
    return all(hasattr(kind, name) for name in ("dims", "coords", "sizes")) and (
        hasattr(kind, "data_vars") or hasattr(kind, "to_dataset")
    )


def with_dimensions(
    grid: Any, options: dict[str, Any] | None, dataset: Callable[[], Columns] | None
) -> tuple[list[tuple[Any, Any]], dict[str, Any] | None]:
    """The dimensions, coordinates and variables as columns, and the options with item and time.

    The dimension of times is the time, and the last one of the order of rows; the others name the
    item. Floats, times and durations that name the item are texts. An append has no options, and
    the time and items of ``dataset``.

    Raises:
        SourceError: an array has no name, a dimension several levels, or the options and the
            dimensions leave open which points are a series.
    """
    grid = checked(grid)
    sizes = {str(name): size for name, size in grid.sizes.items()}
    variables = {**dict.fromkeys(grid.sizes), **grid.coords, **grid.data_vars}
    columns: dict[str, Column] = {
        name: ((name,), np.arange(sizes[name]))
        if variable is None
        else (tuple(map(str, variable.dims)), variable.values)
        for name, variable in named_once(variables.items()).items()
    }
    if options is None:
        stored = dataset().manifest if dataset else {}
        time, items = stored.get("time"), list(stored.get("item_id") or [])
    else:
        time, items = time_and_items(columns, sizes, options)
        found = {"item_id": items, "time": time}
        options = {**{field: value for field, value in found.items() if value}, **options}
    # The rows of an item follow one another, in the order of their times.
    named = spanned(columns, items)
    clock = [
        dim
        for name in (options or {}).get("time_parts") or [time]
        for dim in columns.get(name, ((),))[0]
        if dim not in named
    ]
    order = sorted(
        sizes,
        key=lambda dim: (dim not in named, clock.index(dim) + 1 if dim in clock else 0),
    )
    for name in items:
        if name in columns:
            columns[name] = (columns[name][0], item_values(columns, name))
    shape = tuple(sizes[dim] for dim in order)
    named_in_order = [*order, *(name for name in columns if name not in sizes)]
    return [(name, on_grid(*columns[name], order, shape)) for name in named_in_order], options


def checked(grid: Any) -> Any:
    """A dataset or an array as a dataset whose dimensions and variables may be columns."""
    if not hasattr(grid, "data_vars"):
        if grid.name is None:
            raise SourceError(
                "columns: got an array without a name, want a name",
                field="columns",
                hint='array.rename("value") names it',
            )
        grid = grid.coords.to_dataset() if grid.name in grid.coords else grid.to_dataset()
    for name in grid.sizes:
        if hasattr(grid.indexes.get(name), "levels"):
            raise SourceError(
                f'dimension "{name}" has several levels, want one',
                field=str(name),
                hint=f"dataset.reset_index({name!r}) makes coordinates of them",
            )
    return grid


def item_values(columns: Mapping[str, Column], name: str) -> npt.NDArray[Any]:
    """Values that name items; all but integers and texts as texts, times as pandas writes them."""
    values, kind = columns[name][1], kind_of(columns, name)
    if kind in "mM":
        pandas: Any = importlib.import_module("pandas")  # which xarray needs
        flat = pandas.Index(values.reshape(-1))
        texts = [None if value is pandas.NaT else str(value) for value in flat]
    elif kind in "fb":
        texts = [None if value != value else str(value) for value in values.reshape(-1)]
    else:
        return values
    return np.array(texts, object).reshape(values.shape)
