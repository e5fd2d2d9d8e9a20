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


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ({"known_columns": ["k"]}, ["k"]),
        ({"static_columns": ["s"]}, ["s"]),
        ({"known_columns": ["k"], "static_columns": ["s"]}, ["k", "s"]),
        ({"known_columns": ["k"], "max_missing": 0}, ["k"]),
        ({"known_columns": ["k"], "stride": 3}, ["k"]),
        ({"known_columns": ["k"], "max_missing": 0.5}, []),
        ({"known_columns": ["k"], "max_missing": None}, []),
        ({"known_columns": ["k"], "missing_value": 0}, []),
        ({"known_columns": ["full", "word"]}, []),
        ({"known_columns": ["with_a"]}, []),
        ({"known_columns": ["k"], "rows": (3, None)}, []),
        ({"known_columns": ["k"], "rows": (3, None), "min_context": 1}, []),
        ({"known_columns": ["k"], "dilation": 2, "rows": (1, None), "stride": 2}, []),
        ({"static_columns": ["s"], "prediction_length": 2}, []),
        ({}, []),
    ],
)
def test_missing_values_of_known_and_static_are_said_where_none_is_admitted(
    cache: tensorcache.Cache,
    request: pytest.FixtureRequest,
    spec: dict[str, Any],
    names: list[str],
) -> None:
    columns = {
        "id": ["a"] * 7 + ["b"] * 3,
        "a": [np.nan, *np.arange(9.0)],
        "k": np.where(np.isin(np.arange(10), (2, 9)), np.nan, 1.0),
        "s": [1.0] * 7 + [np.nan] * 3,
        "full": np.arange(10.0),
        "with_a": [np.nan, *np.arange(9.0)],
        # a feed says the same of the same content once
        "word": [request.node.name, None, "y", "x", "x", "y", "y", None, "x", "x"],
    }
    if spec.get("rows"):
        columns["k"][9] = 1
    data = cache.put("gaps", columns, item_id="id")
    windows = data.windows(
        **{"context_length": 2, "prediction_length": 1, "columns": ["a"], **spec}
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plan = windows.plan()
    texts = [str(one.message) for one in caught]
    assert len(texts) == len(names) == len(plan.get("warnings") or ())
    for text, name in zip(texts, names, strict=True):
        assert f'column "{name}" is NaN in the ' in text
    batch = windows[:]
    nan = [part is not None and np.isnan(part).any() for part in (batch.known, batch.static)]
    admitted = {"max_missing", "missing_value"} & spec.keys() and not names
    assert admitted or any(nan) == bool(names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        windows.feed(batch_size=1).close()
    assert [str(one.message) for one in caught] == texts


@pytest.mark.parametrize("seed", range(20))
def test_known_and_static_are_said_to_be_nan_where_batches_have_nan(
    cache: tensorcache.Cache, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(6, 20, 3)
    rows = int(lengths.sum())
    columns = {
        "id": np.repeat(["a", "b", "c"], lengths),
        "a": np.where(generator.random(rows) < 0.05, np.nan, 1.0),
        "k": np.where(generator.random(rows) < 0.05, np.nan, 1.0),
        "s": np.repeat(np.where(generator.random(3) < 0.3, np.nan, 1.0), lengths),
    }
    data = cache.put("random", columns, item_id="id")
    compared = 0
    for _ in range(10):
        spec = {
            "stride": int(generator.integers(1, 7)),
            "dilation": int(generator.integers(1, 4)),
            "gap": int(generator.integers(0, 3)),
            "min_context": int(generator.integers(1, 3)),
            "rows": (int(generator.integers(0, 4)), None),
        }
        parts = {"columns": ["a"], "known_columns": ["k"], "static_columns": ["s"]}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                windows = data.windows(context_length=2, prediction_length=1, **parts, **spec)
            except tensorcache.SpecError:
                continue  # no window is admitted
            windows.plan()
        batch = windows[:]
        said = {str(one.message).split(" is NaN")[0] for one in caught}
        found = {'column "k"': batch.known, 'column "s"': batch.static}
        assert said == {name for name, part in found.items() if np.isnan(part).any()}, spec
        compared += 1
    assert compared
