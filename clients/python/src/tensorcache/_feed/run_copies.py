"""Views of the windows of a batch over a private copy of their rows.

Neighbouring windows have most of their rows in common: 256 windows of 336 rows have 591 rows, which
are 0.7 % of what the windows hold. So a copy of the rows costs little, and what a trainer writes
into it shows in no other batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

Array = npt.NDArray[Any]
Copier = Callable[[int, int], Array]
"""Makes the windows ``[B, C, F]`` of a batch, of its first row and B."""


class Run:
    """How the rows of so many windows are copied, and how the windows lie in the copy.

    Args:
        matrix: the columns, ``[rows, F]``.
        span: the rows of a window, counted from its first context row.
        stride: rows between the starts of neighbouring windows.
        windows: their number.

    Attributes:
        rows: for each first context row the rows of the windows, ``[n, rows, F]``, or ``[n, F,
            rows]`` if the columns are apart in memory: they are copied one by one.
        shape: of the windows, ``(B, C, F)``.
        strides: of the windows in a copy of ``rows[i]``.
    """

    def __init__(
        self, matrix: Array, span: npt.NDArray[np.int64], stride: int, windows: int
    ) -> None:
        first, dilation = int(span[0]), int(span[1] - span[0]) if len(span) > 1 else 1
        length = (windows - 1) * stride + int(span[-1]) - first + 1
        count, features = max(0, len(matrix) - first - length + 1), matrix.shape[1]
        (row, feature), size = matrix.strides, matrix.itemsize
        if row < feature:
            shape, strides = (count, features, length), (row, feature, row)
            row_copied, feature_copied = size, length * size
        else:
            shape, strides = (count, length, features), (row, row, feature)
            row_copied, feature_copied = features * size, size
        self.rows: Array = as_strided(matrix[first:], shape, strides, writeable=False)
        self.shape = windows, len(span), features
        self.strides = row_copied * stride, row_copied * dilation, feature_copied


def run_copier(
    matrix: Array, span: npt.NDArray[np.int64], stride: int, full: int, channels_first: bool
) -> Copier:
    """A function that copies the rows of a batch and returns its windows as a view over them.

    Args:
        matrix: as for :class:`Run`.
        span: as for :class:`Run`.
        stride: as for :class:`Run`.
        full: the windows of a full batch.
        channels_first: whether windows are ``[B, F, C]``.
    """
    dtype, new = matrix.dtype, np.ndarray

    def places(windows: int) -> tuple[Array, tuple[int, ...], tuple[int, ...]]:
        run = Run(matrix, span, stride, windows)
        (b, c, f), (to_b, to_c, to_f) = run.shape, run.strides
        if channels_first:
            return run.rows, (b, f, c), (to_b, to_f, to_c)
        return run.rows, run.shape, run.strides

    usual_rows, usual_shape, usual_strides = places(full)

    def copy(row: int, windows: int) -> Array:
        if windows == full:
            made: Array = new(usual_shape, dtype, usual_rows[row].copy(), 0, usual_strides)
        else:
            rows, shape, strides = places(windows)
            made = new(shape, dtype, rows[row].copy(), 0, strides)
        return made

    return copy
