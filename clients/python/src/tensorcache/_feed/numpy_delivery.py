"""How a descriptor becomes a batch of numpy arrays: one maker for each delivery.

A maker is asked once for each attachment, and what it makes is called for every batch: with what
its descriptor says: slot, number of windows, flags, and the row at which a run begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._daemon.frames import RUN
from .._errors import ProtocolError
from .batch import Array, Batch, Layout, Run
from .ring import Ring

Deliver: TypeAlias = Callable[[int, int, int, int], Any]
"""Makes a batch of a descriptor's slot, rows, flags and first row."""
Delivery: TypeAlias = Callable[[Ring, Layout], Deliver]
"""A way in which batches are delivered: returns what makes a feed's batches."""
Deliveries: TypeAlias = Mapping[str, Delivery]
"""Deliveries by the daemon's name of them."""

FEW_COLUMNS = 8
"""Fewer columns that lie apart are gathered one after the other: two in 0.4 of the time, four in
0.65, seven in 0.9.

Eight and more write each line of memory too often: 1.05 of the time, sixteen 1.4 (measured, windows
of 120 rows). torch's ``index_select`` is left as it is: it would gain 0.6, 0.75, 0.85 of its time,
and nothing from eight on.
"""


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
    """A part of a full batch in each slot, with an axis of one in front.

    ``[0]`` of it is soonest made.
    """
    part = layout.parts[name]
    return [
        np.ndarray((1, layout.rows, *part.shape), part.dtype, block, part.offset)
        for block in ring.blocks
    ]


def starts(ring: Ring, layout: Layout) -> Deliver:
    """Batches that say where the windows are."""
    take, layout = ring.taker(), layout

    def deliver(slot: int, rows: int, flags: int, row: int) -> Batch:
        return Batch(take(slot), layout, rows)

    return deliver


def local(ring: Ring, layout: Layout) -> Deliver:
    """Batches that are gathered here, into memory of this process."""
    take, layout = ring.taker(), layout
    mapped = layout.mapped
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
    """The windows that start at given rows, out of ``[rows, ...]``, as a dense copy.

    Indexing copies whole windows in the order in which values lie in memory, so that columns that
    lie apart have to be turned around after, in a second pass. ``np.take`` would first copy all
    windows that could be.
    """
    if all_windows.strides[1] >= all_windows.strides[2] or all_windows.shape[2] >= FEW_COLUMNS:
        return np.ascontiguousarray(all_windows[rows])
    out = np.empty((len(rows), *all_windows.shape[1:]), all_windows.dtype)
    for i in range(all_windows.shape[2]):
        out[:, :, i] = all_windows[:, :, i][rows]
    return out


def view(ring: Ring, layout: Layout) -> Deliver:
    """Batches that are strides over the mapped columns.

    One that runs over an item's end is gathered instead.
    """
    elsewhere, full, mapped = local(ring, layout), layout.rows, layout.mapped
    stride, put = mapped.stride, ring.freed.append
    new, run = Run.__new__, Run
    context, target = (
        mapped.all_windows(name) if mapped.has(name) else None for name in ("context", "target")
    )
    if context is None or (target is None and mapped.has("target")):
        raise ProtocolError("the daemon delivers views of columns that cannot be viewed")
    contexts, targets = (
        run_views(context, full, stride),
        None if target is None else run_views(target, full, stride),
    )

    def deliver(slot: int, rows: int, flags: int, row: int) -> Batch:
        if not flags & RUN:
            return read_only(elsewhere(slot, rows, flags, row))
        put(slot)  # there is nothing in it
        batch = new(run)  # without __init__, for speed
        batch._layout, batch.rows, batch._row = layout, rows, row
        if rows == full:
            batch.context = contexts[row]
            if targets is not None:
                batch.target = targets[row]
        else:
            end = row + rows * stride
            batch.context = context[row:end:stride]
            if target is not None:
                batch.target = target[row:end:stride]
        return batch

    return deliver


def run_views(all_windows: Array, rows: int, stride: int) -> Array:
    """Out of the windows that start at each row the runs of ``rows`` windows a stride apart.

    ``runs[row]`` is a view.

    It is made in less time than a slice.
    """
    shape = (max(0, len(all_windows) - (rows - 1) * stride), rows, *all_windows.shape[1:])
    strides = (all_windows.strides[0], all_windows.strides[0] * stride, *all_windows.strides[1:])
    return as_strided(all_windows, shape, strides, writeable=all_windows.flags.writeable)


def read_only(batch: Batch) -> Batch:
    """The batch with arrays that cannot be written, as those of its neighbours."""
    for array in (batch.context, batch.target):
        if array is not None:
            array.flags.writeable = False
    return batch


DELIVERIES: Deliveries = {"slot": slot, "starts": starts, "local": local, "view": view}
