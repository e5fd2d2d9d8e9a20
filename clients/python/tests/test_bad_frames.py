"""Frames that cannot be stored are refused by column and row, with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tensorcache


@pytest.mark.parametrize("names", [["a", "a"], [1, "1"], ["t", 1, "1"]])
def test_columns_of_one_name_are_refused(cache: tensorcache.Cache, names: list[Any]) -> None:
    frame = pd.DataFrame([[1.0] * len(names)] * 2, columns=names)
    with pytest.raises(tensorcache.SourceError, match="want one column a name") as caught:
        cache.put("twice", frame)
    assert caught.value.field == str(names[-1])


def test_names_of_text_and_numbers_may_be_mixed(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", 0])
    assert cache.put("mixed", frame).columns == ("a", "0")


@pytest.mark.parametrize("values", [[1, "x"], ["x", 1], [True, "x"], ("x", 1.5)])
def test_lists_of_texts_and_numbers_are_refused(cache: tensorcache.Cache, values: Any) -> None:
    with pytest.raises(tensorcache.SourceError, match=r'row [12], column "a": .* is no text'):
        cache.put("mixed", {"a": values})
    assert cache.put("texts", {"a": ["x", "y"]})["a"].tolist() == [0, 1]


@pytest.mark.parametrize("name", [None, float("nan"), "", pd.NA, pd.NaT])
def test_columns_without_a_name_are_refused(cache: tensorcache.Cache, name: Any) -> None:
    message = r"columns: column 2 has no name: got .*, want text(?s:.*)hint: name it"
    with pytest.raises(tensorcache.SourceError, match=message):
        cache.put("nameless", pd.DataFrame([[1, 2]], columns=pd.Index(["a", name], dtype=object)))
    with pytest.raises(tensorcache.SourceError, match=message):
        cache.put("nameless", {"a": [1], name: [2]})
    with pytest.raises(tensorcache.SourceError, match="column 2 has no name"):
        cache.put("nameless", pl.DataFrame({"a": [1], "": [2]}))
    with pytest.raises(tensorcache.SourceError, match="column 2 has no name"):
        cache.put("nameless", pa.table([pa.array([1]), pa.array([2])], names=["a", ""]))
    with pytest.raises(tensorcache.SourceError, match=r"the name '\\ud800' of column 1 is not Uni"):
        cache.put("nameless", {"\ud800": [1]})


def test_two_columns_of_one_name_are_refused_in_every_table(cache: tensorcache.Cache) -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(tensorcache.SourceError, match='column "a": 2 columns have this name'):
        cache.put("twice", table)
    with pytest.raises(tensorcache.SourceError, match='"a", want one column a name'):
        cache.put("twice", table.to_pandas())


MIXED = [
    ([1, "x", 2], 'row 1, column "a": 1 is no text, but "x" in row 2 is'),
    (["x", None, 1.5], 'row 3, column "a": 1.5 is no text, but "x" in row 1 is'),
    ([None, True, "x"], 'row 2, column "a": True is no text, but "x" in row 3 is'),
    ([{"b": 1}, {"b": 2}], r'row 1, column "a": \{.b.: 1\} is no text'),
    ([[1, 2], None, [3]], 'row 3, column "a": the list has 1 value, but that of row 1 has 2'),
    ([[1], [2, 3, 4]], 'row 2, column "a": the list has 3 values, but that of row 1 has 1'),
    ([(1, 2), (3, 4), None], r'row 1, column "a": \(1, 2\) is a list, want one value'),
    ([np.zeros(2), np.zeros(1)], 'row 2, column "a": the list has 1 value, but that of row 1'),
]


@pytest.mark.parametrize(("values", "message"), MIXED)
def test_objects_of_several_kinds_are_refused(
    cache: tensorcache.Cache, values: list[Any], message: str
) -> None:
    objects = np.empty(len(values), object)
    for row, value in enumerate(values):
        objects[row] = value
    for columns in (
        pd.DataFrame({"b": range(len(values)), "a": pd.Series(values, dtype=object)}),
        {"a": objects},
        pl.DataFrame({"a": pl.Series(values, dtype=pl.Object)}),
    ):
        with pytest.raises(tensorcache.SourceError, match=f"{message}(?s:.*)\nhint: ") as caught:
            cache.put("objects", columns)
        assert caught.value.field == "a"
    assert "objects" not in [one["dataset"] for one in cache.datasets()]


@pytest.mark.parametrize("values", [[[1, 2], [3]], [np.zeros(2), np.zeros(1)], [[1, 2], None]])
def test_lists_of_no_one_length_are_refused(cache: tensorcache.Cache, values: list[Any]) -> None:
    with pytest.raises(tensorcache.SourceError, match=r'row \d, column "a": .*list(?s:.*)hint: '):
        cache.put("ragged", {"a": values})
    polars = pl.DataFrame({"a": [None if v is None else list(v) for v in values]})
    with pytest.raises(tensorcache.SourceError, match=r'column "a" is List.*(?s:.*)hint: cast it'):
        cache.put("ragged", polars)
    with pytest.raises(tensorcache.SourceError, match=r'column "a": is l(?s:.*)hint: cast it'):
        cache.put("ragged", polars.to_arrow())
    stacked = np.stack([[1, 2], [3, 4]])
    assert cache.put("stacked", {"a": stacked})["a"].tolist() == [[1, 2], [3, 4]]


TIMES = pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-03"])


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 1, 2]])
def test_times_out_of_order_or_twice_are_refused(
    cache: tensorcache.Cache, order: list[int]
) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=TIMES[order].rename("t"))
    said = r'row 2, column "t": (time .* comes after|two rows have the time)(?s:.*)hint: .*='
    for columns in (
        frame,
        frame.reset_index(),
        pl.from_pandas(frame.reset_index()),
        pa.Table.from_pandas(frame.reset_index(), preserve_index=False),
        {"t": frame.index, "a": frame["a"]},
    ):
        with pytest.raises(tensorcache.SourceError, match=said):
            cache.put("order", columns, time="t")
        data = cache.put("order", columns, time="t", sort=True, duplicates="first")
        assert data["a"].tolist() == ([2, 1, 3] if order[0] == 0 else [1, 3])


def test_what_is_no_column_is_refused(cache: tensorcache.Cache) -> None:
    for columns, message in [
        ({"a": 1}, r"has shape \[\], want(?s:.*)hint: give a list or an array"),
        ({"a": {1, 2}}, r"has shape \[\], want(?s:.*)hint: give a list or an array"),
        ({"a": [1, 2], "b": [1]}, r'"b" and "a" differ in rows: 1 and 2(?s:.*)hint: give one'),
        ({"a": np.array([1j])}, r'"a" is complex128(?s:.*)hint: give .real and .imag'),
        ({"a": np.array([])}, r"no rows(?s:.*)hint: send at least one row"),
        (pd.DataFrame({"a": []}), r"no rows(?s:.*)hint: send at least one row"),
        (pl.DataFrame({"a": []}), r"no rows(?s:.*)hint: send at least one row"),
        (pa.table({"a": pa.array([], "i8")}), r"no rows(?s:.*)hint: send at least one row"),
    ]:
        with pytest.raises(tensorcache.SourceError, match=message):
            cache.put("nothing", columns)
