"""Undoing the steps of a load: the scaling, then differences, then logarithms."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SpecError
from .items import Items, readable, refuse_text_codes
from .manifest import Column


def inverse(
    columns: Sequence[Column],
    values: npt.ArrayLike,
    item: Any,
    item_code: Any,
    initial: Any,
    items: Items,
    single: bool,
) -> npt.NDArray[np.float64]:
    """``values * scale + shift``, summed up from ``initial``, and ``expm1`` of it, in float64.

    Sums and ``expm1`` apply to columns with these steps.

    Args:
        columns: the columns; several have their features side by side on the last axis.
        values: the stored values.
        item: an item's value, values along the first axis, or None.
        item_code: the same as codes.
        initial: the original values before the first row, or None.
        items: the items of the dataset.
        single: whether one column was named, and not a list of columns.
    """
    if not columns:
        raise SpecError("columns: got no name, want at least one", field="columns")
    for column in columns:
        if column.steps_of is not None and column.steps_of.changed:
            raise SpecError(
                f'column "{column.name}" was put as a part or a cast of column '
                f'"{column.steps_of.column}" of dataset "{column.steps_of.dataset}", whose steps '
                "cannot be undone here",
                field=column.name,
                hint="put all rows of the column as they are; a copy has no steps",
            )
    array = numbers(values, "values")
    first = None if initial is None else numbers(initial, "initial")
    codes = item_codes(columns, array, item, item_code, first, items)
    diffs = any(column.prepared.diff for column in columns)
    if single and len(columns[0].shape) == 1 and (array.ndim < 3 or not diffs):
        if diffs and array.ndim == 2 and array.shape[1] == 1:
            refuse_rows_or_windows(columns[0], array, codes, first)
        features_last = array[..., None]
    else:
        features_last = with_features(columns, array)
    if isinstance(codes, np.ndarray) and features_last.ndim < 2:
        if len(codes) > 1:
            field = "item" if item_code is None else "item_code"
            raise SpecError(
                f"{field}: got {len(codes):,} items for one row of {array.shape[-1]} features, "
                "want one item",
                field=field,
            )
        codes = int(codes[0])
    return undo_steps(columns, features_last, codes, first).reshape(array.shape)


def with_features(
    columns: Sequence[Column], array: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The values, whose last axis must have the features."""
    width = sum(column.width for column in columns)
    if array.ndim and array.shape[-1] == width:
        return array
    names = ", ".join(f'"{column.name}"' for column in columns)
    raise SpecError(
        f"values: got shape {list(array.shape)}, want a last axis of {width}, the features of "
        f"{names}",
        field="values",
        hint=f"values[..., i:i + 1] has feature i alone, which must be {names}; values[..., None] "
        "adds the axis if the last one has the rows"
        if width == 1 and array.ndim
        else "",
    )


def refuse_rows_or_windows(
    column: Column,
    array: npt.NDArray[np.float64],
    codes: int | npt.NDArray[np.int64] | None,
    initial: npt.NDArray[np.float64] | None,
) -> None:
    """Refuse ``[n, 1]`` if it may be n rows of one window, or n windows of one row.

    It is windows if ``initial`` has several values, or one value for several items.
    """
    n = len(array)
    several = isinstance(codes, np.ndarray) and len(np.unique(codes)) > 1
    if n < 2 or (initial is not None and (initial.size != 1 or several)):
        return
    raise SpecError(
        f"values: shape [{n}, 1] means {n} rows of one window, or {n} windows of one row, and "
        f'"{column.name}" holds differences, which are summed along the rows',
        field="values",
        hint=f'give ["{column.name}"] in place of "{column.name}" for rows of one window, and '
        "values of shape [n, 1, 1] for windows",
    )


def undo_steps(
    columns: Sequence[Column],
    array: npt.NDArray[np.float64],
    codes: int | npt.NDArray[np.int64] | None,
    initial: npt.NDArray[np.float64] | None,
) -> npt.NDArray[np.float64]:
    """The inverse of values whose last axis has the features.

    Where differences are summed, the axis before it has the rows.
    """
    shift = np.concatenate([per_item(column, codes, 0.0) for column in columns], axis=-1)
    scale = np.concatenate([per_item(column, codes, 1.0) for column in columns], axis=-1)
    if isinstance(codes, np.ndarray):  # one for each value of the first axis
        shape = (len(codes), *(1,) * (array.ndim - 2), shift.shape[-1])
        shift, scale = shift.reshape(shape), scale.reshape(shape)
    result: npt.NDArray[np.float64] = array * scale + shift
    for column in columns:
        if column.prepared.diff and array.ndim < 2:
            raise SpecError(
                "values: got one row, want an axis of rows to sum differences of "
                f'"{column.name}" along',
                field="values",
            )
    if initial is not None and any(column.prepared.diff for column in columns):
        refuse_several_items_in_rows(array, codes)
        initial = broadcast_initial(initial, array.shape)
    at = 0
    for column in columns:
        own = (..., slice(at, at + column.width))
        if column.prepared.diff:
            before = None if initial is None else initial[own]
            result[own] = summed(column, result[own], codes, before)
        if column.prepared.log1p:
            result[own] = np.expm1(result[own])
        at += column.width
    return result


def refuse_several_items_in_rows(
    array: npt.NDArray[np.float64], codes: int | npt.NDArray[np.int64] | None
) -> None:
    """Refuse a sum that would go on from one item to the next."""
    if array.ndim == 2 and isinstance(codes, np.ndarray) and len(np.unique(codes)) > 1:
        raise SpecError(
            "initial: got an initial value for rows of several items, want rows of one item",
            field="initial",
            hint="undo each item by itself, or give values [windows, rows, features] and initial "
            "[windows, features]",
        )


def broadcast_initial(
    initial: npt.NDArray[np.float64], shape: tuple[int, ...]
) -> npt.NDArray[np.float64]:
    """Initial values as ``[..., F]`` for values of a shape ``[..., P, F]``.

    They broadcast as NumPy's arrays do. Those of one feature may lack the last axis.

    Raises:
        SpecError: the shape does not fit, or is ambiguous.
    """
    wanted = (*shape[:-2], shape[-1])
    candidates = []
    for given in [initial, initial[..., None]] if wanted[-1] == 1 else [initial]:
        with contextlib.suppress(ValueError):
            candidates.append(np.broadcast_to(given, wanted))
    if candidates and np.array_equal(candidates[0], candidates[-1], equal_nan=True):
        return candidates[0]
    short = list(wanted[:-1]) if wanted[-1] == 1 else [wanted[-1]]
    raise SpecError(
        f"initial: got shape {list(initial.shape)}"
        + (", which can be broadcast in two ways" if candidates else "")
        + f", want one number or shape {list(wanted)}"
        + (f" or {short}" if short and short != list(wanted) else ""),
        field="initial",
        hint="for windows of one row give values of shape [B, 1, F]"
        if initial.shape in (shape, shape[:-1])
        else "",
    )


def numbers(values: npt.ArrayLike, field: str) -> npt.NDArray[np.float64]:
    """The values as float64."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufOmM":
            return array.astype(np.float64)
    except (
        TypeError,
        ValueError,
        RuntimeError,
    ) as error:  # torch raises RuntimeError for a tensor that requires grad
        raise SpecError(f"{field}: want numbers: {error}", field=field) from None
    raise SpecError(f"{field}: got {array.dtype}, want numbers", field=field)


def summed(
    column: Column,
    values: npt.NDArray[np.float64],
    codes: int | npt.NDArray[np.int64] | None,
    initial: npt.NDArray[np.float64] | None,
) -> npt.NDArray[np.float64]:
    """The sums of a column's differences along the rows, the axis before the last."""
    if initial is None and values.ndim == 2 and isinstance(codes, np.ndarray):
        # Each row has a code: the sums begin again where the code changes.
        edges = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
        pieces = [
            summed(column, values[a:b], int(codes[a]), None)
            for a, b in itertools.pairwise(edges)
            if a < b
        ]
        return np.concatenate(pieces) if pieces else values
    rows = np.moveaxis(values, -2, 0)
    if initial is None:
        total = from_first(rows, begin(column, rows, codes))
    else:
        total = np.cumsum(rows, axis=0) + forward(column, initial)
    return np.moveaxis(total, 0, -2)


def forward(column: Column, initial: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """A value as it was before differences were taken."""
    clipped = np.clip(np.asarray(initial, np.float64), *column.prepared.clip)
    return np.log1p(clipped) if column.prepared.log1p else clipped


def begin(
    column: Column,
    rows: npt.NDArray[np.float64],
    codes: int | npt.NDArray[np.int64] | None,
) -> npt.NDArray[np.float64]:
    """The value that the first difference of each item is added to.

    It is for values that begin with an item's first row.
    """
    first = column.prepared.first
    if first is None or (len(rows) and not np.isnan(rows[0]).all()):
        raise SpecError(
            f'initial: column "{column.name}" holds differences',
            field="initial",
            hint="give the value before the first of them, such as the last known one",
        )
    start = first[0 if codes is None else codes]
    if isinstance(codes, np.ndarray):
        start = start.reshape(len(codes), *(1,) * (rows.ndim - 3), start.shape[-1])
    return np.broadcast_to(start, rows.shape[1:])


def from_first(
    rows: npt.NDArray[np.float64], start: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Sums of differences; the last of the leading missing ones becomes the value ``start``."""
    leading = np.logical_and.accumulate(np.isnan(rows), axis=0)
    last = leading & ~np.concatenate([leading[1:], np.zeros_like(leading[:1])])
    summed = np.cumsum(np.where(last, start, np.where(leading, 0.0, rows)), axis=0)
    return np.where(leading & ~last, np.nan, summed)


def per_item(
    column: Column, codes: int | npt.NDArray[np.int64] | None, neutral: float
) -> npt.NDArray[np.float64]:
    """A column's shift (``neutral`` 0) or scale (1), of shape ``[width]`` or ``[codes, width]``."""
    rows = () if codes is None or isinstance(codes, int) else (len(codes),)
    fitted = column.scale
    if fitted is None:
        return np.full((*rows, column.width), neutral)
    table = fitted.shift if neutral == 0.0 else fitted.scale
    if fitted.per != "item":
        return table[np.zeros(rows, np.int64)]
    result: npt.NDArray[np.float64] = table[0 if codes is None else codes]
    return result


def item_codes(
    columns: Sequence[Column],
    array: npt.NDArray[np.float64],
    item: Any,
    item_code: Any,
    initial: Any,
    items: Items,
) -> int | npt.NDArray[np.int64] | None:
    """The item's code, or codes along the first axis; None if no step needs one."""
    if item is not None and item_code is not None:
        raise SpecError("item: given together with item_code, want one of them", field="item")
    by_item = [
        column.name for column in columns if column.scale is not None and column.scale.per == "item"
    ]
    summed = [
        column.name for column in columns if initial is None and column.prepared.first is not None
    ]
    nothing = item is None and item_code is None
    if nothing and (not (by_item or summed) or len(items) == 1):
        return None
    if nothing:
        raise SpecError(
            f'item: column "{by_item[0]}" was scaled per item'
            if by_item
            else f'item: column "{summed[0]}" holds differences, which begin at each item\'s first '
            "value",
            field="item",
            hint="give the item's value as item=, or for a batch its item_code as item_code=",
        )
    codes = items._one_or_several(item) if item_code is None else given_codes(item_code, items)
    if isinstance(codes, np.ndarray) and (array.ndim == 0 or len(codes) != len(array)):
        field = "item" if item_code is None else "item_code"
        raise SpecError(
            f"{field}: got an array of {len(codes):,} for values of shape {list(array.shape)}, "
            "want one along the first axis, or one item for all",
            field=field,
        )
    return codes


def given_codes(given: Any, items: Items) -> int | npt.NDArray[np.int64]:
    """A code or codes of items, which are checked."""
    refuse_text_codes("item_code", given, "codes of items")
    array = readable("item_code", given, "codes of items")
    if isinstance(given, (list, tuple)) and not given:
        array = np.empty(0, np.int64)
    if array.dtype.kind not in "iu" or array.ndim > 1:
        raise SpecError(
            f"item_code: got {type(given).__name__} of {array.dtype}, shape {list(array.shape)}, "
            "want a code, or codes along the first axis of values",
            field="item_code",
            hint="give batch.item_code, or values of items as item=",
        )
    for code in array[(array < 0) | (array >= len(items))][:1]:
        raise SpecError(
            f"item_code: got {code}, want codes from 0 to {len(items) - 1}", field="item_code"
        )
    return array.astype(np.int64) if array.ndim else int(array)
