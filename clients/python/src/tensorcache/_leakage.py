"""Whether a scaling was fitted on prediction rows of windows that a model is judged by."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import LeakageError, LeakageWarning
from ._first_rows import moment
from ._items import ItemValue, show
from ._sample import columns_of

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._windows import Windows

Int64s = npt.NDArray[np.int64]

NAMED = 8
"""How many columns and parts a message names."""


@dataclass(frozen=True)
class Leak:
    """What a fit saw of one part.

    Attributes:
        part: the part's name.
        columns: the scaled columns that the part's windows use.
        item: the first item whose prediction rows were seen.
        rows: the first and the last of them in that item, both included.
        items: how many items have such rows.
    """

    part: str
    columns: tuple[str, ...]
    item: ItemValue
    rows: tuple[int, int]
    items: int

    def __str__(self) -> str:
        first, last = self.rows
        whose = "" if self.item is None else f" of item {show(self.item)}"
        others = f", and rows of {self.items - 1:,} more items" if self.items > 1 else ""
        return f"rows {first:,} to {last:,}{whose}{others} by {self.part}"


def leaks_of(parts: Iterable[tuple[str, Windows]]) -> list[Leak]:
    """What the fit of a dataset saw of each part; parts of which it saw nothing are left out."""
    return [leak for name, windows in parts if (leak := leak_of(name, windows)) is not None]


def leak_of(name: str, windows: Windows) -> Leak | None:
    """What the fit saw of a part's prediction rows, or None.

    For ``prediction_length`` 0 a window's last context row stands for its prediction rows.
    """
    columns = scaled_columns(windows)
    if not columns or not len(windows):
        return None
    data, spec = windows.dataset, windows.spec
    items, first, count = windows._index().runs
    context, length = spec["context_length"], spec.get("prediction_length", 0)
    at = context + spec.get("gap", 0) if length else context - 1
    offsets = np.arange(at, at + max(length, 1)) * int(spec.get("dilation", 1))
    stride = int(spec.get("stride", 1))
    low, high = (bound[items] for bound in fitted_rows(data))
    begin = first + offsets[0]
    end = first + (count - 1) * stride + offsets[-1]
    seen = (np.maximum(begin, low) <= np.minimum(end, high - 1)) & (low < high)
    inside = seen & (begin < low) & (end >= high)  # the fit lies between them: is one of the rows between in it?
    if inside.any():
        seen[inside] = touched(first[inside], count[inside], stride, offsets, low[inside], high[inside])
    places = np.flatnonzero(seen)
    if not len(places):
        return None
    item = int(items[places[0]])
    own = places[items[places] == item]
    return Leak(
        part=name,
        columns=columns,
        item=data.items[item],
        rows=(int(np.maximum(begin, low)[own].min()), int(np.minimum(end, high - 1)[own].max())),
        items=len(np.unique(items[places])),
    )


def touched(
    first: Int64s, count: Int64s, stride: int, offsets: Int64s, low: Int64s, high: Int64s
) -> npt.NDArray[np.bool_]:
    """For each run, whether one of the rows first + k · stride + offset, k below count, is in [low, high)."""
    found = np.zeros(len(first), np.bool_)
    for offset in offsets:
        least = np.maximum(-((first + offset - low) // stride), 0)
        most = np.minimum((high - 1 - first - offset) // stride, count - 1)
        found |= least <= most
    return found


def scaled_columns(windows: Windows) -> tuple[str, ...]:
    """The columns that the windows deliver row by row and that a fit has scaled."""
    names: dict[str, None] = {}
    for part in ("context", "target", "known"):
        for column in columns_of(windows.dataset, list(windows.features.get(part, ()))):
            if column.scale is not None:
                names[column.name] = None
    return tuple(names)


def fitted_rows(data: Dataset) -> tuple[Int64s, Int64s]:
    """The rows of each item that a fit could see, half-open: int64 ``[items]`` each; all where nothing is said."""
    recipe: Mapping[str, Any] = data.manifest["recipe"]
    rows = data.items.rows
    low, high = np.zeros(len(rows), np.int64), rows.copy()
    if recipe.get("fit_rows") is not None:
        first, last = recipe["fit_rows"]
        low = low if first is None else clamped(first, rows)
        high = high if last is None else clamped(last, rows)
    if recipe.get("fit_fraction") is not None:
        high = np.minimum(high, np.floor(rows * float(recipe["fit_fraction"]) + 1e-9).astype(np.int64))
    if recipe.get("fit_before") is not None and data.time is not None and len(rows):
        before = data[data.time] < moment(recipe["fit_before"])
        sums = np.concatenate([[0], np.cumsum(before)])
        high = np.minimum(high, sums[data.items.row_offset + rows] - sums[data.items.row_offset])
    return low, high


def clamped(bound: int, rows: Int64s) -> Int64s:
    """A bound of each item's rows as a Python slice takes it: negative from its end, clamped to it."""
    clamped: Int64s = np.clip(bound + rows if bound < 0 else np.full_like(rows, bound), 0, rows)
    return clamped


def described(windows: Windows, leaks: list[Leak]) -> tuple[str, str]:
    """The message of leaks, and what to do about them."""
    columns = leaks[0].columns
    fit = windows.dataset.manifest["recipe"].get("fit_rows")
    seen = "every row, as no fit_rows were given" if fit is None else f"fit_rows {tuple(fit)} of each item"
    parts = "; ".join(str(leak) for leak in leaks[:NAMED]) + ("; …" if len(leaks) > NAMED else "")
    first = min(leak.rows[0] for leak in leaks)
    detail = (
        f"the scaling of {', '.join(columns[:NAMED])}{', …' if len(columns) > NAMED else ''} saw rows that are "
        f"predicted ({seen}): {parts}"
    )
    hint = f"load with fit_rows=(0, {first})" if first else "fit on the items to train on alone, or load without scale="
    return detail, hint


def check(windows: Windows, parts: Iterable[tuple[str, Windows]]) -> None:
    """Raise where a fit saw prediction rows of a part.

    Raises:
        LeakageError: naming columns, parts, items and rows.
    """
    leaks = leaks_of(parts)
    if leaks:
        detail, hint = described(windows, leaks)
        raise LeakageError(detail, hint=hint, field="fit_rows")


def warn(windows: Windows, parts: Iterable[tuple[str, Windows]], stacklevel: int) -> None:
    """Warn of what :func:`check` raises; ``stacklevel`` 3 points to the caller's caller."""
    leaks = leaks_of(parts)
    if leaks:
        detail, hint = described(windows, leaks)
        warnings.warn(LeakageWarning(f"{detail}\nhint: {hint}"), stacklevel=stacklevel)
