"""Rolling-origin evaluation: bounds of train and test rows, counted from each item's end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import _checks
from .._checks import RowBounds
from .._errors import SpecError
from .index import WindowIndex


def folds_of(
    windows: WindowIndex, folds: Any, horizon: Any, step: Any, train_rows: Any
) -> Iterator[tuple[RowBounds, RowBounds]]:
    """The bounds of each fold's train and test rows, the earliest fold first.

    With e = (folds - 1 - k) * step, test k has the windows with prediction rows in the ``horizon``
    rows that end e rows before each item's end: rows (-horizon - e, -e). Train k has those with
    prediction rows before them: rows (None, -horizon - e), or the last ``train_rows`` of these.

    Raises:
        SpecError: a number is out of range; ``field`` names it.
    """
    folds = _checks.between("folds", folds, 1)
    horizon = _checks.between("horizon", horizon, 1)
    step = horizon if step is None else _checks.between("step", step, 1)
    predicted = predicted_rows(windows)
    if horizon < predicted:
        raise too_few("horizon", horizon, predicted)
    if train_rows is not None:
        train_rows = _checks.between("train_rows", train_rows, 1)
        if train_rows < predicted:
            raise too_few("train_rows", train_rows, predicted)
    if folds > 1 and (folds - 1) * step + horizon >= longest(windows):
        raise SpecError(
            f"folds: got {folds} with horizon {horizon} and step {step}, which test the last "
            f"{(folds - 1) * step + horizon:,} rows; want fewer than the {longest(windows):,} of "
            "the longest item",
            field="folds",
        )
    for k in range(folds):
        end = (folds - 1 - k) * step
        begin = end + horizon
        first = None if train_rows is None else -begin - train_rows
        yield (first, -begin), (-begin, -end if end else None)


def predicted_rows(windows: WindowIndex) -> int:
    """The rows from a window's first prediction row to its last; 1 if nothing is predicted."""
    length: int = windows.spec.get("prediction_length", 0)
    dilation: int = windows.spec.get("dilation", 1)
    return (max(length, 1) - 1) * dilation + 1


def longest(windows: WindowIndex) -> int:
    """The number of rows of the longest item."""
    return int(windows.dataset.items._rows.max(initial=0))


def too_few(field: str, got: int, want: int) -> SpecError:
    """The error of a bound that is shorter than the prediction rows of a window."""
    return SpecError(
        f"{field}: got {got}, want {want} or more, the prediction rows of one window", field=field
    )


def empty_fold(windows: WindowIndex, what: str, part: WindowIndex) -> SpecError:
    """The error of a fold without windows, with the reasons for its rejected positions."""
    lost = ", ".join(f"{reason} {count:,}" for reason, count in part.rejected.items())
    why = (
        f"its {part.positions:,} positions are lost to {lost}"
        if lost
        else "no position of these windows lies there"
    )
    return SpecError(
        f"folds: {what} has no window; {why}",
        type="no_windows",
        field="folds",
        hint=f"folds count rows from each item's end, and the longest has {longest(windows):,}; "
        "take fewer folds, or a "
        "smaller step or context_length",
    )
