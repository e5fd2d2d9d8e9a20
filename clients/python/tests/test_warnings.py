"""What can be done and may not be meant is said: values that a dtype loses, splits past the end."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tensorcache

LOST = [
    (np.float64, 1e300, None, ""),
    (np.float64, 1e300, "float32", "infinity"),
    (np.float64, -1e39, "float32", "infinity"),
    (np.float64, 3e38, "float32", ""),
    (np.int64, 2**24, "float32", ""),
    (np.int64, 2**24 + 1, "float32", "inexactly"),
    (np.int32, -(2**24) - 1, "float32", "inexactly"),
    (np.int64, 2**24 + 1, "float64", ""),
    (np.bool_, True, "float32", ""),
    (np.int64, 2**53 + 2, "float64", "inexactly"),
]


@pytest.mark.parametrize(("stored", "value", "dtype", "says"), LOST)
def test_values_that_the_dtype_loses_are_named_by_plan_and_by_the_first_batch(
    cache: tensorcache.Cache, stored: Any, value: Any, dtype: str | None, says: str
) -> None:
    data = cache.put("wide", {"a": np.array([0, value, 1], stored)})
    windows = data.windows(context_length=1, dtype=dtype)
    match = f'column "a" holds .*{says}'
    if not says:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            windows.plan()
            next(iter(windows.feed(batch_size=1)))
        return
    with pytest.warns(UserWarning, match=match) as caught:
        assert windows.plan()["warnings"]
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=match) as caught:
        batches = [batch.context for batch in windows.feed(batch_size=1)]
    assert [w.filename for w in caught] == [__file__]
    assert len(batches) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(iter(windows.feed(batch_size=1)))  # once for a generation


@pytest.mark.parametrize(
    ("split", "says"),
    [
        ({"lengths": (4, 4)}, False),
        ({"lengths": (6, 4)}, False),
        ({"lengths": (6, 5)}, True),
        ({"lengths": (6, 4), "purge": 1}, True),
        ({"lengths": (6, None)}, False),
        ({"fractions": (0.5, 0.5)}, False),
    ],
)
def test_a_split_past_the_end_is_said(
    cache: tensorcache.Cache, split: dict[str, Any], says: bool
) -> None:
    data = cache.put("short", {"id": [1] * 10 + [2] * 3, "a": np.arange(13.0)}, item_id="id")
    windows = data.windows(context_length=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        windows.split(**split)
    assert [w.filename for w in caught] == [__file__] * says
    assert all("the longest item has 10" in str(w.message) for w in caught)
