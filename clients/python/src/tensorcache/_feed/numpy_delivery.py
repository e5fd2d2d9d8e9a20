"""Batches of numpy arrays from descriptors: one function for each delivery.

A delivery is called once for each stream. It returns a function that is called for every batch with
the slot, the number of windows, the flags and the first row of its descriptor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from .._daemon.frames import RUN
from .batch import Array, Batch, Layout, Run, dense_copy
from .ring import Ring

Deliver: TypeAlias = Callable[[int, int, int, int], Any]
"""Makes a batch from a descriptor's slot, rows, flags and first row."""
Delivery: TypeAlias = Callable[[Ring, Layout], Deliver]
"""Returns the function that makes the batches of one stream."""
Deliveries: TypeAlias = Mapping[str, Delivery]
"""Deliveries by the daemon's names."""

FEW_COLUMNS = 8
"""Fewer columns that are apart in memory are gathered one by one, in 0.4 of the time for two, 0.65
for four, 0.9 for seven. From eight on, lines of memory are written too often: 1.05 of the time for
eight, 1.4 for sixteen (measured, windows of 120 rows). torch's ``index_select`` is not split like
this: it would take 0.6, 0.75 and 0.85 of its time, and gain nothing from eight on."""


def slot(ring: Ring, layout: Layout) -> Deliver:
    """Batches over slots of the ring."""
    full = layout.rows
    blocks, lent, most, make_room, put = (
        ring.blocks,
        ring.lent,
        ring.max_lent,
        ring.make_room,
        ring.lent.append,
    )
    arrays = [
        block_views(ring, layout, name) for name in ("context", "target") if name in layout.parts
    ]
    contexts, targets, pair = arrays[0], arrays[-1], len(arrays) == 2
    new, kind = Batch.__new__, Batch

    def deliver(slot: int, rows: int, flags: int, row: int) -> Batch:
        if len(lent) >= most and not make_room():
            return Batch(ring.copy_out(slot), layout, rows)
        put(slot)
        batch = new(kind)  # without __init__, for speed
        batch._memory, batch._layout, batch.rows = blocks[slot], layout, rows
        if rows == full:
            batch.context = contexts[slot][0]
            if pair:
                batch.target = targets[slot][0]
        return batch

    return deliver


def block_views(ring: Ring, layout: Layout, name: str) -> list[Array]:
    """A part of a full batch in each slot, with a leading axis of one.

    Indexing it with ``[0]`` is the fastest way to make a new array over a slot.
    """
    part = layout.parts[name]
    return [
        np.ndarray((1, layout.rows, *part.shape), part.dtype, block, part.offset)
        for block in ring.blocks
    ]


def starts(ring: Ring, layout: Layout) -> Deliver:
    """Batches with only the places of their windows."""
    take = ring.taker()

    def deliver(slot: int, rows: int, flags: int, row: int) -> Batch:
        return Batch(take(slot), layout, rows)

    return deliver


def local(ring: Ring, layout: Layout) -> Deliver:
    """Batches that this process gathers into its own memory."""
    take, mapped = ring.taker(), layout.mapped
    mapped.advise_random()
    context, target = (
        mapped.all_windows(name) if mapped.has(name) else None for name in ("context", "target")
    )

    def deliver(slot: int, rows: int, flags: int, row: int) -> Batch:
        batch = Batch(take(slot), layout, rows)
        if context is not None:
            batch.context = gather(context, batch.row)
        if target is not None:
            batch.target = gather(target, batch.row)
        return batch

    return deliver


def gather(all_windows: Array, rows: Array) -> Array:
    """The windows that start at given rows, as a dense copy.

    Indexing copies whole windows in the order of their values in memory, so columns that are apart
    need a second pass to transpose them. ``np.take`` would first copy all possible windows.
    """
    if all_windows.strides[1] >= all_windows.strides[2] or all_windows.shape[2] >= FEW_COLUMNS:
        return np.ascontiguousarray(all_windows[rows])
    out = np.empty((len(rows), *all_windows.shape[1:]), all_windows.dtype)
    for i in range(all_windows.shape[2]):
        out[:, :, i] = all_windows[:, :, i][rows]
    return out


def view(ring: Ring, layout: Layout) -> Deliver:
    """Batches of strides over a private copy of their rows.

    A batch that crosses an item's end is gathered instead. All are read-only, because a write into
    one window would show in its neighbours, which share its rows.
    """
    elsewhere, put = local(ring, layout), ring.freed.append
    new, run = Run.__new__, Run
    copiers = layout.mapped.run_copiers(read_only=True)
    context_of, target_of = copiers[0], copiers[1] if len(copiers) > 1 else None

    def deliver(slot: int, rows: int, flags: int, row: int) -> Batch:
        if not flags & RUN:
            return read_only(elsewhere(slot, rows, flags, row))
        put(slot)  # which has no values
        batch = new(run)  # without __init__, for speed
        batch._layout, batch.rows, batch._row = layout, rows, row
        batch.context = context_of(row, rows)
        batch.target = None if target_of is None else target_of(row, rows)
        return batch

    return deliver


def read_only(batch: Batch) -> Batch:
    """The batch with arrays that numpy does not write into."""
    for array in (batch.context, batch.target):
        if array is not None:
            array.setflags(write=False)
    return batch


def copied_view(ring: Ring, layout: Layout) -> Deliver:
    """Batches of copies of the views, which may be changed."""
    deliver_view = view(ring, layout)

    def deliver(slot: int, rows: int, flags: int, row: int) -> Batch:
        batch: Batch = deliver_view(slot, rows, flags, row)
        context = dense_copy(batch.context)
        assert context is not None
        batch.context, batch.target = context, dense_copy(batch.target)
        return batch

    return deliver


DELIVERIES: Deliveries = {"slot": slot, "starts": starts, "local": local, "view": view}
WRITABLE: Deliveries = {**DELIVERIES, "view": copied_view}
"""Deliveries of which every batch may be changed."""
