"""Descriptors and credits through the ring's memory, and over the socket as on other systems."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorcache
from tensorcache._errors import ProtocolError
from tensorcache._feed import stream
from tensorcache._feed.queue import ASLEEP, GIVEN, Queue

pytestmark = pytest.mark.portable

here = (
    sys.platform == "linux"
    and platform.machine() == "x86_64"
    and os.environ.get("TENSORCACHE_PORTABLE") != "1"
)


@pytest.fixture(params=[3, 16])
def feeds(
    request: pytest.FixtureRequest, etth1: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[tensorcache.Feed]]:
    windows = etth1.windows(context_length=24, prediction_length=6, dtype=None)
    options: dict[str, Any] = {
        "batch_size": 32,
        "order": "random_start",
        "slots": request.param,
        "delivery": "auto",
    }
    deliveries = ("slot", "view", "local", "starts")
    through = [windows.feed(**{**options, "delivery": name}) for name in deliveries]
    monkeypatch.setattr(stream, "usable", lambda: False)
    over = [windows.feed(**{**options, "delivery": name}) for name in deliveries]
    yield through + over
    for feed in through + over:
        feed.close()


def test_both_ways_serve_the_same(feeds: list[tensorcache.Feed]) -> None:
    for epoch in (0, 1, 5, 1):  # more descriptors than the queue can store, and seeks
        kept: list[list[Any]] = []
        for feed in feeds:
            feed.set_epoch(epoch)
            kept.append([(batch.item_code.copy(), batch.start.copy()) for batch in feed])
        for other in kept[1:]:
            np.testing.assert_equal(other, kept[0])
    assert all(feed.stats()["held"] == 0 for feed in feeds)


def test_a_pass_that_is_left_loses_no_slot(feeds: list[tensorcache.Feed]) -> None:
    for feed in feeds:
        for n in range(1, 40):
            feed.set_epoch(n)
            for i, _ in enumerate(feed):
                if i == n % 7:
                    break
        feed.set_epoch(3)
        assert sum(len(batch) for batch in feed) == len(feed.windows)


def test_it_is_used_where_it_can_be(feeds: list[tensorcache.Feed]) -> None:
    through, over = feeds[:4], feeds[4:]
    assert [feed._stream is not None and feed._stream.queued for feed in over] == [False] * 4
    assert [feed._stream is not None and feed._stream.queued for feed in through] == [here] * 4


def test_a_queue_that_does_not_fit_is_refused() -> None:
    ring = memoryview(bytearray(4096))
    for layout in (
        {"offset": 4000, "descriptors": 8},
        {"offset": 4, "descriptors": 8},
        {"offset": 0, "descriptors": 0},
    ):
        with pytest.raises(ProtocolError, match="lays out a queue"):
            Queue(ring, layout, 4, 40)


def test_a_sleeping_daemon_is_woken_once_for_much_of_the_ring() -> None:
    memory = memoryview(bytearray(4096))
    queue = Queue(memory, {"offset": 0, "descriptors": 16}, 16, 40)
    words = memory.cast("Q")
    assert [queue.give([slot]) for slot in range(16)] == [False] * 16
    words[ASLEEP] = 1
    assert [queue.give([slot]) for slot in range(20)] == ([False] * 9 + [True]) * 2
    queue.give([1, 2, 3])
    words[ASLEEP] = 0  # something else woke the daemon
    queue.give([4])
    words[ASLEEP] = 1
    assert [queue.give(slots) for slots in ([5] * 9, [6])] == [False, True]
    assert words[GIVEN] == 50
