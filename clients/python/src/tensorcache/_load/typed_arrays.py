"""Values of numpy, pandas and Polars as numpy arrays, by the dtype that they have there."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import SourceError
from . import frame_index
from .object_columns import no_lists, of_polars, of_pyarrow
from .object_kinds import CellError, is_missing
from .object_numbers import masked
from .untyped_values import check_integers, unchanged


def array_of(name: str, value: Any) -> npt.NDArray[Any]:
    """``value`` as an array.

    Times with a zone become UTC, and objects that are numbers or times get their dtype. The array
    is masked if values are missing and its dtype has no missing value.

    Raises:
        SourceError: no array has the values; the message names column and row.
    """
    try:
        return converted(name, value)
    except CellError as error:
        raise error.refusal(name) from error


def converted(name: str, value: Any) -> npt.NDArray[Any]:
    """As :func:`array_of`.

    Raises:
        SourceError: no array has the values.
        CellError: an array has all values but one.
    """
    kind: Any = getattr(value, "dtype", None)
    if frame_index.is_period(kind):
        return converted(name, getattr(value, "dt", value).start_time)
    if is_category_of_times(kind):
        return converted(name, value.astype(kind.categories.dtype))
    of_arrow, plain = getattr(kind, "pyarrow_dtype", kind), getattr(kind, "numpy_dtype", None)
    if getattr(of_arrow, "tz", None) is not None and hasattr(value, "to_numpy"):  # pandas
        return np.asarray(value.to_numpy(dtype=f"datetime64[{of_arrow.unit}]"))
    if hasattr(kind, "fill_value") and isinstance(getattr(kind, "subtype", None), np.dtype):
        value = np.asarray(value, kind.subtype)  # pandas' sparse columns, which widen otherwise
    if hasattr(of_arrow, "list_size") and callable(getattr(value, "tolist", None)):
        return converted(name, lists_of(name, value))
    if str(of_arrow) == "time64[ns]":
        value = getattr(value, "array", value).__arrow_array__()
    if is_of_pyarrow(value):
        value = of_pyarrow(value)
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
        if value.dtype.kind in "mM":
            value = np.where(np.ma.getmaskarray(value), np.array("NaT", value.dtype), value.data)
        elif np.ma.getmaskarray(value).any():
            return converted(name, np.where(value.mask, np.array(None), value.data.astype(object)))
    if callable(getattr(value, "detach", None)) and callable(getattr(value, "cpu", None)):
        value = value.detach().cpu()  # a tensor of torch
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        ragged = no_lists(name, value) if isinstance(value, (list, tuple)) else None
        raise ragged or SourceError(
            f'column "{name}" is no array: {error}',
            field=name,
            hint="give values of one type, with None where one is missing",
        ) from error
    if array.dtype.name == "bfloat16":  # of JAX, which float32 stores exactly
        return array.astype(np.float32)
    if array.dtype.kind == "f" and has_integers(kind):
        check_integers(array, value.to_list())
    return unchanged(value, array)


def has_integers(kind: Any) -> bool:
    """Whether a dtype is a category, or a list of Polars, of integers.

    numpy makes floats of these if values are missing.
    """
    words = getattr(getattr(kind, "categories", None), "dtype", None)
    is_integer = getattr(getattr(kind, "inner", None), "is_integer", None)
    return getattr(words, "kind", "") in ("i", "u") or (callable(is_integer) and is_integer())


def memory_of(value: Any) -> tuple[npt.NDArray[Any], ...]:
    """The memory of masked and chunked arrays, whose values :func:`array_of` may copy."""
    if isinstance(value, np.ma.MaskedArray):
        return (np.ma.getdata(value),)
    if is_of_pyarrow(value):
        chunks = getattr(value, "chunks", [value])
        buffers = [buffer for chunk in chunks for buffer in chunk.buffers()]
        return tuple(np.frombuffer(buffer, np.uint8) for buffer in buffers if buffer)
    return ()


def is_of_pyarrow(value: Any) -> bool:
    """Whether ``value`` is an array of pyarrow."""
    return hasattr(value, "type") and isinstance(getattr(value, "null_count", None), int)


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
    array = np.stack(rows) if rows else np.zeros((0, value.dtype.pyarrow_dtype.list_size))
    if str(value.dtype.pyarrow_dtype.value_type).startswith(("int", "uint")):
        check_integers(array, value.tolist())
    return array


def zone_of(value: Any) -> str:
    """The time zone of a pandas, Polars or pyarrow array by Arrow's name; empty without one."""
    kind = getattr(value, "type" if is_of_pyarrow(value) else "dtype", None)
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
