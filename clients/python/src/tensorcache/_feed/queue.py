"""The end of a feed's ring by which descriptors come and credits go without a system call.

Both sides write what they count after what they have counted. On amd64 other processes see stores
in their order, and loads are not moved before loads: that is enough, and all that there is, since
Python has no fences. Elsewhere descriptors and credits go over the socket.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from typing import Any

from .._errors import ProtocolError

SENT, ASLEEP, GIVEN, READ, FIRST = 0, 1, 8, 9, 16
"""Words: descriptors sent, whether the daemon sleeps, credits given, descriptors read; and where
descriptors begin."""


def usable() -> bool:
    """Whether this machine has what a queue needs."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


class Queue:
    """Descriptors of the daemon's, and our credits.

    Attributes:
        read: how many descriptors were taken.
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
        self._unseen = 0  # of them, since the daemon sleeps
        self._enough = max(1, slots * 5 // 8)

    def take(self) -> bytes:
        """The descriptors that are new."""
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
        """Give slots back; whether the daemon has to be woken to see it.

        That takes us 10 µs and the daemon more, so it may sleep on until much of the ring is free.
        One that falls asleep at this moment may be overlooked: it is woken by a later credit, or
        where we wait.
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
        if self._unseen < self._enough:
            return False
        self._unseen = 0
        return True
