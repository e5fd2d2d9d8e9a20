"""Values of numpy, pandas and Polars as numpy arrays, by the dtype that they have there."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SourceError
from . import frame_index
from .object_columns import is_missing, masked, no_lists, of_objects, of_polars


def array_of(name: str, value: Any) -> npt.NDArray[Any]:
    """``value`` as an array.

    Times with a zone become UTC, and objects that are numbers or times get their dtype. The array
    is masked if values are missing and its dtype has no missing value.
    """
    kind: Any = getattr(value, "dtype", None)
    if frame_index.is_period(kind):
        return array_of(name, getattr(value, "dt", value).start_time)
    if is_category_of_times(kind):
        return array_of(name, value.astype(kind.categories.dtype))
    of_arrow, plain = getattr(kind, "pyarrow_dtype", kind), getattr(kind, "numpy_dtype", None)
    if getattr(of_arrow, "tz", None) is not None and hasattr(value, "to_numpy"):  # pandas
        return np.asarray(value.to_numpy(dtype=f"datetime64[{of_arrow.unit}]"))
    if hasattr(kind, "fill_value") and isinstance(getattr(kind, "subtype", None), np.dtype):
        value = np.asarray(value, kind.subtype)  # pandas' sparse columns, which widen otherwise
    if hasattr(of_arrow, "list_size") and callable(getattr(value, "tolist", None)):
        return array_of(name, lists_of(name, value))
    # Pandas' nullable numbers.
    if isinstance(plain, np.dtype) and plain.kind in "iufb" and hasattr(value, "isna"):
        # Arrow's booleans cannot be filled with 0.
        fill = np.nan if plain.kind == "f" else plain.type(0).item()
        return masked(value.to_numpy(dtype=plain, na_value=fill), np.asarray(value.isna()))
    if callable(getattr(value, "null_count", None)) and hasattr(kind, "is_integer"):
        value = of_polars(name, value)
    if isinstance(value, np.ma.MaskedArray):
        if value.dtype.kind in "iufb":
            fill = np.nan if value.dtype.kind == "f" else 0
            return masked(value.filled(fill), np.ma.getmaskarray(value))
        if np.ma.getmaskarray(value).any():
            return array_of(name, np.where(value.mask, np.array(None), value.data.astype(object)))
    if callable(getattr(value, "detach", None)) and callable(getattr(value, "cpu", None)):
        value = value.detach().cpu()  # a tensor of torch
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    try:
        array = np.asarray(value)
        if array.dtype.name == "bfloat16":  # of JAX, which float32 stores exactly
            array = array.astype(np.float32)
        return of_objects(array) if array.dtype.kind == "O" and array.ndim == 1 else array
    except (ValueError, TypeError, OverflowError) as error:
        ragged = no_lists(name, value) if isinstance(value, (list, tuple)) else None
        raise ragged or SourceError(
            f'column "{name}" is no array: {error}',
            field=name,
            hint="give values of one type, with None where one is missing",
        ) from error


def is_untyped(value: Any) -> bool:
    """Whether a column has Python objects and no dtype that says what they are."""
    kind = getattr(value, "dtype", None)
    if str(kind) == "null[pyarrow]":
        return True
    return kind is None or (isinstance(kind, np.dtype) and kind.kind == "O")


def is_category_of_times(kind: Any) -> bool:
    """Whether a dtype is a category of pandas whose words are times with a zone, or periods."""
    words = getattr(getattr(kind, "categories", None), "dtype", None)
    of_arrow = getattr(words, "pyarrow_dtype", words)
    return getattr(of_arrow, "tz", None) is not None or frame_index.is_period(words)


def lists_of(name: str, value: Any) -> npt.NDArray[Any]:
    """Lists of one length, of pandas' Arrow-backed columns, as a tensor ``[rows, n]``."""
    rows = list(value.to_numpy())
    missing = next((row for row, one in enumerate(rows) if is_missing(one)), None)
    if missing is not None:
        raise SourceError(f'row {missing + 1:,}, column "{name}": the list is missing', field=name)
    return np.stack(rows) if rows else np.zeros((0, value.dtype.pyarrow_dtype.list_size))


def zone_of(value: Any) -> str:
    """The time zone of a pandas or Polars array by Arrow's name; empty without one."""
    kind = getattr(value, "dtype", None)
    if is_category_of_times(kind):
        kind = kind.categories.dtype  # type: ignore[union-attr]
    kind = getattr(kind, "pyarrow_dtype", kind)
    zone, tz = getattr(kind, "time_zone", None), getattr(kind, "tz", None)
    if isinstance(zone, str) or isinstance(tz, str) or tz is None:
        return zone or tz or ""
    name = getattr(tz, "key", None) or getattr(tz, "zone", None)
    if name is None and isinstance(tz, datetime.timezone):
        name = tz.tzname(None).removeprefix("UTC")
    return name or "UTC"
