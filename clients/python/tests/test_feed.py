"""Feeds: passes and epochs, cursors, closing, ranks."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorcache
from daemon import wait_until

pytestmark = pytest.mark.portable

C, P, B = 24, 6, 32


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    """971 windows of a thousand rows: 31 batches of 32, the last of 11."""
    return etth1.windows(context_length=C, prediction_length=P, rows=(0, 1000), dtype=None)


@pytest.fixture(scope="module")
def whole(etth1: tensorcache.Dataset) -> np.ndarray[Any, Any]:
    return np.column_stack([etth1[name] for name in etth1.columns[1:]])


def check(batch: tensorcache.Batch, whole: np.ndarray[Any, Any]) -> list[int]:
    """Check a batch against the columns, and return its starts."""
    for at, start in enumerate(batch.start.tolist()):
        np.testing.assert_array_equal(batch.context[at], whole[start : start + C])
        assert batch.target is not None
        np.testing.assert_array_equal(batch.target[at], whole[start + C : start + C + P])
    return batch.start.tolist()


def starts_of(feed: tensorcache.Feed) -> list[int]:
    return [start for batch in feed for start in batch.start.tolist()]


def test_a_pass_is_an_epoch(windows: tensorcache.Windows, whole: np.ndarray[Any, Any]) -> None:
    with windows.feed(batch_size=B) as feed:
        assert len(feed) == 31
        for _ in range(3):
            batches = [(len(batch), check(batch, whole)) for batch in feed]
            assert [n for n, _ in batches] == [32] * 30 + [11]
            assert [start for _, starts in batches for start in starts] == list(range(971))


def test_shuffle_serves_each_window_once_and_epochs_differ(
    windows: tensorcache.Windows, whole: np.ndarray[Any, Any]
) -> None:
    with windows.feed(batch_size=B, order="shuffle", seed=5) as feed:
        first = [start for batch in feed for start in check(batch, whole)]
        second = starts_of(feed)
    assert sorted(first) == sorted(second) == list(range(971))
    assert first != second != list(range(971))
    with windows.feed(batch_size=B, order="shuffle", seed=5) as again:
        assert starts_of(again) == first
    with windows.feed(batch_size=B, order="shuffle", seed=6) as other:
        assert starts_of(other) != first


def test_batches_have_the_parts_the_spec_asks_for(
    windows: tensorcache.Windows, etth1: tensorcache.Dataset
) -> None:
    with windows.feed(batch_size=B, delivery="slot", channels_first=True, mask=True) as feed:
        batch = next(iter(feed))
        assert batch.context.shape == (B, 7, C)
        assert batch.target is not None
        assert batch.target.shape == (B, 7, P)
        np.testing.assert_array_equal(batch.context[3, 6], etth1["OT"][3 : 3 + C])
        assert batch.mask is not None
        assert batch.mask.shape == (B, C)
        assert batch.mask.all()
        assert batch.item_code.dtype == batch.start.dtype == np.int64
        np.testing.assert_array_equal(batch.time, etth1["date"][:B])
        assert batch.known is batch.static is batch.reset is None
        for array in (batch.context, batch.target):
            assert array.flags.c_contiguous
            assert array.flags.writeable
            assert array.__array_interface__["data"][0] % 64 == 0
        assert batch.context is batch.context
        with pytest.raises(AttributeError, match="it has context, target"):
            batch.features  # noqa: B018
        assert "context [32, 7, 24]" in repr(batch)


def test_context_only_windows_have_no_target(etth1: tensorcache.Dataset) -> None:
    with etth1.windows(context_length=4).feed(batch_size=8) as feed:
        for batch in feed:
            assert batch.target is None
            break


def test_a_pass_that_was_left_counts_when_it_delivered(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=B, order="shuffle") as feed:
        orders = [starts_of(feed) for _ in range(3)]
        feed.set_epoch(0)
        iter(feed)  # an iterator that delivers no batch does not count as a pass
        for batch in feed:
            assert batch.start.tolist() == orders[0][:B]
            break
        assert starts_of(feed) == orders[1], "left after a batch: the next pass is the next epoch"
        assert starts_of(feed) == orders[2]
        feed.set_epoch(1)
        assert starts_of(feed) == orders[1]
        feed.set_epoch(7)
        feed.set_epoch(0)
        assert starts_of(feed) == orders[0]


@pytest.mark.parametrize(("error", "epoch"), [(MemoryError, 0), (KeyboardInterrupt, 1)])
def test_a_pass_goes_on_after_an_error_and_counts_after_an_interrupt(
    windows: tensorcache.Windows, error: type[BaseException], epoch: int
) -> None:
    with windows.feed(batch_size=B, order="shuffle", delivery="slot") as feed:
        orders = [starts_of(feed) for _ in range(2)]
        feed.set_epoch(0)
        seen: list[int] = []
        stream = feed._stream
        assert stream is not None
        deliver = stream.deliver

        def fail(slot: int, rows: int, flags: int, row: int) -> Any:
            if len(seen) == 3 * B:
                raise error
            return deliver(slot, rows, flags, row)

        stream.deliver = fail
        with pytest.raises(error):
            for batch in feed:
                seen += batch.start.tolist()
        assert seen == orders[0][: 3 * B]
        state = feed.state_dict()
        assert (state["epoch"], state["consumed"]) == (0, 3 * B)
        assert starts_of(feed) == orders[epoch][0 if epoch else 3 * B :]


def test_set_epoch_after_iter_and_before_the_first_batch_holds(
    windows: tensorcache.Windows,
) -> None:
    with windows.feed(batch_size=B, order="shuffle") as feed:
        orders = [starts_of(feed) for _ in range(3)]
        waiting = iter(feed)
        feed.set_epoch(1)
        assert [start for batch in waiting for start in batch.start.tolist()] == orders[1]


@pytest.mark.parametrize("order", ["sequential", "shuffle"])
def test_a_state_resumes_exactly(windows: tensorcache.Windows, order: str) -> None:
    options: dict[str, Any] = {"batch_size": B, "order": order, "seed": 11}
    with windows.feed(**options) as feed:
        epochs = [starts_of(feed) for _ in range(3)]
    flat = [start for epoch in epochs for start in epoch]
    for taken in (0, 1, 13, 30, 31, 32, 62):
        with windows.feed(**options) as feed:
            seen: list[int] = []
            while taken:
                for batch in feed:
                    seen += batch.start.tolist()
                    taken -= 1
                    if not taken:
                        break
            state = json.loads(json.dumps(feed.state_dict()))
            assert len(json.dumps(state)) < 500
        with windows.feed(**options) as feed:
            feed.load_state_dict(state)
            assert feed.state_dict() == state
            rest = starts_of(feed)
            assert seen + rest == flat[: len(seen) + len(rest)]
            assert len(seen) + len(rest) in (971, 2 * 971, 3 * 971)
            assert (
                starts_of(feed) == flat[len(seen) + len(rest) :][:971]
                or len(seen) + len(rest) == 3 * 971
            )


def test_a_state_of_other_windows_is_refused_with_what_differs(
    windows: tensorcache.Windows, etth1: tensorcache.Dataset
) -> None:
    with windows.feed(batch_size=B, order="shuffle", seed=1) as feed:
        state = feed.state_dict()
    with (
        windows.feed(batch_size=B, order="shuffle", seed=2) as feed,
        pytest.raises(tensorcache.CursorError, match="its seed is 1, here 2"),
    ):
        feed.load_state_dict(state)
    with windows.feed(
        batch_size=B, order="shuffle"
    ) as feed:  # the seed is 0, and the cursor omits it
        with pytest.raises(tensorcache.CursorError, match=r"its seed is 1, here 0$"):
            feed.load_state_dict(state)
        feed.load_state_dict({**feed.state_dict(), "seed": 0})
    with (
        windows.feed(batch_size=B) as feed,
        pytest.raises(tensorcache.CursorError, match='its order is "shuffle"'),
    ):
        feed.load_state_dict(state)
    other = etth1.windows(context_length=C, prediction_length=P)
    with (
        other.feed(batch_size=B, order="shuffle", seed=1) as feed,
        pytest.raises(tensorcache.CursorError, match=r"its .* is .*, here"),
    ):
        feed.load_state_dict(state)
    with windows.feed(batch_size=7, order="shuffle", seed=1, num_replicas=2) as feed:
        feed.load_state_dict(state)  # the batch size and the number of ranks do not matter


def test_closing(windows: tensorcache.Windows, cache: tensorcache.Cache) -> None:
    wait_until(lambda: not cache.feeds(), "the daemon has not ended the feed of the test before")
    feed = windows.feed(batch_size=B)
    assert [f["dataset"] for f in cache.feeds()] == ["etth1"]
    passing = iter(feed)
    next(passing)
    state = feed.state_dict()
    feed.close()
    feed.close()
    assert feed.state_dict() == state
    with pytest.raises(tensorcache.FeedError, match="closed"):
        next(passing)
    with pytest.raises(tensorcache.FeedError, match="closed"):
        next(iter(feed))
    wait_until(lambda: not cache.feeds(), "the daemon keeps the feed")


def test_a_dropped_feed_is_freed(windows: tensorcache.Windows, cache: tensorcache.Cache) -> None:
    feed = windows.feed(batch_size=B)
    next(iter(feed))
    del feed
    gc.collect()
    wait_until(lambda: not cache.feeds(), "the daemon keeps the feed")


def test_closing_from_another_thread_wakes_a_waiting_loop(windows: tensorcache.Windows) -> None:
    feed = windows.feed(batch_size=B, delivery="slot", slots=3)
    stream = feed._stream
    assert stream is not None
    dry = threading.Event()
    errors: list[BaseException] = []

    def loop() -> None:
        slots = 0
        try:
            while True:
                # The loop never releases a slot, so no batch follows the third.
                slots += len(list(stream.receive()))
                if slots == 3:
                    dry.set()
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    assert dry.wait(60)
    feed.close()
    thread.join(60)
    assert not thread.is_alive()
    assert isinstance(errors[0], tensorcache.FeedError)
    assert errors[0].type == "closed"


def test_two_passes_at_once_are_refused(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=B) as feed:
        one, two = iter(feed), iter(feed)
        next(one)
        next(two)
        with pytest.raises(tensorcache.FeedError, match="another pass") as raised:
            next(one)
        assert "second feed" in raised.value.hint
        next(two)


@pytest.mark.parametrize("of", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_feed_that_is_to_be_pickled_says_what_can_be(
    windows: tensorcache.Windows, of: Callable[[Any], Any]
) -> None:
    with windows.feed(batch_size=B, seed=1, order="shuffle") as feed:
        passing = iter(feed)
        next(passing)
        with pytest.raises(tensorcache.FeedError, match="cannot be pickled or copied") as raised:
            of(feed)
        assert "windows and state_dict()" in raised.value.hint
        moved, state = pickle.loads(pickle.dumps((windows, feed.state_dict())))
        with moved.feed(batch_size=B, seed=1, order="shuffle") as there:
            there.load_state_dict(state)
            np.testing.assert_equal(
                [batch.start for batch in there], [batch.start for batch in passing]
            )


@pytest.mark.parametrize(
    ("order", "counted"), [("shuffle", f"{2 * B} windows"), ("random_start", "2 batches")]
)
def test_what_was_consumed_is_told_by_what_it_counts(
    windows: tensorcache.Windows, order: str, counted: str
) -> None:
    with windows.feed(batch_size=B, order=order) as feed:
        for n, _ in enumerate(feed):
            if n == 1:
                break
        assert f"at epoch 0 after {counted}" in repr(feed)
        with pytest.raises(tensorcache.CursorError, match=rf"after -1 {counted.split()[1]}"):
            feed.load_state_dict({**feed.state_dict(), "consumed": -1})


def test_ranks_share_an_epoch(windows: tensorcache.Windows) -> None:
    for tail, total in (("short", 971), ("wrap", 1024), ("drop", 896)):
        feeds = [
            windows.feed(batch_size=B, rank=rank, num_replicas=4, tail=tail) for rank in range(4)
        ]
        served = [[batch.start.tolist() for batch in feed] for feed in feeds]
        assert [len(batches) for batches in served] == [len(feed) for feed in feeds]
        flat = [start for step in zip(*served, strict=True) for batch in step for start in batch]
        assert len(flat) == total
        assert flat[:896] == list(range(896))
        for feed in feeds:
            feed.close()


def test_a_rank_without_batches_goes_on(etth1: tensorcache.Dataset) -> None:
    windows = etth1.windows(context_length=4, prediction_length=1, rows=(0, 6))
    assert len(windows) == 2
    with windows.feed(batch_size=8, rank=3, num_replicas=4, tail="short") as feed:
        assert len(feed) == 0
        for _ in range(5):
            assert list(feed) == []
    with windows.feed(batch_size=8, rank=1, num_replicas=4, tail="short") as feed:
        for _ in range(5):
            assert starts_of(feed) == [1]
