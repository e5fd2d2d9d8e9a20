"""Faults in a Ray cluster while training runs; test_ray_load.py has those of loads.

soak_ray_faults.py kills ranks, nodes and drivers.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

import tensorcache
import tensorcache.ray
from daemon import ETTH1, wait_until
from ray_cluster import RayCluster, on

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

B = 256


def reader(node: Any) -> Any:
    """An actor on a node. It iterates over windows."""

    class Reader:  # here, so that it is pickled by value
        def __init__(self) -> None:
            self.feed: Any = None
            self.batches: Any = iter(())

        def start(self, windows: tensorcache.Windows) -> None:
            """Begin an epoch."""
            self.feed = windows.feed(batch_size=B, order="shuffle", seed=3, slots=3)
            self.batches = iter(self.feed)

        def read(self, n: int | None = None) -> list[Any]:
            """The first row of each window of the next n batches, or of all, and its value."""
            found = []
            for batch in self.batches:
                found.append((batch.start.copy(), batch.context[:, 0, 0].copy()))
                if len(found) == n:
                    break
            return found

        def reconnects(self) -> int:
            """How often the feed has connected to another daemon."""
            return int(self.feed.stats()["reconnects"])

        def pid(self) -> int:
            """The process id of the node's daemon."""
            return int(tensorcache.connect(autostart=False).health()["pid"])

    return ray.remote(Reader).options(**on(node)).remote()


@pytest.fixture
def node(ray_cluster: RayCluster) -> Iterator[Any]:
    """A node that no other test uses."""
    with ray_cluster.added() as added:
        yield added


def numbers(path: Path, first: int) -> Path:
    """A file with the numbers from ``first`` on."""
    rows = (f"{i},{first + i}\n" for i in range(5000))
    path.write_text("t,v\n" + "".join(rows))
    return path


def check(batches: list[Any], first: int, windows: tensorcache.Windows) -> None:
    """Check that batches have each window once, with its own values."""
    starts = np.concatenate([start for start, _ in batches])
    assert np.array_equal(np.sort(starts), np.arange(len(windows)))
    for start, values in batches:
        assert np.array_equal(values, first + start)


def test_a_killed_daemon_costs_no_batch(ray_cluster: RayCluster, node: Any, tmp_path: Path) -> None:
    data = tensorcache.ray.load("killed", numbers(tmp_path / "a.csv", 0), time="t")
    windows = data.windows(context_length=24)
    rank = reader(node)
    ray.get(rank.start.remote(windows))
    batches = ray.get(rank.read.remote(7))
    os.kill(ray.get(rank.pid.remote()), signal.SIGKILL)
    batches += ray.get(rank.read.remote())
    check(batches, 0, windows)
    assert ray.get(rank.reconnects.remote()) == 1
    ray.kill(rank)


def test_two_jobs_with_one_name_read_their_own_data(
    ray_cluster: RayCluster, node: Any, tmp_path: Path
) -> None:
    first = tensorcache.ray.load("same", numbers(tmp_path / "a.csv", 0), time="t")
    windows = first.windows(context_length=24)
    rank = reader(node)
    ray.get(rank.start.remote(windows))
    batches = ray.get(rank.read.remote(7))

    second = tensorcache.ray.load("same", numbers(tmp_path / "b.csv", 7000), time="t")
    assert second.digest != first.digest
    others = second.windows(context_length=24)
    other = reader(node)
    ray.get(other.start.remote(others))
    check(ray.get(other.read.remote()), 7000, others)
    check(batches + ray.get(rank.read.remote()), 0, windows)

    ray.kill(rank)
    cache = tensorcache.connect(ray_cluster.directories[-1], autostart=False)
    control = cache._server.control
    wait_until(
        lambda: control.get("/v1/datasets/same")["generations"] == [2],
        "the data that nothing uses is not removed",
    )
    again = reader(node)
    ray.get(again.start.remote(windows))
    check(ray.get(again.read.remote()), 0, windows)
    jobs = control.pages("/v1/jobs", "jobs")
    assert [job["hit"] for job in jobs] == [False] * 3


def test_a_full_disk_names_the_node(ray_cluster: RayCluster) -> None:
    data = tensorcache.ray.load("etth1", ETTH1, time="date")
    want = r"need \d+ bytes, have \d+"
    with ray_cluster.added(TENSORCACHE_FAULT="ENOSPC@reserve") as full:
        with pytest.raises(tensorcache.TensorcacheError, match=want) as refused:
            tensorcache.ray.load("etth1", ETTH1, time="date")
        assert f"on node {full.node_id[:8]}" in str(refused.value)
        with pytest.raises(ray.exceptions.RayTaskError, match=want):
            ray.get(reader(full).start.remote(data.windows(context_length=24)))
