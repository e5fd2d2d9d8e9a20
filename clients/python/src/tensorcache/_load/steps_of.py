"""Which arrays of a put are columns of a dataset, whose steps they keep."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._data.generation import open_generations
from .._data.manifest import Column
from .._data.mapped_file import Copy, PrivateMap, Stored, address_of, returned
from .sent_columns import Column as SentColumn

Array = npt.NDArray[Any]

Place = tuple[Stored, int, tuple[int, ...]]
"""A generation, and the offset and strides of values in its file."""

FEW = 64
"""How many rows of a column are compared before all are."""
CHUNK_ROWS = 1 << 20
"""How many rows are compared at a time."""


class StoredColumns:
    """The columns of datasets that arrays share memory with.

    Args:
        server: the socket of the daemon. Columns of another one are changed.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._memory = {start_of(memory): memory for memory in returned()}
        self._addresses = sorted(self._memory)

    def of(self, array: Array) -> StoredColumn | None:
        """The column that an array is; None if it has memory of its own.

        An array is a column if it is all rows of it. A part of a column, or values of another dtype
        over its memory, are changed.
        """
        place = self._place(address_of(array), array.strides)
        if place is None:
            return None
        stored, offset, strides = place
        at = (offset, array.shape, strides, array.dtype)
        for column in stored.columns.values():
            if at == (column.offset, column.shape, column.axis_strides(), column.numpy_dtype):
                return StoredColumn(stored, column, stored.server != self._server)
        return part_at(stored, offset)

    def part(self, array: Array) -> StoredColumn | None:
        """The column that the first byte of an array belongs to; None if there is none."""
        place = self._place(address_of(array), ()) if array.size else None
        return place and part_at(place[0], place[1])

    def _place(self, address: int, strides: tuple[int, ...]) -> Place | None:
        near = bisect.bisect_right(self._addresses, address) - 1
        if near < 0:
            return None
        start = self._addresses[near]
        memory = self._memory[start]
        if isinstance(memory, Copy) and memory.of and address < start + memory.nbytes:
            stored, offset, of_column = memory.of
            whole = address == start and strides == memory.strides
            return stored, offset, of_column if whole else ()  # which no column has
        if isinstance(memory, PrivateMap) and memory.stored and address < start + memory.size:
            return memory.stored, memory.offset + address - start, strides
        return None


class StoredColumn(NamedTuple):
    """The column of a generation that an array is, or, if ``changed``, is a part or a cast of."""

    stored: Stored
    column: Column
    changed: bool

    def entry(self, of_text: bool) -> dict[str, Any] | None:
        """The entry in the request; None if no steps are kept, nor, of texts, the words."""
        steps = self.column.needs_steps if self.changed else self.column.has_steps
        words = of_text and self.column.dtype == "text" and not self.changed
        if not steps and not words:
            return None
        entry = {
            "dataset": self.stored.dataset,
            "generation": self.stored.generation,
            "digest": self.stored.digest,
            "column": self.column.name,
        }
        return {**entry, "changed": True} if self.changed else entry

    def part_of_filled(self) -> Mapping[str, str] | None:
        """The column in which a load filled values, if it is not known which of these were."""
        if self.column.part_of_filled is None and self.changed and self.column.prepared.before:
            return {"dataset": self.stored.dataset, "column": self.column.name}
        return self.column.part_of_filled


def with_steps(
    columns: Sequence[SentColumn], stored: StoredColumns, append: bool
) -> list[SentColumn]:
    """The columns of a put, each with the column of a dataset whose steps its values have."""
    out = []
    for column in columns:
        one = None if column.array is None else stored.of(column.array)
        found = [one] if one else [part for part in map(stored.part, column.memory) if part]
        if not found and column.array is not None:
            cast = cast_of(column.array)
            found = [cast] if cast else []
        of_text = column.dtype == "utf8" and not append
        steps = filter(None, (of.entry(of_text) for of in found))
        filled = filter(None, (of.part_of_filled() for of in found))
        out.append(
            replace(
                column,
                steps_of=next(steps, None),
                part_of_filled=next(filled, None),
                calendar=calendar_of(column, found),
            )
        )
    return out


def calendar_of(column: SentColumn, found: Sequence[StoredColumn]) -> str:
    """The calendar feature that values in memory of these columns may be; empty if there is none.

    The daemon compares all values with the feature.
    """
    features = {of.column.calendar for of in found}
    return features.pop() if len(features) == 1 and column.dtype == "float32" else ""


def cast_of(array: Array) -> StoredColumn | None:
    """The column of an open dataset of which an array of floats has the values in another dtype.

    It is one whose steps ``inverse`` undoes. Whole numbers may be equal by chance.
    """
    if array.dtype.kind != "f" or not array.size:
        return None
    few = np.unique(np.linspace(0, len(array) - 1, FEW, dtype=np.int64))
    for data in open_generations():
        for column in data._manifest.columns.values():
            if not column.inverts or column.numpy_dtype.kind != "f" or not data._file.stored:
                continue
            if array.dtype == column.numpy_dtype or array.size != np.prod(column.shape):
                continue
            values = data._mapped(column.name).reshape(array.shape)
            if is_cast(array[few], values[few]) and is_cast_of_fractions(array, values):
                return StoredColumn(data._file.stored, column, True)
    return None


def is_cast_of_fractions(array: Array, stored: Array) -> bool:
    """Whether values are those of a column in another dtype, and not all whole numbers."""
    whole = True
    for at in range(0, len(array), CHUNK_ROWS):
        rows = array[at : at + CHUNK_ROWS]
        if not is_cast(rows, stored[at : at + CHUNK_ROWS]):
            return False
        whole = whole and bool((np.nan_to_num(rows) % 1 == 0).all())
    return not whole


def is_cast(array: Array, stored: Array) -> bool:
    """Whether values are those of a column in another dtype.

    Torch casts float64 to float16 by way of float32.
    """
    with np.errstate(over="ignore"):
        cast = stored.astype(array.dtype)
        if array.dtype == np.float16 and not np.array_equal(cast, array, equal_nan=True):
            cast = stored.astype(np.float32).astype(np.float16)
    return np.array_equal(cast, array, equal_nan=True)


def part_at(stored: Stored, offset: int) -> StoredColumn | None:
    """The column that a byte of a file belongs to, of which the values are a part."""
    found = (column for column in stored.columns.values() if has_byte(column, offset))
    return next((StoredColumn(stored, column, True) for column in found), None)


def has_byte(column: Column, offset: int) -> bool:
    """Whether a byte of the file is in the values of a column."""
    step = column.axis_strides()[0]
    row, at = divmod(offset - column.offset, max(step, 1))
    size = column.width * column.numpy_dtype.itemsize
    return 0 <= row < column.shape[0] and at < size


def start_of(memory: PrivateMap | Copy) -> int:
    """The address of the first byte."""
    return memory.address if isinstance(memory, PrivateMap) else address_of(memory)
