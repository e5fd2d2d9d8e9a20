"""The memory of batches: kept batches, views of them, and copies."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import numpy as np
import pytest

import tensorcache

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


def test_kept_batches_stay_as_they_are(
    windows: tensorcache.Windows, whole: np.ndarray[Any, Any]
) -> None:
    with windows.feed(batch_size=B, delivery="slot", slots=4) as feed:
        batches = list(feed)
        assert feed.stats()["copied"] == 31 - 2
        later = list(feed)
        for kept in (batches, later):
            assert [start for batch in kept for start in check(batch, whole)] == list(range(971))
        assert feed.stats()["held"] == 2
        del batches, later, kept
        gc.collect()
        assert feed.stats()["held"] == 0


def test_a_loop_that_keeps_one_or_two_copies_nothing(windows: tensorcache.Windows) -> None:
    for slots in (3, 8):
        with windows.feed(batch_size=B, delivery="slot", slots=slots) as feed:
            before = None
            for batch in feed:
                before = batch.context
            assert feed.stats()["copied"] == 0
            del batch, before


def test_any_view_holds_the_slot(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=B, delivery="slot", slots=8) as feed:
        batch = next(iter(feed))
        assert feed.stats()["held"] == 1
        corner = batch.context[0][1:2]
        want = corner.copy()
        del batch
        assert feed.stats()["held"] == 1
        memory = memoryview(corner)
        del corner
        assert feed.stats()["held"] == 1
        starts_of(feed)
        np.testing.assert_array_equal(np.asarray(memory), want)
        del memory
        assert feed.stats()["held"] == 0


def test_writing_into_a_batch_harms_nobody(
    windows: tensorcache.Windows, whole: np.ndarray[Any, Any]
) -> None:
    with windows.feed(batch_size=B, delivery="slot", slots=3) as feed:
        for _ in range(3):
            for batch in feed:
                check(batch, whole)
                batch.context *= -1
                batch.target[:] = np.nan
                batch.item_code[:] = 77


def test_a_copy_is_ones_own(windows: tensorcache.Windows, whole: np.ndarray[Any, Any]) -> None:
    with windows.feed(batch_size=B, delivery="slot", mask=True) as feed:
        for batch in feed:
            mine = batch.copy()
            assert not np.shares_memory(mine.context, batch.context)
            sent = pickle.loads(pickle.dumps(batch))
            np.testing.assert_array_equal(sent.time, batch.time)
            batch.context[:] = 0
            check(mine, whole)
            check(sent, whole)
            assert mine.mask is not None
            assert len(mine) == len(batch)
            assert mine.context.__array_interface__["data"][0] % 64 == 0
            break


def test_batches_outlive_their_feed(
    windows: tensorcache.Windows, whole: np.ndarray[Any, Any]
) -> None:
    with windows.feed(batch_size=B, delivery="slot") as feed:
        batch = next(iter(feed))
    del feed
    gc.collect()
    assert check(batch, whole) == list(range(B))
