"""Batches of the ring on a device, copied on a separate stream; a slot is kept until its copy ends.

torch does not do this by itself. For memory that it did not allocate, it drops the event that says
when a copy is done. A pinned slot that is released after ``.to(non_blocking=True)`` may then be
filled again while it is being read.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .._feed.batch import PARTS, Batch, Layout
from .._feed.numpy_delivery import Deliver, Deliveries
from .._feed.part_delivery import value
from .._feed.parts import Selection
from .torch_delivery import tensor

if TYPE_CHECKING:
    from .._feed.ring import Ring

PORTABLE = 1
"""cudaHostRegisterPortable: pinned for all contexts."""


class ToDevice:
    """Deliveries of tensors on a device.

    A slot is copied as one flat block and divided on the device: parts are aligned to 64 bytes.

    Args:
        selection: the parts; None is all of them by name.
        device: the name of the device.
        cuda: ``torch.cuda``, or what takes its place in tests.

    Attributes:
        deliveries: the deliveries for :class:`Feed`.
        pinned: "yes", or the reason why the ring is not pinned.
    """

    def __init__(self, selection: Selection | None, device: str, cuda: Any = None) -> None:
        self.deliveries: Deliveries = {"slot": self.deliver, "starts": self.deliver}
        self.pinned = "no: not a CUDA device"
        self._selection = selection
        self._device = torch.device(device)
        self._cuda = torch.cuda if cuda is None and self._device.type == "cuda" else cuda

    def deliver(self, ring: Ring, layout: Layout) -> Deliver:
        """Batches of the parts."""
        selection, parts = self._selection, []
        names = PARTS if selection is None else selection.names
        for name in names:
            if name not in layout.parts:
                continue
            part = layout.parts[name]
            size = layout.rows * int(np.prod(part.shape)) * part.dtype.itemsize
            parts.append(
                (name, part.offset, part.offset + size, torch_dtype(part.dtype), part.shape)
            )
        low = min((part[1] for part in parts), default=0)
        high = max((part[2] for part in parts), default=0)
        take, copies = ring.taker(), self._copies(ring)

        def deliver(slot: int, rows: int, flags: int, row: int) -> Any:
            copies.make_room()
            memory = take(slot)
            there = copies.copy(torch.from_numpy(memory[low:high]))
            tensors = {}
            for name, start, end, dtype, shape in parts:
                tensors[name] = there[start - low : end - low].view(dtype).view(-1, *shape)[:rows]
            if len(tensors) < len(names):
                batch = Batch(memory, layout, rows)
                for name in names:
                    array = None if name in tensors else value(batch, layout, name)
                    if array is not None:
                        tensors[name] = tensor(array).to(self._device)
            if selection is not None:
                return selection.pack([tensors[name] for name in names])
            return {name: tensors[name] for name in names if name in tensors}

        return deliver

    def _copies(self, ring: Ring) -> BlockingCopies | SideStream:
        if self._cuda is None:
            return BlockingCopies(self._device)
        memory = np.frombuffer(ring.words(), np.uint8)
        side = SideStream(self._device, max(1, len(ring.blocks) - 3), self._cuda)
        self.pinned = pin(memory, self._cuda, self._device)
        weakref.finalize(ring, unpin, side, memory, self._cuda, self.pinned == "yes", os.getpid())
        return side


class BlockingCopies:
    """Copies that are done when the call returns, to devices without streams."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def make_room(self) -> None:
        """Does nothing, because no copy is pending."""

    def copy(self, flat: torch.Tensor) -> torch.Tensor:
        """The same bytes on the device."""
        return flat.to(self._device, copy=True)


class SideStream:
    """Copies beside the computation: the current stream waits for a copy, the host does not.

    Attributes:
        held: the blocks being copied, oldest first, each with the event that follows it.
    """

    def __init__(self, device: torch.device, most: int, cuda: Any) -> None:
        self.held: deque[tuple[Any, torch.Tensor]] = deque()
        self._device = device
        self._most = most
        self._cuda = cuda
        self._stream = cuda.Stream(device)

    def make_room(self) -> None:
        """Release the blocks whose copies are done; if nearly all are in use, wait for one."""
        held = self.held
        while held and held[0][0].query():
            held.popleft()
        while len(held) >= self._most:
            held[0][0].synchronize()
            held.popleft()

    def copy(self, flat: torch.Tensor) -> torch.Tensor:
        """The same bytes on the device, as operations on the current stream will see them."""
        cuda, stream = self._cuda, self._stream
        with cuda.stream(stream):
            there = torch.empty_like(flat, device=self._device)
            there.copy_(flat, non_blocking=True)
            event = cuda.Event()
            event.record(stream)
        current = cuda.current_stream(self._device)
        current.wait_stream(stream)
        # Its memory is of the side stream, and must not be freed while this stream reads it.
        there.record_stream(current)
        self.held.append((event, flat))
        return there


def pin(ring: Any, cuda: Any, device: torch.device) -> str:
    """Pin the ring's memory, and return "yes" or the reason why that failed.

    CUDA keeps a failure and torch would raise it after its next kernel, so one is run here.
    """
    try:
        code = int(cuda.cudart().cudaHostRegister(ring.ctypes.data, ring.nbytes, PORTABLE))
    except (RuntimeError, AttributeError, TypeError) as error:
        return f"no: {str(error).splitlines()[0]}"
    if code == 0:
        return "yes"
    with contextlib.suppress(RuntimeError):
        torch.ones(1, device=device)
    return f"no: cudaHostRegister returned {code}"


def unpin(side: SideStream, ring: Any, cuda: Any, pinned: bool, pid: int) -> None:
    """Wait for the last copy and unpin, before the ring is unmapped.

    A forked child cannot use CUDA.
    """
    if os.getpid() != pid:
        return
    while side.held:
        side.held[0][0].synchronize()
        side.held.popleft()
    if pinned:
        cuda.cudart().cudaHostUnregister(ring.ctypes.data)


def torch_dtype(dtype: np.dtype[Any]) -> torch.dtype:
    """The dtype of torch for a numpy dtype."""
    return torch.from_numpy(np.empty(0, dtype.newbyteorder("="))).dtype
