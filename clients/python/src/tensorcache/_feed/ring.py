"""The feed's ring in this process: slots lent to the trainer, slots to give back, and forks.

A slot is lent until no array over it is referred to. The ring knows this from the reference count
of one array for each slot, its block, which is the base of every array made from the slot. The
block is a plain ndarray over the map (``np.frombuffer``), because numpy shortens a chain of bases
down to the last plain ndarray and no further. If a block has only the references that it had before
it was lent, no other code can get a new one. Reading the count takes a tenth of the time of a weak
reference for each batch, and arrays of a batch's shape can be made over the block in advance.
"""

from __future__ import annotations

import mmap
import os
import sys
import weakref
from collections.abc import Callable

import numpy as np

from .._data.mapped_file import address_of, map_private
from .batch import Memory, aligned_memory

BYTES = np.dtype(np.uint8)

COUNTED = sys.implementation.name == "cpython" and bool(
    getattr(sys, "_is_gil_enabled", lambda: True)()
)
"""Whether reference counts can be trusted. Other interpreters have none, and without a global lock
a count may be read while a reference moves from thread to thread. There, batches are copied out."""


class Ring:
    """The map of the ring and its slots.

    Attributes:
        blocks: the memory of each slot, as one array.
        lent: the slots that were lent to the trainer and not collected yet, in use or not.
        freed: the slots to give back to the daemon.
        max_lent: the most slots to lend; further batches are copied out.
        copied: how many batches were copied out.
    """

    def __init__(self, fd: int, slots: int, slot_bytes: int) -> None:
        # The descriptor stays open, so that a forked child can map the ring again.
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
        """Record how many references a block that is not lent has.

        Call it once the deliveries have made their arrays over the blocks: these references last as
        long as the ring.
        """
        if COUNTED:
            blocks, count = self.blocks, sys.getrefcount
            self._idle = min(count(blocks[slot]) for slot in range(len(blocks)))

    def _in_use(self) -> list[int]:
        if not self.lent:
            return []
        blocks, count, idle = self.blocks, sys.getrefcount, self._idle
        lent = tuple(self.lent)  # a copy, since this may run in another thread than the loop
        return [slot for slot in lent if count(blocks[slot]) > idle]

    def taker(self) -> Callable[[int], Memory]:
        """A function that lends a slot and returns its memory.

        The slot is freed after the last array over it is gone. If the trainer has nearly all slots,
        the function returns a copy and frees the slot at once.
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
        """How many lent slots are in use."""
        return len(self._in_use())

    def collect(self) -> None:
        """Free the lent slots that are no longer in use."""
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
        """Collect slots, and report whether another one can be lent."""
        self.collect()
        return len(self.lent) < self.max_lent

    def words(self) -> memoryview:
        """The ring as int64 values."""
        return memoryview(self._map).cast("q")

    def memory(self) -> memoryview:
        """The whole map."""
        return memoryview(self._map)

    def copy(self, slot: int) -> Memory:
        """A copy of a slot's bytes."""
        memory = aligned_memory(self._slot_bytes)
        memory[:] = self.blocks[slot]
        return memory

    def copy_out(self, slot: int) -> Memory:
        """A copy of a slot's bytes; frees the slot."""
        memory = self.copy(slot)
        self.freed.append(slot)
        self.copied += 1
        return memory

    def before_fork(self) -> None:
        """Save the slots in use.

        The daemon may refill them before the child has a map of its own.
        """
        self._saved = {slot: self.blocks[slot].tobytes() for slot in self._in_use()}

    def after_fork_in_parent(self) -> None:
        """Drop the saved slots."""
        self._saved = {}

    def after_fork_in_child(self) -> None:
        """Map private memory in the ring's place, at the same addresses, with the saved slots."""
        ring = np.frombuffer(self._map, np.uint8)
        try:
            map_private(self._fd, 0, len(ring), at=address_of(ring))
        except OSError as error:
            why = "the feed's ring cannot be mapped anew in a forked child"
            raise OSError(error.errno, f"{why}: {error.strerror}") from error
        for slot, was in self._saved.items():
            ring[slot * self._slot_bytes : (slot + 1) * self._slot_bytes] = np.frombuffer(
                was, np.uint8
            )
        self._saved = {}
        self._close()
