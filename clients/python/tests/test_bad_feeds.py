"""Errors of invalid feed options and states name the field and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorcache

pytestmark = pytest.mark.portable


@pytest.fixture(scope="module")
def data(cache: tensorcache.Cache) -> tensorcache.Dataset:
    """An item of 10 rows, and one of a single row."""
    columns = {
        "id": ["x"] * 10 + ["y"],
        "t": [*range(10), 5],
        "v": np.arange(11.0),
        "s": [3] * 10 + [4],
    }
    return cache.put("small", columns, item_id="id", time="t")


@pytest.fixture(scope="module")
def windows(data: tensorcache.Dataset) -> tensorcache.Windows:
    return data.windows(context_length=2, prediction_length=1)


def refused(made: Any, *words: str, field: str) -> None:
    """Check that a call raises a SpecError with this field and these words."""
    with pytest.raises(tensorcache.SpecError) as caught:
        made()
    assert caught.value.field == field
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"order": "lanes"}, "order", "want windows with stride = context_length"),
        ({"order": "shuffle", "weights": [1, 1]}, "weights", "order bootstrap with them, or none"),
        ({"order": "bootstrap", "weights": [1]}, "weights", "got 1 for 2 items, want"),
        ({"order": "bootstrap", "weights": {"x": 1}}, "weights", 'item "y" has none'),
        (
            {"order": "bootstrap", "weights": [-1, 1]},
            "weights",
            'got -1.0 for item "x", want 0 or more',
        ),
        ({"order": "bootstrap", "weights": [0, 1]}, "weights", "over the items that have windows"),
        ({"order": "bootstrap", "weights": [float("nan"), 1]}, "weights", "want a finite number"),
        ({"order": "bootstrap", "weights": np.array(1.0)}, "weights", 'want "even", a mapping'),
        ({"order": "bootstrap", "weights": b"ab"}, "weights", 'want "even", a mapping'),
        ({"order": "bootstrap", "weights": "ab"}, "weights", 'got "ab", want "even", a mapping'),
        ({"batch_size": 2**62}, "batch_size", "from 1 to 281474976710656"),
        ({"batch_size": 2**47}, "batch_size", "a batch of 140737488355328 windows takes over"),
        ({"num_replicas": 2**50}, "num_replicas", "at batch_size 2"),
        ({"seed": 2**64}, "seed", "want 0 to 18446744073709551615"),
        (
            {"batch_size": 9, "tail": "drop"},
            "batch_size",
            'got 9, want at most 8 at num_replicas 1: tail "drop" can leave out all 8',
        ),
        (
            {"num_replicas": 5, "tail": "drop"},
            "batch_size",
            "got 2, want at most 1 at num_replicas 5",
        ),
        ({"num_replicas": 9, "tail": "drop"}, "num_replicas", "got 9, want at most 8"),
        (
            {"order": "random_start", "num_replicas": 5, "tail": "drop"},
            "num_replicas",
            "got 5, want at most 4",
        ),
        ({"rank": 1}, "rank", "from 0 to num_replicas"),
        ({"rank": 2, "num_replicas": 2}, "rank", "got 2"),
        ({"rank": -1, "num_replicas": 2}, "rank", "got -1"),
        ({"num_replicas": 0}, "num_replicas", "got 0, want 1 or more"),
        ({"batch_size": 0}, "batch_size", "got 0, want a whole number from 1"),
        ({"batch_size": True}, "batch_size", "got True, want a whole number"),
        ({"batch_size": None}, "batch_size", "got null, want a whole number from 1"),
        ({"min_items": 3}, "min_items", 'got 3, want none: order "sequential" has no groups'),
        ({"min_items": 0}, "min_items", "got 0, want 1 or more"),
        ({"min_items": 2.5}, "min_items", "got 2.5, want a whole number"),
        ({"order": "sorted"}, "order", 'got "sorted", want sequential, shuffle'),
        ({"order": None}, "order", "got None, want text"),
        ({"tail": "keep"}, "tail", 'got "keep", want short, wrap or drop'),
        ({"seed": -1}, "seed", "got -1, want 0 to"),
        ({"seed": 1.5}, "seed", "got 1.5, want a whole number"),
        ({"delivery": "pipe"}, "delivery", 'got "pipe", want auto, slot, view'),
        ({"delivery": ""}, "delivery", 'got "", want auto, slot, view'),
        ({"delivery": np.zeros(2)}, "delivery", "want text"),
        ({"slots": 2}, "slots", "got 2, want 3 to"),
        ({"slots": -1}, "slots", "got -1"),
        ({"mask": 1}, "mask", "got 1, want True or False"),
        ({"order": "bootstrap", "weights": [True, 1]}, "weights", "got True, want a number"),
        ({"order": "bootstrap", "weights": [0, 0]}, "weights", "over the items that have windows"),
    ],
    ids=str,
)
def test_feeds(
    windows: tensorcache.Windows, options: dict[str, Any], field: str, words: str
) -> None:
    refused(lambda: windows.feed(**{"batch_size": 2, **options}), words, field=field)


def test_weights_of_unknown_items(windows: tensorcache.Windows) -> None:
    with pytest.raises(tensorcache.NotFoundError, match='no item is named "z"'):
        windows.feed(batch_size=2, order="bootstrap", weights={"x": 1, "y": 1, "z": 1})


def test_feeding_a_part_without_windows_says_what_they_were_lost_to(
    windows: tensorcache.Windows,
) -> None:
    part = windows.where(rows=(9, None), context_before_split=False)
    assert (len(part), part.rejected) == (0, {"split": 1})
    with pytest.raises(tensorcache.SpecError, match="of 1 positions, split rejects 1"):
        part.feed(batch_size=2)
    assert part.per_item().tolist() == [0, 0]
    assert part[:].context.shape == (0, 2, 2)


@pytest.mark.parametrize(
    "place", [{"epoch": 1 << 64}, {"consumed": 1 << 63}, {"epoch": -1}, {"consumed": -1}]
)
def test_states_of_places_that_cannot_be(
    windows: tensorcache.Windows, place: dict[str, int]
) -> None:
    with windows.feed(batch_size=2) as feed:
        with pytest.raises(tensorcache.CursorError, match="the state is at epoch") as told:
            feed.load_state_dict({**feed.state_dict(), **place})
        assert told.value.field in place
        assert next(iter(feed)).rows == 2
