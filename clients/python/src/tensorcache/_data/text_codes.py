"""Text columns as arrays of codes that know their words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .texts import Texts


class Codes(np.ndarray[Any, np.dtype[np.int32]]):
    """The codes of a text column, int32, with their words; -1 is no word.

    Slices of it have the words too, so that :meth:`Cache.put` stores words again. Results of
    computations on codes are plain numbers, and so is ``np.asarray(codes)``.
    """

    words: Texts | None = None

    def __array_finalize__(self, obj: Any) -> None:
        """Keep the words in slices and copies of the same dtype."""
        if self.dtype == np.int32:
            self.words = getattr(obj, "words", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Compute with the numbers."""
        out = kwargs.get("out")
        if out is not None:
            kwargs["out"] = tuple(map(plain, out))
        return getattr(ufunc, method)(*map(plain, inputs), **kwargs)

    def __reduce__(self) -> Any:
        """Pickle the numbers alone: the words are in the mapped file."""
        return plain(self).__reduce__()


def codes_of(codes: npt.NDArray[np.int32], words: Texts) -> Codes:
    """``codes`` with their words; no copy."""
    column = codes.view(Codes)
    column.words = words
    return column


def plain(value: Any) -> Any:
    """The numbers of codes; other values as they are."""
    return value.view(np.ndarray) if isinstance(value, Codes) else value
