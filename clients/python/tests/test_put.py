"""Arrays of this process into the cache and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tensorcache

LAYOUTS = ["columns", "packed"]
ROWS = 1000


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    """One column of every dtype, and one of several features."""
    rng = np.random.default_rng(7)
    return {
        "id": np.repeat(np.array(["north", "süd", "east", "w"]), ROWS // 4),
        "t": np.tile(np.datetime64("2020-01-01T00:00", "s") + np.arange(ROWS // 4) * np.timedelta64(60, "s"), 4),
        "f4": rng.normal(size=ROWS).astype(np.float32),
        "f8": rng.normal(size=ROWS),
        "i4": rng.integers(-(2**31), 2**31, ROWS, dtype=np.int32),
        "i8": rng.integers(-(2**63), 2**63 - 1, ROWS, dtype=np.int64),
        "b": rng.random(ROWS) < 0.5,
        "many": rng.normal(size=(ROWS, 3)).astype(np.float32),
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_dtype_comes_back_as_it_went(cache: tensorcache.Cache, layout: str) -> None:
    given = arrays()
    data = cache.put(f"round-{layout}", given, item_id="id", time="t", layout=layout)
    assert data.columns == tuple(given)
    assert data.layout == layout
    for name, array in given.items():
        if name == "id":
            assert data.vocab("id").decode(data["id"]).tolist() == array.tolist()
            continue
        assert data[name].dtype == array.dtype, name
        assert data[name].shape == array.shape
        assert not data[name].flags.writeable
        np.testing.assert_array_equal(data[name], array, err_msg=name)
    assert list(data.items) == ["north", "süd", "east", "w"]


def test_equal_content_has_an_equal_digest(cache: tensorcache.Cache) -> None:
    one = cache.put("digest-one", arrays(), item_id="id", time="t")
    two = cache.put("digest-two", arrays(), item_id="id", time="t")
    assert one.digest == two.digest
    other = arrays()
    other["f4"][5] += 1
    assert cache.put("digest-one", other, item_id="id", time="t").digest != one.digest


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (np.arange(4, dtype=np.int8), "int32"),
        (np.arange(4, dtype=np.uint8), "int32"),
        (np.arange(4, dtype=np.uint16), "int32"),
        (np.arange(4, dtype=np.uint32), "int64"),
        (np.arange(4, dtype=np.float16), "float32"),
        (np.arange(4, dtype=">f8"), "float64"),
        (np.arange(8, dtype=np.float64)[::2], "float64"),
        ([1, 2, 3, 4], "int64"),
        ([1.5, 2, 3, 4], "float64"),
        (pd.Series([1.5, 2, 3, 4]), "float64"),
        (pl.Series([1.5, 2, 3, 4]), "float64"),
        (np.arange(4).astype("datetime64[D]"), "datetime64[s]"),
        (np.arange(4).astype("datetime64[ns]"), "datetime64[ns]"),
        (pd.date_range("2020", periods=4, tz="Europe/Berlin", unit="ms"), "datetime64[ms]"),
    ],
)
def test_what_numpy_understands_is_stored_without_loss(cache: tensorcache.Cache, given: Any, stored: str) -> None:
    data = cache.put("kinds", {"v": given})
    assert data["v"].dtype == stored
    want = given
    if getattr(getattr(given, "dtype", None), "tz", None) is not None:
        want = given.tz_convert(None)
    np.testing.assert_array_equal(data["v"], np.asarray(want).astype(stored))


def test_data_frames(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"id": ["a", "a", "b"], "t": [1, 2, 1], "v": [0.5, 1.5, 2.5]})
    for given in (frame, pl.from_pandas(frame)):
        data = cache.put("frame", given, item_id="id", time="t")
        assert data["v"].tolist() == [0.5, 1.5, 2.5]
        assert list(data.items) == ["a", "b"]


def test_large_columns_go_in_pieces(cache: tensorcache.Cache) -> None:
    big = np.arange(3_000_000, dtype=np.float64).reshape(-1, 2)
    data = cache.put("pieces", {"a": big, "b": np.asfortranarray(big)})
    np.testing.assert_array_equal(data["a"], big)
    np.testing.assert_array_equal(data["b"], big)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, "got none"),
        ([1, 2], "want a mapping"),
        ({"a": [1, 2], "b": [1]}, 'column "b" has 1 rows, "a" has 2'),
        ({"a": np.zeros((2, 2, 2))}, r'column "a" has shape \[2, 2, 2\]'),
        ({"a": 5}, r'column "a" has shape \[\]'),
        ({"a": [1 + 2j]}, 'column "a" is complex128'),
        ({"a": np.array([2**63], np.uint64)}, 'column "a" is uint64'),
        ({"a": ["x", None]}, 'column "a", row 1: None is no text'),
        ({"a": [[1], [1, 2]]}, 'column "a" is no array'),
        ({"a": np.array(["2020", "NaT"], "datetime64[s]")}, 'column "a", row 1: NaT'),
    ],
)
def test_what_cannot_be_stored_is_named(cache: tensorcache.Cache, columns: Any, words: str) -> None:
    with pytest.raises(tensorcache.SourceError, match=words):
        cache.put("bad", columns)
    assert "bad" not in [d["dataset"] for d in cache.datasets()]


def test_the_daemons_refusals_arrive(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.NotFoundError, match="near: t"):
        cache.put("bad", {"t": [1, 2], "v": [1, 2]}, time="tt")
    with pytest.raises(tensorcache.TensorcacheError, match="want 1 to 100 of"):
        cache.put("no/name", {"v": np.zeros(2_000_000)})
    with pytest.raises(tensorcache.SourceError, match="row"):
        cache.put("bad", {"t": [2, 1], "v": [1, 2]}, time="t")
    assert cache.health()["status"] == "ok"
