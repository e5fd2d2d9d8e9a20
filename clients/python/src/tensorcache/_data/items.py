"""The items of a dataset, read from a mapped file on demand."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import TypeAlias, overload

import numpy as np
import numpy.typing as npt

from .._errors import NotFoundError, near, show
from .manifest import Manifest
from .texts import Texts, in_range, preview

ItemValue: TypeAlias = "str | int | tuple[str | int, ...] | None"

NEAR_AMONG = 10_000
"""How many names a "not found" message compares with."""


class Items(Sequence[ItemValue]):
    """The items of a dataset in the order of their first rows; ``items[code]`` is an item's value.

    A value is a ``str`` or ``int``, a tuple of them if several columns name the item, or None if no
    column does. Values are made on access.

    Attributes:
        row_offset: int64 ``[items]``, each item's first row in the dataset.
        rows: int64 ``[items]``, its number of rows.
    """

    def __init__(self, manifest: Manifest, data: mmap.mmap) -> None:
        items = manifest.items
        count = int(items["count"])
        self.row_offset: npt.NDArray[np.int64] = np.frombuffer(
            data, "<i8", count, int(items["row_offset"]["offset"])
        )
        self.rows: npt.NDArray[np.int64] = np.frombuffer(
            data, "<i8", count, int(items["rows"]["offset"])
        )
        self._names = [str(value["name"]) for value in items.get("values") or ()]
        self._values: list[Texts | npt.NDArray[np.int64]] = []
        for value in items.get("values") or ():
            if value["dtype"] == "text":
                place = (int(value.get(key, 0)) for key in ("offsets", "data", "data_bytes"))
                self._values.append(Texts(data, count, *place))
            else:
                self._values.append(np.frombuffer(data, "<i8", count, int(value["offset"])))

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> ItemValue: ...
    @overload
    def __getitem__(self, index: slice) -> list[ItemValue]: ...
    def __getitem__(self, index: int | slice) -> ItemValue | list[ItemValue]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
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
        """The code of the item with a value, as in ``batch.item``.

        Raises:
            NotFoundError: no item has the value; the message lists near ones.
        """
        code = self._find(value)
        if code is None:
            raise NotFoundError(
                f"no item is named {show(value)}{self._near(value)}",
                type="item_not_found",
                field="item",
                hint="data.items lists them",
            )
        return code

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """As :meth:`code`, with a sequence's signature.

        Raises:
            ValueError: no item has the value.
        """
        code = self._find(value)
        if code is None or code < start or (stop is not None and code >= stop):
            raise ValueError(f"no item is named {show(value)}")
        return code

    def _find(self, value: object) -> int | None:
        if not self._values:
            return 0 if value is None and len(self) else None
        wanted = value if isinstance(value, (tuple, list)) else (value,)
        if len(wanted) != len(self._values):
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
