"""Numbers that are Python objects as arrays that store each of them exactly."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import show
from .object_kinds import CellError, is_missing

EXACT = 2**53
"""The integer up to which float64 stores all integers."""

DECIMALS: np.dtype[np.float64] = np.dtype(np.float64, metadata={"decimals": True})
"""The dtype of decimals as float64, if all are whole numbers or one is ``EXACT`` or more.

It is float64 with metadata, which views keep. Items and times of this dtype become int64. For
integer dtypes the daemon refuses numbers from ``EXACT`` on, which may have been rounded.
"""

HINT_FLOATS = 'np.asarray(values, "float64") makes floats of them, the nearest ones'


def masked(values: Any, gone: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Values of which some may be missing; floats use NaN for these."""
    values = np.asarray(values)
    return values if values.dtype.kind == "f" or not gone.any() else np.ma.MaskedArray(values, gone)


def of_numbers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers in the dtype that numpy gives them without the missing ones.

    Decimals are the nearest float64.

    Raises:
        CellError: no dtype stores all the numbers exactly.
    """
    if any(isinstance(value, decimal.Decimal) for value in array):
        floats = np.array([nearest(place, value) for place, value in enumerate(array)])
        return floats.astype(DECIMALS) if has_large(floats) or all(map(is_whole, array)) else floats
    gone = np.fromiter((is_missing(value) for value in array), np.bool_, len(array))
    there = np.asarray(array[~gone].tolist())
    if there.dtype.kind == "O":
        place = next(place for place, value in enumerate(array) if is_too_large(value))
        raise CellError(place, f"{array[place]} does not fit 64 bits", HINT_FLOATS)
    values: npt.NDArray[Any] = np.zeros(len(array), there.dtype)
    if there.dtype.kind == "f":
        values = np.full(len(array), np.nan, np.result_type(there, np.float64))
    values[~gone] = there
    check_rounding(values, array)
    return masked(values, gone)


def are_decimals(array: npt.NDArray[Any]) -> bool:
    """Whether the values have the dtype ``DECIMALS``."""
    return array.dtype.metadata == DECIMALS.metadata


def are_decimals_together(pieces: Sequence[npt.NDArray[Any]]) -> bool:
    """Whether several arrays as one have the dtype ``DECIMALS``."""
    decimals = [piece for piece in pieces if are_decimals(piece)]
    floats = [piece for piece in pieces if not are_decimals(piece) and piece.dtype.kind == "f"]
    if any(map(has_large, decimals)):
        return True
    return bool(decimals) and all(np.isnan(piece).all() for piece in floats)


def has_large(floats: npt.NDArray[Any]) -> bool:
    """Whether the absolute value of a number is ``EXACT`` or more."""
    return bool((np.abs(floats) >= EXACT).any())


def is_whole(value: Any) -> bool:
    """Whether a value is a decimal without digits after the point, an integer, or missing."""
    if isinstance(value, decimal.Decimal):
        return is_missing(value) or value == value.to_integral_value()
    return is_integer(value) and not isinstance(value, bool)


def is_too_large(value: Any) -> bool:
    """Whether a value is an integer that neither int64 nor uint64 stores."""
    return isinstance(value, int) and not -(2**63) <= value < 2**64


def check_rounding(floats: npt.NDArray[Any], numbers: Sequence[Any] | npt.NDArray[Any]) -> None:
    """Check that no number is an integer that became another one as a float.

    Integers alone are no floats either, which numpy makes of them if int64 and uint64 do not
    suffice.

    Raises:
        CellError: an integer does not fit the dtype of the others.
    """
    if floats.dtype.kind != "f":
        return
    for place in np.flatnonzero(np.abs(floats) >= EXACT).tolist():
        number = numbers[place]
        if not isinstance(number, (int, np.integer)):
            continue
        dtype = floats.dtype if int(number) != int(floats[place]) else None
        if dtype is None and number >= 2**63 and all(map(is_integer, numbers)):
            dtype = np.dtype(np.int64)
        if dtype is not None:
            raise CellError(
                place, f"{number} does not fit {dtype}, as its other numbers need", HINT_FLOATS
            )


def is_integer(value: Any) -> bool:
    """Whether a value is an integer, or missing."""
    return isinstance(value, (int, np.integer)) or is_missing(value)


def nearest(place: int, value: Any) -> float:
    """A decimal as the nearest float64, and another number as an equal one."""
    if is_missing(value):
        return math.nan
    try:
        number = float(value)
    except (ValueError, OverflowError) as error:  # of a signaling NaN, and of a large integer
        raise CellError(place, f"{show(value)} is no number", "give None instead") from error
    if math.isinf(number) and isinstance(value, decimal.Decimal) and value.is_finite():
        raise CellError(place, f"{show(value)} does not fit float64", "leave such rows out")
    if isinstance(value, (int, np.integer)) and int(value) != number:
        raise CellError(
            place, f"{value} does not fit float64, as its other numbers need", HINT_FLOATS
        )
    return number
