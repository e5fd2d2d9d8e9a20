"""One batch: arrays over a slot of the feed's ring, or over memory of this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.items import Items
from .._data.manifest import DTYPES
from .._data.sample import KNOWN_PARTS, NOT_READ, OBSERVED
from .._errors import ProtocolError
from .mapped_windows import MappedWindows

Array = npt.NDArray[Any]
Memory = npt.NDArray[np.uint8]

PARTS = (
    "context", "target", "known", "static", "item_code", "start", "time", "mask",
    "context_missing", "target_missing", "reset",
)  # fmt: skip

PROTOCOL_NAMES = {"item": "item_code"}
"""Parts that the protocol calls otherwise."""


@dataclass(frozen=True)
class Part:
    """Where a part is in a slot.

    ``shape`` is without the leading batch axis, ``offset`` in bytes.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int


class Layout:
    """The daemon's layout of a slot, the same for every batch of a feed.

    Attributes:
        slot_bytes: the size of a slot.
        parts: the parts in a slot by name.
        rows: the windows of a full batch.
        mapped: the mapped columns, for parts that are not in the slot.
        cut: the names of the parts that are cut out of the mapped columns.

    Raises:
        ProtocolError: a part does not fit into the slot, or has no dtype of the protocol.
    """

    def __init__(self, reply: dict[str, Any], mapped: MappedWindows) -> None:
        self.slot_bytes = int(reply["slot_bytes"])
        self.parts: dict[str, Part] = {}
        self.rows = 0
        for part in reply["parts"]:
            name, dtype = str(part["name"]), DTYPES.get(str(part["dtype"]))
            self.rows, *shape = (int(n) for n in part["shape"])
            offset = int(part["offset"])
            if (
                dtype is None
                or offset + dtype.itemsize * self.rows * int(np.prod(shape)) > self.slot_bytes
            ):
                raise ProtocolError(
                    f"the daemon lays out a slot of {self.slot_bytes} bytes with a part {part}"
                )
            self.parts[PROTOCOL_NAMES.get(name, name)] = Part(dtype, tuple(shape), offset)
        self.mapped = mapped
        self.cut = mapped.parts_of(str(reply["delivery"]))

    def make_part(self, name: str, batch: Batch) -> Array | None:
        """A part of a batch, made when it is first read; None if batches do not have it."""
        part = self.parts.get(name)
        if part is not None:
            array: Array = np.ndarray(
                (batch.rows, *part.shape), part.dtype, batch._memory, part.offset
            )
            return array
        return self.mapped.part(name, batch.item_code, batch.start) if name in self.cut else None


class Batch:
    """Consecutive windows of an epoch's order.

    With ``delivery="slot"``, arrays are dense and writable: they are a slot of the feed's ring in
    shared memory. The slot is yours until you drop the batch and every array, view or tensor made
    from it; then the daemon fills it again. With ``"view"``, arrays are read-only strides over a
    copy of the rows, which neighbouring windows share. With ``"local"``, they are dense, in this
    process's own memory. With ``"starts"``, a batch has only the places of its windows.
    :meth:`copy` makes a batch in memory of its own. Parts that the spec does not ask for are None.

    Attributes:
        context: ``[B, C, F]``, or ``[B, F, C]`` with ``channels_first``.
        target: ``[B, L + P, F]``, likewise; None if ``prediction_length`` is 0.
        known: ``[B, C + G + P, F]``, the columns known in advance, likewise.
        known_context: ``[B, C, F]``, samples [0, C) of ``known``, likewise: a dense copy, made on
            first access. None with ``"starts"``, like ``known``.
        known_target: ``[B, L + P, F]``, samples [C + G - L, C + G + P) of ``known``, likewise. None
            if ``prediction_length`` is 0. Windows of ``latest()`` have it, although their
            ``target`` is None.
        observed: float32, the shape of ``context``, made on first access: 0 where the row of
            ``context`` is padded, or the value was missing in the source or made by the load
            (``fill``, ``regrid``), whatever ``count_filled`` is; else 1. None with ``"starts"``. A
            copy or a pickle has it only if it was read before. Raises SpecError if the generation
            does not store which values of a column were filled.
        target_observed: float32, the same for ``target``; None if that is None.
        static: ``[B, F]``, the values that are constant in an item.
        item: ``[B]``, the values of the items, made on access: int64, or objects that are texts,
            tuples if several columns name an item, or None if no column does.
        item_code: int64 ``[B]``, the codes of the items: ``data.items[item_code]`` is ``item``.
        start: int64 ``[B]``, the row of the first context row in the item; negative if it is
            padded.
        row: int64 ``[B]``, that row in the dataset: ``data.items.row_offset[item_code] + start``,
            so ``column[row]`` of ``column = data["OT"]`` is the first context value unless it is
            padded.
        time: ``[B]``, datetime64 or int64, the time of that row, or of the item's first row if it
            is padded; read from the mapped time column on access. None without a time column.
        mask: bool ``[B, C]``, True = real row.
        context_missing: bool, the shape of ``context``, True = missing.
        target_missing: bool, the shape of ``target``.
        reset: bool ``[B]``, True where a row does not continue the row of the batch before.
        rows: B.
    """

    __slots__ = (
        *PARTS, *KNOWN_PARTS, *OBSERVED, "__weakref__", "_items", "_known_index", "_layout",
        "_memory", "item", "row", "rows",
    )  # fmt: skip

    context: Array
    target: Array | None
    known: Array | None
    known_context: Array | None
    known_target: Array | None
    observed: Array | None
    target_observed: Array | None
    static: Array | None
    item: Array
    item_code: Array
    start: Array
    row: Array
    time: Array | None
    mask: Array | None
    context_missing: Array | None
    target_missing: Array | None
    reset: Array | None
    rows: int
    _items: Items
    _known_index: Mapping[str, tuple[Any, ...]]
    _layout: Layout
    _memory: Memory

    def __init__(self, memory: Memory, layout: Layout, rows: int) -> None:
        self._memory = memory
        self._layout = layout
        self.rows = rows

    def __getattr__(self, name: str) -> Any:
        """Make a part when it is first asked for."""
        array: Array | None
        if name == "_items":
            return self._layout.mapped.items
        if name == "_known_index":
            return self._layout.mapped.known_index
        if name == "item":
            array = self._items[self.item_code]
        elif name in KNOWN_PARTS:
            array = self._of_known(name)
        elif name in OBSERVED and not hasattr(self, "_layout"):
            raise AttributeError(NOT_READ.format(name=name, kind="batch"))
        elif name in LAZY_PARTS or name in OBSERVED:
            array = self._layout.make_part(name, self)
        else:
            raise AttributeError(
                f"a batch has no {name!r}; it has "
                f"{', '.join((*PARTS, *KNOWN_PARTS, *OBSERVED, 'item', 'row', 'rows'))}"
            )
        setattr(self, name, array)
        return array

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[Any]:
        """Refuse to unpack a batch, which has its parts by name."""
        raise TypeError(NOT_A_TUPLE)

    def __getitem__(self, key: Any) -> Any:
        """Refuse to index a batch, which has its parts by name."""
        raise TypeError(NOT_A_TUPLE)

    def copy(self) -> Batch:
        """The same batch in dense, writable memory of its own."""
        parts = {name: dense_copy(array) for name, array in self._parts().items()}
        copied = rebuild(parts, self.rows, self._known_index)
        items: Items | None = getattr(self, "_items", None)
        if items is None:  # the batch comes from a pickle, which has the values of the items
            copied.item = self.item.copy()
        else:
            copied._items = items
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, ({**self._parts(), "item": self.item}, self.rows, self._known_index)

    def _parts(self) -> dict[str, Array | None]:
        """The parts that a copy gets; it can make unread parts of known from its own known."""
        read = {name for name in (*KNOWN_PARTS, *OBSERVED) if is_set(self, name)}
        return {name: getattr(self, name) for name in (*LAZY_PARTS, *read)}

    def _of_known(self, name: str) -> Array | None:
        """A copy of samples of known; if known is not made, of those samples alone."""
        layout: Layout | None = getattr(self, "_layout", None)  # a copied batch has none
        if layout is not None and "known" in layout.cut and not is_set(self, "known"):
            return layout.mapped.part(name, self.item_code, self.start)
        index = self._known_index.get(name)
        return None if index is None or self.known is None else dense_copy(self.known[index])

    def __repr__(self) -> str:
        parts = ((name, getattr(self, name)) for name in PARTS)
        shapes = (f"{name} {list(array.shape)}" for name, array in parts if array is not None)
        return f"<Batch {', '.join(shapes)}>"


class Run(Batch):
    """A batch of windows that start a stride apart in one item, known from the row of the first."""

    __slots__ = ("_row",)

    _row: int

    def __init__(self, layout: Layout, rows: int, row: int) -> None:
        self._layout = layout
        self.rows = rows
        self._row = row

    def __getattr__(self, name: str) -> Any:
        """Make a part when it is first asked for."""
        array: Array
        if name == "item_code":
            array = np.full(self.rows, self._layout.mapped.item(self._row), np.int64)
        elif name == "start":
            array = self.row - self._layout.mapped.offset(self._row)
        elif name == "row":
            array = self._row + self._layout.mapped.stride * np.arange(self.rows, dtype=np.int64)
        else:
            return super().__getattr__(name)
        setattr(self, name, array)
        return array


NOT_A_TUPLE = (
    "a batch is a record, want its parts by name: batch.context, batch.target\n"
    'hint: tensorcache.torch.loader(..., format="tuple") gives pairs'
)

LAZY_PARTS = (*PARTS, "row")


def is_set(batch: Batch, name: str) -> bool:
    """Whether a part of a batch is made; this does not make it."""
    try:
        object.__getattribute__(batch, name)
    except AttributeError:
        return False
    return True


def rebuild(
    parts: Mapping[str, Array | None], rows: int, known_index: Mapping[str, tuple[Any, ...]]
) -> Batch:
    """A batch of given parts, for copying and unpickling."""
    batch = Batch.__new__(Batch)
    batch.rows = rows
    batch._known_index = known_index
    for name, array in parts.items():
        setattr(batch, name, array)
    return batch


def dense_copy(array: Array | None) -> Array | None:
    """A dense copy, aligned to 64 bytes as parts of a slot are."""
    if array is None:
        return None
    copied: Array = aligned_memory(array.nbytes).view(array.dtype).reshape(array.shape)
    copied[...] = array
    return copied


def aligned_memory(size: int) -> Memory:
    """``size`` bytes of new memory, aligned to 64 bytes as slots are."""
    memory = np.empty(size + 64, np.uint8)
    at = -memory.__array_interface__["data"][0] % 64
    return memory[at : at + size]
