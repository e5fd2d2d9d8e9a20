"""How busy the cores are that this process may use."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

IDLE = slice(4, 6)
"""The fields of a core's line in /proc/stat for time in which nothing ran on it: idle, and waiting
for a disk."""


def ticks() -> tuple[int, int] | None:
    """The ticks in which this process's cores were idle, and all ticks; None if unknown."""
    idle = passed = 0
    with (
        contextlib.suppress(OSError, ValueError, AttributeError),
        Path("/proc/stat").open("rb") as file,
    ):
        mine = {b"cpu%d" % core for core in os.sched_getaffinity(0)}
        for line in file:
            fields = line.split()
            if fields and fields[0] in mine:
                idle += sum(map(int, fields[IDLE]))
                passed += sum(map(int, fields[1:9]))  # the first two include the time of guests
    return (idle, passed) if passed else None


def count() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
