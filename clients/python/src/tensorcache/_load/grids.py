"""Datasets of xarray as columns, one row for each point of the grid; xarray is not imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SourceError


def is_grid(given: Any) -> bool:
    """Whether ``given`` is a dataset or an array of xarray."""
    kind = type(given)  # a frame may have columns of these names
    return all(hasattr(kind, name) for name in ("dims", "coords", "sizes")) and (
        hasattr(kind, "data_vars") or hasattr(kind, "to_dataset")
    )


def with_dimensions(
    grid: Any, options: dict[str, Any] | None, stored_time: Callable[[], str | None]
) -> tuple[list[tuple[Any, Any]], dict[str, Any] | None]:
    """The dimensions, coordinates and variables as columns, and the options with item and time.

    The dimension of times is the time, and the last one of the order of rows; the others name the
    item. An append has no options, and the time of ``stored_time``.

    Raises:
        SourceError: an array has no name.
    """
    if not hasattr(grid, "data_vars"):
        if grid.name is None:
            raise SourceError(
                "columns: got an array without a name, want a name",
                field="columns",
                hint='array.rename("value") names it',
            )
        grid = grid.to_dataset()
    sizes: dict[Any, int] = dict(grid.sizes)
    values: dict[Any, Any] = {
        name: grid.coords[name].values if name in grid.coords else np.arange(size)
        for name, size in sizes.items()
    }
    times = [name for name in sizes if values[name].dtype.kind == "M"]
    time = stored_time() if options is None else options.get("time")
    if time is None and len(times) == 1 and "time_parts" not in (options or {}):
        time = times[0]
    order = [name for name in sizes if name != time] + [name for name in sizes if name == time]
    shape = tuple(sizes[name] for name in order)
    columns = [(name, on_grid(values[name], (name,), order, shape)) for name in order]
    for name, variable in {**grid.coords, **grid.data_vars}.items():
        if name not in sizes:
            columns.append((name, on_grid(variable.values, variable.dims, order, shape)))
    if options is None or time not in order:
        return columns, options
    items = {} if options.get("melt") else {"item_id": [str(name) for name in order[:-1]]}
    return columns, {
        **{key: value for key, value in items.items() if value},
        **options,
        "time": str(time),
    }


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
