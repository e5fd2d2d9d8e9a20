"""The waiting meter: the client and the daemon report how long each waited for the other."""

from __future__ import annotations

import json

import pytest

import tensorcache
from daemon import wait_until

pytestmark = pytest.mark.portable

C, P, B = 24, 6, 32


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    """Return 971 windows of float64: 31 batches of at most 32, the last of 11."""
    return etth1.windows(context_length=C, prediction_length=P, rows=(0, 1000), dtype=None)


def test_stats_add_up(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=B, delivery="slot", slots=8) as feed:
        assert sum(1 for _ in feed) == 31
        stats = feed.stats()
        assert stats["batches"] == 31
        assert stats["slots"] == 8
        assert stats["slot_bytes"] >= B * (C + P) * 7 * 8
        assert 0 <= stats["wait_s"] <= stats["seconds"]
        assert stats["wait_share"] == pytest.approx(stats["wait_s"] / stats["seconds"])
        json.dumps(stats)


def go_to(feed: tensorcache.Feed, epoch: int) -> int:
    feed.set_epoch(epoch)
    return sum(1 for _ in feed)


def test_both_sides_tell_how_long_they_waited(
    windows: tensorcache.Windows, cache: tensorcache.Cache
) -> None:
    with windows.feed(batch_size=B, order="shuffle", slots=4, delivery="slot") as feed:
        assert feed.stats()["verdict"] == "not measured yet"
        first = iter(range(9**9))
        wait_until(
            lambda: go_to(feed, next(first)) and feed.stats()["wait_s"],
            "no batch was ever waited for",
        )
        wait_until(
            lambda: "bound" in feed.stats()["verdict"],
            "the daemon never hears of the trainer's waiting",
        )
        stats = feed.stats()
        assert 0 < stats["wait_share"] < 1
        assert 0 < stats["wait_trainer_share"] <= 1, "the ring is full and nobody takes"
        (status,) = cache.feeds()
        assert status["pass_s"] == pytest.approx(stats["seconds"], abs=1e-9), (
            "told in whole nanoseconds"
        )
        assert status["wait_data_share"] == pytest.approx(
            stats["wait_share"], abs=2e-9 / stats["seconds"]
        )
        assert status["wait_trainer_s"] >= stats["wait_trainer_s"]
        assert status["delivery"] == "slot"
        # The rest of the verdict changes with time.
        bound, asked = (v["verdict"].partition(":")[0] for v in (status, stats))
        assert bound == asked
    assert feed.stats()["verdict"] is None
