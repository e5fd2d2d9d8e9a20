"""The feed's ring in this process: which slots the trainer holds, which go back, and what a fork does.

A slot belongs to the trainer while any array over it lives. That is known from a weak reference to one array a slot,
which is the base of everything made from it: a plain ndarray over the map (``np.frombuffer``), because numpy shortens
chains of bases down to the last plain ndarray and no further.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from collections import deque
from collections.abc import Callable

import numpy as np

from ._batch import Memory, aligned

BYTES = np.dtype(np.uint8)
MAP_FIXED = 0x10  # the same on Linux and macOS; Python's mmap has no name for it


class Held(weakref.ref[Memory]):
    """A block that is in use. Its callback is ``deque.append``, which takes no interpreted code and suits any thread.

    Attributes:
        slot: which block it is.
    """

    __slots__ = ("slot",)

    slot: int


class Ring:
    """The ring's map and the slots in it.

    Attributes:
        taken: the slots whose memory was handed out and was not given back, whether or not it is still in use.
        dropped: those of them that are not, oldest first; arrays may die in any thread.
        freed: other slots to give back.
        copied: batches that were copied out.
    """

    def __init__(self, fd: int, slots: int, slot_bytes: int) -> None:
        # The descriptor stays open: a forked child maps the ring anew with it.
        self._fd = fd
        self._close = weakref.finalize(self, os.close, fd)
        self._map = mmap.mmap(fd, slots * slot_bytes)
        self._slot_bytes = slot_bytes
        self._blocks = [memoryview(self._map)[at : at + slot_bytes] for at in range(0, len(self._map), slot_bytes)]
        self._saved: dict[int, bytes] = {}
        self._most_held = max(2, slots - 2)
        self.copied = 0
        self.taken: dict[int, Held] = {}
        self.dropped: deque[Held] = deque()
        self.freed: deque[int] = deque()

    def taker(self) -> Callable[[int], Memory]:
        """What takes a slot's memory, which is freed when the last array over it is gone.

        Where the trainer holds nearly all slots it is a copy, and the slot is freed at once.
        """
        taken, dropped, most, copy_out = self.taken, self.dropped, self._most_held, self._copy_out
        blocks, drop, frombuffer, uint8, held = self._blocks, self.dropped.append, np.frombuffer, BYTES, Held

        def take(slot: int) -> Memory:
            if len(taken) >= most and len(taken) - len(dropped) >= most:
                return copy_out(slot)
            memory: Memory = frombuffer(blocks[slot], uint8)
            taken[slot] = ref = held(memory, drop)
            ref.slot = slot
            return memory

        return take

    @property
    def held(self) -> int:
        """How many slots the trainer holds."""
        return len(self.taken) - len(self.dropped)

    def drain(self) -> list[int]:
        """The slots to give back, which are given back with this."""
        freed, dropped, taken = self.freed, self.dropped, self.taken
        slots = [freed.popleft() for _ in range(len(freed))]
        for _ in range(len(dropped)):
            slot = dropped.popleft().slot
            del taken[slot]
            slots.append(slot)
        return slots

    def words(self) -> memoryview:
        """The ring as int64 values."""
        return memoryview(self._map).cast("q")

    def copy(self, slot: int) -> Memory:
        """A slot's bytes in memory of their own."""
        memory = aligned(self._slot_bytes)
        memory[:] = np.frombuffer(self._blocks[slot], BYTES)
        return memory

    def _copy_out(self, slot: int) -> Memory:
        memory = self.copy(slot)
        self.freed.append(slot)
        self.copied += 1
        return memory

    def before_fork(self) -> None:
        """Remember the held slots as they are now: the daemon may refill them before the child has its own."""
        held = [slot for slot, ref in list(self.taken.items()) if ref() is not None]
        self._saved = {slot: bytes(self._blocks[slot]) for slot in held}

    def after_fork_in_parent(self) -> None:
        """Forget them."""
        self._saved = {}

    def after_fork_in_child(self) -> None:
        """Put private memory in the ring's place, at the same addresses, with the held slots as they were."""
        ring = np.frombuffer(self._map, np.uint8)
        address = ring.__array_interface__["data"][0]
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        flags = mmap.MAP_PRIVATE | MAP_FIXED
        at = libc.mmap(address, len(ring), mmap.PROT_READ | mmap.PROT_WRITE, flags, self._fd, 0)
        if at != address:
            raise OSError(ctypes.get_errno(), "the feed's ring cannot be mapped anew in a forked child")
        for slot, was in self._saved.items():
            ring[slot * self._slot_bytes : (slot + 1) * self._slot_bytes] = np.frombuffer(was, np.uint8)
        self._saved = {}
        self._close()
