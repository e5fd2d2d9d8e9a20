"""Undoing the scaling that a load applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import SpecError
from ._items import Items
from ._manifest import Column


def inverse(
    columns: Sequence[Column], values: npt.ArrayLike, item: Any, items: Items, single: bool
) -> npt.NDArray[np.float64]:
    """``values * scale + shift`` in float64.

    With one column of shape ``[rows]`` (``single``) values may have any shape; else the last axis of ``values`` is the
    columns' features side by side. ``item`` is an item's value, an integer array of codes along the first axis, or
    None.
    """
    array = np.asarray(values, np.float64)
    plain = single and len(columns[0].shape) == 1
    width = sum(column.width for column in columns)
    if not plain and (array.ndim == 0 or array.shape[-1] != width):
        raise SpecError(
            f"values: got shape {list(array.shape)}, want a last axis of {width}, the features of "
            f"{', '.join(column.name for column in columns)}",
            field="values",
        )
    codes = item_codes(columns, array, item, items)
    shift = np.concatenate([per_item(column, codes, 0.0) for column in columns], axis=-1)
    scale = np.concatenate([per_item(column, codes, 1.0) for column in columns], axis=-1)
    if plain:
        shift, scale = shift[..., 0], scale[..., 0]
    if isinstance(codes, np.ndarray):  # one row a value of the first axis: spread over the axes between
        shape = (len(codes),) + (1,) * (array.ndim - shift.ndim) + shift.shape[1:]
        shift, scale = shift.reshape(shape), scale.reshape(shape)
    result: npt.NDArray[np.float64] = array * scale + shift
    return result


def per_item(column: Column, codes: int | npt.NDArray[np.int64] | None, neutral: float) -> npt.NDArray[np.float64]:
    """A column's shift (``neutral`` 0) or scale (1): of shape ``[width]``, or ``[codes, width]``."""
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
    columns: Sequence[Column], array: npt.NDArray[np.float64], item: Any, items: Items
) -> int | npt.NDArray[np.int64] | None:
    """The item's code, or one along the first axis; None where no scaling asks for it."""
    by_item = [column.name for column in columns if column.scale is not None and column.scale.per == "item"]
    if item is None and (not by_item or len(items) == 1):
        return None
    if item is None:
        raise SpecError(
            f'item: column "{by_item[0]}" was scaled per item',
            field="item",
            hint="give the item's value, or batch.item for a batch",
        )
    if not isinstance(item, np.ndarray) or item.ndim == 0:
        return items.code(item.item() if isinstance(item, (np.ndarray, np.generic)) else item)
    codes = item.astype(np.int64)
    if codes.ndim != 1 or array.ndim == 0 or len(codes) != len(array):
        raise SpecError(
            f"item: got codes of shape {list(item.shape)} for values of shape {list(array.shape)}, want one along the "
            "first axis",
            field="item",
        )
    if len(codes) and not (codes.min() >= 0 and codes.max() < len(items)):
        raise SpecError(f"item: got codes up to {codes.max()}, want them below {len(items)}", field="item")
    return codes
