"""The daemon's index: runs of windows, looked up by number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]


class Runs:
    """Runs of windows of one item whose starts are one stride apart.

    Windows are numbered through all runs in order; finding one is a binary search.

    Args:
        triples: little-endian int64 triples (item, first start, count), as the daemon sends them.
        stride: rows between neighbouring starts of a run.
    """

    def __init__(self, triples: bytes, stride: int) -> None:
        table = np.frombuffer(triples, "<i8").reshape(-1, 3)
        self._item: Int64s = np.ascontiguousarray(table[:, 0])
        self._first: Int64s = np.ascontiguousarray(table[:, 1])
        self._end: Int64s = np.cumsum(table[:, 2])
        self._begin: Int64s = self._end - table[:, 2]
        self._stride = stride

    @property
    def runs(self) -> tuple[Int64s, Int64s, Int64s]:
        """Item, first start and count of each run, three arrays int64 ``[runs]``."""
        return self._item, self._first, self._end - self._begin

    def places(self, numbers: Int64s) -> tuple[Int64s, Int64s]:
        """The item codes and start rows of windows; every number must be below their count."""
        run = np.searchsorted(self._end, numbers, side="right")
        return self._item[run], self._first[run] + (numbers - self._begin[run]) * self._stride

    def place(self, number: int) -> tuple[int, int]:
        """The item code and start row of one window."""
        run: Any = np.searchsorted(self._end, number, side="right")
        return int(self._item[run]), int(
            self._first[run] + (number - self._begin[run]) * self._stride
        )

    def starts(self, item: int) -> Int64s:
        """The start rows of an item's windows, ascending."""
        low, high = np.searchsorted(self._item, [item, item + 1])
        if low == high:
            return np.empty(0, np.int64)
        count = self._end[low:high] - self._begin[low:high]
        within = np.arange(count.sum()) - np.repeat(self._begin[low:high] - self._begin[low], count)
        starts: Int64s = np.repeat(self._first[low:high], count) + within * self._stride
        return starts
