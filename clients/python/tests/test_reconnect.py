"""``reconnect=True``: another daemon continues in mid-epoch; no batch is missing or repeated."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import deque
from typing import Any

import numpy as np
import pytest

import tensorcache
from daemon import ETTH1
from tensorcache._daemon import connect, server
from tensorcache._daemon.binary import find_binary

pytestmark = pytest.mark.portable

SPEC: dict[str, Any] = {
    "context_length": 24,
    "prediction_length": 6,
    "columns": ["HUFL", "OT"],
    "rows": (0, 900),
}


@pytest.fixture
def windows(home: Any) -> tensorcache.Windows:
    data = tensorcache.connect().load(
        "etth1", ETTH1, time="date", dtype="float32", columns=["date", "HUFL", "OT"]
    )
    return data.windows(**SPEC)


def leave(how: str) -> None:
    cache = tensorcache.connect()
    if how == "stopped":
        cache.stop()
    else:
        os.kill(cache.health()["pid"], signal.SIGKILL)


@pytest.mark.parametrize(
    ("delivery", "order", "n"),
    [
        ("slot", "shuffle", None),
        ("slot", "shuffle", 40),
        ("local", "bootstrap", None),
        ("view", "random_start", None),
    ],
)
def test_another_daemon_goes_on_exactly(
    windows: tensorcache.Windows, delivery: str, order: str, n: int | None
) -> None:
    options: dict[str, Any] = {
        "batch_size": 16,
        "order": order,
        "seed": 4,
        "delivery": delivery,
        "slots": 6,
        "batches_per_epoch": n,
    }

    def all_of(feed: tensorcache.Feed, leaves: dict[int, str]) -> list[Any]:
        got: list[Any] = []
        for epoch in range(3):
            for n, batch in enumerate(feed):
                got.append(
                    (
                        batch.start.tolist(),
                        None if batch.context is None else np.array(batch.context),
                    )
                )
                state = feed.state_dict()
                if how := leaves.get(100 * epoch + n):
                    leave(how)
                    assert feed.state_dict() == state
            if how := leaves.get(100 * epoch - 1):
                leave(how)
        return got

    with windows.feed(**options) as feed:
        want = all_of(feed, {})
    # The daemon leaves at the first batch, between passes, and twice in mid-epoch. The last two are
    # far apart: the trainer has a batch for each slot, or two with views, before it must reconnect.
    with windows.feed(**options, reconnect=True) as feed:
        got = all_of(feed, {0: "killed", -1: "killed", 120: "stopped", 225: "killed"})
        stats = feed.stats()
    assert len(want) == len(got)
    np.testing.assert_equal(got, want)
    assert stats["reconnects"] == 4
    assert stats["batches"] == len(want)


@pytest.mark.parametrize("delivery", ["slot", "local", "view"])
def test_another_daemon_goes_on_with_the_same_parts(
    windows: tensorcache.Windows, delivery: str
) -> None:
    options: dict[str, Any] = {
        "batch_size": 16,
        "order": "random_start",
        "seed": 4,
        "delivery": delivery,
        "slots": 4,
        "parts": {
            "x": tensorcache.Part("context", columns=["OT"]), "seen": "observed", "y": "target",
            "at": "start",
        },
    }  # fmt: skip

    def all_of(feed: tensorcache.Feed, leaves: dict[int, str]) -> list[dict[str, Any]]:
        got = []
        for n, batch in enumerate(feed):
            got.append({name: np.array(array) for name, array in batch.items()})
            if how := leaves.get(n):
                leave(how)
        return got

    with windows.feed(**options) as feed:
        want = all_of(feed, {})
    with windows.feed(**options, reconnect=True) as feed:
        got = all_of(feed, {3: "killed", 30: "stopped"})
        assert feed.stats()["reconnects"] == 2
    assert list(got[0]) == ["x", "seen", "y", "at"]
    np.testing.assert_equal(got, want)


def test_a_generation_that_left_with_the_daemon_is_said_to(windows: tensorcache.Windows) -> None:
    options: dict[str, Any] = {"batch_size": 16, "order": "shuffle", "slots": 4}
    with (
        windows.feed(**options, reconnect=True) as feed,
        pytest.raises(tensorcache.StaleError) as raised,
    ):
        for n, _ in enumerate(feed):
            cache = tensorcache.connect()
            cache.put("etth1", {"x": np.arange(9.0 + n)})
            leave("killed")
    assert "etth1" in raised.value.detail
    assert raised.value.type == "generation_gone"


def test_where_no_daemon_may_be_started_one_is_waited_for(windows: tensorcache.Windows) -> None:
    mine = tensorcache.connect(autostart=False).dataset("etth1").windows(**SPEC)
    with mine.feed(batch_size=16, order="shuffle", slots=4) as feed:
        want = [batch.start.tolist() for batch in feed]
    service = threading.Timer(0.5, tensorcache.connect)
    with mine.feed(batch_size=16, order="shuffle", slots=4, reconnect=True) as feed:
        got = []
        for n, batch in enumerate(feed):
            got.append(batch.start.tolist())
            if n == 3:
                leave("killed")
                service.start()
        assert feed.stats()["reconnects"] == 1
    service.join()
    assert got == want


def test_a_feed_that_waits_for_a_daemon_can_be_closed(windows: tensorcache.Windows) -> None:
    mine = tensorcache.connect(autostart=False).dataset("etth1").windows(**SPEC)
    feed = mine.feed(batch_size=16, slots=4, reconnect=True)
    batches = iter(feed)
    next(batches)
    leave("killed")
    close = threading.Timer(0.3, feed.close)
    close.start()
    with pytest.raises(tensorcache.FeedError, match="closed"):
        deque(batches, 0)
    close.join()
    assert tensorcache.connect().feeds() == []


def test_a_service_manager_may_be_first_to_start_the_next_daemon(
    windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "OTHERS_FIRST_SECONDS", 30.0)  # long enough for a busy machine
    started: list[subprocess.Popen[bytes]] = []
    serve = [find_binary(), "serve", "--dir", str(tensorcache.connect().dir)]
    service = threading.Timer(
        0.15, lambda: started.append(subprocess.Popen(serve, stderr=subprocess.DEVNULL))
    )
    with windows.feed(batch_size=16, order="shuffle", slots=4, reconnect=True) as feed:
        for n, _ in enumerate(feed):
            if n == 3:
                leave("killed")
                service.start()
        assert feed.stats()["reconnects"] == 1
    service.join()
    assert tensorcache.connect().health()["pid"] == started[0].pid
    leave("stopped")
    assert started[0].wait(60) == 0


def test_where_no_daemon_may_be_started_the_place_is_told(
    windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "START_SECONDS", 0.2)
    here = tensorcache.connect(autostart=False)
    mine = here.dataset("etth1").windows(**SPEC)
    with mine.feed(batch_size=16, order="shuffle", slots=4, reconnect=True) as feed:
        with pytest.raises(tensorcache.DaemonError, match="no daemon runs") as raised:
            for n, _ in enumerate(feed):
                if n == 3:
                    state = feed.state_dict()
                    here.stop()
        assert "state_dict" in str(raised.value.hint)
        assert feed.state_dict()["consumed"] >= state["consumed"]
    assert windows.dataset.name == "etth1"
