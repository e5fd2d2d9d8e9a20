"""The first row of an item that a spec admits: rows before it are padding."""

from __future__ import annotations

import bisect
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from .columns import Columns

Int64s = npt.NDArray[np.int64]


class FirstRows:
    """The first rows of items under a spec: 0, unless its ``rows`` or ``time`` set a bound.

    Attributes:
        padded: whether windows may begin before them.
    """

    def __init__(self, data: Columns, spec: dict[str, Any]) -> None:
        self._data = data
        self._rows: int | None = (spec.get("rows") or (None,))[0]
        self._time: str | int | None = (spec.get("time") or (None,))[0]
        self.padded: bool = spec.get("min_context", spec["context_length"]) < spec["context_length"]

    def of(self, item: int) -> int:
        """The first row of an item; 0 without padding, when it is not needed."""
        if not self.padded:
            return 0
        n = int(self._data.items._rows[item])
        if self._rows is not None:
            return max(0, n + self._rows) if self._rows < 0 else min(self._rows, n)
        if self._time is not None and self._data.time is not None:
            base = int(self._data.items._row_offset[item])
            return first_row(self._data._mapped(self._data.time)[base : base + n], self._time)
        return 0

    def of_each(self, items: Int64s) -> Int64s:
        """The first rows of several items."""
        if not self.padded or (self._rows is None and self._time is None):
            return np.zeros(len(items), np.int64)
        unique, back = np.unique(items, return_inverse=True)
        return np.asarray([self.of(int(item)) for item in unique], np.int64)[back]

    def times(self, items: Int64s, starts: Int64s) -> npt.NDArray[Any] | None:
        """The time of each window's start row, or of its item's first row.

        None without a time column.
        """
        if self._data.time is None:
            return None
        rows = np.maximum(starts, self.of_each(items)) if self.padded else starts
        times: npt.NDArray[Any] = self._data._mapped(self._data.time)[
            self._data.items._row_offset[items] + rows
        ]
        return times


FORM = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))")
"""The instants that the daemon writes, with an offset where the year in UTC is not 0 to 9999."""

NANOSECONDS = {"D": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def moment(bound: str | int, times: npt.NDArray[Any]) -> int:
    """The first integer of a time column that is not before a bound of a spec.

    It is computed in Python integers, because numpy silently compares bounds wrongly that do not
    fit the column's unit.

    Args:
        bound: an instant as the daemon writes it, or an integer in the column's unit.
        times: the column, datetime64 or int64.
    """
    if not isinstance(bound, str):
        return bound
    match = FORM.fullmatch(bound)
    assert match is not None
    second = int(np.datetime64(match[1], "s").astype(np.int64))
    if match[3]:
        second -= int(match[3] + "1") * 60 * (60 * int(match[4]) + int(match[5]))
    nanosecond = second * 10**9 + int((match[2] or "0").ljust(9, "0")[:9])
    return -(-nanosecond // NANOSECONDS[np.datetime_data(times.dtype)[0]])


def first_row(times: npt.NDArray[Any], bound: str | int) -> int:
    """The first of the ascending times that is not before the bound."""
    return bisect.bisect_left(times.view(np.int64), moment(bound, times))
