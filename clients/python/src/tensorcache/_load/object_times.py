"""Dates, times, durations and times of the day of Python, numpy and pandas, without a loss."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import show
from .object_kinds import CellError, is_missing

MOST_DAYS = np.iinfo(np.int64).max // (24 * 60 * 60 * 10**6)
"""The days that fit 64 bits of microseconds, which ``datetime.timedelta`` may exceed."""

EXACT: dict[type, str] = {datetime.datetime: "datetime64[us]", datetime.date: "datetime64[D]"}
"""The dtypes that store all values of Python's types."""

HINT_UNIT = "leave such rows out, or give all values in a coarser unit"


def of_times(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Dates and times, or durations, in the finest unit that one has; NaT where one is missing.

    Raises:
        CellError: a value does not fit 64 bits of that unit.
    """
    types = set(map(type, array))
    if len(types) == 1 and types <= EXACT.keys():
        return array.astype(EXACT[types.pop()])
    places: dict[np.dtype[Any], list[int]] = {}
    scalars: dict[np.dtype[Any], list[Any]] = {}
    for place, value in enumerate(array):
        if not is_missing(value):
            scalar = scalar_of(value)
            dtype = dtype_of(place, scalar)
            places.setdefault(dtype, []).append(place)
            scalars.setdefault(dtype, []).append(scalar)
    unit = np.result_type(*places)
    times = np.full(len(array), np.array("NaT", unit))
    for dtype, rows in places.items():
        given = np.array(scalars[dtype], dtype)
        fine = given.astype(unit)
        wrong = np.flatnonzero(fine.astype(dtype) != given)
        if len(wrong):
            raise CellError(
                rows[wrong[0]],
                f"{show(array[rows[wrong[0]]])} does not fit {unit}, as its other values need",
                HINT_UNIT,
            )
        times[rows] = fine
    return times


def scalar_of(value: Any) -> Any:
    """A time or duration of pandas as that of numpy, with its unit; others as they are."""
    of_pandas = getattr(value, "to_datetime64", None) or getattr(value, "to_timedelta64", None)
    return of_pandas() if of_pandas else value


def dtype_of(place: int, value: Any) -> np.dtype[Any]:
    """The dtype of numpy that stores a value exactly."""
    if isinstance(value, np.generic):
        return np.dtype(value.dtype)
    if isinstance(value, datetime.timedelta):
        if abs(value.days) >= MOST_DAYS:
            raise CellError(place, f"{show(value)} does not fit 64 bits of microseconds", HINT_UNIT)
        return np.dtype("m8[us]")
    return np.dtype("M8[us]" if isinstance(value, datetime.datetime) else "M8[D]")


def of_clocks(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Times of the day as durations since midnight; NaT where one is missing."""
    return np.array([since_midnight(value) for value in array])


def since_midnight(value: Any) -> np.timedelta64:
    """A time of the day as a duration; NaT for a missing one."""
    if is_missing(value):
        return np.timedelta64("NaT", "us")
    seconds: int = (value.hour * 60 + value.minute) * 60 + value.second
    microseconds: int = seconds * 1_000_000 + value.microsecond
    return np.timedelta64(microseconds, "us")
