"""Weights of items in the order bootstrap."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tensorcache


@pytest.fixture(scope="module")
def windows(cache: tensorcache.Cache) -> tensorcache.Windows:
    """Windows of three items; the second has none."""
    items = np.repeat([1, 2, 3], [40, 3, 6])
    data = cache.put("weighted", {"id": items, "y": np.arange(49.0)}, item_id="id")
    return data.windows(context_length=4, prediction_length=1)


def starts(feed: tensorcache.Feed[Any]) -> list[int]:
    return np.concatenate([batch.row for batch in feed]).tolist()


def test_even_weights_draw_as_ones(windows: tensorcache.Windows) -> None:
    drawn = []
    for weights in ("even", [1.0] * 3, {1: 2, 2: 2, 3: 2}):
        with windows.feed(batch_size=5, order="bootstrap", seed=7, weights=weights) as feed:
            drawn.append(starts(feed))
    assert drawn[0] == drawn[1] == drawn[2]
    assert 10 < sum(row > 40 for row in drawn[0]) < 28  # 2 of 38 windows, half of the draws


def test_a_state_says_even(windows: tensorcache.Windows) -> None:
    even = {"order": "bootstrap", "seed": 7, "weights": "even"}
    with windows.feed(batch_size=2, **even) as feed:
        whole = starts(feed)
        feed.load_state_dict({**feed.state_dict(), "epoch": 0, "consumed": 6})
        state = json.loads(json.dumps(feed.state_dict()))
    assert state["weights"] == "even"
    with windows.feed(batch_size=3, **even) as feed:
        feed.load_state_dict(state)
        assert starts(feed) == whole[6:]
    for weights, shown in (([1.0] * 3, '"'), (None, "None")):
        with windows.feed(batch_size=2, **{**even, "weights": weights}) as feed:
            match = f'weights is "even", here {shown}'
            with pytest.raises(tensorcache.CursorError, match=match):
                feed.load_state_dict(state)


@pytest.mark.parametrize(
    ("weights", "field", "words"),
    [
        ("evn", "weights", 'got "evn", want "even", or one for each item'),
        ([1, None, 1], "weights[1]", "got NaN, want a finite number"),
        ([1, 1], "weights", "want one for each item, at least 3, not 2"),
    ],
)
def test_the_daemon_refuses_weights(
    windows: tensorcache.Windows, weights: Any, field: str, words: str
) -> None:
    options = {"batch_size": 2, "order": "bootstrap", "weights": weights}
    with pytest.raises(tensorcache.SpecError, match=words) as refused:
        windows.dataset._post("plan", windows._spec, windows._cuts, options=options)
    assert refused.value.field == field
