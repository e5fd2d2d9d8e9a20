"""Torch tensors from descriptors: one function for each delivery, as in numpy_delivery.

A pair is ``(context, target)``, or ``(context,)`` if nothing is predicted.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .._daemon.frames import RUN
from .._errors import FeedError
from .._feed import numpy_delivery
from .._feed.batch import PARTS, Array, Batch, Layout, Run
from .._feed.mapped_windows import MappedWindows
from .._feed.numpy_delivery import Deliver, Deliveries, Delivery, block_views
from .block_pool import Pool

if TYPE_CHECKING:
    from .._feed.ring import Ring

Pair = tuple[torch.Tensor, ...]
WINDOWS = ("context", "target")


def slot_pairs(ring: Ring, layout: Layout) -> Deliver:
    """Tensors over slots of the ring."""
    full = layout.rows
    lent, most, make_room, put = ring.lent, ring.max_lent, ring.make_room, ring.lent.append
    take, from_numpy = ring.taker(), torch.from_numpy
    names = [name for name in WINDOWS if name in layout.parts]
    arrays, parts = (
        [block_views(ring, layout, name) for name in names],
        [layout.parts[name] for name in names],
    )
    contexts, targets, pair = arrays[0], arrays[-1], len(arrays) == 2

    def deliver(slot: int, rows: int, flags: int, row: int) -> Pair:
        if rows == full and pair and (len(lent) < most or make_room()):  # inlined, for speed
            put(slot)
            return from_numpy(contexts[slot][0]), from_numpy(targets[slot][0])
        memory = take(slot)
        made = (np.ndarray((rows, *part.shape), part.dtype, memory, part.offset) for part in parts)
        return tuple(map(from_numpy, made))

    return deliver


def view_pairs(ring: Ring, layout: Layout) -> Deliver:
    """Tensors that are strides over a private copy of a batch's rows.

    A change of one window in place shows in its neighbours, which share its rows. torch counts the
    changes of a tensor and its views; if the latest batch was changed, the next one raises
    FeedError. A batch that crosses an item's end is gathered instead.
    """
    gathered, put = local_pairs(ring, layout), ring.freed.append
    copiers = layout.mapped.run_copiers(read_only=False)
    last: Pair = ()

    def pair(row: int, rows: int) -> Pair:
        return tuple([torch.from_numpy(copy(row, rows)) for copy in copiers])

    def deliver(slot: int, rows: int, flags: int, row: int) -> Pair:
        nonlocal last
        for tensor in last:
            if tensor._version:
                raise FeedError(
                    "a batch of views was changed in place: its windows share rows",
                    type="view_changed",
                    hint='delivery="slot" gives batches to change; the next pass has the values as '
                    "they were",
                )
        last = ()
        if not flags & RUN:
            tensors: Pair = gathered(slot, rows, flags, row)
            return tensors
        put(slot)  # which has no values
        if torch.is_inference_mode_enabled():  # a tensor that is made in it has no count of changes
            with torch.inference_mode(mode=False):
                last = pair(row, rows)
        else:
            last = pair(row, rows)
        return last

    return deliver


def local_pairs(ring: Ring, layout: Layout) -> Deliver:
    """Tensors that this process gathers, into blocks that no batch uses any more."""
    mapped = layout.mapped
    all_windows = gathered_from(mapped)
    if all_windows is None:
        return arrays_as_pairs(numpy_delivery.local(ring, layout))
    mapped.advise_random()
    tensors, places, size, full = [readable(array) for array in all_windows], [], 0, layout.rows
    for array in all_windows:
        places.append(((full, *array.shape[1:]), array.dtype, size))
        size += -(-full * math.prod(array.shape[1:]) * array.itemsize // 64) * 64
    pool, put = (
        Pool(
            size,
            lambda memory: [np.ndarray(shape, dtype, memory, at) for shape, dtype, at in places],
        ),
        ring.freed.append,
    )
    rows_at, words = layout.parts["row"].offset // 8, layout.slot_bytes // 8
    numbers = torch.from_numpy(np.frombuffer(ring.words(), np.int64))
    of_slot = [numbers[at : at + full] for at in range(rows_at, len(ring.blocks) * words, words)]
    select, from_numpy = torch.index_select, torch.from_numpy

    def deliver(slot: int, rows: int, flags: int, row: int) -> Pair:
        number = of_slot[slot] if rows == full else of_slot[slot][:rows]
        out = tuple(
            select(tensor, 0, number, out=from_numpy(block[:rows]))
            for tensor, block in zip(tensors, pool.take(), strict=True)
        )
        put(slot)
        return out

    return deliver


def gathered_from(mapped: MappedWindows) -> list[Array] | None:
    """The parts of the windows that start at each row, or None if torch cannot gather from them."""
    all_windows = [mapped.all_windows(name) for name in WINDOWS if mapped.has(name)]
    known = [
        array
        for array in all_windows
        if array is not None and (array.dtype.kind in "fib" or array.itemsize == 1)
    ]
    return known if len(known) == len(all_windows) else None


def readable(array: Array) -> torch.Tensor:
    """A tensor over a read-only array, which must only be read.

    torch warns about such a tensor, in case it is handed on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.from_numpy(array)


def starts_pairs(ring: Ring, layout: Layout) -> Deliver:
    """Pairs ``(item_code, start)``."""
    arrays = numpy_delivery.starts(ring, layout)

    def deliver(slot: int, rows: int, flags: int, row: int) -> Pair:
        batch = arrays(slot, rows, flags, row)
        return torch.from_numpy(batch.item_code), torch.from_numpy(batch.start)

    return deliver


def arrays_as_pairs(arrays: Deliver) -> Deliver:
    """Tensors over the writable arrays of a batch."""

    def deliver(slot: int, rows: int, flags: int, row: int) -> Pair:
        batch: Batch = arrays(slot, rows, flags, row)
        both = (batch.context, batch.target)
        return tuple(torch.from_numpy(array) for array in both if array is not None)

    return deliver


def arrays_as_dict(delivery: Delivery) -> Delivery:
    """All parts of a batch of writable arrays, by name."""

    def make(ring: Ring, layout: Layout) -> Deliver:
        arrays = delivery(ring, layout)
        return lambda slot, rows, flags, row: named(arrays(slot, rows, flags, row), {})

    return make


def pairs_as_dict(delivery: Delivery) -> Delivery:
    """Context and target from a delivery of pairs, and all other parts, by name."""

    def make(ring: Ring, layout: Layout) -> Deliver:
        pairs = delivery(ring, layout)

        def deliver(slot: int, rows: int, flags: int, row: int) -> dict[str, torch.Tensor]:
            if flags & RUN:
                batch: Batch = Run(layout, rows, row)
            else:
                batch = Batch(ring.copy(slot), layout, rows)
            return named(batch, dict(zip(WINDOWS, pairs(slot, rows, flags, row), strict=False)))

        return deliver

    return make


def named(batch: Batch, made: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The parts of a batch by name; without ``made`` all of them, else ``made`` and the others."""
    tensors = {}
    for name in PARTS:
        if name in made:
            tensors[name] = made[name]
        elif not made or name not in WINDOWS:
            array = getattr(batch, name)
            if array is not None:
                tensors[name] = torch.from_numpy(
                    array.view("<i8") if array.dtype.kind in "mM" else array
                )
    return tensors


def pinned(deliveries: Deliveries) -> Deliveries:
    """Deliveries whose tensors are in pinned memory, if there is a CUDA device.

    The memory is torch's own, which is safe to copy from asynchronously.
    """
    return (
        {name: pinned_by(delivery) for name, delivery in deliveries.items()}
        if torch.cuda.is_available()
        else deliveries
    )


def pinned_by(delivery: Delivery) -> Delivery:
    """A delivery that copies another one's tensors into pinned memory."""

    def make(ring: Ring, layout: Layout) -> Deliver:
        made = delivery(ring, layout)

        def deliver(slot: int, rows: int, flags: int, row: int) -> Any:
            batch = made(slot, rows, flags, row)
            if isinstance(batch, dict):
                return {name: tensor.pin_memory() for name, tensor in batch.items()}
            return tuple(tensor.pin_memory() for tensor in batch)

        return deliver

    return make


PAIRS: Deliveries = {
    "slot": slot_pairs,
    "view": view_pairs,
    "local": local_pairs,
    "starts": starts_pairs,
}
DICTS: Deliveries = {
    "slot": arrays_as_dict(numpy_delivery.slot),
    "starts": arrays_as_dict(numpy_delivery.starts),
    "view": pairs_as_dict(view_pairs),
    "local": pairs_as_dict(local_pairs),
}


def can_gather(mapped: MappedWindows) -> bool:
    """Whether there is a choice between the daemon's gather and torch's own."""
    return gathered_from(mapped) is not None
