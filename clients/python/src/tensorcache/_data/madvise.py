"""How the system is to read a map of the columns while feeds read windows here and there.

The daemon asks for the pages of coming batches. Around a page that is missing all the same, the
system would read what lies beside it, up to MiBs, which pushes out of memory what was asked for.
"""

from __future__ import annotations

import mmap
import sys
import weakref


class RandomReaders:
    """Counts who reads windows from a map; while anybody does, only what is touched is read."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._count = 0

    def add(self, reader: object) -> None:
        """Count a reader, as long as it lives."""
        self._by(1)
        weakref.finalize(reader, self._by, -1).atexit = False

    def _by(self, by: int) -> None:
        before, self._count = self._count, self._count + by
        if bool(before) != bool(self._count):
            advise(self._memory, bool(self._count))


def advise(memory: mmap.mmap, random: bool) -> None:
    """Tell the system; where the daemon asks for pages."""
    if sys.platform == "linux":
        memory.madvise(mmap.MADV_RANDOM if random else mmap.MADV_NORMAL)
