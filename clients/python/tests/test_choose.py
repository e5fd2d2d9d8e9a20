"""The choice between the daemon's gather and the client's, with a clock that the test sets."""

from __future__ import annotations

import os
import random

import pytest

from daemon import wait_until
from tensorcache._feed import auto_delivery, idle_cores
from tensorcache._feed.auto_delivery import LEAD, MOST_STEPS, STEPS, TRIALS, WARM, Chooser

CORES = 2


class Machine:
    """A machine of two cores whose steps take a fixed time per delivery.

    ``idle`` is the number of idle cores during steps by "slot"; None if it is unknown.
    """

    def __init__(self, slot: float, local: float, idle: float | None = 1.0) -> None:
        self.takes = {"slot": slot, "local": local}
        self.idle = idle
        self.now = 0.0
        self.idled = self.passed = 0.0
        self.chooser = Chooser()

    def clock(self) -> float:
        return self.now

    def ticks(self) -> tuple[int, int] | None:
        return None if self.idle is None else (round(self.idled), round(self.passed))

    def step(self, slower: float = 1.0) -> bool:
        """Take a step, and return whether the feed must change its delivery."""
        delivery = self.chooser.delivery
        took = self.takes[delivery] * slower
        self.now += took
        self.passed += 100 * CORES * took
        self.idled += 100 * took * ((self.idle or 0.0) if delivery == "slot" else 2.0)
        return self.chooser.step()


def settle(
    patch: pytest.MonkeyPatch,
    machine: Machine,
    noise: random.Random | None = None,
    scatter: float = 0.0,
) -> tuple[str, int, int]:
    """Step until the choice is settled.

    Returns the chosen delivery, the number of changes and the number of steps.
    """
    patch.setattr(auto_delivery, "clock", machine.clock)
    patch.setattr(auto_delivery, "ticks", machine.ticks)
    patch.setattr(idle_cores, "count", lambda: CORES)
    changes, steps, pace = 0, 0, 1.0
    while not machine.chooser.settled:
        if noise and steps % STEPS == 0:
            pace = noise.uniform(1 - scatter, 1 + scatter)
        if noise and noise.random() < 0.02:
            machine.now += 1.0  # a checkpoint
        changes += machine.step(pace * noise.uniform(0.9, 1.1) if noise else 1.0)
        steps += 1
        assert steps <= MOST_STEPS
    return machine.chooser.delivery, changes, steps


@pytest.mark.parametrize(
    ("slot", "local", "idle", "chosen"),
    [
        (2.0, 1.0, 1.0, "local"),
        (1.0, 2.0, 1.0, "slot"),
        (1.0, 2.0, 0.0, "slot"),
        (1.0, 1.0, 1.0, "slot"),
        (1.0, 0.995, 1.0, "slot"),
        (1.0, 0.995, None, "slot"),
        (1.0, 0.97, 1.0, "local"),
        (1.0, 1.0, 0.3, "local"),
        (1.0, 1.01, 0.0, "local"),
        (1.0, 1.03, 0.0, "slot"),
    ],
)
def test_the_faster_one_is_kept_and_cores_decide_a_tie(
    monkeypatch: pytest.MonkeyPatch, slot: float, local: float, idle: float | None, chosen: str
) -> None:
    machine = Machine(slot, local, idle)
    found, changes, steps = settle(monkeypatch, machine)
    assert found == chosen
    assert changes == LEAD + (chosen == "local")  # the last trial is a "slot" one
    assert steps == 2 * LEAD * (STEPS + 1) + (LEAD + 1) * WARM
    assert machine.chooser.seconds == {"slot": pytest.approx(slot), "local": pytest.approx(local)}
    assert not any(machine.step() for _ in range(3 * STEPS))
    assert machine.chooser.delivery == chosen


def test_checkpoints_and_noise_deceive_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(50):
        for local, want in ((0.9e-3, "local"), (1.1e-3, "slot")):
            assert settle(monkeypatch, Machine(1e-3, local), random.Random(seed))[0] == want, seed


def test_legs_that_scatter_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, longer = 0, 0
    for seed in range(200):
        for local, want in ((0.85, "local"), (1.15, "slot")):
            found, _, steps = settle(
                monkeypatch, Machine(1.0, local), random.Random(seed), scatter=0.25
            )
            wrong += found != want
            longer += steps > 2 * LEAD * (STEPS + 1) + (LEAD + 1) * WARM
    assert wrong < 14  # 8 of 400; a choice by the median of four pairs is wrong in 26
    assert longer > 100


def test_pairs_that_disagree_to_the_end_have_their_median_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(1.0, 1.0)
    monkeypatch.setattr(auto_delivery, "clock", machine.clock)
    monkeypatch.setattr(auto_delivery, "ticks", machine.ticks)
    ratios = iter([0.8, 1.2] * (len(TRIALS) // 4 - 1) + [0.8, 0.9])
    steps, measured = 0, 0
    while not machine.chooser.settled:
        at = len(machine.chooser._means["slot"]) + len(machine.chooser._means["local"])
        if at == measured and at % 2 == 0:
            machine.takes["local"], measured = next(ratios), at + 2
        machine.step()
        steps += 1
    assert (machine.chooser.delivery, next(ratios, None)) == ("local", None)
    assert steps <= MOST_STEPS


def test_the_time_between_passes_is_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(1.0, 0.5)
    monkeypatch.setattr(auto_delivery, "clock", machine.clock)
    monkeypatch.setattr(auto_delivery, "ticks", machine.ticks)
    while not machine.chooser.settled:
        for _ in range(10):
            machine.step()
        # An evaluation takes less than FAR times a step, so it is no outlier.
        machine.now += 10 if machine.chooser.delivery == "local" else 1
        machine.chooser.pause()
    assert machine.chooser.delivery == "local"


def test_ticks_go_on_and_no_more_are_idle_than_passed() -> None:
    before = idle_cores.ticks()
    if before is None:
        pytest.skip("this system has no /proc/stat")
    assert 0 <= before[0] <= before[1]
    wait_until(lambda: (idle_cores.ticks() or before)[1] > before[1], "the clock stands still")
    assert 1 <= idle_cores.count() <= (os.cpu_count() or 1)
