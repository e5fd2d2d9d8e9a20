"""Feeds that are closed through the control API."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

import tensorcache
from choosing import exchange
from daemon import wait_until
from tensorcache._feed.feed import Feed

pytestmark = pytest.mark.portable


@pytest.fixture
def windows(cache: tensorcache.Cache) -> tensorcache.Windows:
    """994 windows of a counting column."""
    return cache.put("closing", {"a": np.arange(1000.0)}).windows(
        context_length=4, prediction_length=3
    )


def close(feed: tensorcache.Feed, cache: tensorcache.Cache) -> None:
    """Close the feed through the control API, as another process can."""
    mine = [one for one in cache.feeds() if one["dataset"] == "closing"]
    assert len(mine) == 1
    reply = cache._server.control.delete(f"/v1/feeds/{mine[0]['feed']}")
    assert reply["feed"] == mine[0]["feed"]
    # The statistics now come from the client alone.
    assert feed.stats()["verdict"] is None or reply["pid"]


@pytest.mark.parametrize("reconnect", [False, True])
def test_a_closed_feed_says_so_and_goes_on_from_its_state(
    cache: tensorcache.Cache, windows: tensorcache.Windows, reconnect: bool
) -> None:
    with windows.feed(batch_size=10, slots=3, reconnect=reconnect) as feed:
        batches = iter(feed)
        kept = next(batches)
        first = kept.context.copy()
        close(feed, cache)
        with pytest.raises(
            tensorcache.FeedError, match=r"feed f\d+ was closed through the control API"
        ) as told:
            for batch in batches:
                assert batch.context.shape == (10, 4, 1)
        assert told.value.type == "feed_closed"
        assert "attach again" in told.value.hint
        np.testing.assert_array_equal(kept.context, first)
        state = feed.state_dict()
        starts = np.concatenate([batch.start for batch in feed])  # the next pass attaches again
        np.testing.assert_array_equal(starts, np.arange(state["consumed"], 994))
    with windows.feed(batch_size=10) as again:
        again.load_state_dict(state)
        starts = np.concatenate([batch.start for batch in again])
        np.testing.assert_array_equal(starts, np.arange(state["consumed"], 994))


def test_a_closed_feed_says_so_though_it_is_exchanged(
    cache: tensorcache.Cache, windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    with windows.feed(batch_size=10, delivery="slot") as feed:
        exchange(monkeypatch, feed)
        batches = iter(feed)
        next(batches)
        close(feed, cache)
        wait_until(lambda: not cache.feeds(), "the feed does not end")
        with pytest.raises(tensorcache.FeedError, match="through the control API"):
            for _ in batches:
                pass
        consumed = feed.state_dict()["consumed"]
        starts = np.concatenate([batch.start for batch in feed])
        np.testing.assert_array_equal(starts, np.arange(consumed, 994))


@pytest.mark.parametrize(
    "attaches", ["for a pass", "before a pass", "in a pass", "to another daemon"]
)
def test_a_feed_that_is_closed_while_it_attaches_has_no_stream(
    cache: tensorcache.Cache,
    windows: tensorcache.Windows,
    monkeypatch: pytest.MonkeyPatch,
    attaches: str,
) -> None:
    feed = windows.feed(
        batch_size=10, slots=3, delivery="slot", reconnect=attaches == "to another daemon"
    )
    batches = iter(feed)
    stream = feed._stream
    assert stream is not None
    if attaches == "for a pass":
        feed._drop(stream)
    elif attaches == "to another daemon":
        next(batches)
        stream._sock.close()  # as if the daemon had died
    else:
        chooser = exchange(monkeypatch, feed)
        if attaches == "in a pass":
            next(batches)
        else:
            chooser.step()
    attach = Feed._attach

    def closed(self: Feed, start: Any) -> Any:
        made = attach(self, start)
        feed.close()  # as another thread can
        return made

    monkeypatch.setattr(Feed, "_attach", closed)
    with pytest.raises(tensorcache.FeedError, match="closed"):
        for _ in range(3):
            next(batches)
    assert feed._stream is None
    wait_until(lambda: not cache.feeds(), "the daemon serves a closed feed")


@pytest.mark.parametrize("gone", [False, True], ids=["exchanged", "without a daemon"])
def test_a_feed_may_be_closed_between_any_two_looks_at_its_stream(
    cache: tensorcache.Cache,
    windows: tensorcache.Windows,
    monkeypatch: pytest.MonkeyPatch,
    gone: bool,
) -> None:
    left = 0

    def look(feed: Feed) -> Any:
        nonlocal left
        stream, left = feed.__dict__["_stream"], left - 1
        if left == 0:
            feed.close()  # as another thread can
        return stream

    def put(feed: Feed, stream: Any) -> None:
        feed.__dict__["_stream"] = stream

    monkeypatch.setattr(Feed, "_stream", property(look, put), raising=False)
    for looks in count(1):
        feed = windows.feed(batch_size=10, slots=3, delivery="slot")
        next(iter(feed))
        if gone:
            feed.__dict__["_stream"]._sock.close()  # as if the daemon had died
        else:
            exchange(monkeypatch, feed)
        left = looks
        with pytest.raises(tensorcache.TensorcacheError):
            for _ in feed:
                pass
            feed.close()
            next(iter(feed))
        wait_until(lambda: not cache.feeds(), "the daemon serves a closed feed")
        if left > 0:
            break
    assert looks > 3


def test_a_feed_that_nobody_has_is_not_found(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.NotFoundError, match='no feed is named "f0"') as told:
        cache._server.control.delete("/v1/feeds/f0")
    assert told.value.type == "feed_not_found"
