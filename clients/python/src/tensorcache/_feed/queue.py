"""The queue of descriptors and credits in a feed's ring, which needs no system call.

Each side writes its count after the entries that it counts. On amd64, other processes see stores in
program order, and loads are not reordered with loads. That suffices, and Python has no fences to do
more. On other machines, descriptors and credits use the socket.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from typing import Any

from .._errors import ProtocolError

SENT, ASLEEP, GIVEN, READ, FIRST = 0, 1, 8, 9, 16
"""Numbers of 64-bit words: descriptors sent, whether the daemon sleeps, credits given, descriptors
read, and the first word of the descriptors."""


def usable() -> bool:
    """Reports whether this machine orders stores as a queue needs."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


class Queue:
    """Descriptors from the daemon, and credits to it.

    Attributes:
        read: how many descriptors were read.
    """

    def __init__(self, memory: memoryview, layout: dict[str, Any], slots: int, size: int) -> None:
        at, room = int(layout["offset"]), int(layout["descriptors"])
        self._end, self._size, self._slots = room * size, size, slots
        first = at + FIRST * 8
        if at % 8 or room < 1 or first + room * size + slots * 8 > len(memory):
            raise ProtocolError(
                f"the daemon lays out a queue {layout} in a ring of {len(memory)} bytes"
            )
        self._words = memory[at:first].cast("Q")
        self._descriptors = memory[first : first + self._end]
        self._credits = memory[first + self._end :][: slots * 8].cast("Q")
        self.read = 0
        self._at = 0
        self._given = 0
        self._unseen = 0  # credits given since the daemon fell asleep
        self._wake_from = max(1, slots * 5 // 8)

    def take(self) -> bytes:
        """The new descriptors, as bytes; empty if there are none."""
        words, at, ring = self._words, self._at, self._descriptors
        sent = words[SENT]
        to = at + (sent - self.read) * self._size
        if to < self._end:
            taken = bytes(ring[at:to])
        else:
            to -= self._end
            taken = bytes(ring[at:]) + bytes(ring[:to])
        self._at = to
        words[READ] = self.read = sent
        return taken

    def give(self, slots: Sequence[int]) -> bool:
        """Give slots back, and report whether the daemon has to be woken to see them.

        Waking costs this process 10 µs and the daemon more, so the daemon may sleep until 5/8 of
        the slots are free. If it falls asleep at this moment, it may be missed: then a later credit
        wakes it, or the client before it waits.
        """
        given, ring, n, words = self._given, self._credits, self._slots, self._words
        for slot in slots:
            ring[given % n] = slot
            given += 1
        words[GIVEN] = self._given = given
        if words[ASLEEP] == 0:
            self._unseen = 0
            return False
        self._unseen += len(slots)
        if self._unseen < self._wake_from:
            return False
        self._unseen = 0
        return True
