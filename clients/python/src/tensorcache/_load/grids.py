"""Datasets of xarray as columns, one row for each point of the grid; xarray is not imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.columns import Columns
from .._errors import SourceError


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
    item, those of floats as text. An append has no options, and the time and items of ``dataset``.

    Raises:
        SourceError: an array has no name, or a dimension several levels.
    """
    if not hasattr(grid, "data_vars"):
        if grid.name is None:
            raise SourceError(
                "columns: got an array without a name, want a name",
                field="columns",
                hint='array.rename("value") names it',
            )
        grid = grid.coords.to_dataset() if grid.name in grid.coords else grid.to_dataset()
    sizes: dict[Any, int] = dict(grid.sizes)
    for name in sizes:
        if hasattr(grid.indexes.get(name), "levels"):
            raise SourceError(
                f'dimension "{name}" has several levels, want one',
                field=str(name),
                hint=f"dataset.reset_index({name!r}) makes coordinates of them",
            )
    values: dict[Any, Any] = {
        name: grid[name].values if name in grid.variables else np.arange(size)
        for name, size in sizes.items()
    }
    times = [name for name in sizes if values[name].dtype.kind == "M"]
    given = options
    if given is None:
        stored = dataset().manifest if dataset else {}
        given = {"time": stored.get("time"), "item_id": stored.get("item_id")}
    time = given.get("time")
    if time is None and len(times) == 1 and "time_parts" not in given:
        time = times[0]
    order = [name for name in sizes if name != time] + [name for name in sizes if name == time]
    shape = tuple(sizes[name] for name in order)
    default = order[:-1] if time in order and not given.get("melt") else []
    items = given["item_id"] if given.get("item_id") is not None else default
    for name in order:
        if values[name].dtype.kind == "f" and str(name) in map(str, items):
            values[name] = np.array([str(value) for value in values[name]], object)
    columns = [(name, on_grid(values[name], (name,), order, shape)) for name in order]
    for name, variable in {**grid.coords, **grid.data_vars}.items():
        if name not in sizes:
            columns.append((name, on_grid(variable.values, variable.dims, order, shape)))
    if options is None or time not in order:
        return columns, options
    named = {"item_id": [str(name) for name in default]} if default else {}
    return columns, {**named, **options, "time": str(time)}


def on_grid(
    values: npt.NDArray[Any], dims: tuple[Any, ...], order: list[Any], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """Values of some dimensions, one for each point of all dimensions."""
    kept = [name for name in order if name in dims]
    values = np.transpose(values, [dims.index(name) for name in kept])
    values = values.reshape(
        [size if name in dims else 1 for name, size in zip(order, shape, strict=True)]
    )
    return np.broadcast_to(values, shape).reshape(-1)
