"""Which columns of a grid are the time and the items of its series."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SourceError, show

Column = tuple[tuple[str, ...], npt.NDArray[Any]]
"""The dimensions that a column has, and its values over these."""

MAX_CHOICES = 6
"""How many ways to make series a refusal lists."""


def time_and_items(
    columns: Mapping[str, Column], sizes: Mapping[str, int], options: Mapping[str, Any]
) -> tuple[str | None, list[str]]:
    """The time column, and the columns that name the items, by the options or else the dimensions.

    Without ``time`` it is the one dimension of times that names no items; there is none if there
    are several, or a dimension of durations beside it. Without ``item_id`` the items are all
    dimensions but that of the time.

    Raises:
        SourceError: the options and the dimensions leave open which points are a series.
    """
    time, parts, items = (options.get(field) for field in ("time", "time_parts", "item_id"))
    named = spanned(columns, items or [])
    if not time and not parts:
        open_dims = {dim: size for dim, size in sizes.items() if dim not in named}
        others = {dim: size for dim, size in sizes.items() if dim not in (items or [])}
        time = dimension_of_times(columns, open_dims) or dimension_of_times(columns, others)
    clock = spanned(columns, parts or ([time] if time else []))
    if items is None and (parts or len(clock) == 1) and not options.get("melt"):
        items = [name for name in sizes if name not in clock]
    elif is_open(columns, sizes, clock, options):
        raise ambiguous(columns, sizes, options.get("time"))
    return time, list(items or [])


def spanned(columns: Mapping[str, Column], names: Iterable[str]) -> set[str]:
    """The dimensions that columns have; none for a name without a column."""
    return {dim for name in names if name in columns for dim in columns[name][0]}


def dimension_of_times(columns: Mapping[str, Column], sizes: Mapping[str, int]) -> str | None:
    """The dimension of times; None if there are several, or one of durations beside it.

    Dimensions of one point count only if there is no other.
    """
    times = [dim for dim in sizes if kind_of(columns, dim) == "M"]
    longer = [dim for dim in times if sizes[dim] > 1] or times
    durations = any(kind_of(columns, dim) == "m" and sizes[dim] > 1 for dim in sizes)
    return longer[0] if len(longer) == 1 and not durations else None


def kind_of(columns: Mapping[str, Column], name: str) -> str:
    """The kind of a column's dtype, as numpy abbreviates it; that of times for objects of times."""
    values = columns[name][1]
    if values.dtype.kind == "O" and values.size and hasattr(values.flat[0], "year"):
        return "M"
    return values.dtype.kind


def is_open(
    columns: Mapping[str, Column],
    sizes: Mapping[str, int],
    clock: set[str],
    options: Mapping[str, Any],
) -> bool:
    """Whether there are several ways to divide the grid into series.

    ``clock`` are the dimensions of the time.
    """
    items = options.get("item_id")
    asked = [*(items or []), *(options.get("time_parts") or [options.get("time")])]
    if any(name is not None and name not in columns for name in asked):
        return False  # the daemon names the columns that there are
    if items == [] or options.get("melt"):
        return False
    longer = {dim for dim in sizes if sizes[dim] > 1}
    if items is None:
        kinds = {kind_of(columns, dim) for dim in sizes}
        return len(sizes) > 1 and (len(longer) > 1 or bool(kinds & {"m", "M"}))
    rest = longer - spanned(columns, items)
    if clock:
        return len(rest) > 1 and not rest <= clock
    return len(longer) > 1 and (len(rest) != 1 or repeat(columns, sizes, items))


def repeat(columns: Mapping[str, Column], sizes: Mapping[str, int], items: list[str]) -> bool:
    """Whether several points of the dimensions that items have are the same item."""
    dims = [dim for dim in sizes if dim in spanned(columns, items)]
    shape = tuple(sizes[dim] for dim in dims)
    flat = [on_grid(*columns[name], dims, shape).tolist() for name in items]
    return len(set(zip(*flat, strict=True))) < math.prod(shape)


def ambiguous(
    columns: Mapping[str, Column], sizes: Mapping[str, int], time: str | None
) -> SourceError:
    """The refusal of a grid whose points may be divided into series in several ways."""
    ways = choices(columns, sizes, time)[:MAX_CHOICES]
    one = "item_id=[] makes one series"
    return SourceError(
        f"columns: the dimensions {', '.join(map(show, sizes))} leave open which points of the "
        "grid are a series",
        field="columns",
        hint=f"give {', or '.join(ways)}; {one}" if ways else one,
    )


def choices(columns: Mapping[str, Column], sizes: Mapping[str, int], time: str | None) -> list[str]:
    """The options that make series along one dimension, the most likely first."""
    times = [name for name, (dims, _) in columns.items() if dims and kind_of(columns, name) == "M"]
    if time:
        times = [time]
    times.sort(key=lambda name: -len(columns[name][0]))
    ways = [(name, along) for name in times for along in columns[name][0]]
    if not time:
        without = [dim for dim in reversed(list(sizes)) if dim not in {along for _, along in ways}]
        ways += [(dim if rises(columns[dim], dim) else "", dim) for dim in without]
    ways.sort(key=lambda way: kind_of(columns, way[1]) != "m")  # a run has all of its lead times
    out = []
    for name, along in ways:
        items = [dim for dim in sizes if dim != along]
        if not repeat(columns, sizes, items):
            texts = [f"item_id=[{', '.join(map(show, items))}]"]
            if name:
                texts.insert(0, f"time={show(name)}")
                texts += [] if rises(columns[name], along) else ["sort=True"]
            out.append(", ".join(texts))
    return out


def rises(column: Column, along: str) -> bool:
    """Whether integers or times become larger along a dimension."""
    dims, values = column
    if values.dtype.kind not in "iuMO":
        return False
    values = np.moveaxis(values, dims.index(along), 0)
    try:
        return bool(np.all(values[1:] > values[:-1]))
    except TypeError:  # objects without an order
        return False


def on_grid(
    dims: tuple[str, ...], values: npt.NDArray[Any], order: list[str], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """Values of some dimensions, one for each point of all dimensions."""
    kept = [name for name in order if name in dims]
    values = np.transpose(values, [dims.index(name) for name in kept])
    values = values.reshape(
        [size if name in dims else 1 for name, size in zip(order, shape, strict=True)]
    )
    return np.broadcast_to(values, shape).reshape(-1)
