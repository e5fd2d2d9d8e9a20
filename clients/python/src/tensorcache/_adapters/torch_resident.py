"""Columns that stay on a device; batches are gathered there from the rows that the daemon sends."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .._data.cutter import Part as CutPart
from .._errors import ResourceError, SpecError
from .._feed import numpy_delivery
from .._feed.batch import PARTS, Array, Layout
from .._feed.numpy_delivery import Deliver, Deliveries
from .._feed.parts import PLACES, Selection
from .torch_delivery import tensor

if TYPE_CHECKING:
    from .._feed.mapped_windows import MappedWindows
    from .._feed.ring import Ring

CHUNK = 1 << 18
"""Rows that are converted at a time before they are copied to the device."""
SIGNED = {
    getattr(torch, "u" + name): getattr(torch, name)
    for name in ("int16", "int32", "int64")
    if hasattr(torch, "u" + name)
}
"""The dtypes that torch gathers in place of those that it cannot; before 2.3 torch had none of
these."""

_columns: weakref.WeakValueDictionary[tuple[Any, ...], torch.Tensor] = weakref.WeakValueDictionary()


def resident_deliveries(selection: Selection | None, device: str | None) -> Deliveries:
    """A delivery that gathers tensors on a device.

    Loaders over the same features share its columns.

    Args:
        selection: the parts; None is all of them by name.
        device: the name of the device; None is the CPU.
    """

    def make(ring: Ring, layout: Layout) -> Deliver:
        return gather(ring, layout, selection, torch.device(device or "cpu"))

    return {"starts": make}


def gather(
    ring: Ring, layout: Layout, selection: Selection | None, device: torch.device
) -> Deliver:
    """Batches of windows, gathered on the device."""
    mapped = layout.mapped
    arrays, cutter = numpy_delivery.starts(ring, layout), mapped._cutter
    if selection is not None:
        names = list(selection.names)
    else:
        left_out = {"mask"} - mapped._mask | {"context_missing", "target_missing"} - mapped._missing
        names = [name for name in PARTS if name not in left_out]
    cubes = {name: found for name in names if (found := gather_of(mapped, name, device))}
    first_rows, needs_first = cutter._first.of_each, cutter.padded or "mask" in cubes

    def deliver(slot: int, rows: int, flags: int, row: int) -> Any:
        batch = arrays(slot, rows, flags, row)
        item, start, at = (
            torch.from_numpy(array).to(device)
            for array in (batch.item_code, batch.start, batch.row)
        )
        first = start
        if needs_first:
            first = torch.from_numpy(first_rows(batch.item_code)).to(device)
        tensors = {"item_code": item, "start": start, "row": at}
        for name in names:
            if name in cubes:
                tensors[name] = cubes[name](at, start, first, item)
            elif name not in tensors and name in PLACES:
                array = getattr(batch, name)
                if array is not None:
                    tensors[name] = tensor(array).to(device)
        if selection is not None:
            return selection.pack([tensors[name] for name in names])
        return {name: tensors[name] for name in names if name in tensors}

    return deliver


Gather = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""A function of ``row``, ``start``, ``first`` (the first row that is no padding) and ``item``,
int64 ``[B]`` on the device."""


def gather_of(mapped: MappedWindows, name: str, device: torch.device) -> Gather | None:
    """A function that gathers a part; None if it is a place, or windows do not have it."""
    cutter = mapped._cutter
    if name == "mask":
        span = torch.from_numpy(cutter.spans["context"]).to(device)
        return lambda row, start, first, item: start[:, None] + span >= first[:, None]
    of, kind = cutter.kind(name)
    if of not in cutter.parts:
        return None
    if kind == "static":
        return static(mapped, of, device)
    if of not in cutter.spans:
        return None
    held = columns(mapped, of, kind, device)
    if not cutter.padded:
        return Whole(held, mapped, of)
    pad = cutter.parts[of].pad if kind == "values" else np.False_
    return Padded(held, mapped, of, np.atleast_1d(pad))


class Whole:
    """Gathers windows without padding, from a view of all possible windows."""

    def __init__(self, held: torch.Tensor, mapped: MappedWindows, name: str) -> None:
        self._held = held
        cutter = mapped._cutter
        span, features = cutter.spans[name], held.shape[1]
        step, count = cutter.dilation * features, max(0, len(held) - int(span[-1]))
        shape, strides = (count, len(span), features), (features, step, 1)
        if mapped._channels_first:
            shape, strides = (count, features, len(span)), (features, 1, step)
        self._every = gatherable(held).as_strided(shape, strides, int(span[0]) * features)

    def __call__(
        self, row: torch.Tensor, start: torch.Tensor, first: torch.Tensor, item: torch.Tensor
    ) -> torch.Tensor:
        return self._every.index_select(0, row).view(self._held.dtype)


class Padded:
    """Gathers windows whose rows before an item's first row are ``pad``."""

    def __init__(self, held: torch.Tensor, mapped: MappedWindows, name: str, pad: Array) -> None:
        self._held = held
        self._values = gatherable(held)
        self._pad = gatherable(torch.from_numpy(pad)).item()
        self._span = torch.from_numpy(mapped._cutter.spans[name]).to(held.device)
        self._channels_first = mapped._channels_first

    def __call__(
        self, row: torch.Tensor, start: torch.Tensor, first: torch.Tensor, item: torch.Tensor
    ) -> torch.Tensor:
        rows, low = start[:, None] + self._span, first[:, None]
        at = torch.maximum(rows, low) + (row - start)[:, None]
        out = self._values.index_select(0, at.flatten()).view(*at.shape, -1)
        out.masked_fill_((rows < low)[..., None], self._pad)
        return (out.transpose(1, 2).contiguous() if self._channels_first else out).view(
            self._held.dtype
        )


def static(mapped: MappedWindows, name: str, device: torch.device) -> Gather:
    """A function that gathers the values that are constant in an item."""
    first = mapped._offsets[: len(mapped._data.items)]
    held = torch.from_numpy(mapped._cutter.parts[name].take(first, None)).to(device)
    values = gatherable(held)
    return lambda row, start, first, item: values.index_select(0, item).view(held.dtype)


def gatherable(values: torch.Tensor) -> torch.Tensor:
    """The same bytes in a dtype that torch gathers."""
    return values.view(SIGNED.get(values.dtype, values.dtype))


def columns(mapped: MappedWindows, name: str, kind: str, device: torch.device) -> torch.Tensor:
    """All rows of a part on the device, ``[rows, F]``, or a mask of its values.

    Raises:
        SpecError: the daemon computes rows of the part.
        ResourceError: the device has too little memory for them.
    """
    if mapped._cutter.is_computed(name):
        raise SpecError(
            "resident: latest() computes the calendar columns of known after the end of items",
            field="resident",
            hint="leave out resident=True: the daemon then gathers the batches",
        )
    part, data = mapped._cutter.parts[name], mapped._data
    names = tuple(column.name for column in part.columns)
    key = (data.digest, names, str(part.dtype), part._fill, kind, str(device))
    held = _columns.get(key)
    if held is not None:
        return held
    rows = len(data)
    first = torch.from_numpy(chunk(part, 0, min(CHUNK, rows), kind))
    shape = (rows, first.shape[1])
    try:
        made = torch.empty(shape, dtype=first.dtype, device=device)
        for at in range(0, rows, CHUNK):
            made[at : at + CHUNK] = torch.from_numpy(
                chunk(part, at, min(at + CHUNK, rows), kind)
            ).to(device)
    except torch.cuda.OutOfMemoryError as error:
        need = shape[0] * shape[1] * first.element_size()
        raise ResourceError(
            f"resident: the columns of {name} need {need:,} bytes on {device}, which has no room "
            "for them",
            field="resident",
            hint="leave out resident=True: batches then travel one by one",
        ) from error
    _columns[key] = made
    return made


def chunk(part: CutPart, start: int, end: int, kind: str) -> Array:
    """Some rows, converted to the dtype that is delivered, or a mask of them."""
    rows = np.arange(start, end)
    if kind == "missing":
        return part.missing(rows, None)
    return part.observed(rows, None) if kind == "observed" else part.take(rows, None)
