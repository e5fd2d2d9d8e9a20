"""Which values were observed: those that the source had, and not those that a load filled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SpecError
from .manifest import Column
from .missing_rows import feature_lists, missing_runs, row_bits
from .text_codes import MISSING

Int64s = npt.NDArray[np.int64]


Bits = npt.NDArray[np.uint8]


def filled_bits(column: Column, rows: bytes, cells: bytes) -> Bits | None:
    """One bit a value: 1 if a load filled it; None if it filled none.

    Args:
        column: the column.
        rows: the rows with missing values before the fill, as FORMAT.md encodes them.
        cells: those rows by feature; empty if the generation has no such lists.

    Returns:
        ``[ceil(rows / 8)]`` if all values of each of these rows were filled, else ``[ceil(rows /
        8), n]``. Bit i of byte b is that of row 8 · b + i.

    Raises:
        SpecError: the generation does not store which values were filled.
        SourceError: the lists are damaged.
    """
    of, filled = column.steps_of, column.part_of_filled
    if filled is not None:
        raise SpecError(
            f'column "{column.name}" is a part or a cast of column "{filled["column"]}" of dataset '
            f'"{filled["dataset"]}": the generation does not store which of its values were filled',
            field="columns",
            hint="put the whole column, at the daemon of that dataset; values of a copy all count "
            "as observed",
        )
    count = column.shape[0]
    if cells:
        lists = (missing_runs(one)[:2] for one in feature_lists(cells, column.width))
        return np.stack([row_bits(first, end, count) for first, end in lists], axis=1)
    first, end, values = missing_runs(rows)
    partly = np.flatnonzero(values != column.width)
    if len(partly):
        raise SpecError(
            f'column "{column.name}": {int(values[partly[0]]):,} of {column.width:,} values of row '
            f"{int(first[partly[0]]):,} were filled, and version 0.1 did not store which",
            field="columns",
            hint="remove the dataset and load it again from its sources"
            + (f'; before, dataset "{of.dataset}", of which the column is' if of else ""),
        )
    return row_bits(first, end, count) if len(first) else None


def observed(
    column: Column, values: npt.NDArray[Any], rows: Int64s, filled: Bits | None
) -> npt.NDArray[np.bool_]:
    """Which stored values were observed.

    Args:
        column: their column.
        values: the values, of shape ``[*rows.shape]`` or ``[*rows.shape, n]``.
        rows: their rows in the dataset.
        filled: which values of the column a load filled, see :func:`filled_bits`.
    """
    seen = np.ones(values.shape, np.bool_)
    if values.dtype.kind == "f":
        np.equal(values, values, out=seen)  # but NaN
    elif column.dtype == "text":
        np.not_equal(values, MISSING, out=seen)
    if filled is not None:
        bytes_of_rows, bit = filled[rows >> 3], (rows & 7).astype(np.uint8)
        wide = bytes_of_rows.ndim > bit.ndim
        seen[(bytes_of_rows >> (bit[..., None] if wide else bit)) & 1 != 0] = False
    return seen
