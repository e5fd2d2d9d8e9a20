"""Deliveries of the parts that are requested: tuples or dicts of arrays.

See :mod:`.numpy_delivery` for deliveries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._daemon.frames import RUN
from .batch import Batch, Layout, Run, dense_copy
from .numpy_delivery import DELIVERIES, WRITABLE, Deliver, Deliveries, block_views, gather
from .parts import PLACES, Selection

if TYPE_CHECKING:
    from .ring import Ring

Arrays = list[Any]


def deliveries(selection: Selection | None, writable: bool) -> Deliveries:
    """Deliveries of the parts of a selection, or of batches.

    Args:
        selection: the parts; None makes batches.
        writable: whether views are copied.
    """
    if selection is None:
        return WRITABLE if writable else DELIVERIES
    pack = selection.pack

    def packed(of: Callable[[Selection, Ring, Layout], Deliver]) -> Any:
        def make(ring: Ring, layout: Layout) -> Deliver:
            arrays = of(selection, ring, layout)
            return lambda slot, rows, flags, row: pack(arrays(slot, rows, flags, row))

        return make

    view = copied_view_parts if writable else view_parts
    return {
        "slot": packed(slot_parts), "starts": packed(local_parts), "local": packed(local_parts),
        "view": packed(view),
    }  # fmt: skip


def slot_parts(selection: Selection, ring: Ring, layout: Layout) -> Deliver:
    """Arrays over slots of the ring, and what this process makes."""
    names, full, take = selection.names, layout.rows, ring.taker()
    views = [block_views(ring, layout, name) if name in layout.parts else None for name in names]

    def deliver(slot: int, rows: int, flags: int, row: int) -> Arrays:
        batch = Batch(take(slot), layout, rows)
        if rows < full or batch._memory is not ring.blocks[slot]:  # a short batch, or a copy
            return [value(batch, layout, name) for name in names]
        return [
            value(batch, layout, name) if blocks is None else blocks[slot][0]
            for name, blocks in zip(names, views, strict=True)
        ]

    return deliver


def local_parts(selection: Selection, ring: Ring, layout: Layout) -> Deliver:
    """Arrays that this process gathers into its own memory, and the places of the windows."""
    names, take, mapped = selection.names, ring.taker(), layout.mapped
    sources = [mapped.all_windows(name) if mapped.has(name) else None for name in names]
    if selection.values:
        mapped.advise_random()

    def deliver(slot: int, rows: int, flags: int, row: int) -> Arrays:
        batch = Batch(take(slot), layout, rows)
        return [
            value(batch, layout, name) if source is None else gather(source, batch.row)
            for name, source in zip(names, sources, strict=True)
        ]

    return deliver


def view_parts(selection: Selection, ring: Ring, layout: Layout) -> Deliver:
    """Read-only arrays: strides over a private copy of the rows of a batch.

    A batch that crosses an item's end is gathered instead, as are parts without samples.
    """
    gathered, put = local_parts(selection, ring, layout), ring.freed.append
    names = selection.names
    copiers = [layout.mapped.copier(name, read_only=True) for name in names]

    def deliver(slot: int, rows: int, flags: int, row: int) -> Arrays:
        if flags & RUN:
            put(slot)  # which has no values
            batch = Run(layout, rows, row)
            arrays = [
                value(batch, layout, name) if copy is None else copy(row, rows)
                for name, copy in zip(names, copiers, strict=True)
            ]
        else:
            arrays = gathered(slot, rows, flags, row)
        for array in arrays:
            array.setflags(write=False)
        return arrays

    return deliver


def copied_view_parts(selection: Selection, ring: Ring, layout: Layout) -> Deliver:
    """Copies of the views, which may be changed."""
    deliver_view = view_parts(selection, ring, layout)

    def deliver(slot: int, rows: int, flags: int, row: int) -> Arrays:
        arrays: Arrays = deliver_view(slot, rows, flags, row)
        return [array.copy() if array.dtype == object else dense_copy(array) for array in arrays]

    return deliver


def value(batch: Batch, layout: Layout, name: str) -> Any:
    """The array of a part of a batch."""
    if name in PLACES or name == "mask":
        return getattr(batch, name)
    return layout.make_part(name, batch)
