"""Text columns as arrays of codes that know their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import show
from .texts import Texts

MISSING = -1
"""The code of a missing text."""

UNKNOWN = -2
"""In comparisons, the code of a text that is not in the vocabulary."""

NO_WORDS = "these codes have no words\nhint: compare data[name] itself, or a slice"
"""The refusal of codes from a pickle or a concatenation."""

COMPARED = ("element", "test_elements", "a1", "a2")
"""What is compared by ``np.isin``, ``np.array_equal`` and ``np.array_equiv``, in order."""

FEW = 16
"""How many texts are searched for without a table of all words."""


class Codes(np.ndarray[Any, np.dtype[np.int32]]):
    """The codes of a text column, int32, with their words; -1 is a missing text.

    Slices of it have the words too, so that :meth:`Cache.put` stores words again. ``codes == "a"``,
    ``!=``, ``np.isin`` and ``np.array_equal`` compare with a word, with an array of words, or with
    another text column; None and NaN are missing words. Results of computations on codes are plain
    numbers, and so are single codes and ``np.asarray(codes)``.
    """

    __array_priority__ = 1.0
    """NumPy's concatenations are of this class, and refuse words because they have none."""

    __pandas_priority__ = 5000
    """``series == codes`` of pandas calls this class."""

    words: Texts | None = None

    def __array_finalize__(self, obj: Any) -> None:
        """Keep the words in slices and copies of the same dtype."""
        if self.dtype == np.int32:
            self.words = getattr(obj, "words", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Compare with words; else compute with the numbers."""
        if ufunc in (np.equal, np.not_equal) and method in ("__call__", "outer"):
            inputs = self._comparable(inputs)
        out = kwargs.get("out")
        if out is not None:
            kwargs["out"] = tuple(map(plain, out))
        return getattr(ufunc, method)(*map(plain, inputs), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Compare with words in NumPy's functions that compare."""
        if func not in (np.isin, np.array_equal, np.array_equiv):
            return super().__array_function__(func, types, args, kwargs)
        named = {name: kwargs[name] for name in COMPARED if name in kwargs}
        one, other = map(plain, self._comparable((*args[:2], *named.values())))
        return func(one, other, *args[2:], **{k: v for k, v in kwargs.items() if k not in named})

    def _comparable(self, values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(value if value is self else numbers_of(self.words, value) for value in values)

    def __reduce__(self) -> Any:
        """Pickle the numbers alone: the words are in the mapped file."""
        return codes_without_words, (np.array(plain(self)),)


def numbers_of(words: Texts | None, value: Any) -> Any:
    """What codes of ``words`` are compared with: codes in place of texts, and numbers as they are.

    Raises:
        TypeError: they are neither texts nor numbers, or the codes have no words.
    """
    if isinstance(value, Codes):
        if words is None or value.words is None:
            raise TypeError(NO_WORDS)
        if value.words is words:
            return value
        table = [*codes_among(words, value.words), MISSING]  # -1 is the last one
        return np.asarray(table, np.int32)[plain(value)]
    if np.ma.is_masked(value):
        raise TypeError("a text column is compared with texts, got masked values")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise TypeError(f"a text column is compared with texts: {error}") from None
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "f":
        return np.where(np.isnan(array), MISSING, array)
    if words is None:
        raise TypeError(NO_WORDS)
    if isinstance(value, (str, list, tuple)):  # else None becomes text, and a final NUL is cut
        array = np.asarray(value, object)
    texts = [None if is_missing(text) else text for text in array.astype(object).flat]
    for text in texts:
        if not isinstance(text, (str, type(None))):
            raise TypeError(f"a text column is compared with texts, got {show(text)} among them")
    unique = [text for text in dict.fromkeys(texts) if text is not None]
    codes = {None: MISSING, **dict(zip(unique, codes_among(words, unique), strict=True))}
    return np.asarray([codes[text] for text in texts], np.int32).reshape(array.shape)


def codes_among(words: Texts, texts: Sequence[str]) -> list[int]:
    """The codes of different texts among the words, UNKNOWN for those that are not."""
    if len(texts) > FEW:  # each search reads all words
        codes = {word: code for code, word in enumerate(words)}
        return [codes.get(text, UNKNOWN) for text in texts]
    found = [words.find(str(text)) for text in texts]
    return [int(places[0]) if len(places) else UNKNOWN for places in found]


def is_missing(text: Any) -> bool:
    """Whether a value of an array of texts is None, NaN or pandas' NA."""
    nan = isinstance(text, float) and text != text
    return text is None or nan or type(text).__name__ == "NAType"


def codes_of(codes: npt.NDArray[np.int32], words: Texts) -> Codes:
    """``codes`` with their words; no copy."""
    column = codes.view(Codes)
    column.words = words
    return column


def codes_without_words(codes: npt.NDArray[np.int32]) -> Codes:
    """Codes from a pickle, which refuse words."""
    return codes.view(Codes)


def plain(value: Any) -> Any:
    """The numbers of codes; other values as they are."""
    return value.view(np.ndarray) if isinstance(value, Codes) else value
