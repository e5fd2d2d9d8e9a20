"""The feed's ring in this process.

Which slots the trainer holds, which go back, and what a fork does.

A slot belongs to the trainer while any array over it lives. That is known from the references to
one array a slot, its block, which is the base of everything made from it: a plain ndarray over the
map (``np.frombuffer``), because numpy shortens chains of bases down to the last plain ndarray and
no further. Nobody can come by a new reference to a block that has only those it had when nothing of
it was lent. Looking takes a tenth of what a weak reference a batch takes, and arrays of a batch's
shape over the block can be made in advance.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import weakref
from collections.abc import Callable

import numpy as np

from .batch import Memory, aligned_memory

BYTES = np.dtype(np.uint8)
MAP_FIXED = 0x10  # the same on Linux and macOS; Python's mmap has no name for it

COUNTED = sys.implementation.name == "cpython" and bool(
    getattr(sys, "_is_gil_enabled", lambda: True)()
)
"""Whether counts of references can be trusted. Other interpreters have none; without a lock, one
may be read while a reference goes from thread to thread. There batches are copied out."""


class Ring:
    """The ring's map and the slots in it.

    Attributes:
        blocks: the memory of each slot.
        taken: the slots whose memory was handed out and was not given back, whether or not it is
            still in use.
        freed: other slots to give back.
        most_held: more are not lent: batches are copied out.
        copied: batches that were copied out.
    """

    def __init__(self, fd: int, slots: int, slot_bytes: int) -> None:
        # The descriptor stays open: a forked child maps the ring anew with it.
        self._fd = fd
        self._close = weakref.finalize(self, os.close, fd)
        self._map = mmap.mmap(fd, 0)
        self._slot_bytes = slot_bytes
        view = memoryview(self._map)
        self.blocks = [
            np.frombuffer(view[at : at + slot_bytes], BYTES)
            for at in range(0, slots * slot_bytes, slot_bytes)
        ]
        self._idle = 0
        self._saved: dict[int, bytes] = {}
        self.max_lent = max(2, slots - 2) if COUNTED else 0
        self.copied = 0
        self.lent: list[int] = []
        self.freed: list[int] = []

    def ready(self) -> None:
        """A block that is referred to as often as now is not in use.

        By what makes batches, while the ring lives.
        """
        if COUNTED:
            blocks, count = self.blocks, sys.getrefcount
            self._idle = min(count(blocks[slot]) for slot in range(len(blocks)))

    def _in_use(self) -> list[int]:
        if not self.lent:
            return []
        blocks, count, idle = self.blocks, sys.getrefcount, self._idle
        return [
            slot for slot in tuple(self.lent) if count(blocks[slot]) > idle
        ]  # another thread may ask

    def taker(self) -> Callable[[int], Memory]:
        """What takes a slot's memory, which is freed when the last array over it is gone.

        Where the trainer holds nearly all slots it is a copy, and the slot is freed at once.
        """
        lent, most, make_room, copy_out = self.lent, self.max_lent, self.make_room, self.copy_out
        blocks = self.blocks

        def take(slot: int) -> Memory:
            if len(lent) >= most and not make_room():
                return copy_out(slot)
            lent.append(slot)
            return blocks[slot]

        return take

    @property
    def held(self) -> int:
        """How many slots the trainer holds."""
        return len(self._in_use())

    def collect(self) -> None:
        """Move the slots that are taken and no longer in use to those that are freed."""
        lent, blocks, put, idle = self.lent, self.blocks, self.freed.append, self._idle
        if not lent:
            return
        count = sys.getrefcount
        kept = []
        for slot in lent:
            if count(blocks[slot]) > idle:
                kept.append(slot)
            else:
                put(slot)
        lent[:] = kept

    def make_room(self) -> bool:
        """Whether the trainer may hold another slot."""
        self.collect()
        return len(self.lent) < self.max_lent

    def words(self) -> memoryview:
        """The ring as int64 values."""
        return memoryview(self._map).cast("q")

    def memory(self) -> memoryview:
        """All that is mapped."""
        return memoryview(self._map)

    def copy(self, slot: int) -> Memory:
        """A slot's bytes in memory of their own."""
        memory = aligned_memory(self._slot_bytes)
        memory[:] = self.blocks[slot]
        return memory

    def copy_out(self, slot: int) -> Memory:
        """A slot's bytes in memory of their own; the slot is freed."""
        memory = self.copy(slot)
        self.freed.append(slot)
        self.copied += 1
        return memory

    def before_fork(self) -> None:
        """Remember the held slots as they are now.

        The daemon may refill them before the child has its own.
        """
        self._saved = {slot: self.blocks[slot].tobytes() for slot in self._in_use()}

    def after_fork_in_parent(self) -> None:
        """Forget them."""
        self._saved = {}

    def after_fork_in_child(self) -> None:
        """Map private memory in the ring's place, at the same addresses, with the saved slots."""
        ring = np.frombuffer(self._map, np.uint8)
        address = ring.__array_interface__["data"][0]
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        flags = mmap.MAP_PRIVATE | MAP_FIXED
        at = libc.mmap(address, len(ring), mmap.PROT_READ | mmap.PROT_WRITE, flags, self._fd, 0)
        if at != address:
            raise OSError(
                ctypes.get_errno(), "the feed's ring cannot be mapped anew in a forked child"
            )
        for slot, was in self._saved.items():
            ring[slot * self._slot_bytes : (slot + 1) * self._slot_bytes] = np.frombuffer(
                was, np.uint8
            )
        self._saved = {}
        self._close()
