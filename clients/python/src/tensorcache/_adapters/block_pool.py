"""Blocks of this process's own memory, each reused once no array over it is left."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from .._feed.batch import Memory
from .._feed.ring import COUNTED

Made = TypeVar("Made")

MOST = 64
"""The most blocks to search for an unused one. Beyond that the oldest block is dropped, and goes
with the batch that still uses it."""


class Pool(Generic[Made]):
    """Blocks of memory of one size, for the batches in use at once and one more, ``MOST`` at most.

    A block is in use as long as it has more references than when it was made, as a slot of the ring
    (see :mod:`.._feed.ring`). It is private memory, so a forked child has its own copy.
    """

    def __init__(self, size: int, make: Callable[[Memory], Made]) -> None:
        self._size = size
        self._make = make
        self._blocks: list[Memory] = []
        self._made: list[Made] = []
        self._idle = 0

    def take(self) -> Made:
        """The object made of an unused block, aligned to 64 bytes.

        A block that is reused gives the same object again.
        """
        blocks, idle = self._blocks, self._idle
        for i in range(len(blocks)):
            if sys.getrefcount(blocks[i]) <= idle:
                return self._made[i]
        memory = mmap.mmap(-1, max(self._size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        block: Memory = np.frombuffer(memory, np.uint8, self._size)
        made = self._make(block)
        if COUNTED:
            if len(blocks) == MOST:
                del blocks[0], self._made[0]
            blocks.append(block)
            self._made.append(made)
            del block
            self._idle = sys.getrefcount(blocks[-1])
        return made
