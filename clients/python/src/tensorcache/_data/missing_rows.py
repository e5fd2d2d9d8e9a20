"""Rows with missing cells, as FORMAT.md encodes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]


def missing_runs(encoded: bytes) -> tuple[Int64s, Int64s, Int64s]:
    """The runs of rows that lack the same number of cells: first rows, ends, cells; ascending.

    The encoding has three unsigned LEB128 varints for each run: rows since the end of the run
    before, rows - 1, cells - 1.
    """
    data = np.frombuffer(encoded, np.uint8)
    ends = np.flatnonzero(data < 0x80)
    if not len(ends):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = np.concatenate([[0], ends[:-1] + 1])
    place = np.arange(len(data)) - np.repeat(starts, ends - starts + 1)
    values = np.add.reduceat((data & 0x7F).astype(np.int64) << (7 * place), starts)
    lengths = values[1::3] + 1
    end = np.cumsum(values[0::3] + lengths)
    return end - lengths, end, values[2::3] + 1


def stretches(first: Int64s, end: Int64s) -> tuple[Int64s, Int64s]:
    """The first rows and ends of what ascending runs cover; runs that touch are merged."""
    apart = first[1:] > end[:-1]
    edge = np.ones(min(1, len(first)), np.bool_)
    return first[np.concatenate([edge, apart])], end[np.concatenate([apart, edge])]
