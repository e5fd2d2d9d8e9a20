"""Blocks of this process's own memory, each used again once no array over it lives."""

from __future__ import annotations

import mmap
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ._batch import Memory
from ._ring import on_drop


class Pool:
    """As many blocks of one size as batches are held at once, and one more.

    A block is freed as a slot of the ring is (see :mod:`._ring`); it is private memory, so a forked child has its own.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._blocks: list[mmap.mmap] = []
        self._held: dict[int, weakref.ref[Memory]] = {}
        self._free: deque[int] = deque()
        self._done: list[Callable[[Any], None]] = []

    def take(self) -> Memory:
        """A block that nobody uses, at a multiple of 64; the one that was freed last, whose pages are still at hand."""
        try:
            block = self._free.pop()
        except IndexError:
            block = len(self._blocks)
            self._done.append(on_drop(block, self._held, self._free))
            self._blocks.append(mmap.mmap(-1, max(self._size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        memory: Memory = np.frombuffer(self._blocks[block], np.uint8, self._size)
        self._held[block] = weakref.ref(memory, self._done[block])
        return memory

    def __len__(self) -> int:
        return len(self._blocks)
