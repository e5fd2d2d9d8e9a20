"""Values without a dtype, such as lists: arrays of them in which no value has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .object_columns import of_objects
from .object_kinds import CellError, is_missing
from .object_numbers import EXACT, check_rounding


def is_untyped(value: Any) -> bool:
    """Whether a column has Python objects and no dtype that says what they are."""
    kind = getattr(value, "dtype", None)
    if str(kind) in ("null[pyarrow]", "Null"):  # of pandas and of Polars
        return True
    return kind is None or (isinstance(kind, np.dtype) and kind.kind == "O")


def unchanged(value: Any, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What numpy made of ``value``, or another array if that has changed a value.

    numpy rounds integers beside floats, makes texts of numbers beside texts and durations of
    numbers beside durations, and lets times overflow.

    Raises:
        CellError: no dtype stores all the values.
    """
    kind = array.dtype.kind
    if array.ndim not in (1, 2):
        return array
    if kind == "O":
        return of_rows(of_objects, array)
    if not is_untyped(value) or hasattr(value, "__array__"):
        return array
    if kind in "US":
        return np.array(value, object)
    if kind in "mM" and not np.isnat(array).all():
        return of_rows(of_objects, objects_of(value, array.shape))
    if kind == "f":
        check_integers(array, value)
    return array


def of_rows(
    read: Callable[[npt.NDArray[Any]], npt.NDArray[Any]], array: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """What ``read`` makes of the values one behind the other, in the shape of ``array``."""
    try:
        return read(array.reshape(-1)).reshape(array.shape)
    except CellError as error:
        error.width = array.shape[1] if array.ndim == 2 else 1
        raise


def check_integers(array: npt.NDArray[Any], rows: Iterable[Any]) -> None:
    """Check that ``array``, which numpy made of rows, has all their integers exactly.

    Raises:
        CellError: an integer was rounded.
    """
    if array.dtype.kind == "f" and (np.abs(array) >= EXACT).any():
        numbers = objects_of(rows, array.shape).reshape(-1)

        def check(floats: npt.NDArray[Any]) -> npt.NDArray[Any]:
            check_rounding(floats, numbers)
            return floats

        of_rows(check, array)


def objects_of(rows: Iterable[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Rows of values as an array of objects, None in rows that are missing."""
    flat: Iterable[Any] = rows
    if len(shape) == 2:
        gone = [None] * shape[1]
        flat = (one for row in rows for one in (gone if is_missing(row) else row))
    return np.fromiter(map(scalar, flat), object, int(np.prod(shape))).reshape(shape)


def scalar(value: Any) -> Any:
    """An array of no dimension as its value; others as they are."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
