"""Conversion of user values to the JSON that the daemon reads: numbers, bounds, times, names.

This module refuses only values that JSON cannot represent; the daemon decides which values are
allowed.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from ._data.items import listed_values
from ._errors import SpecError, show

Time: TypeAlias = "str | int | datetime.datetime | datetime.date | np.datetime64"
RowBounds: TypeAlias = "tuple[int | None, int | None]"
TimeBounds: TypeAlias = "tuple[Time | None, Time | None]"
Step: TypeAlias = "str | int | datetime.timedelta | np.timedelta64"


def whole(field: str, value: Any) -> int:
    """A whole number of Python or numpy."""
    if isinstance(value, (bool, np.bool_)):
        raise SpecError(f"{field}: got {value!r}, want a whole number", field=field)
    try:
        return int(operator.index(value))
    except TypeError:
        raise SpecError(f"{field}: got {show(value)}, want a whole number", field=field) from None


def number(field: str, value: Any, or_else: str = "", nan: bool = False) -> float:
    """A finite number of Python or numpy; text, True and False are refused.

    Args:
        field: the name of the value in messages.
        value: the value.
        or_else: the end of the message for another type.
        nan: whether NaN is allowed, too.
    """
    refused = isinstance(value, (str, bytes, bool, np.bool_))
    try:
        result = math.nan if refused else float(value)
    except (TypeError, ValueError, OverflowError):
        refused = True
    if refused:
        raise SpecError(f"{field}: got {show(value)}, want a number{or_else}", field=field)
    if not math.isfinite(result) and not (nan and math.isnan(result)):
        other = or_else if nan else ""
        raise SpecError(f"{field}: got {result}, want a finite number{other}", field=field)
    return result


def number_or_nan(field: str, value: Any) -> float | None:
    """A finite number that float64 represents, or None for NaN."""
    result = number(field, value, ", or None for NaN", nan=True)
    if isinstance(value, (int, np.integer)) and int(result) != value:
        raise SpecError(f"{field}: got {value}, want a number that float64 represents", field=field)
    return None if math.isnan(result) else result


def share_of_missing(field: str, value: Any) -> float:
    """A finite number. A message names None, for which the command line has the word any."""
    return number(field, value, ", or None to admit all missing cells")


def names(field: str, value: Any) -> list[str]:
    """A list of column names; a single string is a list of one."""
    if isinstance(value, str):
        return [value]
    try:
        listed = list(value)
    except TypeError:
        listed = [value]
    for name in listed:
        if not isinstance(name, str):
            raise SpecError(f"{field}: got {name!r}, want column names", field=field)
    return [str(name) for name in listed]


def pair(field: str, value: Any, read: Callable[[str, Any], Any]) -> list[Any]:
    """Two bounds, each converted by ``read``; None is open."""
    try:
        low, high = value
    except (TypeError, ValueError):
        raise SpecError(
            f"{field}: got {value!r}, want two bounds, such as (0, 8640) or (-48, None)",
            field=field,
        ) from None
    return [None if bound is None else read(field, bound) for bound in (low, high)]


def rows(field: str, value: Any) -> list[int | None]:
    """Half-open bounds in rows; negative counts from the end, None is open."""
    return pair(field, value, whole)


def times(field: str, value: Any) -> list[int | str | None]:
    """Half-open bounds in time; None is open."""
    return pair(field, value, time)


def where(field: str, value: Any) -> dict[str, Any]:
    """The bounds of the rows that a load keeps: two times, or ``{"time": (a, b)}``."""
    if not isinstance(value, Mapping):
        return {"time": times(field, value)}
    for key in value:
        if key != "time":
            raise SpecError(f'{field}: got {key!r}, want "time"', field=field)
    return {str(key): times(field, bounds) for key, bounds in value.items()}


MINUTE = datetime.timedelta(minutes=1)


def time(field: str, value: Any) -> int | str:
    """A point in time: RFC 3339 text, or the integer of an integer time column.

    A ``datetime`` without a zone is in the zone of the time column; a ``datetime64`` is in UTC.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            raise SpecError(f"{field}: got NaT, want a time", field=field)
        unit = np.datetime_data(value.dtype)[0]
        fine = value if unit in ("ms", "us", "ns") else value.astype("datetime64[s]")
        return f"{fine}Z"
    if isinstance(value, datetime.datetime):  # also a pandas.Timestamp
        offset = value.utcoffset()
        if offset is None:
            return value.isoformat()
        minutes = -(-offset // MINUTE) * MINUTE
        if minutes != offset:  # RFC 3339 has no seconds in an offset
            value = value.replace(tzinfo=datetime.timezone(minutes)) + (minutes - offset)
        return str(value.isoformat()).replace("+00:00", "Z")
    if isinstance(value, datetime.date):
        return value.isoformat()
    try:
        return whole(field, value)
    except SpecError:
        raise SpecError(
            f"{field}: got {value!r}, want RFC 3339 text, datetime, datetime64 or a whole number",
            field=field,
        ) from None


def step(field: str, value: Any) -> int | str:
    """A length of time: ``"1h"``, a timedelta, or the integer of an integer time column."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime.timedelta):
        return f"{(value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds}us"
    if isinstance(value, np.timedelta64):
        if np.datetime_data(value.dtype)[0] == "generic":
            return int(value.astype(np.int64))
        return f"{int(value.astype('timedelta64[ns]').astype(np.int64))}ns"
    return whole(field, value)


def item_values(field: str, value: Any) -> list[Any]:
    """A list of the values of items."""
    values = listed_values(field, value)
    if any(item is None for item in values):
        raise SpecError(
            f"{field}: got None, want values of items: text, whole numbers or tuples of these",
            field=field,
            hint="leave None out; a dataset without item_id has one item, which needs no bound",
        )
    return values.tolist() if isinstance(values, np.ndarray) else values


def part_items(field: str, value: Any) -> list[Any]:
    """The items of ``split(items=)``: a list of lists of items, or fractions."""
    parts = listed(field, value)
    if all(isinstance(part, (float, np.floating)) or part is None for part in parts):
        return optional_numbers(field, parts)
    no_lists = [part for part in parts if isinstance(part, str) or not isinstance(part, Iterable)]
    for part in sorted(no_lists, key=lambda part: isinstance(part, float))[:1]:
        raise SpecError(
            f"{field}: got {show(part)} among the parts, want a list of items for each, or a "
            "fraction for each",
            field=field,
            hint='such as items=[["a", "b"], ["c"]], or items=(0.8, 0.2)',
        )
    return [item_values(f"{field}[{i}]", part) for i, part in enumerate(parts)]


def optional_wholes(field: str, value: Any) -> list[int | None]:
    """A list of whole numbers; None is the rest."""
    return [
        None if part is None else whole(f"{field}[{i}]", part)
        for i, part in enumerate(listed(field, value))
    ]


def optional_numbers(field: str, value: Any) -> list[float | None]:
    """A list of numbers; None is the rest."""
    return [
        None if part is None else number(f"{field}[{i}]", part)
        for i, part in enumerate(listed(field, value))
    ]


def list_of_times(field: str, value: Any) -> list[int | str]:
    """A list of points in time."""
    return [time(f"{field}[{i}]", part) for i, part in enumerate(listed(field, value))]


def listed(field: str, value: Any, wanted: str = "a list") -> list[Any]:
    """A list, from any iterable except text and bytes."""
    scalar = isinstance(value, (str, bytes)) or getattr(value, "ndim", 1) == 0
    if scalar or not isinstance(value, Iterable):
        raise SpecError(f"{field}: got {show(value)}, want {wanted}", field=field)
    return list(value)


def text(field: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise SpecError(f"{field}: got {value!r}, want text", field=field)
    return str(value)


def dataset_name(value: Any) -> str:
    """A dataset's name."""
    if not isinstance(value, str) or not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{0,99}", value):
        raise SpecError(
            f"name: got {show(value)}, want 1 to 100 of A-Z a-z 0-9 . _ -, the first a letter or "
            "digit",
            type="invalid_name",
            field="dataset",
        )
    return value


def digest(value: Any) -> str:
    """A dataset's digest."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{32}", value):
        raise SpecError(
            f"digest: got {show(value)}, want 32 hex digits in lower case",
            type="invalid_request",
            field="digest",
        )
    return value


def between(field: str, value: Any, low: int, high: int | None = None) -> int:
    """A whole number within bounds."""
    got = whole(field, value)
    if got < low or (high is not None and got > high):
        allowed = f"{low} or more" if high is None else f"{low} to {high}"
        raise SpecError(f"{field}: got {got}, want {allowed}", field=field)
    return got


def flag(field: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise SpecError(f"{field}: got {show(value)}, want True or False", field=field)
    return bool(value)


def time_columns(field: str, value: Any) -> str | list[str]:
    """The time column, or a list of those that are its parts."""
    if not isinstance(value, (list, tuple)):
        return text(field, value)
    if not value:
        raise SpecError(f"{field}: got {value!r}, want at least one column", field=field)
    return names(field, value)


def melt(field: str, value: Any) -> bool | str:
    """True, False, or what holds one series: ``"columns"`` or ``"rows"``."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if value not in ("columns", "rows"):
        raise SpecError(
            f'{field}: got {show(value)}, want True, False, "columns" or "rows"', field=field
        )
    return str(value)


def dtype_name(field: str, value: Any) -> str:
    """The name of a dtype, from its name, a numpy dtype or a numpy type."""
    if isinstance(value, str):
        return str(value)
    try:
        return str(np.dtype(value).name)
    except TypeError:
        raise SpecError(
            f'{field}: got {value!r}, want a dtype such as "float32"', field=field
        ) from None


def dtypes(field: str, value: Any) -> str | dict[str, str]:
    """A dtype for all floats, or a mapping of columns to dtypes."""
    if isinstance(value, Mapping):
        return {text(field, name): dtype_name(field, one) for name, one in value.items()}
    return dtype_name(field, value)
