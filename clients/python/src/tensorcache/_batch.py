"""One batch: arrays over a slot of the feed's ring."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import ProtocolError
from ._manifest import DTYPES

Array = npt.NDArray[Any]
Memory = npt.NDArray[np.uint8]
Times: TypeAlias = "Callable[[Array, Array], Array | None]"
"""The times of windows, from their items and starts."""

PARTS = (
    "context", "target", "known", "static", "item", "start", "time", "mask", "context_missing", "target_missing",
    "reset",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """Where a part lies in a slot: ``shape`` without the leading batch axis, ``offset`` in bytes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int


class Layout:
    """How the daemon lays out a slot; the same for every batch of a feed.

    Raises:
        ProtocolError: a part does not fit into the slot or is of no dtype of the protocol.
    """

    def __init__(self, said: dict[str, Any], times: Times) -> None:
        self.slot_bytes = int(said["slot_bytes"])
        self.parts: dict[str, Part] = {}
        self.rows = 0
        for part in said["parts"]:
            name, dtype = str(part["name"]), DTYPES.get(str(part["dtype"]))
            self.rows, *shape = (int(n) for n in part["shape"])
            offset = int(part["offset"])
            if dtype is None or offset + dtype.itemsize * self.rows * int(np.prod(shape)) > self.slot_bytes:
                raise ProtocolError(f"the daemon lays out a slot of {self.slot_bytes} bytes with a part {part}")
            self.parts[name] = Part(dtype, tuple(shape), offset)
        self.context = self.parts["context"]
        self.target = self.parts.get("target")
        self.context_full = (self.rows, *self.context.shape)
        self.target_full = (self.rows, *self.target.shape) if self.target else ()
        self.times = times


class Batch:
    """Consecutive windows of an epoch's order: dense arrays, writable, in shared memory.

    The memory is yours until you drop the batch and every array, view or tensor made from it; then it goes back to the
    daemon and is filled anew. :meth:`copy` gives a batch of its own. Parts that the spec does not ask for are None.

    Attributes:
        context: ``[B, C, F]``, or ``[B, F, C]`` with ``channels_first``.
        target: ``[B, L + P, F]``, likewise; None where ``prediction_length`` is 0.
        known: ``[B, C + G + P, F]``, the columns known in advance, likewise.
        static: ``[B, F]``, the values that are constant in an item.
        item: int64 ``[B]``; ``data.items[code]`` is the item's value.
        start: int64 ``[B]``, row of the first context row in the item; negative where it is padded.
        time: ``[B]``, datetime64 or int64, the time of that row, or where it is padded of the item's first; looked up
            in the mapped time column when asked for. None without one.
        mask: bool ``[B, C]``, True = real row.
        context_missing: bool, the shape of ``context``, True = missing.
        target_missing: bool, the shape of ``target``.
        reset: bool ``[B]``, True where a row does not continue the row of the batch before.
        rows: B.
    """

    __slots__ = (*PARTS, "__weakref__", "_layout", "_memory", "rows")

    context: Array
    target: Array | None
    known: Array | None
    static: Array | None
    item: Array
    start: Array
    time: Array | None
    mask: Array | None
    context_missing: Array | None
    target_missing: Array | None
    reset: Array | None
    rows: int
    _layout: Layout
    _memory: Memory

    def __init__(self, memory: Memory, layout: Layout, rows: int, ndarray: Any = np.ndarray) -> None:
        self._memory = memory
        self._layout = layout
        self.rows = rows
        if rows == layout.rows:
            part = layout.context
            self.context = ndarray(layout.context_full, part.dtype, memory, part.offset)
            target = layout.target
            if target is not None:
                self.target = ndarray(layout.target_full, target.dtype, memory, target.offset)

    def __getattr__(self, name: str) -> Any:
        """Make a part when it is first asked for."""
        if name not in PARTS:
            raise AttributeError(f"a batch has no {name!r}; it has {', '.join(PARTS)}, rows")
        part = self._layout.parts.get(name)
        array = None
        if part is not None:
            array = np.ndarray((self.rows, *part.shape), part.dtype, self._memory, part.offset)
        elif name == "time":
            array = self._layout.times(self.item, self.start)
        setattr(self, name, array)
        return array

    def __len__(self) -> int:
        return self.rows

    def copy(self) -> Batch:
        """The same batch in memory of its own, to keep for as long as you like."""
        memory = aligned(self._layout.slot_bytes)
        memory[:] = self._memory
        return Batch(memory, self._layout, self.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        layout = copy.copy(self._layout)
        layout.times = no_times
        return rebuild, (np.array(self._memory), layout, self.rows, self.time)

    def __repr__(self) -> str:
        parts = ((name, getattr(self, name)) for name in PARTS)
        return f"<Batch {', '.join(f'{name} {list(array.shape)}' for name, array in parts if array is not None)}>"


def no_times(items: Array, starts: Array) -> None:
    """The times of a batch that has left its dataset."""


def rebuild(memory: Memory, layout: Layout, rows: int, time: Array | None) -> Batch:
    """What unpickling a batch does."""
    batch = Batch(memory, layout, rows)
    batch.time = time
    return batch


def aligned(size: int) -> Memory:
    """``size`` bytes of fresh memory at a multiple of 64, as slots are."""
    memory = np.empty(size + 64, np.uint8)
    at = -memory.__array_interface__["data"][0] % 64
    return memory[at : at + size]
