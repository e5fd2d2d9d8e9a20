"""A fork during a pass: the child's batches do not change, and the parent's feed continues."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorcache
from choosing import exchange

pytestmark = [
    pytest.mark.portable,
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork"),
]

C, P, B = 24, 6, 32


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    return etth1.windows(context_length=C, prediction_length=P, dtype=None)


def in_child(run: Callable[[], Any]) -> Any:
    """The result of ``run`` in a forked child, or its exception; the parent continues at once."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            result: Any = run()
        except BaseException as error:  # noqa: BLE001
            result = error
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        result = pickle.load(pipe)
    os.waitpid(pid, 0)
    return result


def test_a_childs_batch_does_not_change_while_the_parent_goes_on(
    windows: tensorcache.Windows,
) -> None:
    go, wait = os.pipe(), os.pipe()
    with windows.feed(batch_size=B, delivery="slot", slots=3) as feed:
        passing = iter(feed)
        batch = next(passing)
        want = batch.context.copy()
        pid = os.fork()
        if pid == 0:
            os.read(go[0], 1)  # by now the daemon has refilled each slot many times
            same = np.array_equal(batch.context, want)
            batch.context[:] = 0  # the parent must not see this write
            os.write(wait[1], b"1" if same else b"0")
            os._exit(0)
        del batch
        for later in passing:
            first = later.start[0]
        os.write(go[1], b"x")
        assert os.read(wait[0], 1) == b"1"
        os.waitpid(pid, 0)
        np.testing.assert_array_equal(later.start, np.arange(first, first + len(later)))
        for batch in feed:
            np.testing.assert_array_equal(
                batch.context[0, :, 6], windows.dataset["OT"][batch.start[0] :][:C]
            )
    for fd in (*go, *wait):
        os.close(fd)


def test_the_childs_feed_says_whose_it_is(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=B, delivery="slot") as feed:
        passing = iter(feed)
        next(passing)

        def drain() -> None:
            for _ in passing:
                pass

        for use in (drain, lambda: next(iter(feed))):
            error = in_child(use)
            assert isinstance(error, tensorcache.FeedError), error
            assert error.type == "forked"
            assert "forked" in error.detail
        assert in_child(feed.close) is None
        assert sum(len(batch) for batch in passing) == len(windows) - B, "the parent's feed goes on"
        assert in_child(feed.state_dict)["epoch"] == 1


def test_the_childs_feed_is_not_exchanged(
    windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    with windows.feed(batch_size=B, delivery="slot") as feed:
        exchange(monkeypatch, feed)
        passing = iter(feed)
        first = next(passing)
        raised = in_child(lambda: next(passing).start.tolist())
        assert isinstance(raised, tensorcache.FeedError), raised
        assert raised.type == "forked"
        assert first.rows + sum(batch.rows for batch in passing) == len(windows)
        assert feed.delivery == "local"


def test_windows_are_good_in_the_child(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=B, delivery="slot") as feed:
        next(iter(feed))

        def own() -> tuple[float, int]:
            with windows.feed(batch_size=B) as mine:
                return float(windows[5].context.sum()), sum(len(batch) for batch in mine)

        assert in_child(own) == (float(windows[5].context.sum()), len(windows))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_share_an_epoch(windows: tensorcache.Windows, method: str) -> None:
    part = windows.where(rows=(0, 500))
    with part.feed(batch_size=B) as feed:
        next(iter(feed))  # this feed is live when the workers start
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            served = pool.starmap(serve, [(part, rank, 3) for rank in range(3)])
            pool.close()
            pool.join()
    assert sorted(start for starts in served for start in starts) == list(range(len(part)))


def serve(windows: tensorcache.Windows, rank: int, ranks: int) -> list[int]:
    """The starts of a rank's windows."""
    with windows.feed(
        batch_size=8, order="shuffle", rank=rank, num_replicas=ranks, tail="short"
    ) as feed:
        return [start for batch in feed for start in batch.start.tolist()]


def test_a_fork_without_feeds_costs_nothing_and_breaks_nothing(
    windows: tensorcache.Windows,
) -> None:
    assert in_child(lambda: len(windows)) == len(windows)
    assert in_child(lambda: sys.modules["tensorcache"].__version__) == tensorcache.__version__


def test_descriptors_do_not_pass_to_programs_that_are_started(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=B) as feed:
        next(iter(feed))
        targets = {
            int(path.name): str(path.readlink())
            for path in Path("/proc/self/fd").iterdir()
            if path.exists()
        }
        ours = {
            fd: target
            for fd, target in targets.items()
            if "socket:" in target or "(deleted)" in target
        }
        assert len(ours) >= 3, "the lease, the feed's socket and its ring"
        assert not [target for fd, target in ours.items() if fd > 2 and os.get_inheritable(fd)]
