"""Every position of an item: a window, or the reason why it is none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._data.padding import first_row
from .index import WindowIndex

Int64s = npt.NDArray[np.int64]

REASONS = ("bounds", "item_end", "max_step", "max_missing", "split")
"""The reasons, in the order in which they are checked; see docs/WINDOWS.md."""


class Positions:
    """The positions of items under a spec without cuts.

    The daemon says which windows exist under the spec, and under the spec that admits all missing
    values. The client computes where the positions are.
    """

    def __init__(self, windows: WindowIndex) -> None:
        whole = windows._whole()
        self.windows = whole
        self._any = whole._with(max_missing=None)
        self._data = whole.dataset
        spec = whole.spec
        self._rows, self._time = spec.get("rows"), spec.get("time")
        self._context: int = spec["context_length"]
        self._predicts: bool = bool(spec.get("prediction_length", 0))
        self._least: int = spec.get("min_context", self._context)
        self._stride: int = spec.get("stride", 1)
        self._dilation: int = spec.get("dilation", 1)
        self._from_end: bool = spec.get("anchor", "start") == "end"
        self._last = (
            self._context + spec.get("gap", 0) + spec.get("prediction_length", 0) - 1
        ) * self._dilation

    def of(self, code: int) -> tuple[Int64s, npt.NDArray[np.int8]]:
        """The starts of an item's positions, ascending, and -1 or the reason's number for each.

        -1 is a window.
        """
        n = int(self._data.items._rows[code])
        first, end = self.admitted(code)
        low = -self._last - 1
        anchor = end - 1 - self._last if self._from_end else first
        starts = np.arange(
            anchor - (anchor - low) // self._stride * self._stride, n, self._stride, dtype=np.int64
        )
        last = starts + self._last
        padded = self._padded(starts, first, end)
        there = (last >= 0) & (last < n) if self._from_end else (starts >= 0) | padded
        starts, last, padded = starts[there], last[there], padded[there]
        over_start, over_end = (starts < first) & ~padded, last >= end
        bounds = (over_start & (first > 0)) | (over_end & (end < n))
        why = np.full(len(starts), -1, np.int8)
        why[~np.isin(starts, self.windows._index().starts(code))] = REASONS.index("max_missing")
        why[~np.isin(starts, self._any._index().starts(code))] = REASONS.index("max_step")
        why[over_start | over_end] = REASONS.index("item_end")
        why[bounds] = REASONS.index("bounds")
        return starts, why

    def admitted(self, code: int) -> tuple[int, int]:
        """The rows of an item that ``rows`` or ``time`` admit, half-open."""
        n = int(self._data.items._rows[code])
        if self._rows is not None:
            first, end, _ = slice(*self._rows).indices(n)
            return first, max(first, end)
        if self._time is not None and self._data.time is not None:
            base = int(self._data.items._row_offset[code])
            times = self._data._mapped(self._data.time)[base : base + n]
            low, high = (None if bound is None else first_row(times, bound) for bound in self._time)
            first, end = low or 0, n if high is None else high
            return first, max(first, end)
        return 0, n

    def _padded(self, starts: Int64s, first: int, end: int) -> npt.NDArray[np.bool_]:
        """Which starts before the first admitted row min_context admits."""
        if first >= end:
            return np.zeros(len(starts), np.bool_)
        real = self._context - np.maximum(-(-(first - starts) // self._dilation), 0)
        behind = starts + (self._context if self._predicts else self._context - 1) * self._dilation
        padded: npt.NDArray[np.bool_] = (starts < first) & (real >= self._least) & (behind >= first)
        return padded & (self._least < self._context)
