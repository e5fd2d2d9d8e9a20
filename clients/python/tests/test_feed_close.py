"""Feeds that are closed through the control API."""

from __future__ import annotations

import numpy as np
import pytest

import tensorcache


@pytest.fixture
def windows(cache: tensorcache.Cache) -> tensorcache.Windows:
    """994 windows of a counting column."""
    return cache.put("closing", {"a": np.arange(1000.0)}).windows(context_length=4, prediction_length=3)


def close(feed: tensorcache.Feed, cache: tensorcache.Cache) -> None:
    """Close the feed as somebody else would."""
    mine = [one for one in cache.feeds() if one["dataset"] == "closing"]
    assert len(mine) == 1
    said = cache._control.delete(f"/v1/feeds/{mine[0]['feed']}")
    assert said["feed"] == mine[0]["feed"]
    assert feed.stats()["verdict"] is None or said["pid"]  # its statistics are the client's alone now


@pytest.mark.parametrize("reconnect", [False, True])
def test_a_closed_feed_says_so_and_goes_on_from_its_state(
    cache: tensorcache.Cache, windows: tensorcache.Windows, reconnect: bool
) -> None:
    with windows.feed(batch_size=10, slots=3, reconnect=reconnect) as feed:
        batches = iter(feed)
        kept = next(batches)
        first = kept.context.copy()
        close(feed, cache)
        with pytest.raises(tensorcache.FeedError, match=r"feed f\d+ was closed through the control API") as told:
            for batch in batches:
                assert batch.context.shape == (10, 4, 1)
        assert told.value.type == "feed_closed"
        assert "attach again" in told.value.hint
        np.testing.assert_array_equal(kept.context, first)
        state = feed.state_dict()
    with windows.feed(batch_size=10) as again:
        again.load_state_dict(state)
        starts = np.concatenate([batch.start for batch in again])
        np.testing.assert_array_equal(starts, np.arange(state["consumed"], 994))


def test_a_feed_that_nobody_has_is_not_found(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.NotFoundError, match='no feed is named "f0"') as told:
        cache._control.delete("/v1/feeds/f0")
    assert told.value.type == "feed_not_found"
