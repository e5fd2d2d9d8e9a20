"""Columns ready to be sent to the daemon: what the request says of them, and their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.manifest import DTYPES, TIMES
from .._data.text_codes import Codes, plain
from .._errors import SourceError, show
from . import tables
from .joined_columns import Parts, Repeated, checked_codes, joined
from .object_columns import no_text, only_missing
from .object_kinds import is_missing
from .object_numbers import are_decimals
from .typed_arrays import array_of, memory_of, zone_of
from .untyped_values import is_untyped

CHUNK_BYTES = 4 << 20
"""How many bytes are converted at a time, so that sending needs no second copy of the data."""

NAMES = {dtype.str[1:]: name for name, dtype in DTYPES.items() if name not in ("text", *TIMES)}
"""numpy's names of the number dtypes, by their code without byte order."""

UNITS = ("s", "ms", "us", "ns")
"""The units in which times are stored."""

HINTS = {
    "c": "give .real and .imag as two columns",
    "f": 'astype("float64") makes the nearest numbers of 64 bits',
}
"""Hints for the kinds of numpy's dtypes that are not stored."""

HINT_FIELDS = "give each field as a column: {name: array[name] for name in array.dtype.names}"
HINT_ASTYPE = "convert it with astype, or leave the column out"


@dataclass(frozen=True)
class Column:
    """A column ready to be sent: its description, and its bytes in pieces."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: int
    unit: str
    pieces: Iterator[bytes | memoryview]
    missing: bool = False
    zone: str = ""
    named_only: bool = False
    """Whether windows include the column only where a spec names it."""
    decimal: bool = False
    """Whether the values have the dtype ``object_numbers.DECIMALS``."""
    array: npt.NDArray[Any] | None = None
    """The array of the values; None for values that no dataset has."""
    memory: tuple[npt.NDArray[Any], ...] = ()
    """Arrays over memory that the values may be copied from."""
    steps_of: dict[str, Any] | None = None
    """The column of a dataset that the values are; see ``StoredColumns.of``."""
    part_of_filled: Mapping[str, str] | None = None
    """The column of a dataset in which a load filled values, if the values are a part of it."""
    calendar: str = ""
    """The feature that a load computed the values as; empty if it did not."""

    def description(self) -> dict[str, Any]:
        """The column's entry in the request."""
        description: dict[str, Any] = {
            "name": self.name,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "bytes": self.size,
        }
        more = {
            "unit": self.unit,
            "zone": self.zone,
            "missing": self.missing,
            "named_only": self.named_only,
            "decimal": self.decimal,
            "steps_of": self.steps_of,
            "part_of_filled": self.part_of_filled,
            "calendar": self.calendar,
        }
        return {**description, **{key: value for key, value in more.items() if value}}


def column_of(name: str, value: Any) -> Column:
    """A column from anything that numpy converts to an array.

    An untyped column of missing values alone is sent without a type: the daemon gives it that of
    the column that it is appended to.
    """
    if isinstance(value, Parts):
        array, zone, own = joined(name, value)
        one = own[0] if len(value.by_item) == 1 else None
        return replace(column_of(name, array), zone=zone, array=one, memory=own)
    if isinstance(value, Repeated):
        if not isinstance(value.values[0], str):
            return column_of(name, np.repeat(np.array(value.values, np.int64), value.rows))
        words = [encoded(name, at, word) for at, word in enumerate(value.values)]
        return words_column(name, words, np.repeat(np.arange(len(words), dtype="i4"), value.rows))
    if isinstance(value, Codes) and value.words is not None and value.ndim == 1:
        return codes_column(name, value)
    if tables.is_hugging_face(value):
        raise SourceError(
            f'column "{name}" is a {type(value).__name__}, want an array',
            field=name,
            hint=f'put each dataset: cache.put(name, dataset["{name}"])',
        )
    array = array_of(name, plain(value))
    check_shape(name, array, value)
    if is_untyped(value) and only_missing(array):
        if array.ndim == 1:
            return Column(name, "null", array.shape, 0, "", iter(()))
        array = np.full(array.shape, np.nan)
    kind = array.dtype.kind
    if kind in "USOT":
        return text_column(name, array)
    if kind in "mM":
        return replace(time_column(name, array), zone=zone_of(value))
    code = array.dtype.str[1:]
    if code not in NAMES:
        raise SourceError(
            f'column "{name}" is {array.dtype}, want numbers of at most 64 bits, bool, datetime64, '
            "timedelta64 or text",
            field=name,
            hint=HINT_FIELDS if array.dtype.names else HINTS.get(kind, HINT_ASTYPE),
        )
    stored = np.dtype(f"<{code}")
    values = Column(
        name,
        NAMES[code],
        array.shape,
        array.size * stored.itemsize,
        "",
        pieces_of(array, stored),
        decimal=are_decimals(array),
        array=array,
        memory=memory_of(value),
    )
    if not isinstance(array, np.ma.MaskedArray):
        return values
    gone = np.ma.getmaskarray(array)
    pieces = chain(values.pieces, pieces_of(gone, np.dtype("?")))
    return replace(values, size=values.size + gone.size, pieces=pieces, missing=True)


def check_shape(name: str, array: npt.NDArray[Any], value: Any) -> None:
    """Check that a column has rows, of one value or of several."""
    shape, what, hint = list(array.shape), "", ""
    if array.ndim == 0:
        several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, np.ndarray))
        given = f"a {type(value).__name__}" if several else show(value)
        what = f"is {given}, want one value, or one row of values, for each row"
        hint = listed(value) if several else "give a list or an array of the values"
    elif array.ndim > 2:
        what = f"has shape {shape}, want [rows] or [rows, n]"
        hint = "values.reshape(len(values), -1) is of shape [rows, n]"
    elif array.ndim == 2 and not array.shape[1]:
        what = f"has shape {shape}, want at least one value in each row"
        hint = "leave the column out of the mapping or frame"
    if what:
        raise SourceError(f'column "{name}" {what}', field=name, hint=hint)


def listed(value: Any) -> str:
    """What makes a list of a value that is none."""
    if isinstance(value, Mapping):
        return "give a list: list(values.values())"
    return f"give a list: {'sorted' if isinstance(value, Set) else 'list'}(values)"


def time_column(name: str, array: npt.NDArray[Any]) -> Column:
    """A column of timestamps or durations; days, hours and minutes are stored as seconds."""
    array = array.astype(array.dtype.newbyteorder("="), copy=False)  # which is viewed as integers
    kind = array.dtype.kind
    unit = np.datetime_data(array.dtype)[0]
    missing = np.argwhere(np.isnat(array))
    if len(missing):
        raise SourceError(
            f'row {missing[0][0] + 1:,}, column "{name}": NaT is no time',
            field=name,
            hint="leave such rows out",
        )
    if unit in ("ps", "fs", "as", "generic") or (kind == "m" and unit in "YM"):
        raise SourceError(
            f'column "{name}" is {array.dtype}, want a unit from seconds to nanoseconds',
            field=name,
            hint=f'astype("{array.dtype.type.__name__}[{"s" if unit == "generic" else "ns"}]") '
            "makes one",
        )
    if unit not in UNITS or np.datetime_data(array.dtype)[1] != 1:
        unit = unit if unit in UNITS else "s"
        fine = array.astype(f"{kind}8[{unit}]")
        wrong = np.argwhere(fine.astype(array.dtype) != array)
        if len(wrong):
            value = array.view(np.int64)[tuple(wrong[0])]
            raise SourceError(
                f'row {wrong[0][0] + 1:,}, column "{name}": {value} in {array.dtype} does not fit '
                f"64 bits of {unit}",
                field=name,
                hint="leave such rows out",
            )
        array = fine
    pieces = pieces_of(array.view(np.int64), np.dtype("<i8"))
    name_of = "timestamp" if kind == "M" else "duration"
    return Column(name, name_of, array.shape, array.size * 8, unit, pieces)


def text_column(name: str, array: npt.NDArray[Any]) -> Column:
    """A column of texts, as offsets and bytes.

    An offset ``-o - 1`` marks the text before it as missing.
    """
    if array.ndim != 1:
        what = "text" if all(isinstance(one, (str, bytes)) for one in array.flat) else "objects"
        raise SourceError(
            f'column "{name}" is {what} of shape {list(array.shape)}, want [rows]',
            field=name,
            hint="give each column of it a name of its own: values[:, 0], values[:, 1]",
        )
    texts: list[bytes] = []
    missing: list[int] = []
    for row, value in enumerate(array.tolist()):
        if isinstance(value, bytes):
            texts.append(value)
        elif isinstance(value, str):
            texts.append(encoded(name, row, value))
        elif is_missing(value):
            texts.append(b"")
            missing.append(row)
        else:
            raise no_text(name, array.tolist(), row)
    offsets = np.zeros(len(texts) + 1, "<i8")
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    size = offsets.nbytes + int(offsets[-1])
    ends = np.asarray(missing, np.intp) + 1
    offsets[ends] = -offsets[ends] - 1
    return Column(name, "utf8", (len(texts),), size, "", iter([offsets.tobytes(), b"".join(texts)]))


def encoded(name: str, row: int, text: str) -> bytes:
    """A text as UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise SourceError(
            f'row {row + 1:,}, column "{name}": {text!a} is not Unicode: it holds half of a '
            "surrogate pair",
            field=name,
            hint='text.encode("utf-8", "replace").decode() puts a question mark there',
        ) from error


def codes_column(name: str, codes: Codes) -> Column:
    """A column of the words of codes, as in :func:`text_column`, in pieces of some MiB."""
    assert codes.words is not None
    words = [word.encode() for word in codes.words]
    return replace(words_column(name, words, checked_codes(name, codes)), array=plain(codes))


def words_column(name: str, words: list[bytes], numbers: npt.NDArray[np.int32]) -> Column:
    """A column of words by their codes, of which -1 is missing."""
    # Code -1 takes the last word, which is empty.
    sizes = np.array([len(word) for word in words] + [0], np.int64)
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

    size = 8 * (len(numbers) + 1) + sum(
        int(sizes[numbers[i : i + step]].sum()) for i in range(0, len(numbers), step)
    )
    return Column(name, "utf8", numbers.shape, size, "", pieces())


def pieces_of(array: npt.NDArray[Any], stored: np.dtype[Any]) -> Iterator[bytes | memoryview]:
    """The values in C order as ``stored``, some MiB at a time."""
    row = stored.itemsize * (array.shape[1] if array.ndim == 2 else 1)
    step = max(1, CHUNK_BYTES // max(1, row))
    for at in range(0, len(array), step):
        yield np.ascontiguousarray(array[at : at + step], stored).data.cast("B")
