"""Rows with missing cells, as FORMAT.md encodes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def missing_stretches(encoded: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The first rows and ends of the runs of rows with missing cells, int64, ascending.

    The encoding has three unsigned LEB128 varints for each run: rows since the end of the run
    before, rows - 1, cells - 1.
    """
    data = np.frombuffer(encoded, np.uint8)
    ends = np.flatnonzero(data < 0x80)
    if not len(ends):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = np.concatenate([[0], ends[:-1] + 1])
    place = np.arange(len(data)) - np.repeat(starts, ends - starts + 1)
    values = np.add.reduceat((data & 0x7F).astype(np.int64) << (7 * place), starts)
    gaps, lengths = values[0::3], values[1::3] + 1
    end = np.cumsum(gaps + lengths)
    first = end - lengths
    # Runs that touch have different numbers of missing cells; they are merged.
    fresh = np.concatenate([[True], gaps[1:] > 0])
    last = np.concatenate([fresh[1:], [True]])
    return first[fresh], end[last]
