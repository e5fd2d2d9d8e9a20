"""Undoing the steps of a load: the scaling, then differences, then logarithms."""

from __future__ import annotations

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
        single: whether it is one column of shape ``[rows]``, whose values may have any shape.
    """
    array = numbers(values, "values")
    plain = single and len(columns[0].shape) == 1
    width = sum(column.width for column in columns)
    if not plain and (array.ndim == 0 or array.shape[-1] != width):
        raise SpecError(
            f"values: got shape {list(array.shape)}, want a last axis of {width}, the features of "
            f"{', '.join(column.name for column in columns)}",
            field="values",
        )
    codes = item_codes(columns, array, item, item_code, initial, items)
    shift = np.concatenate([per_item(column, codes, 0.0) for column in columns], axis=-1)
    scale = np.concatenate([per_item(column, codes, 1.0) for column in columns], axis=-1)
    if plain:
        shift, scale = shift[..., 0], scale[..., 0]
    # Each value of the first axis has its own shift: broadcast over the axes between.
    if isinstance(codes, np.ndarray):
        shape = (len(codes),) + (1,) * (array.ndim - shift.ndim) + shift.shape[1:]
        shift, scale = shift.reshape(shape), scale.reshape(shape)
    # NumPy makes a scalar of an array without axes.
    result: npt.NDArray[np.float64] = np.asarray(array * scale + shift)
    at = 0
    for column in columns:
        own = ... if plain else (..., slice(at, at + column.width))
        result[own] = unprepared(
            column,
            result[own],
            codes,
            None if initial is None else numbers(initial, "initial")[own],
            plain,
        )
        at += column.width
    return result


def numbers(values: npt.ArrayLike, field: str) -> npt.NDArray[np.float64]:
    """The values as float64."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufOmM":
            return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise SpecError(f"{field}: want numbers: {error}", field=field) from None
    raise SpecError(f"{field}: got {array.dtype}, want numbers", field=field)


def unprepared(
    column: Column,
    values: npt.NDArray[np.float64],
    codes: int | npt.NDArray[np.int64] | None,
    initial: npt.NDArray[Any] | None,
    plain: bool,
) -> npt.NDArray[np.float64]:
    """The values of one column before differences and logarithms.

    Rows run along the last axis, or along the one before it.
    """
    if column.prepared.diff:
        axis = -1 if plain else -2
        if values.ndim < -axis:
            raise SpecError(
                f"values: got shape {list(values.shape)}, want an axis of rows to sum differences "
                "of "
                f'"{column.name}" along',
                field="values",
            )
        # Each row has a code: split where the code changes.
        if values.ndim == -axis and isinstance(codes, np.ndarray) and initial is None:
            edges = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
            pieces = [
                summed(column, values[a:b], int(codes[a]), None, 0, plain)
                for a, b in itertools.pairwise(edges)
                if a < b
            ]
            values = np.concatenate(pieces) if pieces else values
        else:
            values = summed(column, values, codes, initial, axis, plain)
    return np.expm1(values) if column.prepared.log1p else values


def summed(
    column: Column,
    values: npt.NDArray[np.float64],
    codes: int | npt.NDArray[np.int64] | None,
    initial: npt.NDArray[Any] | None,
    axis: int,
    plain: bool,
) -> npt.NDArray[np.float64]:
    """The sums of differences along an axis."""
    rows = np.moveaxis(values, axis, 0)
    if initial is None:
        return np.moveaxis(from_first(rows, begin(column, rows, codes, plain)), 0, axis)
    start = forward(column, initial)
    try:
        start = np.broadcast_to(start, rows.shape[1:])
    except ValueError:
        raise SpecError(
            f"initial: got shape {list(start.shape)}, want one that spreads over "
            f"{list(rows.shape[1:])}",
            field="initial",
        ) from None
    return np.moveaxis(np.cumsum(rows, axis=0) + start, 0, axis)


def forward(column: Column, initial: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """A value as it was before differences were taken."""
    clipped = np.clip(np.asarray(initial, np.float64), *column.prepared.clip)
    return np.log1p(clipped) if column.prepared.log1p else clipped


def begin(
    column: Column,
    rows: npt.NDArray[np.float64],
    codes: int | npt.NDArray[np.int64] | None,
    plain: bool,
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
    if plain:
        start = start[..., 0]
    if isinstance(codes, np.ndarray):
        start = start.reshape(len(codes), *(1,) * (rows.ndim - 1 - start.ndim), *start.shape[1:])
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
