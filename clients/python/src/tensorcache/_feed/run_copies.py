"""Views of the windows of a batch over a private copy of their rows.

Neighbouring windows share most of their rows: at stride 1, 256 windows of 336 rows have 591 rows,
which are 0.7 % of what the windows hold. So a copy of the rows costs little, and what a trainer
writes into it shows in no other batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

Array = npt.NDArray[Any]
Copier = Callable[[int, int], Array]
"""Takes the dataset's row of the first window's first context row, and the number of windows B.

Returns a view over a new copy: ``[B, L, F]`` for a part of L rows, or ``[B, F, L]`` with
``channels_first``, of the columns' dtype.
"""
Place = tuple[Array, tuple[int, ...], tuple[int, ...]]
"""What :func:`place_of` returns."""


def run_copier(
    matrix: Array,
    span: npt.NDArray[np.int64],
    stride: int,
    dilation: int,
    channels_first: bool,
    read_only: bool,
) -> Copier:
    """A function that copies the rows of a batch and returns its windows as a view over them.

    Args:
        matrix: the columns, ``[rows, F]``.
        span: the L rows of a window's part, counted from its first context row.
        stride: rows between the starts of neighbouring windows.
        dilation: rows between neighbours of ``span``.
        channels_first: whether windows are ``[B, F, L]``.
        read_only: whether numpy refuses to write into the windows.
    """
    dtype, new = matrix.dtype, np.ndarray
    places: dict[int, Place] = {}

    def copy(row: int, windows: int) -> Array:
        place = places.get(windows)
        if place is None:
            place = places[windows] = place_of(
                matrix, span, stride, dilation, windows, channels_first
            )
        source, shape, strides = place
        rows = source[row].copy()
        if read_only:
            rows.setflags(write=False)
        made: Array = new(shape, dtype, rows, 0, strides)
        return made

    return copy


def place_of(
    matrix: Array,
    span: npt.NDArray[np.int64],
    stride: int,
    dilation: int,
    windows: int,
    channels_first: bool,
) -> Place:
    """What is copied for a number of windows, and where the windows are in the copy.

    ``source[i]`` is what is copied if the first context row is ``i``: the rows ``[R, F]`` from the
    first window's first to the last window's last, or the rows of the windows, ``[B, L, F]``, if
    these are fewer. Columns that are apart in memory stay so, with F in front: a copy is several
    times faster than with the values of a row side by side.

    Returns:
        ``source``, and the shape and the strides of the windows over a dense copy of ``source[i]``.
    """
    first, length = int(span[0]), len(span)
    rows = (windows - 1) * stride + int(span[-1]) - first + 1
    count, features = max(0, len(matrix) - first - rows + 1), matrix.shape[1]
    (row, feature), size = matrix.strides, matrix.itemsize
    apart, fewer = row < feature, windows * length < rows
    copied = (windows, length) if fewer else (rows,)
    places = (row * stride, row * dilation) if fewer else (row,)
    between = size if apart else size * features  # neighbouring rows of the copy
    to_b, to_l = (between * length, between) if fewer else (between * stride, between * dilation)
    if apart:
        copied, places = (features, *copied), (feature, *places)
        to_f = size * (windows * length if fewer else rows)
    else:
        copied, places = (*copied, features), (*places, feature)
        to_f = size
    source = as_strided(matrix[first:], (count, *copied), (row, *places), writeable=False)
    if channels_first:
        return source, (windows, features, length), (to_b, to_f, to_l)
    return source, (windows, length, features), (to_b, to_l, to_f)
