"""The words of text columns and the texts that name items, read from mapped files on demand."""

from __future__ import annotations

import mmap
import operator
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._errors import show


class Texts(Sequence[str]):
    """An Arrow Utf8 array of a mapped file as a sequence of strings, which are made on access."""

    def __init__(self, data: mmap.mmap, count: int, offsets: int, at: int, size: int) -> None:
        self._offsets: npt.NDArray[np.int32] = np.frombuffer(data, "<i4", count + 1, offsets)
        self._bytes: npt.NDArray[np.uint8] = (
            np.frombuffer(data, "u1", size, at) if size else np.empty(0, np.uint8)
        )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = in_range(index, len(self))
        return self._bytes[self._offsets[i] : self._offsets[i + 1]].tobytes().decode()

    def decode(self, codes: npt.ArrayLike) -> npt.NDArray[np.object_]:
        """The strings of an array of codes, as an object array of the same shape.

        A negative code, which is no text, becomes None.
        """
        array = np.asarray(codes)
        unique, inverse = np.unique(array, return_inverse=True)
        words = np.empty(len(unique), object)
        words[:] = [self[int(code)] if code >= 0 else None for code in unique]
        return words[inverse.reshape(array.shape)]

    def find(self, text: str) -> npt.NDArray[np.int64]:
        """The positions of ``text``, found in one pass over the offsets without making strings."""
        wanted = text.encode("utf-8", "surrogatepass")  # a lone surrogate is in no text
        places = np.flatnonzero(np.diff(self._offsets) == len(wanted))
        for at, byte in enumerate(wanted):
            if not len(places):
                break
            places = places[self._bytes[self._offsets[places] + at] == byte]
        return places

    def index(self, value: str, start: int = 0, stop: int | None = None) -> int:
        """The position of a string.

        Raises:
            ValueError: it is not there.
        """
        for place in self.find(value):
            if place >= start and (stop is None or place < stop):
                return int(place)
        raise ValueError(f'"{value}" is not there')

    def __repr__(self) -> str:
        return f"<{len(self):,} texts{preview(self)}>"


def in_range(index: Any, length: int) -> int:
    """The position of a Python index, which may be negative."""
    i = operator.index(index)
    if not -length <= i < length:
        raise IndexError(f"{index} is outside of {length:,}")
    return int(i % length)


def preview(values: Sequence[Any]) -> str:
    """The first few values, for a repr."""
    first = ", ".join(show(value) for value in values[:3])
    return f": {first}{', …' if len(values) > 3 else ''}" if first else ""
