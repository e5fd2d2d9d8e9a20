"""The choice between the daemon's gather and the client's own, by a clock that tells what a test wants it to."""

from __future__ import annotations

import random

import pytest

from tensorcache import _choose
from tensorcache._choose import LEGS, STEPS, WARM, Chooser


class Clock:
    """Steps take what the delivery of the moment takes."""

    def __init__(self, slot: float, local: float) -> None:
        self.takes = {"slot": slot, "local": local}
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def settle(monkeypatch: pytest.MonkeyPatch, clock: Clock, noise: random.Random | None = None) -> tuple[Chooser, int]:
    """Step until it is settled; how often the delivery changed."""
    monkeypatch.setattr(_choose, "clock", clock)
    chooser, changes, steps = Chooser(), 0, 0
    while not chooser.settled:
        clock.now += clock.takes[chooser.delivery] * (noise.uniform(0.9, 1.1) if noise else 1)
        if noise and noise.random() < 0.02:
            clock.now += 1.0  # a checkpoint
        changes += chooser.step()
        steps += 1
    assert steps == len(LEGS) * (STEPS + WARM + 1)
    return chooser, changes


@pytest.mark.parametrize(
    ("slot", "local", "chosen", "changes"),
    [(2.0, 1.0, "local", 7), (1.0, 2.0, "slot", 8), (1.0, 1.0, "slot", 8), (1.0, 0.995, "slot", 8)],
)
def test_the_faster_one_is_kept(
    monkeypatch: pytest.MonkeyPatch, slot: float, local: float, chosen: str, changes: int
) -> None:
    chooser, changed = settle(monkeypatch, Clock(slot, local))
    assert (chooser.delivery, changed) == (chosen, changes)
    assert chooser.seconds == {"slot": pytest.approx(slot), "local": pytest.approx(local)}


def test_checkpoints_and_noise_deceive_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(50):
        better, worse = settle(monkeypatch, Clock(1e-3, 0.9e-3), random.Random(seed)), Clock(1e-3, 1.1e-3)
        assert better[0].delivery == "local", seed
        assert settle(monkeypatch, worse, random.Random(seed))[0].delivery == "slot", seed


def test_the_time_between_passes_is_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1.0, 0.5)
    monkeypatch.setattr(_choose, "clock", clock)
    chooser = Chooser()
    while not chooser.settled:
        for _ in range(10):
            clock.now += clock.takes[chooser.delivery]
            chooser.step()
        clock.now += 1000 if chooser.delivery == "local" else 1  # an evaluation
        chooser.pause()
    assert chooser.delivery == "local"
