"""The trainer's clock: how long it is inside passes, and how much of that it waits for data."""

from __future__ import annotations

import struct
import time

METER = struct.Struct("<IIQQ")
METER_FRAME = 5
REPORT_SECONDS = 0.25
"""How often the daemon is told, at most."""


class Meter:
    """Seconds inside passes and in wait, over all attachments of a feed.

    Attributes:
        waited: seconds blocked for batches.
        told: nanoseconds inside passes, as the daemon was told last.
    """

    def __init__(self) -> None:
        self.waited = 0.0
        self.reported = 0
        self._passed = 0.0
        self._began: float | None = None
        self._due = 0.0

    def begin(self) -> None:
        """A pass begins."""
        self._began = time.perf_counter()

    def pause(self) -> None:
        """A pass is over or left."""
        if self._began is not None:
            self._passed += time.perf_counter() - self._began
            self._began = None

    @property
    def running(self) -> bool:
        """Whether a pass is under way."""
        return self._began is not None

    def seconds(self) -> float:
        """Seconds inside passes."""
        return self._passed + (
            time.perf_counter() - self._began if self._began is not None else 0.0
        )

    def frame(self, always: bool = False) -> bytes:
        """A METER frame for the daemon, or nothing where it was told a moment ago."""
        now = time.perf_counter()
        if now < self._due and not always:
            return b""
        self._due = now + REPORT_SECONDS
        self.reported = seconds = int(self.seconds() * 1e9)
        return METER.pack(
            METER.size - 8, METER_FRAME, seconds, min(seconds, int(self.waited * 1e9))
        )
