"""The kernel's read-ahead in a map of the columns, off while feeds read windows at random.

The daemon prefetches the pages of coming batches. For a page that is still missing, the kernel
would read up to MiBs around it, which evicts prefetched pages from memory.
"""

from __future__ import annotations

import mmap
import sys
import weakref


class RandomReaders:
    """Counts the objects that read windows from a map; while there are any, read-ahead is off."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._count = 0

    def add(self, reader: object) -> None:
        """Count a reader for as long as it lives."""
        self._by(1)
        weakref.finalize(reader, self._by, -1).atexit = False

    def _by(self, by: int) -> None:
        before, self._count = self._count, self._count + by
        if bool(before) != bool(self._count):
            advise(self._memory, bool(self._count))


def advise(memory: mmap.mmap, random: bool) -> None:
    """Set the kernel's read-ahead, on systems on which the daemon prefetches pages."""
    if sys.platform == "linux":
        memory.madvise(mmap.MADV_RANDOM if random else mmap.MADV_NORMAL)
