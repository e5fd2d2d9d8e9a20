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


class RunCopy:
    """Which bytes of so many windows are copied, and how the windows lie in the copy.

    Args:
        matrix: the columns, ``[rows, F]``.
        span: the rows of a window, counted from its first context row.
        stride: rows between the starts of neighbouring windows.
        windows: their number, B.
        channels_first: whether windows are ``[B, F, C]``.

    Attributes:
        source: ``source[i]`` is what is copied if the first context row is ``i``: the rows, ``[R,
            F]``; columns that are apart in memory one by one, ``[F, R]``; or the windows, if they
            hold no more than the rows from the first to the last one.
        shape: of the windows.
        strides: of the windows in the copy.
    """

    def __init__(
        self,
        matrix: Array,
        span: npt.NDArray[np.int64],
        stride: int,
        windows: int,
        channels_first: bool,
    ) -> None:
        first, dilation = int(span[0]), int(span[1] - span[0]) if len(span) > 1 else 1
        rows = (windows - 1) * stride + int(span[-1]) - first + 1
        count, features = max(0, len(matrix) - first - rows + 1), matrix.shape[1]
        (row, feature), size = matrix.strides, matrix.itemsize
        shape = windows, len(span), features
        copied: tuple[int, ...]
        places: tuple[int, ...]
        if windows * len(span) <= rows:
            copied, places = shape, (row * stride, row * dilation, feature)
            strides = len(span) * features * size, features * size, size
        elif row < feature:
            copied, places = (features, rows), (feature, row)
            strides = size * stride, size * dilation, rows * size
        else:
            copied, places = (rows, features), (row, feature)
            strides = features * size * stride, features * size * dilation, size
        self.source: Array = as_strided(
            matrix[first:], (count, *copied), (row, *places), writeable=False
        )
        self.shape, self.strides = shape, strides
        if channels_first:
            (b, c, f), (to_b, to_c, to_f) = shape, strides
            self.shape, self.strides = (b, f, c), (to_b, to_f, to_c)


def run_copier(
    matrix: Array, span: npt.NDArray[np.int64], stride: int, full: int, channels_first: bool
) -> Copier:
    """A function that copies the rows of a batch and returns its windows as a view over them.

    Args:
        matrix: as for :class:`RunCopy`.
        span: as for :class:`RunCopy`.
        stride: as for :class:`RunCopy`.
        full: the windows of a full batch.
        channels_first: as for :class:`RunCopy`.
    """
    dtype, new = matrix.dtype, np.ndarray
    usual = RunCopy(matrix, span, stride, full, channels_first)
    source, shape, strides = usual.source, usual.shape, usual.strides

    def copy(row: int, windows: int) -> Array:
        if windows == full:
            made: Array = new(shape, dtype, source[row].copy(), 0, strides)
        else:
            run = RunCopy(matrix, span, stride, windows, channels_first)
            made = new(run.shape, dtype, run.source[row].copy(), 0, run.strides)
        return made

    return copy
