"""Which delivery suits a trainer: told by its own steps, once, at the start of a feed."""

from __future__ import annotations

import time

clock = time.perf_counter

LEGS = ("slot", "local") * 4
"""The deliveries that are tried in turn; four times each, so that a machine that changes its pace deceives less."""
WARM = 16
"""Steps after a change that do not count: the ring is being filled, memory is cold."""
STEPS = 48
"""Steps of a leg that count."""
OUTLIERS = 2
"""The slowest of them that do not: a checkpoint, a log line. Few, since the daemon's wakes make few steps slow."""
GAIN = 0.99
"""The client's gather is taken where its steps take less than this share of the daemon's."""


class Chooser:
    """Tries the daemon's gather and the client's own, and keeps the one with which steps take less time.

    The daemon's gather costs the trainer nothing where a core is free; where training keeps every core busy, each wake
    of the daemon takes one away (research: a small step became 1.1 to 1.2 times as long), and gathering in the trainer
    itself is cheaper. Neither side can know which holds, so the steps are asked: a step is the time from one batch
    to the next. A delivery's time is the best of its legs, each the mean of its steps without the slowest.

    Attributes:
        delivery: the one to use now.
        settled: whether it was chosen for good.
        seconds: the mean step by each delivery, as far as it is known.
    """

    def __init__(self) -> None:
        self.delivery = LEGS[0]
        self.settled = False
        self.seconds: dict[str, float] = {}
        self._leg = 0
        self._steps: list[float] = []
        self._warm = WARM
        self._before: float | None = None

    def pause(self) -> None:
        """A pass ended: the time until the next batch is no step."""
        self._before = None

    def step(self) -> bool:
        """A batch was used up; says whether ``delivery`` is another one from here on."""
        now, before = clock(), self._before
        self._before = now
        if before is None:
            return False
        if self._warm:
            self._warm -= 1
            return False
        self._steps.append(now - before)
        return len(self._steps) == STEPS and self._end_leg()

    def _end_leg(self) -> bool:
        counted = sorted(self._steps)[: STEPS - OUTLIERS]
        was, mean = self.delivery, sum(counted) / len(counted)
        self.seconds[was] = min(mean, self.seconds.get(was, mean))
        self._steps, self._warm, self._before = [], WARM, None
        self._leg += 1
        if self._leg < len(LEGS):
            self.delivery = LEGS[self._leg]
        else:
            self.settled = True
            self.delivery = "local" if self.seconds["local"] < GAIN * self.seconds["slot"] else "slot"
        return self.delivery != was
