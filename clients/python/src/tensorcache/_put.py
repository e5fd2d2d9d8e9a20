"""Sending arrays to the daemon, column by column."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arrow, _wire
from ._codes import Codes, plain
from ._errors import SourceError
from ._manifest import DTYPES, TIMES

CHUNK_BYTES = 4 << 20
"""How much is converted at a time: what is sent needs no second copy in memory."""

NAMES = {dtype.str[1:]: name for name, dtype in DTYPES.items() if name not in ("text", *TIMES)}
"""What numpy calls the dtypes of numbers, without their byte order."""

UNITS = ("s", "ms", "us", "ns")
"""The units of times that are stored."""


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


def put(path: str, name: str, columns: Any, options: dict[str, Any] | None) -> dict[str, Any]:
    """Send arrays, or a table, as a dataset's next generation, without options behind its rows; the daemon's answer.

    Raises:
        SourceError: an array cannot be stored, or its length is not that of the others.
        TensorcacheError: what the daemon refuses.
    """
    reader = _arrow.reader_of(columns) if _arrow.is_table(columns) and not is_frame(columns) else None
    ready = [] if reader is not None else columns_of(columns)
    body = {
        "request": "put",
        "dataset": name,
        **({"append": True} if options is None else {"options": options}),
        **({"format": "arrow"} if reader else {"format": "columns", "columns": [column.said() for column in ready]}),
    }
    sock = _wire.dial(path)
    try:
        _wire.request(sock, body)
        if reader is not None:
            _arrow.send(sock, reader)
        for column in ready:
            for piece in column.pieces:
                _wire.send(sock, piece)
        said, fds = _wire.receive_reply(sock)
        _wire.close_all(fds)
    finally:
        sock.close()
    return said


def columns_of(columns: Any) -> list[Column]:
    """The columns of a mapping or frame, all of one length."""
    ready = [column_of(str(key), value) for key, value in columns_in(columns)]
    if not ready:
        raise SourceError("columns: got none, want at least one", field="columns")
    for column in ready:
        if column.shape[0] != ready[0].shape[0]:
            raise SourceError(
                f'column "{column.name}" has {column.shape[0]:,} rows, "{ready[0].name}" has {ready[0].shape[0]:,}',
                field=column.name,
            )
    return ready


def is_frame(columns: Any) -> bool:
    """Whether ``columns`` is a Polars frame."""
    return hasattr(columns, "get_column")


def columns_in(columns: Any) -> Iterator[tuple[Any, Any]]:
    """Names and values of a mapping, a dataset, or a pandas or Polars data frame."""
    if callable(getattr(columns, "items", None)):  # pandas too
        yield from columns.items()
    elif hasattr(columns, "keys"):  # a dataset, whose items are series
        for name in columns.keys():  # noqa: SIM118 - it need not be a mapping
            yield name, columns[name]
    elif is_frame(columns):
        for name in columns.columns:
            yield name, columns.get_column(name)
    else:
        raise SourceError(
            f"columns: got {type(columns).__name__}, want a mapping of names to arrays, a frame or a table",
            field="columns",
        )


def column_of(name: str, value: Any) -> Column:
    """A column from anything that numpy makes an array of."""
    if isinstance(value, Codes) and value.words is not None and value.ndim == 1:
        return codes_column(name, value)
    array = array_of(name, plain(value))
    if array.ndim not in (1, 2):
        raise SourceError(f'column "{name}" has shape {list(array.shape)}, want [rows] or [rows, n]', field=name)
    kind = array.dtype.kind
    if kind in "USOT":
        return text_column(name, array)
    if kind in "mM":
        return time_column(name, array)
    code = array.dtype.str[1:]
    if code not in NAMES:
        raise SourceError(
            f'column "{name}" is {array.dtype}, want numbers of at most 64 bits, bool, datetime64, timedelta64 or text',
            field=name,
        )
    stored = np.dtype(f"<{code}")
    return Column(name, NAMES[code], array.shape, array.size * stored.itemsize, "", pieces_of(array, stored))


def array_of(name: str, value: Any) -> npt.NDArray[Any]:
    """``value`` as an array; a time with a zone as UTC, objects that are numbers or times as such."""
    kind = getattr(value, "dtype", None)
    zone, plain = getattr(kind, "tz", None), getattr(kind, "numpy_dtype", None)
    if zone is not None and hasattr(value, "to_numpy"):  # pandas
        return np.asarray(value.to_numpy(dtype=f"datetime64[{value.dtype.unit}]"))
    if isinstance(plain, np.dtype) and plain.kind in "iufb" and hasattr(value, "isna"):  # pandas' nullable numbers
        return nullable(name, value, plain)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise SourceError(f'column "{name}" is no array: {error}', field=name) from error
    return of_objects(array) if array.dtype.kind == "O" and array.ndim == 1 else array


def nullable(name: str, value: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The values of a pandas array with a mask; what is missing is NaN in floats."""
    if dtype.kind == "f":
        return np.asarray(value.to_numpy(dtype=dtype, na_value=np.nan))
    missing = np.flatnonzero(np.asarray(value.isna()))
    if len(missing):
        raise SourceError(
            f'column "{name}", row {missing[0]:,}: the value is missing, which only a float column can say',
            field=name,
            hint='astype("float64") keeps it as NaN; fillna(...) fills it',
        )
    return np.asarray(value.to_numpy(dtype=dtype))


def of_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Decimals as the nearest float64, dates, times and their differences as numpy has them; all else as it is."""
    first = next((value for value in array if not is_missing(value)), None)
    if isinstance(first, decimal.Decimal):
        return np.array([np.nan if is_missing(value) else float(value) for value in array])
    if isinstance(first, datetime.datetime) and first.tzinfo is None:
        return array.astype("datetime64[us]")
    if isinstance(first, datetime.date) and not isinstance(first, datetime.datetime):
        return array.astype("datetime64[D]")
    if isinstance(first, datetime.timedelta):
        return array.astype("timedelta64[us]")
    return array


def is_missing(value: Any) -> bool:
    """Whether an object stands for no value: None, NaN, pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def time_column(name: str, array: npt.NDArray[Any]) -> Column:
    """A column of timestamps or durations; days, hours and minutes are stored as seconds."""
    kind = array.dtype.kind
    unit = np.datetime_data(array.dtype)[0]
    missing = np.flatnonzero(np.isnat(array.reshape(len(array), -1)).any(axis=1))
    if len(missing):
        raise SourceError(f'column "{name}", row {missing[0]:,}: NaT is no time', field=name)
    if unit in ("ps", "fs", "as", "generic") or (kind == "m" and unit in "YM"):
        raise SourceError(
            f'column "{name}" is {array.dtype}, want a unit from seconds to nanoseconds',
            field=name,
            hint=f'astype("{array.dtype.name[:-2]}64[ns]") makes one' if unit != "generic" else "",
        )
    if unit not in UNITS or np.datetime_data(array.dtype)[1] != 1:
        unit = unit if unit in UNITS else "s"
        fine = array.astype(f"{kind}8[{unit}]")
        if (fine.astype(array.dtype) != array).any():
            raise SourceError(f'column "{name}": a time does not fit 64 bits of {unit}', field=name)
        array = fine
    pieces = pieces_of(array.view(np.int64), np.dtype("<i8"))
    name_of = "timestamp" if kind == "M" else "duration"
    return Column(name, name_of, array.shape, array.size * 8, unit, pieces)


def text_column(name: str, array: npt.NDArray[Any]) -> Column:
    """A column of texts, as offsets and bytes; an offset ``-o - 1`` says that the text before it is missing."""
    if array.ndim != 1:
        raise SourceError(f'column "{name}" is text of shape {list(array.shape)}, want [rows]', field=name)
    texts: list[bytes] = []
    missing: list[int] = []
    for row, value in enumerate(array.tolist()):
        if isinstance(value, bytes):
            texts.append(value)
        elif isinstance(value, str):
            texts.append(value.encode())
        elif is_missing(value):
            texts.append(b"")
            missing.append(row)
        else:
            raise SourceError(f'column "{name}", row {row:,}: {value!r} is no text', field=name)
    offsets = np.zeros(len(texts) + 1, "<i8")
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    size = offsets.nbytes + int(offsets[-1])
    ends = np.asarray(missing, np.intp) + 1
    offsets[ends] = -offsets[ends] - 1
    return Column(name, "utf8", (len(texts),), size, "", iter([offsets.tobytes(), b"".join(texts)]))


def codes_column(name: str, codes: Codes) -> Column:
    """A column of the words that codes stand for, as :func:`text_column` sends texts, a few MiB at a time."""
    assert codes.words is not None
    words = [word.encode() for word in codes.words]
    numbers: npt.NDArray[np.int32] = plain(codes)
    wrong = np.flatnonzero((numbers < -1) | (numbers >= len(words)))
    if len(wrong):
        raise SourceError(
            f'column "{name}", row {wrong[0]:,}: {numbers[wrong[0]]} is no code of {len(words):,} words', field=name
        )
    sizes = np.array([len(word) for word in words] + [0], np.int64)  # -1 is the last, which is empty
    step = CHUNK_BYTES // 8

    def pieces() -> Iterator[bytes | memoryview]:
        yield bytes(8)
        end = 0
        for at in range(0, len(numbers), step):
            part = numbers[at : at + step]
            ends = end + np.cumsum(sizes[part], dtype="<i8")
            end = int(ends[-1])
            yield np.where(part < 0, -ends - 1, ends).data.cast("B")
        texts = [*words, b""]
        for at in range(0, len(numbers), step):
            yield b"".join([texts[code] for code in numbers[at : at + step].tolist()])

    size = 8 * (len(numbers) + 1) + sum(int(sizes[numbers[i : i + step]].sum()) for i in range(0, len(numbers), step))
    return Column(name, "utf8", numbers.shape, size, "", pieces())


def pieces_of(array: npt.NDArray[Any], stored: np.dtype[Any]) -> Iterator[bytes | memoryview]:
    """The values in C order as ``stored``, a few MiB at a time."""
    row = stored.itemsize * (array.shape[1] if array.ndim == 2 else 1)
    step = max(1, CHUNK_BYTES // max(1, row))
    for at in range(0, len(array), step):
        yield np.ascontiguousarray(array[at : at + step], stored).data.cast("B")
