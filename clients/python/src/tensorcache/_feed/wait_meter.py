"""The clock of a feed: seconds inside passes, and those in which the trainer waits for data."""

from __future__ import annotations

import struct
import time

METER = struct.Struct("<IIQQ")
METER_FRAME = 5
REPORT_SECONDS = 0.25
"""The least time between two reports to the daemon."""


class Meter:
    """Seconds inside passes and seconds waited, over all streams of a feed.

    Attributes:
        waited: seconds blocked for batches.
        reported: nanoseconds inside passes, in the latest report to the daemon.
    """

    def __init__(self) -> None:
        self.waited = 0.0
        self.reported = 0
        self._passed = 0.0
        self._began: float | None = None
        self._due = 0.0

    def begin(self) -> None:
        """Start the clock: a pass begins."""
        self._began = time.perf_counter()

    def pause(self) -> None:
        """Stop the clock: the pass ended or was left."""
        if self._began is not None:
            self._passed += time.perf_counter() - self._began
            self._began = None

    @property
    def running(self) -> bool:
        """Whether a pass is running."""
        return self._began is not None

    def seconds(self) -> float:
        """Seconds inside passes."""
        return self._passed + (
            time.perf_counter() - self._began if self._began is not None else 0.0
        )

    def frame(self, always: bool = False) -> bytes:
        """A METER frame for the daemon, or nothing if the latest report is recent."""
        now = time.perf_counter()
        if now < self._due and not always:
            return b""
        self._due = now + REPORT_SECONDS
        self.reported = seconds = int(self.seconds() * 1e9)
        return METER.pack(
            METER.size - 8, METER_FRAME, seconds, min(seconds, int(self.waited * 1e9))
        )
