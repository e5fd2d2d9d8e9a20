"""Blocks of this process's own memory, each used again once no array over it lives."""

from __future__ import annotations

import mmap
import weakref
from collections import deque

import numpy as np

from ._batch import Memory


class Held(weakref.ref[Memory]):
    """A block that is in use. Its callback is ``deque.append``, which takes no interpreted code and suits any thread.

    Attributes:
        block: its number.
    """

    __slots__ = ("block",)

    block: int


class Pool:
    """As many blocks of one size as batches are held at once, and one more.

    A block is freed when a weak reference to the one array that is the base of all others over it says so: a plain
    ndarray whose own base is none (see :mod:`._ring`). It is private memory, so a forked child has its own.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._blocks: list[mmap.mmap] = []
        self._held: dict[int, Held] = {}
        self._free: deque[Held] = deque()

    def take(self) -> Memory:
        """A block that nobody uses, at a multiple of 64; the one that was freed last, whose pages are still at hand."""
        try:
            block = self._free.pop().block
        except IndexError:
            block = len(self._blocks)
            self._blocks.append(mmap.mmap(-1, max(self._size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        memory: Memory = np.frombuffer(self._blocks[block], np.uint8, self._size)
        self._held[block] = held = Held(memory, self._free.append)
        held.block = block
        return memory

    def __len__(self) -> int:
        return len(self._blocks)
