"""The items of a dataset, read from a mapped file on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NoReturn, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from .._errors import NotFoundError, SpecError, near, show
from .manifest import Manifest
from .mapped_file import MappedFile
from .text_codes import Codes
from .texts import Texts, in_range, preview

ItemValue: TypeAlias = "str | int | tuple[str | int, ...] | None"

NEAR_AMONG = 10_000
"""How many names a "not found" message compares with."""

FEW = 64
"""How many texts of items are looked up before a table of all items is made."""


class Items(Sequence[ItemValue]):
    """The items of a dataset in the order of their first rows; ``items[code]`` is an item's value.

    A value is a ``str`` or ``int``, a tuple of them if several columns name the item, or None if no
    column does. Values are made on access. An array of codes, such as ``batch.item_code``, gives an
    array of values. :meth:`code` and :meth:`codes` are the way back.
    """

    def __init__(self, manifest: Manifest, file: MappedFile) -> None:
        items = manifest.items
        count = int(items["count"])
        self._file, data = file, file.memory
        # Over the shared map: no user may get these.
        self._row_offset: npt.NDArray[np.int64] = np.frombuffer(
            data, "<i8", count, int(items["row_offset"]["offset"])
        )
        self._rows: npt.NDArray[np.int64] = np.frombuffer(
            data, "<i8", count, int(items["rows"]["offset"])
        )
        self._names = [str(value["name"]) for value in items.get("values") or ()]
        self._sorted: npt.NDArray[np.int64] | None = None
        self._codes: dict[ItemValue, int] | None = None
        self._searches = 0
        self._values: list[Texts | npt.NDArray[np.int64]] = []
        for value in items.get("values") or ():
            if value["dtype"] == "text":
                place = (int(value.get(key, 0)) for key in ("offsets", "data", "data_bytes"))
                self._values.append(Texts(data, count, *place))
            else:
                self._values.append(np.frombuffer(data, "<i8", count, int(value["offset"])))

    @property
    def row_offset(self) -> npt.NDArray[np.int64]:
        """Each item's first row in the dataset, int64 ``[items]``: an array like ``data[name]``."""
        return self._file.private(self._row_offset)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """Each item's number of rows, int64 ``[items]``: an array like ``data[name]``."""
        return self._file.private(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __call__(self) -> NoReturn:
        """Refuse ``data.items()``, which is a method of other mappings."""
        raise TypeError(
            "data.items lists the items and is not a method\n"
            "hint: dict(data).items() has the columns by name"
        )

    @overload
    def __getitem__(self, index: int) -> ItemValue: ...
    @overload
    def __getitem__(self, index: slice) -> list[ItemValue]: ...
    @overload
    def __getitem__(self, index: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]: ...
    def __getitem__(
        self, index: int | slice | npt.NDArray[np.integer[Any]]
    ) -> ItemValue | list[ItemValue] | npt.NDArray[Any]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        refuse_text_codes("data.items[...]", index, "codes of items")
        if getattr(index, "ndim", 0) or isinstance(index, list):
            return self._values_of(readable("data.items[...]", index, "codes"))
        index = plain_value(index)
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(
                f"data.items[...]: got {show(index)}, want a code\n"
                "hint: data.items.code(value) is an item's code, data.item(value) its rows"
            )
        i = in_range(index, len(self))
        values = tuple(
            value[i] if isinstance(value, Texts) else int(value[i]) for value in self._values
        )
        if not values:
            return None
        return values[0] if len(values) == 1 else values

    def __iter__(self) -> Iterator[ItemValue]:
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return self._find(value) is not None

    def code(self, value: object) -> int:
        """The code of the item with a value, as in ``batch.item_code``.

        Raises:
            NotFoundError: no item has the value; the message lists near ones.
        """
        refuse_text_codes("item", value, "one item's value")
        if getattr(value, "ndim", 0) or isinstance(value, (set, dict)):
            raise SpecError(
                f"item: got a {type(value).__name__}, want one item's value",
                field="item",
                hint="data.items.codes(values) has the codes of several items",
            )
        value = plain_value(value)
        code = self._find(value)
        if code is None:
            raise NotFoundError(
                f"no item is named {show(value)}{self._near(value)}",
                type="item_not_found",
                field="item",
                hint="data.items lists them",
            )
        return code

    def codes(self, values: Any) -> npt.NDArray[np.int64]:
        """The codes of several items, int64 ``[n]``.

        Args:
            values: a list of values, or a one-dimensional array of them: of NumPy, torch, JAX or
                pandas. If several columns name items, each value is a tuple. A whole number is a
                value and not a code.

        Raises:
            NotFoundError: no item has one of the values; the message lists near ones.
        """
        given = listed_values("item", values)
        only = self._values[0] if len(self._values) == 1 else None
        if isinstance(only, np.ndarray) and len(only) and all_integers(given):
            bounds = (np.min, np.max) if isinstance(given, np.ndarray) else (min, max)
            for bound in bounds if len(given) else ():
                value = int(bound(given))
                if not -(2**63) <= value < 2**63:
                    self.code(value)  # raises NotFoundError: values of items are int64
            given = np.asarray(given, np.int64)  # NumPy compares int64 with uint64 as float64
            if self._sorted is None:
                self._sorted = np.argsort(only)
            at = np.searchsorted(only, given, sorter=self._sorted)
            codes = self._sorted[np.minimum(at, len(only) - 1)]
            for wrong in np.flatnonzero(only[codes] != given)[:1]:
                self.code(int(given[wrong]))  # raises NotFoundError
            return codes
        listed = given.tolist() if isinstance(given, np.ndarray) else given
        unique = dict.fromkeys(listed)
        self._searches += len(unique)  # each reads all values
        if self._codes is None and self._searches > FEW:
            self._codes = {value: code for code, value in enumerate(self)}
        known = {} if self._codes is None else self._codes
        found = {value: known[value] if value in known else self.code(value) for value in unique}
        return np.asarray([found[value] for value in listed], np.int64)

    def _one_or_several(self, item: Any) -> int | npt.NDArray[np.int64]:
        """The code of one item's value, or the codes of several items' values.

        Args:
            item: as for :meth:`code` or :meth:`codes`.

        Raises:
            NotFoundError: no item has a value; the message lists near ones.
        """
        return self.code(item) if self._is_value(item) else self.codes(item)

    def _is_value(self, item: Any) -> bool:
        """Whether something is one item's value, and not several."""
        if hasattr(item, "__array__"):
            return np.ndim(item) == 0
        if isinstance(item, (str, bytes)) or not isinstance(item, Iterable):
            return True
        if len(self._values) < 2 or not isinstance(item, (tuple, list)):
            return False
        return not any(isinstance(part, (tuple, list)) or np.ndim(part) > 0 for part in item)

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """As :meth:`code`, with a sequence's signature.

        Raises:
            ValueError: no item has the value.
        """
        code = self._find(value)
        if code is None or code < start or (stop is not None and code >= stop):
            raise ValueError(f"no item is named {show(value)}")
        return code

    def _values_of(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of an array of codes, as an array of the same shape."""
        if codes.dtype.kind not in "iu" and codes.size:
            raise TypeError(f"data.items[...]: got an array of {codes.dtype}, want codes")
        for code in codes[(codes < -len(self)) | (codes >= len(self))][:1]:
            raise IndexError(f"data.items[...]: got {code}, want codes from 0 to {len(self) - 1}")
        codes = codes.astype(np.int64)
        if not self._values:
            return np.full(codes.shape, None)
        if len(self._values) == 1 and not isinstance(self._values[0], Texts):
            integers: npt.NDArray[np.int64] = self._values[0][codes]
            return integers
        unique, back = np.unique(codes % max(1, len(self)), return_inverse=True)
        values = np.empty(len(unique), object)
        for at, code in enumerate(unique):  # values[:] = would take tuples for rows
            values[at] = self[int(code)]
        return values[back.reshape(codes.shape)]

    def _find(self, value: object) -> int | None:
        value = plain_value(value)
        if not self._values:
            return 0 if value is None and len(self) else None
        wanted = value if len(self._values) > 1 else (value,)
        if not isinstance(wanted, tuple) or len(wanted) != len(self._values):
            return None
        places: npt.NDArray[np.int64] | None = None
        for column, part in zip(self._values, wanted, strict=True):
            found: npt.NDArray[np.int64]
            if isinstance(column, Texts):
                found = column.find(part) if isinstance(part, str) else np.empty(0, np.int64)
            elif isinstance(part, (int, np.integer)) and not isinstance(part, bool):
                found = np.flatnonzero(column == part)
            else:
                found = np.empty(0, np.int64)
            places = found if places is None else np.intersect1d(places, found, assume_unique=True)
        return int(places[0]) if places is not None and len(places) else None

    def _near(self, value: object) -> str:
        wanted = len(self._values)
        if not wanted:
            return "; the dataset has one item, without a name (it was loaded without item_id)"
        if wanted > 1 and not (isinstance(value, (tuple, list)) and len(value) == wanted):
            return f"; items are named by tuples of {', '.join(self._names)}"
        return near(str(value), (str(name) for name in self[:NEAR_AMONG]))

    def __repr__(self) -> str:
        return f"<{len(self):,} items{preview(self)}>"


def plain_value(value: Any, field: str = "item") -> Any:
    """An item's value without its array: a scalar of NumPy, torch or JAX as Python's."""
    if isinstance(value, (tuple, list)):
        return tuple(plain_value(part, field) for part in value)
    if isinstance(value, (str, int)) and not isinstance(value, (np.generic, bool)):
        return value
    if hasattr(value, "__array__") and np.ndim(value) == 0:
        array = readable(field, value, "values of items")
        return value if array.dtype.kind in "mM" else array.item()
    return value


def listed_values(field: str, values: Any) -> list[Any] | npt.NDArray[np.integer[Any]]:
    """Values of items as a list, or as an array of integers.

    Raises:
        SpecError: they are neither a list nor an array, or one of them is neither text nor a whole
            number.
    """
    refuse_text_codes(field, values, "values of items")
    if hasattr(values, "__array__"):
        array = readable(field, values, "values of items")
        if array.ndim == 1 and array.dtype.kind in "iu":
            return array
        values = list(array) if array.dtype.kind in "mM" and array.ndim else array.tolist()
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise SpecError(f"{field}: got {show(values)}, want a list of items' values", field=field)
    listed = [plain_value(value, field) for value in values]
    for value in listed:
        if not all(map(is_plain, value if isinstance(value, tuple) else (value,))):
            raise SpecError(
                f"{field}: got {show(value)} in a list, want items' values: text, whole numbers or "
                "tuples of these",
                field=field,
            )
    return listed


def readable(field: str, values: Any, want: str) -> npt.NDArray[Any]:
    """An array of any library as one of NumPy.

    Raises:
        SpecError: NumPy cannot read it, or some of its values are masked.
    """
    if np.ma.is_masked(values):
        raise SpecError(f"{field}: got masked values, want {want}", field=field)
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise SpecError(f"{field}: want {want}: {error}", field=field) from None


def is_plain(value: Any) -> bool:
    """Whether something is a text, a whole number or None.

    Bools and floats are refused because Python finds ``True`` and 1.0 under the key 1.
    """
    return value is None or (isinstance(value, (str, int)) and not isinstance(value, bool))


def all_integers(values: list[Any] | npt.NDArray[np.integer[Any]]) -> bool:
    """Whether values are whole numbers."""
    return isinstance(values, np.ndarray) or all(isinstance(value, int) for value in values)


def refuse_text_codes(field: str, given: Any, want: str) -> None:
    """Refuse the codes of a text column, which are no codes of items."""
    if isinstance(given, Codes):
        raise SpecError(
            f"{field}: got the codes of a text column, want {want}",
            field=field,
            hint="data.vocab(name).decode(data[name]) has the words of column name, and "
            "data.items.codes(words) the codes of items that they name",
        )
