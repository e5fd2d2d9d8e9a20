"""The choice between the daemon's gather and the client's own, by the time of the first steps."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from . import idle_cores
from .mapped_windows import MappedWindows

clock = time.perf_counter
ticks = idle_cores.ticks

TRIALS = ("slot", "local", "local", "slot") * 4
"""The deliveries in turn. Two trials are a pair, and every other pair begins with the other one:
a machine whose speed drifts then favours neither, and half of the changes are saved."""
WARM = 32
"""Steps after a change that do not count, because the ring is being filled and memory is cold."""
STEPS = 96
"""Steps of a trial that count: several of the bursts in which the daemon gathers."""
MOST_STEPS = len(TRIALS) * (STEPS + WARM + 1)
"""The choice is made after so many steps at the latest."""
OUTLIERS, FAR = STEPS // 8, 50.0
"""How many of the slowest steps do not count if they took so many times the median: a checkpoint,
an evaluation. No other steps are left out. The daemon gathers in bursts, so a few slow steps of
many contain what it takes from a trainer that keeps all cores busy, and what a trainer waits that
is faster than it. Leaving out the two slowest steps hid half of that."""
LEAD = 4
"""The choice is made when one delivery wins by so many pairs, after as many pairs at the soonest.
This is a sequential sign test: the ratios of pairs scatter by a third if others use the machine."""
GAIN, TIE = 0.99, 1.02
"""The client's gather is chosen if its steps take less than this fraction of the daemon's: the
first if a core is idle, which the daemon may as well use, the second if none is idle."""
FREE = 0.5
"""The idle cores under the daemon's gather from which on a core counts as idle."""


class Chooser:
    """Tries the daemon's gather and the client's own, and keeps the one whose steps are shorter.

    The daemon's gather costs the trainer nothing if a core is idle. If training keeps every core
    busy, each wake of the daemon takes one away (measured: a small step became 1.1 to 1.2 times as
    long), and gathering in the trainer is cheaper. Neither side can know which holds, so the
    chooser measures steps, the time from one batch to the next. It compares each trial with its
    neighbour, because both had the machine in the same state. Most of these ratios decide, or their
    median if they disagree. If the ratios are nearly 1, idle cores decide.

    Args:
        can_gather: whether the client can gather the windows, so that there is a choice.

    Attributes:
        delivery: the delivery to use now.
        settled: whether the choice is final.
        seconds: for each delivery tried, the seconds of a step: the median of its trials' means.
    """

    def __init__(
        self, can_gather: Callable[[MappedWindows], bool] = MappedWindows.can_be_gathered
    ) -> None:
        self.can_gather = can_gather
        self.delivery = TRIALS[0]
        self.settled = False
        self.seconds: dict[str, float] = {}
        self._means: dict[str, list[float]] = {name: [] for name in TRIALS}
        self._steps: list[float] = []
        self._warm = WARM
        self._before: float | None = None
        self._idle = self._passed = 0  # ticks under the daemon's gather
        self._since: tuple[int, int] | None = None

    def settle_on(self, delivery: str) -> None:
        """Make a delivery the final choice: the daemon gives no other."""
        self.delivery, self.settled = delivery, True

    def pause(self) -> None:
        """End a pass: the time until the next batch is no step."""
        self._before = self._since = None

    def step(self) -> bool:
        """Count a step, and report whether ``delivery`` has changed."""
        now, before = clock(), self._before
        self._before = now
        if before is None or self.settled:
            return False
        if self._warm:
            self._warm -= 1
            return False
        if not self._steps:
            self._since = ticks()
        self._steps.append(now - before)
        return len(self._steps) == STEPS and self._end_leg()

    def _end_leg(self) -> bool:
        self._count_ticks()
        was, slot, local = self.delivery, self._means["slot"], self._means["local"]
        self._means[was].append(mean_step(self._steps))
        self.seconds = {
            name: statistics.median(means) for name, means in self._means.items() if means
        }
        if len(slot) == len(local):
            self._decide([b / a for a, b in zip(slot, local, strict=True)])
        if not self.settled:
            self.delivery = TRIALS[len(slot) + len(local)]
        changed = self.delivery != was
        self._steps, self._warm, self._before = [], WARM if changed else 0, None
        return changed

    def _decide(self, ratios: list[float]) -> None:
        """Choose, if the pairs agree or were the last ones."""
        bound = GAIN if self._core_is_free() else TIE
        fewer = sum(ratio < bound for ratio in ratios)
        lead = abs(len(ratios) - 2 * fewer)
        if lead >= LEAD or 2 * len(ratios) == len(TRIALS):
            self.settled = True
            self.delivery = "local" if statistics.median(ratios) < bound else "slot"

    def _count_ticks(self) -> None:
        """Add the ticks of the cores in this trial, if the daemon gathered in it."""
        now = ticks() if self.delivery == "slot" and self._since is not None else None
        if now is not None and self._since is not None:
            self._idle += now[0] - self._since[0]
            self._passed += now[1] - self._since[1]

    def _core_is_free(self) -> bool:
        """Whether a core was idle, as far as is known."""
        return self._passed == 0 or self._idle * idle_cores.count() >= FREE * self._passed


def mean_step(steps: list[float]) -> float:
    """The mean of the steps that count."""
    far = FAR * statistics.median(steps)
    steps = sorted(steps)
    counted = steps[:-OUTLIERS] + [step for step in steps[-OUTLIERS:] if step < far]
    return sum(counted) / len(counted)
