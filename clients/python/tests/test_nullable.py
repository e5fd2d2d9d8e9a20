"""Missing values in columns whose type has no NaN, from frames and files, filled as in pandas."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

import tensorcache
from cases import examples

KINDS = ["Int8", "Int32", "Int64", "UInt16", "UInt64", "boolean", "Float32", "Float64"]
FILLS: dict[str, Any] = {"zero": 0, "one": 1, "forward": "forward", "backward": "backward"}


def frame_of(seed: int, rows: int) -> pd.DataFrame:
    """Return a column of each kind; about 30 % of the rows inside an item are missing."""
    rng = np.random.default_rng(seed)
    columns = {"id": np.sort(rng.integers(0, 3, rows))}
    edge = np.r_[True, np.diff(columns["id"]) != 0] | np.r_[np.diff(columns["id"]) != 0, True]
    for kind in KINDS:
        values = rng.integers(0, 2 if kind == "boolean" else 100, rows).astype(
            bool if kind == "boolean" else int
        )
        columns[kind] = pd.array(values, kind)
        columns[kind][(rng.random(rows) < 0.3) & ~edge] = pd.NA
    return pd.DataFrame(columns)


def filled(frame: pd.DataFrame, how: Any) -> pd.DataFrame:
    """Return the frame that pandas fills."""
    if isinstance(how, int):
        return frame.fillna({kind: bool(how) if kind == "boolean" else how for kind in KINDS})
    return getattr(frame.groupby("id")[KINDS], how[0] + "fill")()


@given(
    seed=st.integers(0, 2**32),
    rows=st.sampled_from([1, 3, 50, 9000]),
    how=st.sampled_from(sorted(FILLS)),
)
@examples(12)
def test_fill_of_nullable_columns_is_that_of_pandas(
    cache: tensorcache.Cache, tmp_path: Path, seed: int, rows: int, how: str
) -> None:
    frame = frame_of(seed, rows)
    want = filled(frame, FILLS[how])
    table, options = pa.Table.from_pandas(frame), {"item_id": "id", "fill": FILLS[how]}
    feather.write_feather(frame, tmp_path / "x.arrow", compression="uncompressed")
    page, words = "2.0" if seed % 2 else "1.0", {"boolean": "RLE" if seed % 3 else "PLAIN"}
    pq.write_table(
        table,
        tmp_path / "x.parquet",
        data_page_version=page,
        use_dictionary=False,
        column_encoding=words,
    )
    for data in (
        cache.put("nullable", frame, **options),
        cache.put("nullable", pl.from_pandas(frame), **options),
        cache.put("nullable", table, **options),
        cache.put("nullable", frame.astype(dict.fromkeys(KINDS[:6], object)), **options),
        cache.load("nullable", tmp_path / "x.arrow", **options),
        cache.load("nullable", tmp_path / "x.parquet", **options),
    ):
        for kind in KINDS:
            got = data[kind]
            np.testing.assert_array_equal(got, want[kind].to_numpy(got.dtype), err_msg=kind)
            entry = next(c for c in data.manifest["columns"] if c["name"] == kind)
            assert entry["prepared"].get("before", {}).get("missing", 0) == int(
                frame[kind].isna().sum()
            )
        assert data["boolean"].dtype == bool


@pytest.mark.parametrize("kind", ["Int64", "boolean", "UInt8"])
@pytest.mark.parametrize("library", ["pandas", "polars", "numpy", "objects"])
def test_without_a_fill_the_first_missing_one_is_named(
    cache: tensorcache.Cache, kind: str, library: str
) -> None:
    frame = pd.DataFrame({"t": [1, 2, 3], "a": pd.array([1, None, 0], kind)})
    column: Any = frame["a"]
    if library == "polars":
        column = pl.from_pandas(frame)["a"]
    if library == "numpy":
        column = np.ma.MaskedArray(
            frame["a"].to_numpy(column.dtype.numpy_dtype, na_value=0), frame["a"].isna()
        )
    if library == "objects":
        column = frame["a"].astype(object)
    words = (
        r'row 2, column "a": the value is missing, but only float .*\nhint: fill the '
        r'missing values with fill=\{"a": 0\}'
    )
    with pytest.raises(tensorcache.SourceError, match=words):
        cache.put("bad", {"t": frame["t"], "a": column}, time="t")
    data = cache.put("good", {"t": frame["t"], "a": column}, time="t", fill={"a": 1})
    assert data["a"].tolist() == [1, 1, 0]
    more = cache.append("good", {"t": [4, 5], "a": column[1:]})
    assert more["a"].tolist() == [1, 1, 0, 1, 0]


def test_masked_tensors_and_texts(cache: tensorcache.Cache) -> None:
    mask = [[False, False], [False, True], [True, True]]
    columns = {
        "n": np.ma.MaskedArray([[1, 2], [3, 4], [5, 6]], mask),
        "f": np.ma.MaskedArray([[1.5, 2], [3, 4], [5, 6]], mask),
        "w": np.ma.MaskedArray(["x", "y", "z"], [False, True, False]),
        "whole": np.ma.MaskedArray([1, 2, 3]),
    }
    data = cache.put("masked", columns, fill={"n": -1})
    assert data["n"].tolist() == [[1, 2], [3, -1], [-1, -1]]
    np.testing.assert_array_equal(data["f"], [[1.5, 2], [3, np.nan], [np.nan, np.nan]])
    assert data["w"].tolist() == [0, -1, 1]
    assert data["whole"].dtype == np.int64
    with pytest.raises(tensorcache.SourceError, match='row 2, column "n": the value is missing'):
        cache.put("masked", columns)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            [-1, 2**63 + 1],
            'row 2, column "a": 9223372036854775809 does not fit float64, as its other numbers',
        ),
        (
            [0.5, None, 2**53 + 1],
            'row 3, column "a": 9007199254740993 does not fit float64, as its other numbers',
        ),
        (
            [np.array([1, 2]), np.array([3])],
            r'row 2, column "a": the list has 1 value, but that of row 1 has 2',
        ),
        (["x", np.array([1, 2])], r'row 2, column "a": array\(\[1, 2\]\) is no text'),
        (
            [decimal.Decimal("1.5"), decimal.Decimal("sNaN")],
            r'row 2, column "a": Decimal\(.sNaN.\) is no number',
        ),
        ([decimal.Decimal("1.5"), "x"], r'row 1, column "a": Decimal\(.1.5.\) is no text, but "x"'),
        ([datetime.datetime(2020, 1, 1), "x"], 'row 2, column "a": "x" is a text, but .* a time'),
        (
            [datetime.date(2020, 1, 1), None, "x"],
            'row 3, column "a": "x" is a text, but the value of row 1 is a time',
        ),
        ([datetime.timedelta(1), "x"], 'row 2, column "a": "x" is a text, but .* a duration'),
        ([datetime.time(1), "x"], 'row 2, column "a": "x" is a text, but .* a time of the day'),
        ([datetime.time(1), None], 'row 2, column "a": NaT is no time'),
        (pl.Series([datetime.time(1), None]), 'row 2, column "a": NaT is no time'),
        (
            pl.Series([[1, 2], [3]]),
            r'(?s)column "a" is List\(Int64\), which is not read.*pl\.Array',
        ),
        (
            pl.Series([{"x": 1}, {"x": 2}]),
            r'(?s)column "a" is Struct\(.*\), which is not read.*unnest',
        ),
        (
            pl.Series([1, 2], dtype=pl.Int128),
            r'(?s)column "a" is Int128, which is not read.*pl\.Int64',
        ),
    ],
)
def test_objects_that_are_no_column_are_refused(
    cache: tensorcache.Cache, values: Any, words: str
) -> None:
    if isinstance(values, list):
        objects = np.empty(len(values), object)
        objects[:] = values
        values = objects
    with pytest.raises(tensorcache.SourceError, match=words):
        cache.put("bad", {"a": values})


def test_nullable_columns_of_arrow_in_pandas(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame(
        {"a": pd.array([True, None], "bool[pyarrow]"), "b": pd.array([7, None], "int8[pyarrow]")}
    )
    data = cache.put("arrow", {name: frame[name] for name in frame}, fill={"a": 1, "b": -1})
    assert data["a"].tolist() == [1, 1]
    assert data["b"].tolist() == [7, -1]


def test_truth_values_are_filled_with_such_alone(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"a": pd.array([True, None], "boolean"), "b": [1.0, None]})
    with pytest.raises(
        tensorcache.SpecError,
        match='fill: "a": want 0, 1, forward or backward for a column of booleans',
    ):
        cache.put("truth", frame, fill={"a": "mean"})
    with pytest.raises(
        tensorcache.SourceError,
        match=r'row 2, column "a": the value is missing.*\n.*fill=\{"a": 0\}',
    ):
        cache.put("truth", frame, fill="mean")  # mean applies to numbers only
    with pytest.raises(
        tensorcache.SourceError,
        match=r'row 2, column "a": .* backward finds none.*\n.*fill=\{"a": 0\}',
    ):
        cache.put("truth", frame, fill="backward")  # no hint of linear, which is for numbers
    assert cache.put("truth", frame, fill={"a": 1, "*": "mean"})["a"].tolist() == [True, True]


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        (datetime.timezone(datetime.timedelta(hours=5, minutes=30)), "+05:30"),
        (datetime.timezone(datetime.timedelta(0)), "UTC"),
    ],
)
def test_zones_of_frames_are_kept(cache: tensorcache.Cache, zone: Any, name: str) -> None:
    times = pd.Series(pd.date_range("2020-03-29", periods=5, freq="h", tz=zone))
    frame = pd.DataFrame({"t": times, "a": np.arange(5.0)})
    frames: list[Any] = [frame, pa.Table.from_pandas(frame)] + (
        [pl.from_pandas(frame)] if name[0] != "+" else []
    )
    for columns in frames:
        data = cache.put("zoned", columns, time="t", calendar="hour")
        assert data.manifest["columns"][0]["zone"] == name
        np.testing.assert_array_equal(data["hour"], times.dt.hour)
