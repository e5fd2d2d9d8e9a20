"""Sending arrays to the daemon, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _wire
from ._errors import SourceError

CHUNK_BYTES = 4 << 20
"""How much is converted at a time: what is sent needs no second copy in memory."""

AS_STORED = {"f2": "f4", "i1": "i4", "i2": "i4", "u1": "i4", "u2": "i4", "u4": "i8"}
"""numpy kinds that the cache does not store, and what holds all their values."""

NAMES = {"f4": "float32", "f8": "float64", "i4": "int32", "i8": "int64", "b1": "bool"}


@dataclass(frozen=True)
class Column:
    """A column ready to be sent: what it is, and its bytes in pieces."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: int
    unit: str
    pieces: Iterator[bytes | memoryview]

    def said(self) -> dict[str, Any]:
        """Its line in the request."""
        said: dict[str, Any] = {"name": self.name, "dtype": self.dtype, "shape": list(self.shape), "bytes": self.size}
        return {**said, "unit": self.unit} if self.unit else said


def put(path: str, name: str, columns: Mapping[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Send arrays as the next generation of a dataset; the daemon's answer.

    Raises:
        SourceError: an array cannot be stored, or its length is not that of the others.
        TensorcacheError: what the daemon refuses.
    """
    ready = [column_of(str(key), value) for key, value in columns_in(columns)]
    if not ready:
        raise SourceError("columns: got none, want at least one", field="columns")
    for column in ready:
        if column.shape[0] != ready[0].shape[0]:
            raise SourceError(
                f'column "{column.name}" has {column.shape[0]:,} rows, "{ready[0].name}" has {ready[0].shape[0]:,}',
                field=column.name,
            )
    body = {
        "request": "put",
        "dataset": name,
        "options": options,
        "format": "columns",
        "columns": [column.said() for column in ready],
    }
    sock = _wire.dial(path)
    try:
        _wire.request(sock, body)
        for column in ready:
            for piece in column.pieces:
                _wire.send(sock, piece)
        said, fds = _wire.receive_reply(sock)
        _wire.close_all(fds)
    finally:
        sock.close()
    return said


def columns_in(columns: Any) -> Iterator[tuple[Any, Any]]:
    """Names and values of a mapping or of a pandas or Polars data frame."""
    if hasattr(columns, "items"):  # pandas too
        yield from columns.items()
    elif hasattr(columns, "columns") and hasattr(columns, "get_column"):  # Polars
        for name in columns.columns:
            yield name, columns.get_column(name)
    else:
        raise SourceError(f"columns: got {type(columns).__name__}, want a mapping of names to arrays", field="columns")


def column_of(name: str, value: Any) -> Column:
    """A column from anything that numpy makes an array of."""
    array = array_of(name, value)
    if array.ndim not in (1, 2):
        raise SourceError(f'column "{name}" has shape {list(array.shape)}, want [rows] or [rows, n]', field=name)
    kind = array.dtype.kind
    if kind in "US" or kind == "O" or kind == "T":
        return text_column(name, array)
    if kind == "M":
        return time_column(name, array)
    code = array.dtype.str[1:]
    code = AS_STORED.get(code, code)
    if code not in NAMES:
        raise SourceError(
            f'column "{name}" is {array.dtype}, want one of float32, float64, int32, int64, bool, datetime64 or text',
            field=name,
        )
    stored = np.dtype(f"<{code}")
    return Column(name, NAMES[code], array.shape, array.size * stored.itemsize, "", pieces_of(array, stored))


def array_of(name: str, value: Any) -> npt.NDArray[Any]:
    """``value`` as an array; a time with a zone as UTC."""
    zone = getattr(getattr(value, "dtype", None), "tz", None)
    if zone is not None and hasattr(value, "to_numpy"):  # pandas
        return np.asarray(value.to_numpy(dtype=f"datetime64[{value.dtype.unit}]"))
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise SourceError(f'column "{name}" is no array: {error}', field=name) from error
    return array


def time_column(name: str, array: npt.NDArray[Any]) -> Column:
    """A column of timestamps; days and hours are stored as seconds."""
    unit = np.datetime_data(array.dtype)[0]
    if unit not in ("s", "ms", "us", "ns"):
        array = array.astype("datetime64[s]")
        unit = "s"
    missing = np.flatnonzero(np.isnat(array.reshape(len(array), -1)).any(axis=1))
    if len(missing):
        raise SourceError(f'column "{name}", row {missing[0]:,}: NaT is no time', field=name)
    pieces = pieces_of(array.view(np.int64), np.dtype("<i8"))
    return Column(name, "timestamp", array.shape, array.size * 8, unit, pieces)


def text_column(name: str, array: npt.NDArray[Any]) -> Column:
    """A column of texts, as offsets and bytes."""
    if array.ndim != 1:
        raise SourceError(f'column "{name}" is text of shape {list(array.shape)}, want [rows]', field=name)
    texts: list[bytes] = []
    for row, value in enumerate(array.tolist()):
        if isinstance(value, bytes):
            texts.append(value)
        elif isinstance(value, str):
            texts.append(value.encode())
        else:
            raise SourceError(f'column "{name}", row {row:,}: {value!r} is no text', field=name)
    offsets = np.zeros(len(texts) + 1, "<i8")
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    size = offsets.nbytes + int(offsets[-1])
    return Column(name, "utf8", (len(texts),), size, "", iter([offsets.tobytes(), b"".join(texts)]))


def pieces_of(array: npt.NDArray[Any], stored: np.dtype[Any]) -> Iterator[bytes | memoryview]:
    """The values in C order as ``stored``, a few MiB at a time."""
    row = stored.itemsize * (array.shape[1] if array.ndim == 2 else 1)
    step = max(1, CHUNK_BYTES // max(1, row))
    for at in range(0, len(array), step):
        yield np.ascontiguousarray(array[at : at + step], stored).data.cast("B")
