"""Which values were observed: those that the source had, and not those that a load filled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SpecError
from .manifest import Column
from .missing_rows import missing_runs, stretches
from .text_codes import MISSING

Int64s = npt.NDArray[np.int64]


def filled_runs(column: Column, encoded: bytes) -> tuple[Int64s, Int64s]:
    """The first rows and ends of the runs of rows whose cells were all filled.

    Args:
        column: the column.
        encoded: which cells were missing before the fill, as FORMAT.md encodes them.

    Raises:
        SpecError: the generation does not store which cells were filled.
    """
    if column.steps_of is not None and column.steps_of.changed:
        raise SpecError(
            f'column "{column.name}" is a part or a cast of column "{column.steps_of.column}" of '
            f'dataset "{column.steps_of.dataset}": the generation does not store which of its '
            "values were filled",
            field="columns",
            hint="put the whole column; values of a copy all count as observed",
        )
    first, end, cells = missing_runs(encoded)
    partly = np.flatnonzero(cells != column.width)
    if len(partly):
        raise SpecError(
            f'column "{column.name}": the generation stores that {int(cells[partly[0]]):,} of '
            f"{column.width:,} values of row {int(first[partly[0]]):,} were filled, but not which",
            field="columns",
            hint="load its features as columns of their own, or load without fill",
        )
    return stretches(first, end)


def observed(
    column: Column, values: npt.NDArray[Any], rows: Int64s, filled: tuple[Int64s, Int64s]
) -> npt.NDArray[np.bool_]:
    """Which stored values were observed.

    Args:
        column: their column.
        values: the values, of shape ``[*rows.shape]`` or ``[*rows.shape, n]``.
        rows: their rows in the dataset.
        filled: the first rows and ends of the runs of filled rows.
    """
    seen = np.ones(values.shape, np.bool_)
    if values.dtype.kind == "f":
        np.equal(values, values, out=seen)  # but NaN
    elif column.dtype == "text":
        np.not_equal(values, MISSING, out=seen)
    first, end = filled
    if len(first):
        run = np.searchsorted(first, rows, side="right") - 1
        seen[(run >= 0) & (rows < end[run])] = False
    return seen
