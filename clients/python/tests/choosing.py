"""Tests of "auto": a clock that makes one delivery faster, and exchanges at a given batch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tensorcache._feed import auto_delivery
from tensorcache._feed.auto_delivery import Chooser
from tensorcache._feed.feed import Feed


def exchange(monkeypatch: pytest.MonkeyPatch, feed: Feed, after: int = 1) -> Chooser:
    """Make a feed switch from slots to the local gather after ``after`` batches."""
    feed._chooser = chooser = Chooser()
    steps = count(1)

    def step() -> bool:
        if next(steps) == after:
            chooser.delivery = "local"
        return chooser.delivery != feed.delivery

    monkeypatch.setattr(chooser, "step", step)
    return chooser


def hold_choice(
    monkeypatch: pytest.MonkeyPatch,
    ours: Any,
    slots: Any,
    chosen: str,
    hold_equal: Callable[[Any, Any], None],
) -> None:
    """Compare a feed or loader by "auto" with one by slots until "auto" has made its choice."""
    now = 0.0
    monkeypatch.setattr(auto_delivery, "clock", lambda: now)
    monkeypatch.setattr(auto_delivery, "ticks", lambda: None)
    used: list[str] = []
    while ours.stats()["batches"] < auto_delivery.MOST_STEPS // 2:
        for here, there in zip(ours, slots, strict=True):
            delivery = getattr(ours, "feed", ours).delivery
            used += [delivery] if used[-1:] != [delivery] else []
            now += 1.0 if delivery == chosen else 1.5
            hold_equal(here, there)
        assert ours.state_dict() == slots.state_dict()
    assert used == ["slot", "local", "slot", "local", "slot"] + ["local"] * (chosen == "local")
    stats = ours.stats()
    assert stats["delivery"] == chosen
    assert stats["step_s"] == {name: 1.0 if name == chosen else 1.5 for name in ("slot", "local")}
