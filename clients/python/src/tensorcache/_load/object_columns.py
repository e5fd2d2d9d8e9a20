"""Columns that numpy has no dtype for, or no missing value: Python objects and Polars series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SourceError, show
from .object_kinds import (
    CLOCK,
    DURATION,
    LIST,
    NUMBER,
    PERIOD,
    TEXT,
    TIME,
    ZONED,
    ZONED_CLOCK,
    CellError,
    is_missing,
    kind_of,
)
from .object_numbers import masked, of_numbers
from .object_times import of_clocks, of_times

UNREAD = {
    "Struct": "unnest it, or leave the column out",
    "List": "cast it to pl.Array where all rows are equally long, or leave the column out",
    "Int128": "cast it to pl.Int64 or pl.Float64, or leave the column out",
    "UInt128": "cast it to pl.UInt64 or pl.Float64, or leave the column out",
}
"""Hints for the Polars dtypes that are not read."""

NOT_A_TIME = np.iinfo(np.int64).min
"""The integer that numpy stores NaT as."""

READERS: dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[Any]]] = {
    NUMBER: of_numbers,
    TIME: of_times,
    DURATION: of_times,
    CLOCK: of_clocks,
}
"""What makes arrays of objects, by their kind."""

HINT_KINDS = "give values of one kind, with None where one is missing"

MIXED = {
    (TIME, TEXT): "make all values times, as datetime.datetime.fromisoformat does of a text",
    (TIME, ZONED): "give all times a zone, or none: "
    "value.astimezone(datetime.timezone.utc).replace(tzinfo=None) is a time of UTC without one",
}
"""Hints for a value beside others, by the kind of these and its own."""

UNTYPED = {
    ZONED: "pd.to_datetime(values, utc=True) makes a typed column of them, in UTC",
    PERIOD: "pd.PeriodIndex(values) makes a typed column of them, stored as their starts",
    ZONED_CLOCK: "value.replace(tzinfo=None) leaves the zone out",
}
"""Hints for the kinds of which the objects themselves are not stored."""


def of_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers, times, durations and times of the day as dtypes of numpy, all values unchanged.

    Other objects are returned as they are.

    Raises:
        CellError: one of the values is of another kind than the first.
    """
    there = [place for place, value in enumerate(array) if not is_missing(value)]
    kind = kind_of(array[there[0]]) if there else ""
    if kind not in READERS:
        return array
    for place in there:
        other = kind_of(array[place])
        if (kind, other) == (NUMBER, TEXT):
            return array  # the refusal of a text column says what to do
        if other != kind:
            raise CellError(
                place,
                f"{show(array[place])} is {other}",
                MIXED.get((kind, other), HINT_KINDS),
                beside=there[0],
                kind=f"{kind} without one" if other == ZONED else kind,
            )
    return READERS[kind](array)


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
        return np.full(len(value), None)
    if what == "Time":  # Python's times have no nanoseconds
        return value.to_physical().fill_null(NOT_A_TIME).to_numpy().view("timedelta64[ns]")
    if kind.is_integer() or what == "Boolean":
        return masked(value.fill_null(strategy="zero").to_numpy(), value.is_null().to_numpy())
    return value


def of_pyarrow(value: Any) -> npt.NDArray[Any]:
    """An array of pyarrow: integers masked where missing, and times of the day with nanoseconds."""
    kind = str(value.type)
    if kind == "time64[ns]":
        whole: npt.NDArray[Any] = plain(value.cast("int64").fill_null(NOT_A_TIME))
        return whole.view("timedelta64[ns]")
    if value.null_count and kind.startswith(("int", "uint")):
        return masked(plain(value.fill_null(0)), plain(value.is_null()))
    return np.asarray(value)


def plain(value: Any) -> npt.NDArray[Any]:
    """An array of pyarrow in which no value is missing."""
    return np.asarray(value.to_numpy(zero_copy_only=False))


def no_text(name: str, values: Sequence[Any], row: int) -> SourceError:
    """The refusal of a value in a column of objects, the first that is no text."""
    value = values[row]
    lists = no_lists(name, values)
    if lists is not None:
        return lists
    other = next((at for at, one in enumerate(values) if isinstance(one, (str, bytes))), None)
    kind = kind_of(value)
    what = f'row {row + 1:,}, column "{name}": {show(value)} is'
    if other is None:
        stored = "is stored from typed columns only" if kind in UNTYPED else ""
        return SourceError(
            f"{what} {kind}, " + (f"which {stored}" if stored else "want a number, time or text"),
            field=name,
            hint=UNTYPED.get(kind, "give numbers, times or texts, or leave the column out"),
        )
    hint = "give an array of numbers, times or texts, with None where there is no text"
    but = ""
    if kind == NUMBER:
        but = f", but {show(values[other])} in row {other + 1:,} is"
        hint = (
            "make all values numbers, as pd.to_numeric does, or all texts, with None where one is "
            "missing"
        )
    return SourceError(f"{what} no text{but}", field=name, hint=hint)


def no_lists(name: str, values: Sequence[Any]) -> SourceError | None:
    """The refusal of a column of lists; None if a value is no list."""
    there = [(row, value) for row, value in enumerate(values) if not is_missing(value)]
    if not there or not all(kind_of(one) == LIST for _, one in there):
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


def only_missing(array: npt.NDArray[Any]) -> bool:
    """Whether an array of objects has rows, and all of them are missing values."""
    return (
        array.dtype.kind == "O"
        and array.size > 0
        and all(is_missing(value) for value in array.flat)
    )
