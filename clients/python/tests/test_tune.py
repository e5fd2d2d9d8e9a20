"""The tuner adds slots while both sides wait and more slots help, and no further."""

from __future__ import annotations

import errno
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorcache
from choosing import exchange
from daemon import wait_until
from tensorcache._daemon.http import Control
from tensorcache._feed import auto_slots
from tensorcache._feed import feed as feed_module
from tensorcache._feed.auto_slots import Tuner
from tensorcache._feed.feed import Feed

pytestmark = pytest.mark.portable


def settle(
    share: Callable[[int], float], idle: float, slots: int = 8, most: int = 10**9, looks: int = 30
) -> list[int]:
    """Return the tuner's slot counts for a trainer's share of waiting and a daemon's of idling."""
    tuner, had, waited, idled = Tuner(), [slots], 0.0, 0.0
    assert not tuner.due(0.9)
    for second in range(1, looks):
        assert tuner.due(float(second)) or tuner.settled
        if tuner.settled:
            break
        waited, idled = waited + share(slots), idled + idle
        wanted = tuner.decide(float(second), waited, lambda total=idled: total, slots)  # type: ignore[misc]
        if wanted != slots:
            slots, idled = min(wanted, most), 0.0
            tuner.resized(slots)
            had.append(slots)
    return had


@pytest.mark.parametrize(
    ("share", "idle", "had"),
    [
        (lambda slots: 0.01, 0.9, [8]),  # the trainer does not wait for data
        (lambda slots: 0.5, 0.1, [8]),  # the daemon is busy
        (lambda slots: 0.5, 0.5, [8, 16, 8]),  # more slots do not help
        (lambda slots: 0.3 if slots < 16 else 0.01, 0.5, [8, 16]),  # more slots help
        (lambda slots: 0.3 if slots < 32 else 0.28, 0.5, [8, 16, 8]),
        (lambda slots: 3.2 / slots, 0.5, [8, 16, 32, 64, 128, 256]),
        (
            lambda slots: 0.9 / math.sqrt(math.log2(slots)),
            0.5,
            [8, 16, 32, 64, 32],
        ),  # each doubling helps less
    ],
)
def test_slots_are_added_while_that_helps(
    share: Callable[[int], float], idle: float, had: list[int]
) -> None:
    assert settle(share, idle) == had


def test_slots_end_where_memory_does() -> None:
    assert settle(lambda slots: 3.2 / slots, 0.5, most=20) == [8, 16, 20, 20]
    assert settle(lambda slots: 3.2 / slots, 0.5, most=8) == [8, 8]


def test_a_silent_daemon_changes_nothing() -> None:
    assert Tuner().decide(1.0, 0.5, lambda: None, 8) == 8


def test_a_silent_daemon_holds_up_no_loop_for_long(
    etth1: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = etth1.windows(context_length=24, prediction_length=6, rows=(0, 1000), dtype=None)
    asked: list[float | None] = []

    def get(self: Control, route: str, timeout: float | None = None) -> Any:
        asked.append(timeout)
        raise tensorcache.DaemonError("the daemon did not answer", type="timeout")

    with windows.feed(batch_size=8, order="shuffle", delivery="slot") as feed:
        feed._tuner = tuner = Tuner()
        tuner._seconds = tuner._waited = -1e6  # as if both had waited for a long time
        monkeypatch.setattr(Control, "get", get)
        assert sum(batch.rows for batch in feed) == len(windows)
    assert set(asked) == {auto_slots.ANSWER_SECONDS}


def test_a_ring_that_grows_and_shrinks_misses_nothing(
    etth1: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = iter([16, 32, 16])
    asked: list[int] = []

    def decide(
        self: Tuner, seconds: float, waited: float, idle: Callable[[], Any], slots: int
    ) -> int:
        assert idle() >= 0
        asked.append(slots)
        self.settled = len(asked) == 3
        return next(wanted)

    windows = etth1.windows(context_length=24, prediction_length=6, rows=(0, 1000), dtype=None)
    options: dict[str, Any] = {"batch_size": 8, "order": "shuffle", "delivery": "slot"}
    with windows.feed(**options, slots=8) as plain:
        want = [batch.start.tolist() for _ in range(2) for batch in plain]
    monkeypatch.setattr(auto_slots, "INTERVAL", 1e-9)
    monkeypatch.setattr(feed_module, "TUNING_SECONDS", 60.0)  # for a busy daemon
    monkeypatch.setattr(Tuner, "decide", decide)
    with windows.feed(**options) as feed:
        got = [batch.start.tolist() for _ in range(2) for batch in feed]
        assert feed.stats()["slots"] == 16
    assert asked == [64, 16, 32]
    np.testing.assert_equal(got, want)


def test_a_pause_between_passes_is_no_idleness(
    etth1: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """During an evaluation the ring is full and the daemon waits.

    This wait does not show that more slots would help.
    """
    seen: list[tuple[float, float]] = []

    def decide(
        self: Tuner, seconds: float, waited: float, idle: Callable[[], Any], slots: int
    ) -> int:
        seen.append((idle(), seconds))
        return slots

    def get(self: Control, route: str, timeout: float | None = None) -> Any:
        reply = before(self, route, timeout=timeout)
        return {**reply, "wait_trainer_s": reply["wait_trainer_s"] + 1000.0}

    before = Control.get
    windows = etth1.windows(context_length=24, prediction_length=6, rows=(0, 1000), dtype=None)
    with windows.feed(batch_size=8, order="shuffle", delivery="slot") as feed:
        for _ in feed:
            pass
        assert feed._stream is not None
        feed._stream._began -= 1000.0  # as if the evaluation took so long
        monkeypatch.setattr(Control, "get", get)
        monkeypatch.setattr(auto_slots, "INTERVAL", 1e-9)
        monkeypatch.setattr(feed_module, "TUNING_SECONDS", 60.0)  # for a busy daemon
        monkeypatch.setattr(Tuner, "decide", decide)
        for _ in feed:
            pass
    assert seen
    # The test reads two clocks, one after the other: a busy machine may wait between them.
    assert all(0 <= idle <= seconds + 500.0 for idle, seconds in seen), seen


REFUSALS = (
    tensorcache.ResourceError(
        "a ring of 3 slots needs 2 KiB, the memory budget has 0 B left of 1 GiB"
    ),
    OSError(errno.EMFILE, "Too many open files"),
    tensorcache.ProtocolError(
        "the daemon's file descriptors were cut off: too many files are open (ulimit -n)"
    ),
)


@pytest.mark.parametrize("refusal", [None, *REFUSALS])
@pytest.mark.parametrize("exchanges", ["slots", "delivery", "delivery at an epoch's end"])
def test_a_feed_is_exchanged_for_another_before_it_is_let_go(
    cache: tensorcache.Cache,
    monkeypatch: pytest.MonkeyPatch,
    exchanges: str,
    refusal: Exception | None,
) -> None:
    data = cache.put("left", {"x": np.arange(1000, dtype=np.float32)})
    windows = data.windows(context_length=4)
    options: dict[str, Any] = {"batch_size": 8, "order": "shuffle", "delivery": "slot"}
    with windows.feed(**options) as plain:
        want = [(batch.start.tolist(), batch.context.tolist()) for _ in range(2) for batch in plain]
    with windows.feed(**options) as feed:
        if exchanges != "slots":
            exchange(monkeypatch, feed, len(feed) if exchanges.endswith("end") else 9)
        passing = iter(feed)
        first = next(passing)
        got = [(first.start.tolist(), first.context.tolist())]
        if exchanges == "slots":
            monkeypatch.setattr(auto_slots, "INTERVAL", 1e-9)
            monkeypatch.setattr(Tuner, "decide", lambda *_: 128)
        # After the next two lines, only the feed uses its generation.
        cache.put("left", {"x": np.zeros(1000, np.float32)}).close()
        data.close()
        if refusal is not None:

            def refuse(self: Feed, start: Any) -> Any:
                raise refusal

            monkeypatch.setattr(Feed, "_attach", refuse)
        got += [
            (batch.start.tolist(), batch.context.tolist())
            for epoch in (passing, feed)
            for batch in epoch
        ]
        changed = (
            {"slots": ("slot", 128)}.get(exchanges, ("local", 64))
            if refusal is None
            else ("slot", 64)
        )
        assert (feed.delivery, feed.stats()["slots"]) == changed
    assert got == want


def test_a_ring_that_came_out_smaller_is_not_taken(
    cache: tensorcache.Cache, etth1: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = etth1.windows(context_length=24, prediction_length=6, rows=(0, 1000), dtype=None)
    monkeypatch.setattr(auto_slots, "INTERVAL", 1e-9)
    monkeypatch.setattr(Tuner, "decide", lambda *_: 128)
    attach = Feed._attach

    def fewer(self: Feed, start: Any) -> Any:
        self._options = {**self._options, "slots": 5}
        return attach(self, start)

    with windows.feed(batch_size=8, delivery="slot", order="shuffle") as feed:
        monkeypatch.setattr(Feed, "_attach", fewer)
        assert sum(batch.rows for batch in feed) == len(windows)
        assert feed.stats()["slots"] == 64
        wait_until(
            lambda: [one["slots"] for one in cache.feeds()] == [64],
            "the smaller ring is still there",
        )
