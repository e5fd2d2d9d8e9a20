"""Undoing the steps of a load: the scaling, then differences, then logarithms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SpecError
from .items import Items
from .manifest import Column


def inverse(
    columns: Sequence[Column],
    values: npt.ArrayLike,
    item: Any,
    initial: Any,
    items: Items,
    single: bool,
) -> npt.NDArray[np.float64]:
    """``values * scale + shift``, summed up from ``initial``, and ``expm1`` of it, in float64.

    Sums and ``expm1`` apply to columns with these steps.

    Args:
        columns: the columns; several have their features side by side on the last axis.
        values: the stored values.
        item: an item's value, an integer array of codes along the first axis, or None.
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
    codes = item_codes(columns, array, item, initial, items)
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
    columns: Sequence[Column], array: npt.NDArray[np.float64], item: Any, initial: Any, items: Items
) -> int | npt.NDArray[np.int64] | None:
    """The item's code, or codes along the first axis; None if no step needs one."""
    by_item = [
        column.name for column in columns if column.scale is not None and column.scale.per == "item"
    ]
    summed = [
        column.name for column in columns if initial is None and column.prepared.first is not None
    ]
    if item is None and (not (by_item or summed) or len(items) == 1):
        return None
    if item is None:
        raise SpecError(
            f'item: column "{by_item[0]}" was scaled per item'
            if by_item
            else f'item: column "{summed[0]}" holds differences, which begin at each item\'s first '
            "value",
            field="item",
            hint="give the item's value, or batch.item for a batch",
        )
    if not isinstance(item, np.ndarray) or item.ndim == 0:
        return items.code(item.item() if isinstance(item, (np.ndarray, np.generic)) else item)
    if item.dtype.kind not in "iu":
        raise SpecError(
            f"item: got an array of {item.dtype}, want the codes of items, which are integers",
            field="item",
            hint="give batch.item, or one item's value",
        )
    codes = item.astype(np.int64)
    if codes.ndim != 1 or array.ndim == 0 or len(codes) != len(array):
        raise SpecError(
            f"item: got codes of shape {list(item.shape)} for values of shape {list(array.shape)}, "
            "want one along the "
            "first axis",
            field="item",
        )
    if len(codes) and not (codes.min() >= 0 and codes.max() < len(items)):
        raise SpecError(
            f"item: got codes up to {codes.max()}, want them below {len(items)}", field="item"
        )
    return codes
