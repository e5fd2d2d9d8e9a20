"""How a descriptor becomes a batch of numpy arrays: one maker for each delivery.

A maker is asked once for each attachment, and what it makes is called for every batch: with the slot, the number of
windows and the descriptor's flags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._batch import Batch, Layout, Run
from ._errors import ProtocolError
from ._source import Source

if TYPE_CHECKING:
    from ._stream import Stream

Deliver: TypeAlias = Callable[[int, int, int], Any]
Makers: TypeAlias = "Mapping[str, Callable[[Stream, Source], Deliver]]"

RUN = 2
"""The descriptor's flag for windows that start a stride apart in one item."""


def slot(stream: Stream, source: Source) -> Deliver:
    """Batches over slots of the ring."""
    take, layout, ndarray = stream.ring.taker(), stream.layout, np.ndarray
    context, target = layout.parts["context"], layout.parts.get("target")
    full, c_dtype, c_offset = layout.rows, context.dtype, context.offset
    c_shape = (full, *context.shape)
    t_shape, t_dtype, t_offset = ((full, *target.shape), target.dtype, target.offset) if target else ((), None, 0)

    def deliver(slot: int, rows: int, flags: int) -> Batch:
        memory = take(slot)
        batch = Batch(memory, layout, rows)
        if rows == full:
            batch.context = ndarray(c_shape, c_dtype, memory, c_offset)
            if t_shape:
                batch.target = ndarray(t_shape, t_dtype, memory, t_offset)
        return batch

    return deliver


def starts(stream: Stream, source: Source) -> Deliver:
    """Batches that say where the windows are."""
    take, layout = stream.ring.taker(), stream.layout

    def deliver(slot: int, rows: int, flags: int) -> Batch:
        return Batch(take(slot), layout, rows)

    return deliver


def local(stream: Stream, source: Source) -> Deliver:
    """Batches that are gathered here, into memory of this process."""
    take, layout = stream.ring.taker(), stream.layout
    # Indexing these by rows copies whole windows, in the order in which values lie in memory, so that columns have to
    # be turned around after. np.take would first copy all windows that could be.
    context, target = (source.every(name) if source.has(name) else None for name in ("context", "target"))

    def deliver(slot: int, rows: int, flags: int) -> Batch:
        batch = Batch(take(slot), layout, rows)
        if context is not None:
            batch.context = np.ascontiguousarray(context[batch.row])
        if target is not None:
            batch.target = np.ascontiguousarray(target[batch.row])
        return batch

    return deliver


def view(stream: Stream, source: Source) -> Deliver:
    """Batches that are strides over the mapped columns; one that runs over an item's end is gathered instead."""
    layout, gathered = stream.layout, local(stream, source)
    stride, put, told = source.stride, stream.ring.freed.append, Places(stream)
    places, words, item_at, start_at, row_at = told.values, told.words, told.item, told.start, told.row
    context, target = (source.every(name) if source.has(name) else None for name in ("context", "target"))
    if context is None or (target is None and source.has("target")):
        raise ProtocolError("the daemon delivers views of columns that cannot be viewed")

    def deliver(slot: int, rows: int, flags: int) -> Batch:
        if not flags & RUN:
            return read_only(gathered(slot, rows, flags))
        at = slot * words
        row = places[at + row_at]
        end = row + rows * stride
        batch = Run(layout, rows, places[at + item_at], places[at + start_at], row)
        batch.context = context[row:end:stride]
        if target is not None:
            batch.target = target[row:end:stride]
        put(slot)
        return batch

    return deliver


class Places:
    """Where in the ring, read as int64, the first window of a slot's batch is told.

    Attributes:
        values: the ring.
        words: values a slot.
        item: where its item is in a slot; and its ``start`` and ``row``.
    """

    def __init__(self, stream: Stream) -> None:
        layout: Layout = stream.layout
        self.values = stream.ring.words()
        self.words = layout.slot_bytes // 8
        self.item, self.start, self.row = (layout.parts[name].offset // 8 for name in ("item", "start", "row"))


def read_only(batch: Batch) -> Batch:
    """The batch with arrays that cannot be written, as those of its neighbours."""
    for array in (batch.context, batch.target):
        if array is not None:
            array.flags.writeable = False
    return batch


MAKERS: Makers = {"slot": slot, "starts": starts, "local": local, "view": view}
