"""Which delivery suits a trainer: told by its own steps, once, at the start of a feed."""

from __future__ import annotations

import statistics
import time

from . import idle_cores

clock = time.perf_counter
ticks = idle_cores.ticks

LEGS = ("slot", "local", "local", "slot") * 4
"""The deliveries in turn. Each two legs are a pair; every other pair begins with the other one, so
that a machine whose pace drifts favours neither, and half of the changes are saved."""
WARM = 32
"""Steps after a change that do not count: the ring is being filled, memory is cold."""
STEPS = 96
"""Steps of a leg that count: several of the bursts in which the daemon gathers."""
MOST_STEPS = len(LEGS) * (STEPS + WARM + 1)
"""After so many it has chosen."""
OUTLIERS, FAR = STEPS // 8, 50.0
"""So many of the slowest do not, if they took so many times the median: a checkpoint, an
evaluation.

No others: the daemon gathers in bursts, so what it takes from a trainer that keeps all cores busy,
or lets one wait that is faster than it, is in a few slow steps of many. Leaving the two slowest out
hid half of it.
"""
LEAD = 4
"""It is decided when so many more pairs say one thing than say the other, at the soonest after as
many pairs: a sequential sign test, for what a pair says scatters by a third where others use the
machine."""
GAIN, TIE = 0.99, 1.02
"""The client's gather is taken where its steps take less than this share of the daemon's: a little
less where a core is free, which the daemon may as well use, and as much where none is and others
would want it too."""
FREE = 0.5
"""Cores that were idle under the daemon's gather, from which on one is free."""


class Chooser:
    """Tries the daemon's gather and the client's own, and keeps the one whose steps are shorter.

    The daemon's gather costs the trainer nothing where a core is free; where training keeps every
    core busy, each wake of the daemon takes one away (research: a small step became 1.1 to 1.2
    times as long), and gathering in the trainer itself is cheaper. Neither side can know which
    holds, so the steps are asked: a step is the time from one batch to the next. Each leg is
    compared with the one beside it, so that both had the machine as it was then. Most of these
    ratios decide, or where they disagree their median; where they are nearly 1, idle cores do.

    Attributes:
        delivery: the one to use now.
        settled: whether it was chosen for good.
        seconds: a step by each delivery, the median of its legs' means, as far as it is known.
    """

    def __init__(self) -> None:
        self.delivery = LEGS[0]
        self.settled = False
        self.seconds: dict[str, float] = {}
        self._means: dict[str, list[float]] = {name: [] for name in LEGS}
        self._steps: list[float] = []
        self._warm = WARM
        self._before: float | None = None
        self._idle = self._passed = 0  # ticks under the daemon's gather
        self._since: tuple[int, int] | None = None

    def settle_on(self, delivery: str) -> None:
        """No other can be had."""
        self.delivery, self.settled = delivery, True

    def pause(self) -> None:
        """A pass ended: the time until the next batch is no step."""
        self._before = self._since = None

    def step(self) -> bool:
        """A batch was used up; says whether ``delivery`` is another one from here on."""
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
            self.delivery = LEGS[len(slot) + len(local)]
        changed = self.delivery != was
        self._steps, self._warm, self._before = [], WARM if changed else 0, None
        return changed

    def _decide(self, ratios: list[float]) -> None:
        """Choose, if the pairs agree or there are no more."""
        bound = GAIN if self._core_is_free() else TIE
        fewer = sum(ratio < bound for ratio in ratios)
        lead = abs(len(ratios) - 2 * fewer)
        if lead >= LEAD or 2 * len(ratios) == len(LEGS):
            self.settled = True
            self.delivery = "local" if statistics.median(ratios) < bound else "slot"

    def _count_ticks(self) -> None:
        """Add what the cores did in this leg, if it was one of the daemon's gather."""
        now = ticks() if self.delivery == "slot" and self._since is not None else None
        if now is not None and self._since is not None:
            self._idle += now[0] - self._since[0]
            self._passed += now[1] - self._since[1]

    def _core_is_free(self) -> bool:
        """Whether a core was, as far as it is known."""
        return self._passed == 0 or self._idle * idle_cores.count() >= FREE * self._passed


def mean_step(steps: list[float]) -> float:
    """The mean of the steps that count."""
    far = FAR * statistics.median(steps)
    steps = sorted(steps)
    counted = steps[:-OUTLIERS] + [step for step in steps[-OUTLIERS:] if step < far]
    return sum(counted) / len(counted)
