"""What the Python objects of a column are, and how a value that cannot be stored is named."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np

from .._errors import SourceError

TEXT = "a text"
NUMBER = "a number"
TIME = "a time"
ZONED = "a time with a zone"
PERIOD = "a period"
DURATION = "a duration"
CLOCK = "a time of the day"
ZONED_CLOCK = "a time of the day with a zone"
LIST = "a list"


class CellError(ValueError):
    """A value of a column cannot be stored.

    Args:
        place: the value's place, from 0.
        detail: what is wrong with it.
        hint: what to do.
        beside: the place of the value that it does not match, or None.
        kind: what that value is.

    Attributes:
        width: how many values a row has.
    """

    def __init__(
        self, place: int, detail: str, hint: str, beside: int | None = None, kind: str = ""
    ) -> None:
        super().__init__(detail)
        self.place = place
        self.detail = detail
        self.hint = hint
        self.beside = beside
        self.kind = kind
        self.width = 1

    def refusal(self, name: str) -> SourceError:
        """The refusal of a column."""
        detail = f'row {self.place // self.width + 1:,}, column "{name}": {self.detail}'
        if self.beside is not None:
            detail += f", but the value of row {self.beside // self.width + 1:,} is {self.kind}"
        return SourceError(detail, field=name, hint=self.hint)


def kind_of(value: Any) -> str:
    """What a value that is not missing is, in words: one of the constants above, or its type."""
    if isinstance(value, (str, bytes)):
        return TEXT
    if isinstance(value, datetime.datetime):
        return TIME if value.tzinfo is None else ZONED
    if isinstance(value, np.timedelta64):  # numpy's numbers include these
        fixed = np.datetime_data(value.dtype)[0] not in ("generic", "Y", "M")
        return DURATION if fixed else f"of type {value.dtype}"
    if isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating, decimal.Decimal)):
        return NUMBER
    if isinstance(value, (datetime.date, np.datetime64)):
        return TIME
    if isinstance(value, datetime.timedelta):
        return DURATION
    if isinstance(value, datetime.time):
        return CLOCK if value.tzinfo is None else ZONED_CLOCK
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return kind_of(value[()])
    if isinstance(value, (list, tuple, np.ndarray)):
        return LIST
    if type(value).__name__ == "Period" and hasattr(value, "freq"):  # of pandas
        return PERIOD
    return f"of type {type(value).__name__}"


def is_missing(value: Any) -> bool:
    """Whether an object is a missing value: None, NaN or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except (ValueError, ArithmeticError):  # an array, or a signaling NaN
        return False
