"""Columns that numpy has no dtype for, or no missing value: Python objects and Polars series."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SourceError, show

UNREAD = {
    "Struct": "unnest it, or leave the column out",
    "List": "cast it to pl.Array where all rows are equally long, or leave the column out",
    "Int128": "cast it to pl.Int64 or pl.Float64, or leave the column out",
    "UInt128": "cast it to pl.UInt64 or pl.Float64, or leave the column out",
}
"""Hints for the Polars dtypes that are not read."""

NOT_A_TIME = np.iinfo(np.int64).min
"""The integer that numpy stores NaT as."""


def masked(values: Any, gone: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Values of which some may be missing; floats use NaN for these."""
    values = np.asarray(values)
    return values if values.dtype.kind == "f" or not gone.any() else np.ma.MaskedArray(values, gone)


def of_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Decimals as the nearest float64, and dates, times and their differences as numpy dtypes.

    Other objects are returned as they are.
    """
    first = next((value for value in array if not is_missing(value)), None)
    if isinstance(first, (bool, int, float, np.number, np.bool_)):
        return of_numbers(array)
    if isinstance(first, decimal.Decimal):
        return np.array(
            [
                np.nan if is_missing(value) else decimal_of(row, value)
                for row, value in enumerate(array)
            ]
        )
    if isinstance(first, datetime.datetime) and first.tzinfo is None:
        return of_times(array, "datetime64[us]")
    if isinstance(first, datetime.date) and not isinstance(first, datetime.datetime):
        return of_times(array, "datetime64[D]")
    if isinstance(first, datetime.timedelta):
        return of_times(array, "timedelta64[us]")
    if isinstance(first, datetime.time) and first.tzinfo is None:
        return np.array([since_midnight(row, value) for row, value in enumerate(array)])
    return array


def decimal_of(row: int, value: Any) -> float:
    """A decimal as the nearest float64."""
    try:
        return float(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"row {row + 1:,}: {show(value)} is no number") from error


def of_times(array: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """Dates, times or their differences as numpy dtypes."""
    try:
        return array.astype(kind)
    except (ValueError, TypeError):
        for row, value in enumerate(array):
            try:
                array[row : row + 1].astype(kind)
            except (ValueError, TypeError) as error:
                raise ValueError(f"row {row + 1:,}: {show(value)} is no {kind}") from error
        raise


def since_midnight(row: int, value: Any) -> np.timedelta64:
    """A time of the day as a duration; NaT for a missing one."""
    if is_missing(value):
        return np.timedelta64("NaT", "us")
    if not isinstance(value, datetime.time) or value.tzinfo is not None:
        raise ValueError(f"row {row + 1:,}: {show(value)} is no time of the day without a zone")
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return np.timedelta64(seconds * 1_000_000 + value.microsecond, "us")


def of_polars(name: str, value: Any) -> Any:
    """A Polars series as numpy can convert it.

    Raises:
        SourceError: it is nested, or has integers of more than 64 bits.
    """
    kind = value.dtype
    what = str(kind).partition("(")[0]
    if what in UNREAD:
        raise SourceError(
            f'column "{name}" is {kind}, which is not read', field=name, hint=UNREAD[what]
        )
    if what == "Null":
        return np.full(len(value), np.nan)
    if what == "Time":  # Python's times have no nanoseconds
        return value.to_physical().fill_null(NOT_A_TIME).to_numpy().view("timedelta64[ns]")
    if kind.is_integer() or what == "Boolean":
        return masked(value.fill_null(strategy="zero").to_numpy(), value.is_null().to_numpy())
    return value


def of_numbers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers among missing values, in the dtype that numpy gives them without those.

    Other objects are returned as they are.

    Raises:
        ValueError: no dtype stores all the numbers exactly.
    """
    gone = np.fromiter((is_missing(value) for value in array), np.bool_, len(array))
    numbers = array[~gone].tolist()
    there = np.asarray(numbers)
    if there.dtype.kind not in "iufb":
        return array
    for row, was, value in zip(np.flatnonzero(~gone), numbers, there.tolist(), strict=True):
        if was != value:
            raise ValueError(
                f"row {row + 1:,}: {was} does not fit {there.dtype}, as its other numbers need"
            )
    values = (
        np.full(len(array), np.nan)
        if there.dtype.kind == "f"
        else np.zeros(len(array), there.dtype)
    )
    values[~gone] = there
    return masked(values, gone)


def no_text(name: str, values: Sequence[Any], row: int) -> SourceError:
    """The refusal of a value in a column of objects, the first that is no text."""
    value = values[row]
    lists = no_lists(name, values)
    if lists is not None:
        return lists
    other = next((at for at, one in enumerate(values) if isinstance(one, (str, bytes))), None)
    hint = "give an array of numbers, times or texts, with None where there is no text"
    but = ""
    if other is not None and isinstance(value, (bool, int, float, np.number, np.bool_)):
        but = f", but {show(values[other])} in row {other + 1:,} is"
        hint = (
            "make all values numbers, as pd.to_numeric does, or all texts, with None where one is "
            "missing"
        )
    if isinstance(value, datetime.datetime):
        hint = "times with a zone are to be a pandas Series, which keeps it"
    return SourceError(
        f'row {row + 1:,}, column "{name}": {show(value)} is no text{but}', field=name, hint=hint
    )


def no_lists(name: str, values: Sequence[Any]) -> SourceError | None:
    """The refusal of a column of lists; None if a value is no list."""
    there = [(row, value) for row, value in enumerate(values) if not is_missing(value)]
    if not there or not all(isinstance(one, (list, tuple, np.ndarray)) for _, one in there):
        return None
    first, width = there[0][0], len(there[0][1])
    for row, value in there:
        if len(value) != width:
            return SourceError(
                f'row {row + 1:,}, column "{name}": the list has {count(len(value))}, but that of '
                f"row {first + 1:,} has {width:,}: want lists of one length",
                field=name,
                hint="pad the lists to one length, put one value a row, or leave the column out",
            )
    return SourceError(
        f'row {first + 1:,}, column "{name}": {show(there[0][1])} is a list, want one value',
        field=name,
        hint="np.stack(values) makes one array [rows, n] of lists of one length",
    )


def count(values: int) -> str:
    """A number of values in words."""
    return f"{values:,} value{'' if values == 1 else 's'}"


def is_missing(value: Any) -> bool:
    """Whether an object is a missing value: None, NaN or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except (ValueError, ArithmeticError):  # an array, or a signaling NaN
        return False


def only_missing(array: npt.NDArray[Any]) -> bool:
    """Whether an array of objects has rows, and all of them are missing values."""
    return (
        array.dtype.kind == "O"
        and array.ndim == 1
        and len(array) > 0
        and all(is_missing(value) for value in array)
    )
