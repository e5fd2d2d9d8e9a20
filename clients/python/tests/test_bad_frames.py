"""Frames that cannot be stored are refused by column and row, with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

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


def test_names_that_are_not_unicode_are_refused(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.SourceError, match=r"the name '\\ud800' of column 1 is not Uni"):
        cache.put("surrogate", {"\ud800": [1]})


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
    ([{"b": 1}, {"b": 2}], r'row 1, column "a": \{.b.: 1\} is of type dict, want a number'),
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


WITHOUT_ROWS = {
    "list": {"a": []},
    "array": {"a": np.array([])},
    "days": {"a": np.array([], "M8[D]")},
    "times": {"t": np.array([], "M8[s]"), "a": []},
    "durations": {"a": np.zeros((0, 2), "m8[ns]")},
    "texts": {"a": np.array([], str)},
    "objects": {"a": np.array([], object)},
    "pandas": pd.DataFrame({"t": pd.to_datetime([]), "a": pd.to_timedelta([])}),
    "pandas-index": pd.DataFrame({"a": []}, index=pd.DatetimeIndex([], name="t")),
    "zoned": pd.DataFrame({"t": pd.to_datetime([], utc=True)}),
    "polars": pl.DataFrame(schema={"t": pl.Datetime, "d": pl.Date, "e": pl.Duration, "c": pl.Time}),
    "pyarrow": pa.table({"t": pa.array([], pa.timestamp("us"))}),
    "xarray": xr.Dataset(
        {"a": (("time", "x"), np.zeros((2, 3)))},
        coords={"time": pd.date_range("2020", periods=2)},
    ).isel(time=slice(0, 0)),
}


@pytest.mark.parametrize("kind", WITHOUT_ROWS)
def test_columns_of_every_type_without_rows_are_refused(
    cache: tensorcache.Cache, kind: str
) -> None:
    columns: Any = WITHOUT_ROWS[kind]
    with pytest.raises(tensorcache.SourceError, match=r"no rows\nhint: send at least one row"):
        cache.put("nothing", columns)


def test_an_append_without_rows_is_refused(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"t": pd.date_range("2020", periods=2), "a": [1.0, 2.0]})
    cache.put("grown", frame, time="t")
    for columns in (frame[:0], frame[:0].set_index("t"), pl.from_pandas(frame[:0])):
        with pytest.raises(tensorcache.SourceError, match="no rows"):
            cache.append("grown", columns)
    assert len(cache.dataset("grown")) == 2


WITHOUT_VALUES = {
    "array": {"a": np.zeros((2, 0))},
    "times": {"a": np.zeros((2, 0), "M8[s]")},
    "neither": {"a": np.zeros((0, 0))},
    "lists": {"a": [[], []]},
    "pandas": {"a": pd.Series([[], []], dtype=pd.ArrowDtype(pa.list_(pa.float64(), 0)))},
    "polars": pl.DataFrame({"a": pl.Series([[], []], dtype=pl.Array(pl.Float64, 0))}),
    "pyarrow": pa.table({"b": [1, 2], "a": pa.array([[], []], pa.list_(pa.float64(), 0))}),
}


@pytest.mark.parametrize("kind", WITHOUT_VALUES)
def test_rows_of_no_values_are_refused(cache: tensorcache.Cache, kind: str) -> None:
    columns: Any = WITHOUT_VALUES[kind]
    message = r'column "a".* want at least (one value|1)(?s:.*)hint: leave the column out'
    with pytest.raises(tensorcache.SourceError, match=message):
        cache.put("nothing", columns)


def test_values_that_are_no_column_are_refused(cache: tensorcache.Cache) -> None:
    """Every message names the value, and its hint says what to do."""
    for value, message in [
        (1, r'"a" is 1, want one value(?s:.*)hint: give a list'),
        (np.array(5), r'"a" is array\(5\), want one value(?s:.*)hint: give a list'),
        ("xy", r'"a" is "xy", want one value(?s:.*)hint: give a list'),
        ({2, 1}, r'"a" is a set, want(?s:.*)hint: give a list: sorted\(values\)'),
        ((x for x in "a"), r'"a" is a generator, want(?s:.*)hint: give a list: list\(values\)'),
        ({0: 1}, r'"a" is a dict, want(?s:.*)hint: give a list: list\(values.values\(\)\)'),
        (np.zeros((1, 2, 2)), r'"a" has shape \[1, 2, 2\], want(?s:.*)hint: values.reshape\('),
        (np.array([["x"]]), r'"a" is text of shape \[1, 1\](?s:.*)hint: give each column'),
        ([["x", None]], r'"a" is objects of shape \[1, 2\](?s:.*)hint: give each column'),
        (np.array([1j]), r'"a" is complex128(?s:.*)hint: give .real and .imag'),
        (np.zeros(1, "g"), r'"a" is float(128|96|64)(?s:.*)hint: astype\("float64"\)'),
        (np.zeros(1, "V4"), r'"a" is \|V4(?s:.*)hint: convert it with astype'),
        (np.zeros(1, "m8"), r'"a" is timedelta64(?s:.*)hint: astype\("timedelta64\[s\]"\)'),
    ]:
        with pytest.raises(tensorcache.SourceError, match=message):
            cache.put("nothing", {"a": value})
    fields = np.zeros(1, [("x", "f8")])
    with pytest.raises(tensorcache.SourceError, match=r"hint: give each field as a column"):
        cache.put("nothing", {"a": fields, "b": [1]})
    with pytest.raises(tensorcache.SourceError, match=r'"b" and "a" differ in rows(?s:.*)hint:'):
        cache.put("nothing", {"a": [1, 2], "b": [1]})
