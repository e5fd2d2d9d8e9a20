"""Columns of several items, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.text_codes import Codes, plain
from .._errors import SourceError, show
from .object_columns import only_missing
from .object_numbers import DECIMALS, EXACT, are_decimals_together
from .typed_arrays import array_of, memory_of, zone_of
from .untyped_values import is_untyped

GROUPS = {
    "i": "numbers",
    "u": "numbers",
    "f": "numbers",
    "b": "bool",
    "M": "times",
    "m": "durations",
}
"""What the kinds of numpy's dtypes are stored as; others are text."""

HINT_ALIKE = "give all items values of one type"


@dataclass(frozen=True)
class Parts:
    """The values of a column by item."""

    by_item: list[tuple[Any, Any]]


@dataclass(frozen=True)
class Repeated:
    """Texts or whole numbers, each in a number of rows."""

    values: Sequence[Any]
    rows: Sequence[int]


@dataclass
class Part:
    """The values of an item as an array."""

    item: Any
    array: npt.NDArray[Any]
    zone: str
    missing: bool
    """Whether all values are missing, so that they may be of any type."""
    memory: tuple[npt.NDArray[Any], ...]
    """Arrays over memory that the values may be copied from."""

    @property
    def group(self) -> str:
        """What the values are stored as."""
        return GROUPS.get(self.array.dtype.kind, "text")


def joined(name: str, parts: Parts) -> tuple[npt.NDArray[Any], str, tuple[npt.NDArray[Any], ...]]:
    """The values of all items as one array, their time zone, and the memory that they are from.

    Raises:
        SourceError: an array cannot be stored, or two items have values of different types.
    """
    arrays = [part_of(name, item, values) for item, values in parts.by_item]
    arrays = [part for part in arrays if len(part.array)] or arrays[:1]
    known = [part for part in arrays if not part.missing] or arrays[:1]
    check_alike(name, arrays, known)
    memory = tuple(own for part in arrays for own in part.memory)
    first = known[0]
    if first.group in ("numbers", "times", "durations"):
        check_exact(name, known)
    for part in arrays:
        if part.missing and part.group != first.group:
            part.array = missing_like(first.array, len(part.array))
        elif first.group == "text":
            part.array = part.array.astype(object)
    pieces = [part.array for part in arrays]
    concatenate: Any = np.concatenate
    if any(isinstance(array, np.ma.MaskedArray) for array in pieces):
        concatenate = np.ma.concatenate
    array = concatenate(pieces)
    if array.dtype == np.float64 and are_decimals_together(pieces):
        array = array.astype(DECIMALS)  # concatenate drops the metadata
    return array, first.zone, memory


def part_of(name: str, item: Any, values: Any) -> Part:
    """The values of an item as an array."""
    try:
        array = array_of(name, words_of(name, values))
    except SourceError as error:
        raise of_item(item, error) from error
    missing = is_untyped(values) and only_missing(array)
    if array.dtype.kind == "f" and array.size:
        missing = bool(np.isnan(array).all())
    return Part(item, array, zone_of(values), missing, (array, *memory_of(values)))


def of_item(item: Any, error: SourceError) -> SourceError:
    """The refusal of the values of an item."""
    return SourceError(f"item {show(item)}: {error.detail}", field=error.field, hint=error.hint)


def words_of(name: str, values: Any) -> Any:
    """The words of codes that know them; other values as they are."""
    if isinstance(values, Codes) and values.words is not None and values.ndim == 1:
        words = [*values.words, None]
        return np.array([words[code] for code in checked_codes(name, values).tolist()], object)
    return plain(values)


def checked_codes(name: str, codes: Codes) -> npt.NDArray[np.int32]:
    """The numbers of codes, all of which are of words, or -1."""
    assert codes.words is not None
    numbers: npt.NDArray[np.int32] = plain(codes)
    wrong = np.flatnonzero((numbers < -1) | (numbers >= len(codes.words)))
    if len(wrong):
        raise SourceError(
            f'row {wrong[0] + 1:,}, column "{name}": {numbers[wrong[0]]} is no code of '
            f"{len(codes.words):,} words",
            field=name,
            hint="take codes out of the column as they are, or give the words as texts",
        )
    return numbers


def missing_like(array: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    """Missing values beside those of an array."""
    shape = (rows, *array.shape[1:])
    kind = array.dtype.kind
    if kind in "iub":
        return np.ma.MaskedArray(np.zeros(shape, array.dtype), np.ones(shape, bool))
    if kind == "f":
        return np.full(shape, np.nan, array.dtype)
    if kind in "Mm":
        return np.full(shape, np.array("NaT", array.dtype))
    return np.full(shape, None, object)


def check_alike(name: str, arrays: list[Part], known: list[Part]) -> None:
    """Check that all items have values of one shape, type and zone."""
    first = known[0]
    for part in arrays:
        shapes = [[0, *one.array.shape[1:]] for one in (part, first)]
        if shapes[0] != shapes[1]:
            raise unlike(name, part, first, *(f"of shape {shape}" for shape in shapes))
    for part in known:
        if part.group != first.group:
            raise unlike(name, part, first, part.group, first.group)
        if part.zone != first.zone:
            zones = [f"in {one.zone or 'no zone'}" for one in (part, first)]
            raise unlike(name, part, first, *zones)


def unlike(name: str, part: Part, first: Part, has: str, had: str) -> SourceError:
    """The refusal of an item's values because of those of the first item."""
    return SourceError(
        f'column "{name}" is {has} in item {show(part.item)}, and {had} in item {show(first.item)}',
        field=name,
        hint=HINT_ALIKE,
    )


def check_exact(name: str, known: list[Part]) -> None:
    """Check that the dtype of all items together has every value of each."""
    dtypes = {part.array.dtype for part in known}
    if len(dtypes) == 1:
        return
    try:
        common = np.result_type(*dtypes)
    except TypeError as error:
        raise SourceError(
            f'column "{name}" has values of {", ".join(sorted(map(str, dtypes)))} in its items',
            field=name,
            hint=HINT_ALIKE,
        ) from error
    for part in known:
        if not is_exact(np.ma.getdata(part.array), common):
            raise SourceError(
                f'column "{name}" has values of {part.array.dtype} in item {show(part.item)} that '
                f"{common}, the dtype of all items together, has not",
                field=name,
                hint="give all items values of one dtype",
            )


def is_exact(array: npt.NDArray[Any], common: np.dtype[Any]) -> bool:
    """Whether no value of an array changes in another dtype."""
    kind = array.dtype.kind
    if kind in "Mm":
        numbers = array.astype(common).astype(array.dtype).view(np.int64)
        return bool((numbers == array.view(np.int64)).all())
    if kind in "iu" and common.kind == "f" and array.dtype.itemsize == 8 and array.size:
        return int(array.max()) < EXACT and int(array.min()) > -EXACT
    return True
