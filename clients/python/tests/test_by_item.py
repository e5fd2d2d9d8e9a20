"""Tables and arrays by item, put as one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import tensorcache

DAYS = pd.date_range("2024-01-01", periods=3, unit="s")
A = pd.DataFrame({"t": DAYS, "y": [1.0, 2.0, 3.0]})
B = pd.DataFrame({"t": DAYS[:2], "y": [4, 5]})

FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "index": lambda frame: frame.set_index("t"),
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "dict": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "records": lambda frame: np.array(frame.drop(columns="word").to_records(index=False)),
}


def frames(generator: np.random.Generator) -> dict[Any, pd.DataFrame]:
    """Random frames of up to 5 items, with texts, missing numbers, and whole numbers."""
    whole = bool(generator.integers(2))
    out: dict[Any, pd.DataFrame] = {}
    for item in generator.permutation(9)[: generator.integers(1, 6)]:
        rows = int(generator.integers(1, 8))
        start = np.datetime64("2024-01-01", "s") + int(generator.integers(1000))
        y = generator.normal(size=rows).round(3)
        y[generator.random(rows) < 0.2] = np.nan
        out[int(item) if whole else f"item {item}"] = pd.DataFrame(
            {
                "t": start + np.arange(rows),
                "y": y,
                "n": generator.integers(-9, 9, rows),
                "on": generator.integers(0, 2, rows).astype(bool),
                "word": generator.choice(["a", "b", "ü"], rows),
            }
        )
    return out


@pytest.mark.parametrize("form", FORMS)
def test_tables_by_item_are_those_of_pandas_concat(cache: tensorcache.Cache, form: str) -> None:
    generator = np.random.default_rng(41)
    for _ in range(12):
        given = frames(generator)
        want = pd.concat(given)
        tables = {item: FORMS[form](frame) for item, frame in given.items()}
        data = cache.put("by", tables, item_id="sku", time="t")
        assert data.manifest["item_id"] == ["sku"]
        assert data.manifest["time"] == "t"
        assert list(data.items) == list(given)
        for name in ("t", "y", "n", "on"):
            np.testing.assert_array_equal(data[name], want[name])
            assert data[name].dtype.kind == want[name].dtype.kind
        if form != "records":
            assert [data.vocab("word")[code] for code in data["word"]] == list(want["word"])
        for item, frame in given.items():
            np.testing.assert_array_equal(data.item(item)["y"], frame["y"])


def test_lists_are_items_by_number(cache: tensorcache.Cache) -> None:
    for given in (
        [A, B],
        [A.set_index("t"), B.set_index("t")],
        [A.set_index("t")["y"], B.set_index("t")["y"]],
    ):
        for data in (cache.put("l", given, time="t"), cache.load("l", given, time="t")):
            assert data.manifest["item_id"] == ["item_id"]
            assert list(data.items) == [0, 1]
            assert data["y"].tolist() == [1, 2, 3, 4, 5]
    for arrays in (
        [np.arange(3.0), np.arange(2)],
        [[0.0, 1.0, 2.0], [0, 1]],
        (pd.Series([0.0, 1.0, 2.0]), pd.Series([0, 1])),
        [pl.Series([0.0, 1.0, 2.0]), pl.Series([0, 1])],
    ):
        data = cache.put("l", arrays)
        assert data["value"].tolist() == [0, 1, 2, 0, 1]
        assert data["item_id"].tolist() == [0, 0, 0, 1, 1]
    assert cache.put("l", [np.ones((2, 3)), np.zeros((1, 3))])["value"].shape == (3, 3)


def test_columns_may_name_the_items(cache: tensorcache.Cache) -> None:
    given = [A.assign(sku="u"), B.assign(sku="v")]
    assert list(cache.put("l", given, item_id="sku", time="t").items) == ["u", "v"]
    groups = dict(list(pd.concat(given).groupby("sku")))
    data = cache.put("l", groups, item_id="sku", time="t")
    assert list(data.items) == ["u", "v"]
    assert data["y"].tolist() == [1, 2, 3, 4, 5]
    wrong = {"u": given[0], "w": given[1]}
    with pytest.raises(
        tensorcache.SourceError, match="item 'w': column \"sku\" names the items, and has 'v'"
    ) as error:
        cache.put("l", wrong, item_id="sku", time="t")
    assert "list(tables.values())" in error.value.hint
    assert list(cache.put("l", list(wrong.values()), item_id="sku", time="t").items) == ["u", "v"]
    two = {("u", 1): A, ("u", 2): B}
    data = cache.put("l", two, item_id=["sku", "shop"], time="t")
    assert list(data.items) == [("u", 1), ("u", 2)]
    data = cache.put("l", {"u": given[0].rename(columns={"sku": "item_id"})}, time="t")
    assert list(data.items) == ["u"]


def test_appends_go_to_the_items_of_the_keys(cache: tensorcache.Cache) -> None:
    cache.put("up", {"a": A, "b": B}, item_id="sku", time="t")
    later = A.assign(t=A["t"] + pd.Timedelta(days=9))
    data = cache.append("up", {"b": later, "c": later})
    assert list(data.items) == ["a", "b", "c"]
    assert data.item("b")["y"].tolist() == [4, 5, 1, 2, 3]
    cache.put("one", A, time="t")
    with pytest.raises(tensorcache.SourceError, match="hint: the dataset has no items: app"):
        cache.append("one", {"a": later})


def test_missing_values_have_the_type_of_other_items(cache: tensorcache.Cache) -> None:
    data = cache.put(
        "m",
        {
            "a": {"y": [None, None], "n": pd.array([1, None], dtype="Int64")},
            "b": {"y": [3.0, 4.0], "n": pd.array([3, 4], dtype="Int64")},
        },
        fill={"n": 0},
    )
    np.testing.assert_array_equal(data["y"], [np.nan, np.nan, 3, 4])
    assert data["n"].tolist() == [1, 0, 3, 4]
    assert data["n"].dtype == np.int64
    one = {"a": {"x": [None], "s": [np.nan]}, "b": {"x": np.array([0.1], "f4"), "s": ["q"]}}
    data = cache.put("m", one)
    assert data["x"].dtype == np.float32
    assert data["s"].tolist() == [-1, 0]
    for empty in (B.iloc[:0], B.iloc[:0].set_index("t").rename_axis(None), pd.DataFrame()):
        assert list(cache.put("m", {"a": A, "b": empty}, time="t").items) == ["a"]


def test_the_time_is_that_of_any_index(cache: tensorcache.Cache) -> None:
    for given in ({"a": A.set_index("t"), "b": B}, {"b": B, "a": A.set_index("t")}):
        assert cache.put("i", given).manifest["time"] == "t"


def test_codes_and_lists_of_fixed_size_are_joined(cache: tensorcache.Cache) -> None:
    words = cache.put("w", {"w": ["p", "q", "p"]})["w"]
    data = cache.put("c", {"a": {"w": words[:2]}, "b": {"w": words}})
    assert [data.vocab("w")[code] for code in data["w"]] == ["p", "q", "p", "q", "p"]
    for wrong in (7, -5, 2):
        codes = words[:2].copy()
        codes[:] = wrong
        with pytest.raises(tensorcache.SourceError, match=f'item "a": row 1, .*{wrong} is no code'):
            cache.put("c", {"a": {"w": codes}})
    lists = pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2, 3, 4]), 2)})
    np.testing.assert_array_equal(cache.put("c", [lists, lists[:1]])["x"], [[1, 2], [3, 4], [1, 2]])


def test_arrays_of_xarray_are_columns_as_before(cache: tensorcache.Cache) -> None:
    grid = xr.Dataset({"y": ("t", [1.0, 2.0]), "z": ("t", [3.0, 4.0])})
    data = cache.put("x", dict(grid.data_vars))
    assert list(data.keys()) == ["y", "z"]
    assert len(data.items) == 1
    frames = {"a": grid.to_dataframe(), "b": grid.to_dataframe()}
    assert list(cache.put("x", frames).items) == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": A, "b": B.assign(z=1)}, 'item "a" has no column "z", and item "b" has'),
        ({"a": A, "b": B[["t"]]}, 'item "b" has no column "y", and item "a" has'),
        ({"a": A, "b": B.assign(y="k")}, 'column "y" is text in item "b", and numbers in item "a"'),
        (
            {"a": {"y": np.ones((2, 3))}, "b": {"y": np.ones((2, 2))}},
            r'column "y" is of shape \[0, 2\] in item "b"',
        ),
        (
            {"a": A, "b": B.assign(t=B["t"].dt.tz_localize("UTC"))},
            'column "t" is in UTC in item "b", and in no zone in item "a"',
        ),
        (
            [[1.5, 2.5], [2**53 + 1]],
            "values of int64 in item 1 that float64, the dtype of all items",
        ),
        ({1.5: A}, '1.5 names no item of "item_id"'),
        ({"a": A, 1: B}, '1 names no item of "item_id"'),
        ({None: A}, 'None names no item of "item_id"'),
        ({("a", 1): A}, r'by 2 values, and .* have 1\nhint: item_id=\["name1", "name2"\]'),
        ({2**63: A}, "9223372036854775808 names no item"),
        (
            {"a": {"x": [1, 2], "y": [1]}, "b": {"x": [3], "y": [4, 5]}},
            'item "a": column "y" has 1 r',
        ),
        ({"a": {"x": np.array(5)}}, r'item "a": column "x" is array\(5\), want one value'),
        ({"a": {"x": [None]}, "b": {"x": [2**53 + 1]}}, "the value is missing"),
        (
            {"a": {"x": [0.5]}, "b": {"x": [2**53 + 1]}},
            "has values of int64 in item .b. that float64",
        ),
        (
            {"a": {"x": np.array([10**6], "m8[D]")}, "b": {"x": np.array([1], "m8[ns]")}},
            r"values of timedelta64\[D\] in item .a. that timedelta64\[ns\], the dtype of all",
        ),
        (
            {"a": {"x": np.array(["9999-12-31"], "M8[D]")}, "b": {"x": np.array([1], "M8[ns]")}},
            r"values of datetime64\[D\] in item .a. that datetime64\[ns\], the dtype of all",
        ),
        (
            {"a": {"x": np.array([1], "m8[Y]")}, "b": {"x": np.array([1], "m8[D]")}},
            r"values of timedelta64\[D\], timedelta64\[Y\] in its items",
        ),
        ({"a": xr.Dataset({"x": ("t", [1.0])})}, 'item "a": got a Dataset of xarray'),
        (
            {"a": pd.Series([1.0], name="y"), "b": pd.Series([1.0, 2.0])},
            r"put {name: values.to_frame\(name=",
        ),
        ({"a": A.assign(item_id=1)}, "item 'a': column \"item_id\" names the items, and has 1"),
        ({"a": A.assign(y=[{}, 1, 2])}, 'row 1, column "y": {} is of type dict'),
        ({"a": [1, 2], "b": [1]}, r"differ in rows.*\nhint: .* if each is an item, put"),
        ([{"y": 1}, {"y": 2}], r"got list.*\nhint: put {name: \[row"),
        ([A, [1, 2]], "got list, want a mapping"),
        ([], "got list, want a mapping"),
        ({"a": A.iloc[:0]}, "the columns have no rows"),
    ],
)
def test_items_that_differ_are_refused(cache: tensorcache.Cache, given: Any, message: str) -> None:
    with pytest.raises(tensorcache.SourceError, match=message):
        cache.put("no", given)
    with pytest.raises(tensorcache.NotFoundError):
        cache.dataset("no")
