"""Torch tensors from descriptors: one function for each delivery, as in part_delivery."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .._daemon.frames import RUN
from .._errors import FeedError
from .._feed import numpy_delivery
from .._feed.batch import PARTS, Array, Batch, Layout, Run
from .._feed.mapped_windows import MappedWindows
from .._feed.numpy_delivery import Deliver, Deliveries, Delivery, block_views
from .._feed.part_delivery import local_parts, slot_parts, value
from .._feed.parts import Part, Selection
from .block_pool import Pool

if TYPE_CHECKING:
    from .._feed.ring import Ring

WINDOWS = ("context", "target")


def deliveries(selection: Selection) -> Deliveries:
    """Deliveries of the tensors of a selection."""
    return {
        "slot": partial(slot_tensors, selection), "view": partial(view_tensors, selection),
        "local": partial(local_tensors, selection), "starts": partial(slot_tensors, selection),
    }  # fmt: skip


def slot_tensors(selection: Selection, ring: Ring, layout: Layout) -> Deliver:
    """Tensors over slots of the ring, and over what this process makes."""
    names, full, pack = selection.names, layout.rows, selection.pack
    if any(name not in layout.parts for name in names):
        return tensors_of(slot_parts(selection, ring, layout), pack)
    lent, most, make_room, put = ring.lent, ring.max_lent, ring.make_room, ring.lent.append
    blocks = ring.blocks
    take, from_numpy = ring.taker(), torch.from_numpy
    parts = [layout.parts[name] for name in names]
    views = [block_views(ring, layout, name) for name in names]
    pair, first, second = selection.is_tuple and len(names) == 2, views[0], views[-1]

    def deliver(slot: int, rows: int, flags: int, row: int) -> Any:
        if pair and rows == full and (len(lent) < most or make_room()):  # inlined, for speed
            put(slot)
            return from_numpy(first[slot][0]), from_numpy(second[slot][0])
        memory = take(slot)
        if rows == full and memory is blocks[slot]:
            return pack([from_numpy(view[slot][0]) for view in views])
        arrays = (np.ndarray((rows, *p.shape), p.dtype, memory, p.offset) for p in parts)
        return pack([from_numpy(array) for array in arrays])

    return deliver


def view_tensors(selection: Selection, ring: Ring, layout: Layout) -> Deliver:
    """Tensors that are strides over a private copy of a batch's rows.

    A change of one window in place shows in its neighbours, which share its rows. torch counts the
    changes of a tensor and its views; if the latest batch was changed, the next one raises
    FeedError. A batch that crosses an item's end is gathered instead.
    """
    gathered, put = local_tensors(selection, ring, layout), ring.freed.append
    names, pack = selection.names, selection.pack
    copiers = [layout.mapped.copier(name, read_only=False) for name in names]
    last: list[torch.Tensor] = []

    def views(row: int, rows: int) -> list[torch.Tensor]:
        return [torch.from_numpy(copy(row, rows)) for copy in copiers if copy is not None]

    def deliver(slot: int, rows: int, flags: int, row: int) -> Any:
        nonlocal last
        for tensor_of_last in last:
            if tensor_of_last._version:
                raise FeedError(
                    "a batch of views was changed in place: its windows share rows",
                    type="view_changed",
                    hint='delivery="slot" gives batches to change; the next pass has the values as '
                    "they were",
                )
        last = []
        if not flags & RUN:
            return gathered(slot, rows, flags, row)
        put(slot)  # which has no values
        if torch.is_inference_mode_enabled():  # a tensor that is made in it has no count of changes
            with torch.inference_mode(mode=False):
                last = views(row, rows)
        else:
            last = views(row, rows)
        if len(last) == len(names):
            return pack(last)
        made, batch = iter(last), Run(layout, rows, row)
        return pack(
            [
                tensor(value(batch, layout, name)) if copy is None else next(made)
                for name, copy in zip(names, copiers, strict=True)
            ]
        )

    return deliver


def local_tensors(selection: Selection, ring: Ring, layout: Layout) -> Deliver:
    """Tensors that this process gathers, into blocks that no batch uses any more."""
    mapped, names, pack = layout.mapped, selection.names, selection.pack
    samples = [name for name in names if mapped.has(name)]
    all_windows = gathered_from(mapped, samples)
    if all_windows is None:
        return tensors_of(local_parts(selection, ring, layout), pack)
    mapped.advise_random()
    tensors, places, size, full = [readable(array) for array in all_windows], [], 0, layout.rows
    for array in all_windows:
        places.append(((full, *array.shape[1:]), array.dtype, size))
        size += -(-full * math.prod(array.shape[1:]) * array.itemsize // 64) * 64
    pool, put, take = (
        Pool(
            size,
            lambda memory: [np.ndarray(shape, dtype, memory, at) for shape, dtype, at in places],
        ),
        ring.freed.append,
        ring.taker(),
    )
    rows_at, words = layout.parts["row"].offset // 8, layout.slot_bytes // 8
    numbers = torch.from_numpy(np.frombuffer(ring.words(), np.int64))
    of_slot = [numbers[at : at + full] for at in range(rows_at, len(ring.blocks) * words, words)]
    select, from_numpy = torch.index_select, torch.from_numpy

    def gather(slot: int, rows: int) -> list[torch.Tensor]:
        number = of_slot[slot] if rows == full else of_slot[slot][:rows]
        return [
            select(source, 0, number, out=from_numpy(block[:rows]))
            for source, block in zip(tensors, pool.take(), strict=True)
        ]

    def deliver(slot: int, rows: int, flags: int, row: int) -> Any:
        made = gather(slot, rows)
        if len(made) == len(names):
            put(slot)
            return pack(made)
        batch, gathered = Batch(take(slot), layout, rows), dict(zip(samples, made, strict=True))
        return pack(
            [
                gathered[name] if name in gathered else tensor(value(batch, layout, name))
                for name in names
            ]
        )

    return deliver


def tensors_of(arrays: Deliver, pack: Callable[[list[Any]], Any]) -> Deliver:
    """Tensors over the arrays of another delivery."""
    return lambda slot, rows, flags, row: pack(
        [tensor(array) for array in arrays(slot, rows, flags, row)]
    )


def tensor(part: Any) -> torch.Tensor:
    """A tensor over an array, or of a number; times and durations are int64."""
    array: Array = np.asarray(part)
    return torch.from_numpy(array.view("<i8") if array.dtype.kind in "mM" else array)


def gathered_from(mapped: MappedWindows, names: Sequence[str]) -> list[Array] | None:
    """Parts of the windows that start at each row, or None if torch cannot gather from them."""
    all_windows = [mapped.all_windows(name) for name in names]
    known = [
        array
        for array in all_windows
        if array is not None and (array.dtype.kind in "fib" or array.itemsize == 1)
    ]
    return known if known and len(known) == len(all_windows) else None


def readable(array: Array) -> torch.Tensor:
    """A tensor over a read-only array, which must only be read.

    torch warns about such a tensor, in case it is handed on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.from_numpy(array)


def named_parts(delivery: Delivery) -> Delivery:
    """All parts of a batch of writable arrays, by name."""

    def make(ring: Ring, layout: Layout) -> Deliver:
        arrays = delivery(ring, layout)
        return lambda slot, rows, flags, row: named(arrays(slot, rows, flags, row), {})

    return make


def with_other_parts(name: str) -> Delivery:
    """Context and target from a delivery of tensors, and all other parts, by name."""

    def make(ring: Ring, layout: Layout) -> Deliver:
        windows = [Part(part) for part in WINDOWS if layout.mapped.has(part)]
        selection = Selection(windows, [part.name for part in windows])
        tensors = deliveries(selection)[name](ring, layout)

        def deliver(slot: int, rows: int, flags: int, row: int) -> dict[str, torch.Tensor]:
            if flags & RUN:
                batch: Batch = Run(layout, rows, row)
            else:
                batch = Batch(ring.copy(slot), layout, rows)
            return named(batch, tensors(slot, rows, flags, row))

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
                tensors[name] = tensor(array)
    return tensors


def pinner() -> Callable[[Any], Any] | None:
    """The function that pins batches, if there is a CUDA device."""
    return pinned if torch.cuda.is_available() else None


def pinned(batch: Any) -> Any:
    """A copy of a batch, whose tensors are in pinned memory; other objects are as they were.

    The memory is torch's own, which is safe to copy from asynchronously.
    """
    if isinstance(batch, torch.Tensor):
        return batch.pin_memory()
    if isinstance(batch, Mapping):
        return {name: pinned(part) for name, part in batch.items()}
    if type(batch) in (tuple, list):
        return type(batch)(pinned(part) for part in batch)
    return batch


NAMED: Deliveries = {
    "slot": named_parts(numpy_delivery.slot), "starts": named_parts(numpy_delivery.starts),
    "view": with_other_parts("view"), "local": with_other_parts("local"),
}  # fmt: skip
"""Deliveries of all parts by name."""


def can_gather(mapped: MappedWindows, selection: Selection | None) -> bool:
    """Whether there is a choice between the daemon's gather and torch's own."""
    if selection is not None and selection.has_masks:
        return False  # the daemon makes masks from bits, and this process from the values
    names = WINDOWS if selection is None else selection.names
    return gathered_from(mapped, [name for name in names if mapped.has(name)]) is not None
