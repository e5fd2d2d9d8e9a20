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
from typing import Any

import numpy as np

from ._batch import Memory, aligned

MAP_FIXED = 0x10  # the same on Linux and macOS; Python's mmap has no name for it


class Ring:
    """The ring's map and the slots in it.

    Attributes:
        held: the slots that the trainer holds.
        freed: slots to give back, oldest first; arrays may die in any thread, so only ``append`` and ``popleft``.
        copied: batches that were copied out.
    """

    def __init__(self, fd: int, slots: int, slot_bytes: int) -> None:
        # The descriptor stays open: a forked child maps the ring anew with it.
        self._fd = fd
        self._close = weakref.finalize(self, os.close, fd)
        self._map = mmap.mmap(fd, slots * slot_bytes)
        self._slot_bytes = slot_bytes
        self._saved: dict[int, bytes] = {}
        self._most_held = max(2, slots - 2)
        self.copied = 0
        self.held: dict[int, weakref.ref[Memory]] = {}
        self.freed: deque[int] = deque()
        self._done = [on_drop(slot, self.held, self.freed) for slot in range(slots)]

    def taker(self) -> Callable[[int], Memory]:
        """What takes a slot's memory, which is freed when the last array over it is gone.

        Where the trainer holds nearly all slots it is a copy, and the slot is freed at once.
        """
        held, size, frombuffer, uint8, ref = self.held, self._slot_bytes, np.frombuffer, np.uint8, weakref.ref
        ring, done, most, copy_out = self._map, self._done, self._most_held, self._copy_out

        def take(slot: int) -> Memory:
            if len(held) >= most:
                return copy_out(slot)
            memory: Memory = frombuffer(ring, uint8, size, slot * size)
            held[slot] = ref(memory, done[slot])
            return memory

        return take

    def words(self) -> memoryview:
        """The ring as int64 values."""
        return memoryview(self._map).cast("q")

    def copy(self, slot: int) -> Memory:
        """A slot's bytes in memory of their own."""
        memory = aligned(self._slot_bytes)
        memory[:] = np.frombuffer(self._map, np.uint8, self._slot_bytes, slot * self._slot_bytes)
        return memory

    def _copy_out(self, slot: int) -> Memory:
        memory = self.copy(slot)
        self.freed.append(slot)
        self.copied += 1
        return memory

    def before_fork(self) -> None:
        """Remember the held slots as they are now: the daemon may refill them before the child has its own."""
        size = self._slot_bytes
        self._saved = {slot: self._map[slot * size : (slot + 1) * size] for slot in list(self.held)}

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


def on_drop(slot: int, held: dict[int, Any], freed: deque[int]) -> Callable[[Any], None]:
    """What runs when a slot's last array is gone; it must not refer to the ring, which may be gone before."""

    def done(ref: Any, slot: int = slot, pop: Any = held.pop, put: Any = freed.append) -> None:
        pop(slot, None)
        put(slot)

    return done
