"""Whether a fitted step or a fill used prediction rows of windows that evaluate a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.columns import Columns
from .._data.cutter import columns_of
from .._data.items import ItemValue
from .._data.manifest import FITTED, Column
from .._data.padding import moment
from .._errors import LeakageError, LeakageWarning, printable_lines, show
from .index import WindowIndex

Int64s = npt.NDArray[np.int64]

UNKNOWN = "steps"
"""The name of the leak of a column that was put as a part or a cast of a column with steps."""

NAMED = 8
"""How many columns and parts a message lists."""


@dataclass(frozen=True)
class Fit:
    """The rows of each item that steps were fitted to.

    Attributes:
        dataset: the dataset whose load fitted them; "" for the dataset of the windows.
        options: those of the load: ``fit_rows``, ``fit_before``, ``fit_fraction``, ``fit_sample``.
            ``part`` is there if a scaled copy of the dataset was put.
        known: whether the rows are known, as they are not for a part of a column, nor for a column
            of a scaled copy that was put.
        of_part: whether they are those of the part that a scaled copy was fitted to.
    """

    dataset: str
    options: Mapping[str, Any]
    known: bool = True
    of_part: bool = False

    @classmethod
    def of(cls, data: Columns, column: Column, how: str) -> Fit:
        """Those of a step of a column."""
        copied = data._manifest.scaled_of
        if copied is not None and how == "scaling" and column.name in copied.columns:
            return cls("", {}, of_part=True)
        if column.steps_of is not None:
            if column.steps_of.changed:
                return cls(column.steps_of.dataset, {}, known=False)
            options = column.steps_of.fit
            known = how != "scaling" or "part" not in options
            return cls(column.steps_of.dataset, options, known)
        return cls("", data.manifest["recipe"])

    def __str__(self) -> str:
        if not self.known:
            put = "a column" if "part" in self.options else "a part or a cast of a column"
            return f'the rows are unknown, because {put} of dataset "{self.dataset}" was put'
        if self.of_part:
            return "those of the part that it was fitted to"
        bounds = [
            f"{field} {tuple(value) if isinstance(value, list) else value}"
            for field in ("fit_rows", "fit_before", "fit_fraction", "fit_sample")
            if (value := self.options.get(field)) is not None
        ]
        if not bounds:
            return "every row, as no fit_rows were given"
        return f"{', '.join(bounds)} of each item"


@dataclass(frozen=True)
class Leak:
    """The rows of one part that a fit or a fill used.

    Attributes:
        how: the step: one of ``FITTED``; ``"backward fill"`` or ``"linear fill"``, which look
            ahead; or ``UNKNOWN``.
        part: the part's name.
        columns: the columns with that step which the part's windows use.
        item: the first item of which prediction rows were used.
        rows: the first and the last of them in that item, both included.
        items: how many items have such rows.
        fit: the options that say which rows the step was fitted to, and of which dataset's load.
    """

    how: str
    part: str
    columns: tuple[str, ...]
    item: ItemValue
    rows: tuple[int, int]
    items: int
    fit: Fit

    def __str__(self) -> str:
        first, last = self.rows
        whose = "" if self.item is None else f" of item {show(self.item)}"
        others = f", and rows of {self.items - 1:,} more items" if self.items > 1 else ""
        return f"rows {first:,} to {last:,}{whose}{others} by {self.part}"


def leaks_of(parts: Iterable[tuple[str, WindowIndex]]) -> list[Leak]:
    """The prediction rows of each part that the steps of the dataset's load used.

    Parts without such rows are left out.
    """
    return [leak for name, windows in parts for leak in leaks_of_part(name, windows)]


def leaks_of_part(name: str, windows: WindowIndex) -> list[Leak]:
    """The prediction rows of a part that each kind of step used.

    For ``prediction_length`` 0, a window's last context row counts as its prediction row.
    """
    used = columns_used(windows)
    if not len(windows):
        return []
    predicted = None
    leaks = []
    for how in (*FITTED, UNKNOWN):
        fitted = [column for column in used if how in (column.fitted or steps_unknown(column))]
        fits = [Fit.of(windows.dataset, column, how) for column in fitted]
        for fit in [fit for at, fit in enumerate(fits) if fit not in fits[:at]]:
            predicted = predicted or Predicted(windows)
            columns = [column for column, own in zip(fitted, fits, strict=True) if own == fit]
            low, high = fitted_rows(windows.dataset, fit)
            leaks.append(predicted.seen(how, name, columns, low, high, fit))
    for column in used:
        if column.looks_ahead:
            predicted = predicted or Predicted(windows)
            low, high = looked_at(windows.dataset, column, predicted.begins())
            how = f"{column.prepared.fill} fill"
            fit = Fit.of(windows.dataset, column, how)
            leaks.append(predicted.seen(how, name, [column], low, high, fit))
    return [leak for leak in leaks if leak is not None]


def steps_unknown(column: Column) -> set[str]:
    """``UNKNOWN`` if the steps of a column are unknown."""
    return {UNKNOWN} if column.steps_of is not None and column.steps_of.changed else set()


class Predicted:
    """The prediction rows of windows, run by run."""

    def __init__(self, windows: WindowIndex) -> None:
        spec = windows.spec
        self.data = windows.dataset
        self.items, self.first, self.count = windows._index().runs
        context, length = spec["context_length"], spec.get("prediction_length", 0)
        at = context + spec.get("gap", 0) if length else context - 1
        self.offsets = np.arange(at, at + max(length, 1)) * int(spec.get("dilation", 1))
        self.stride = int(spec.get("stride", 1))
        self.begin = self.first + self.offsets[0]
        self.end = self.first + (self.count - 1) * self.stride + self.offsets[-1]

    def begins(self) -> Int64s:
        """The first prediction row of each item; the largest integer for items without one."""
        begins = np.full(len(self.data.items), np.iinfo(np.int64).max)
        np.minimum.at(begins, self.items, self.begin)
        return begins

    def seen(
        self, how: str, part: str, columns: list[Column], low: Int64s, high: Int64s, fit: Fit
    ) -> Leak | None:
        """The leak of rows low to high - 1 of each item; None if none is a prediction row."""
        low, high = low[self.items], high[self.items]
        seen = (np.maximum(self.begin, low) <= np.minimum(self.end, high - 1)) & (low < high)
        # The bounds are around the range; a row between may be in it or not.
        inside = seen & ((self.begin < low) & (self.end >= high))
        if inside.any():
            seen[inside] = touched(
                self.first[inside],
                self.count[inside],
                self.stride,
                self.offsets,
                low[inside],
                high[inside],
            )
        places = np.flatnonzero(seen)
        if not len(places):
            return None
        item = int(self.items[places[0]])
        own = places[self.items[places] == item]
        return Leak(
            how=how,
            part=part,
            columns=tuple(column.name for column in columns),
            item=self.data.items[item],
            rows=(
                int(np.maximum(self.begin, low)[own].min()),
                int(np.minimum(self.end, high - 1)[own].max()),
            ),
            items=len(np.unique(self.items[places])),
            fit=fit,
        )


def looked_at(data: Columns, column: Column, begins: Int64s) -> tuple[Int64s, Int64s]:
    """The rows of each item, half-open, that the fill of cells before row ``begins`` read.

    Only a gap across that row makes a fill read rows after it.
    """
    rows = data.items._rows
    low, high = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    items = np.flatnonzero(begins < rows)
    first, end = data._before_fill(column)
    if not len(first) or not len(items):
        return low, high
    start = data.items._row_offset[items]
    # The last gap that begins before that row.
    gap = np.searchsorted(first, start + begins[items], side="left") - 1
    fits = gap >= 0
    items, gap, start = items[fits], gap[fits], start[fits]
    value = end[gap] - start  # the row with the next value, in the item
    fits = (value >= begins[items]) & (value < rows[items])
    items, gap, start, value = items[fits], gap[fits], start[fits], value[fits]
    # In a wide column, some cells of the gap may have had a value.
    several = np.maximum(np.maximum(first[gap] - start, 0) + 1, begins[items])
    low[items] = value if column.width == 1 else several
    high[items] = value + 1
    return low, high


def touched(
    first: Int64s, count: Int64s, stride: int, offsets: Int64s, low: Int64s, high: Int64s
) -> npt.NDArray[np.bool_]:
    """For each run, whether a row first + k · stride + offset, k below count, is in [low, high)."""
    found = np.zeros(len(first), np.bool_)
    for offset in offsets:
        least = np.maximum(-((first + offset - low) // stride), 0)
        most = np.minimum((high - 1 - first - offset) // stride, count - 1)
        found |= least <= most
    return found


def columns_used(windows: WindowIndex) -> list[Column]:
    """The columns that the windows deliver row by row."""
    used: dict[str, Column] = {}
    for part in ("context", "target", "known"):
        for column in columns_of(windows.dataset, list(windows.features.get(part, ()))):
            used[column.name] = column
    return list(used.values())


def fitted_rows(data: Columns, fit: Fit) -> tuple[Int64s, Int64s]:
    """The rows of each item that a fit could use, half-open: int64 ``[items]`` each.

    These are all rows if the options of the load set no bounds, or if they are unknown.
    """
    if fit.of_part:
        return data._fit_rows()
    rows, recipe = data.items._rows, fit.options if fit.known else {}
    low, high = np.zeros(len(rows), np.int64), rows.copy()
    if recipe.get("fit_rows") is not None:
        first, last = recipe["fit_rows"]
        low = low if first is None else clamped(first, rows)
        high = high if last is None else clamped(last, rows)
    if recipe.get("fit_fraction") is not None:
        high = np.minimum(
            high, np.floor(rows * float(recipe["fit_fraction"]) + 1e-9).astype(np.int64)
        )
    if recipe.get("fit_before") is not None and data.time is not None and len(rows):
        times = data._mapped(data.time)
        before = times.view(np.int64) < moment(recipe["fit_before"], times)
        sums = np.concatenate([[0], np.cumsum(before)])
        high = np.minimum(high, sums[data.items._row_offset + rows] - sums[data.items._row_offset])
    return low, high


def clamped(bound: int, rows: Int64s) -> Int64s:
    """A bound of each item's rows, as a Python slice would clamp it."""
    clamped: Int64s = np.clip(bound + rows if bound < 0 else np.full_like(rows, bound), 0, rows)
    return clamped


def described(windows: WindowIndex, leaks: list[Leak]) -> tuple[str, str, str]:
    """The message about leaks, the hint, and the option to change."""
    details = []
    kinds: list[tuple[str, Fit]] = []
    for leak in leaks:
        if (leak.how, leak.fit) not in kinds:
            kinds.append((leak.how, leak.fit))
    for how, fit in kinds:
        own = [leak for leak in leaks if (leak.how, leak.fit) == (how, fit)]
        columns = list(dict.fromkeys(column for leak in own for column in leak.columns))
        parts = "; ".join(str(leak) for leak in own[:NAMED]) + ("; …" if len(own) > NAMED else "")
        seen = str(fit) if how in (*FITTED, UNKNOWN) else "to fill cells before them"
        details.append(
            f"the {how} of {', '.join(columns[:NAMED])}{', …' if len(columns) > NAMED else ''} "
            f"{'saw' if fit.known else 'may have seen'} rows that are "
            f"predicted ({seen}): {parts}"
        )
    fits = [leak for leak in leaks if leak.how in FITTED]
    if unknown := [leak.fit.dataset for leak in leaks if leak.how == UNKNOWN]:
        hint, field = (
            f'put columns of "{unknown[0]}" with all rows, in their dtype',
            "columns",
        )
    elif not all(leak.fit.known for leak in fits):
        hint = (
            "put the columns of the dataset without the scaling, and scale the dataset of the put"
        )
        field = "columns"
    elif any(leak.fit.of_part for leak in fits):
        hint, field = "scale with fit= the windows to train on", "fit"
    elif not fits:
        hint, field = "fill with forward or with a number, which look at no later row", "fill"
    elif first := min(leak.rows[0] for leak in fits):
        hint, field = f"load with fit_rows=(0, {first})", "fit_rows"
        if kept := next((leak.fit for leak in fits if leak.fit.dataset), None):
            hint = f'load "{kept.dataset}" with fit_rows=(0, {first}), and put its columns again'
            if "part" in kept.options:
                hint = (
                    f"load with fit_rows=(0, {first}) what was scaled to "
                    f'"{kept.dataset}", scale it again, and put its columns again'
                )
    else:
        hows = " and the ".join(dict.fromkeys(leak.how for leak in fits))
        hint, field = f"fit on the items to train on alone, or load without the {hows}", "fit_rows"
    return "; ".join(details), hint, field


def check(windows: WindowIndex, parts: Iterable[tuple[str, WindowIndex]]) -> None:
    """Raise an error if a fit, or a fill that looks ahead, used prediction rows of a part.

    Raises:
        LeakageError: it names columns, parts, items and rows.
    """
    leaks = leaks_of(parts)
    if leaks:
        detail, hint, field = described(windows, leaks)
        raise LeakageError(detail, hint=hint, field=field)


def warn(windows: WindowIndex, parts: Iterable[tuple[str, WindowIndex]], stacklevel: int) -> None:
    """Warn about what :func:`check` raises; ``stacklevel`` 3 is the caller's caller."""
    leaks = leaks_of(parts)
    if leaks:
        detail, hint, _ = described(windows, leaks)
        text = printable_lines(f"{detail}\nhint: {hint}")
        warnings.warn(LeakageWarning(text), stacklevel=stacklevel)
