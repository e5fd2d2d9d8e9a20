"""Which delivery suits a trainer: told by its own steps, once, at the start of a feed."""

from __future__ import annotations

import statistics
import time

clock = time.perf_counter

ORDER = ("slot", "local")
LEGS = ORDER * 4
"""The deliveries that are tried in turn; four times each, so that a machine that changes its pace deceives less."""
WARM = 16
"""Steps after a change that do not count: the ring is being filled, memory is cold."""
STEPS = 48
"""Steps of a leg that count."""
OUTLIERS, FAR = STEPS // 8, 50.0
"""So many of the slowest do not, if they took so many times the median: a checkpoint, an evaluation.

No others: the daemon gathers in bursts, so what it takes from a trainer that keeps all cores busy, or lets one wait
that is faster than it, is in a few slow steps of many. Leaving the two slowest out hid half of it.
"""
GAIN = 0.99
"""The client's gather is taken where its steps take less than this share of the daemon's."""


class Chooser:
    """Tries the daemon's gather and the client's own, and keeps the one with which steps take less time.

    The daemon's gather costs the trainer nothing where a core is free; where training keeps every core busy, each wake
    of the daemon takes one away (research: a small step became 1.1 to 1.2 times as long), and gathering in the trainer
    itself is cheaper. Neither side can know which holds, so the steps are asked: a step is the time from one batch
    to the next. Each leg is compared with the one beside it, so that both had the machine as it was then, and the
    median of these ratios decides.

    Attributes:
        delivery: the one to use now.
        settled: whether it was chosen for good.
        seconds: a step by each delivery, the median of its legs' means, as far as it is known.
    """

    def __init__(self) -> None:
        self.delivery = LEGS[0]
        self.settled = False
        self.seconds: dict[str, float] = {}
        self._means: list[float] = []
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
        self._means.append(mean_step(self._steps))
        self._steps, self._warm, self._before = [], WARM, None
        done, was = len(self._means), self.delivery
        of = {name: self._means[i :: len(ORDER)] for i, name in enumerate(ORDER)}
        self.seconds = {name: statistics.median(means) for name, means in of.items() if means}
        if done < len(LEGS):
            self.delivery = LEGS[done]
        else:
            self.settled = True
            ratio = statistics.median(local / slot for slot, local in zip(of["slot"], of["local"], strict=True))
            self.delivery = "local" if ratio < GAIN else "slot"
        return self.delivery != was


def mean_step(steps: list[float]) -> float:
    """The mean of the steps that count."""
    far = FAR * statistics.median(steps)
    steps = sorted(steps)
    counted = steps[:-OUTLIERS] + [step for step in steps[-OUTLIERS:] if step < far]
    return sum(counted) / len(counted)
