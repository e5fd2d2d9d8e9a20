"""A thousand attaches and detaches, too many connections, and datasets evicted while in use."""

from __future__ import annotations

import gc
import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tensorcache
from daemon import wait_until

pytestmark = pytest.mark.portable

ROWS, B = 1000, 32
ROUNDS, WARM = 1000, 100
ROOM = 16 << 20
"""Bytes that a process may have grown by: its allocator's to keep. What a round leaves counts a
thousand times."""


@pytest.fixture(scope="module")
def ramp(cache: tensorcache.Cache) -> Iterator[tensorcache.Dataset]:
    """Return a dataset whose values are the row numbers."""
    with cache.put("ramp", {"x": np.arange(ROWS, dtype=np.float32)}) as data:
        yield data


class Held:
    """A process's counts of descriptors and shared maps, and its own memory in bytes."""

    def __init__(self, pid: int) -> None:
        at = Path(f"/proc/{pid}")
        self.descriptors = len(list((at / "fd").iterdir()))
        # Shared writable maps are rings; other maps belong to the allocator.
        self.maps = (at / "maps").read_text().count(" rw-s ")
        lines = (at / "status").read_text().splitlines()
        self.memory = sum(
            int(line.split()[1]) << 10
            for line in lines
            if line.startswith(("RssAnon:", "RssShmem:"))
        )


def test_a_thousand_rounds_leave_nothing_on_either_side(
    cache: tensorcache.Cache, ramp: tensorcache.Dataset
) -> None:
    windows = ramp.windows(context_length=24, prediction_length=6)
    both = [os.getpid(), cache.health()["pid"]]

    def rounds(n: int) -> list[Held]:
        for i in range(n):
            with windows.feed(
                batch_size=B, slots=3, delivery=("slot", "view", "local")[i % 3]
            ) as feed:
                if i % 2:
                    next(iter(feed))
        gc.collect()
        wait_until(lambda: not cache.feeds(), "feeds are left")
        return [Held(pid) for pid in both]

    before = rounds(WARM)
    after = rounds(ROUNDS)
    wait_until(
        lambda: Held(both[1]).descriptors <= before[1].descriptors, "the daemon keeps descriptors"
    )
    for was, now in zip(before, after, strict=True):
        assert now.maps <= was.maps
        assert now.memory < was.memory + ROOM
    assert after[0].descriptors <= before[0].descriptors


def test_more_connections_than_descriptors_hold_nobody_up_for_good(
    cache: tensorcache.Cache, ramp: tensorcache.Dataset
) -> None:
    windows = ramp.windows(context_length=24, prediction_length=6)
    pid = cache.health()["pid"]
    limit = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    with windows.feed(batch_size=B, slots=3) as feed:
        passing = iter(feed)
        next(passing)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (Held(pid).descriptors + 8, limit[1]))
        flood = []
        try:
            for _ in range(100):
                flood.append(socket.socket(socket.AF_UNIX))
                flood[-1].connect(cache._server.feed_path)
            assert sum(1 for _ in passing) == len(feed) - 1, "a feed that is attached goes on"
        finally:
            for one in flood:
                one.close()
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
        with windows.feed(batch_size=B) as another:
            assert sum(batch.rows for batch in another) == len(windows)


@pytest.mark.parametrize("delivery", ["slot", "view", "local"])
@pytest.mark.parametrize("change", ["removed", "replaced"])
def test_a_feed_goes_on_with_its_generation(
    cache: tensorcache.Cache, change: str, delivery: str
) -> None:
    data = cache.put("leaving", {"x": np.arange(ROWS, dtype=np.float32)})
    windows = data.windows(context_length=4)
    with windows.feed(batch_size=B, slots=3, delivery=delivery, order="random_start") as feed:
        passing = iter(feed)
        next(passing)
        if change == "removed":
            cache.remove("leaving")
        else:
            cache.put("leaving", {"x": -np.arange(ROWS / 2, dtype=np.float32)}).close()
        for epoch in (passing, feed):
            for batch in epoch:
                np.testing.assert_array_equal(batch.context[:, 0, 0], batch.start)
        assert data["x"][-1] == ROWS - 1, "an open handle has its generation"
        data.close()
        assert sum(batch.rows for batch in feed) == len(windows), (
            "the feed holds its generation, too"
        )
    wait_until(lambda: not cache.feeds(), "the feed is still there")
    error, says = {
        "removed": (tensorcache.NotFoundError, 'no dataset is named "leaving"'),
        "replaced": (tensorcache.StaleError, r"generation \d+ of \"leaving\"; the newest is \d+"),
    }[change]
    with pytest.raises(error, match=says):
        windows.feed(batch_size=B)
