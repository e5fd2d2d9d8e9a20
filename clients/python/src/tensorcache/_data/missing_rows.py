"""Rows with missing cells, as FORMAT.md encodes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._errors import SourceError

Int64s = npt.NDArray[np.int64]


def missing_runs(encoded: bytes) -> tuple[Int64s, Int64s, Int64s]:
    """The runs of rows that lack the same number of cells: first rows, ends, cells; ascending.

    The encoding has three unsigned LEB128 varints for each run: rows since the end of the run
    before, rows - 1, cells - 1.

    Raises:
        SourceError: the list is damaged.
    """
    data = np.frombuffer(encoded, np.uint8)
    ends = np.flatnonzero(data < 0x80)
    if not len(ends):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    if len(ends) % 3 or ends[-1] != len(data) - 1:
        raise damaged()
    starts = np.concatenate([[0], ends[:-1] + 1])
    place = np.arange(len(data)) - np.repeat(starts, ends - starts + 1)
    values = np.add.reduceat((data & 0x7F).astype(np.int64) << (7 * place), starts)
    lengths = values[1::3] + 1
    end = np.cumsum(values[0::3] + lengths)
    return end - lengths, end, values[2::3] + 1


def feature_lists(encoded: bytes, width: int) -> list[bytes]:
    """The lists of runs of a column's features; an unsigned LEB128 varint before each has its size.

    Raises:
        SourceError: they are not ``width`` lists.
    """
    lists, at = [], 0
    for _ in range(width):
        size = shift = 0
        while True:
            if at == len(encoded):
                raise damaged()
            byte = encoded[at]
            size, at, shift = size | (byte & 0x7F) << shift, at + 1, shift + 7
            if byte < 0x80:
                break
        lists.append(encoded[at : at + size])
        at += size
    if at != len(encoded):
        raise damaged()
    return lists


def row_bits(first: Int64s, end: Int64s, rows: int) -> npt.NDArray[np.uint8]:
    """One bit a row, the lowest first: 1 for the rows of ascending runs that do not overlap.

    Raises:
        SourceError: a run is not in the rows.
    """
    if len(end) and end[-1] > rows:
        raise damaged()
    change = np.zeros(rows + 1, np.int8)
    change[first] += 1
    change[end] -= 1
    return np.packbits(np.cumsum(change[:-1], dtype=np.int8).view(np.bool_), bitorder="little")


def damaged() -> SourceError:
    """The error for a list that no load has written."""
    return SourceError(
        "a list of filled cells is damaged",
        type="corrupt",
        hint="`tensorcache verify` names the damaged files; remove the dataset and load it again",
    )


def stretches(first: Int64s, end: Int64s) -> tuple[Int64s, Int64s]:
    """The first rows and ends of what ascending runs cover; runs that touch are merged."""
    apart = first[1:] > end[:-1]
    edge = np.ones(min(1, len(first)), np.bool_)
    return first[np.concatenate([edge, apart])], end[np.concatenate([apart, edge])]
