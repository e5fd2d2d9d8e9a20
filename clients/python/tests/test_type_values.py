"""Columns of types that numpy lacks or has differently: text, dates, times of day, lists."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import tensorcache

pytestmark = pytest.mark.portable


def test_text_in_csv_becomes_codes(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("t,sector,v\n1,tech,1.5\n2,,2.5\n3,food,3.5\n4,tech,4.5\n")
    data = cache.load("sectors", path, time="t")
    assert data["sector"].tolist() == [0, -1, 1, 0]
    assert list(data.vocab("sector")) == ["tech", "food"]
    windows = data.windows(context_length=2, prediction_length=1)
    # Windows have text columns only if the spec names them.
    assert windows[0].context.tolist() == [[1.5], [2.5]]
    known = data.windows(context_length=2, prediction_length=1, known_columns=["sector"])
    assert known[0].known.tolist() == [[0], [-1], [1]]
    assert next(iter(known.feed(batch_size=1))).known.tolist() == [[[0], [-1], [1]]]
    again = tmp_path / "y.csv"
    again.write_text(path.read_text().replace("food", "wood"))
    assert cache.load("sectors2", again, time="t").digest != data.digest


def test_dates_of_python_have_their_times(cache: tensorcache.Cache) -> None:
    data = cache.put(
        "dates",
        {"t": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], "v": [1, 2]},
        time="t",
    )
    assert data["t"].tolist() == [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)]


def test_times_of_the_day_are_durations(cache: tensorcache.Cache) -> None:
    """Times of day in Polars frames are durations in nanoseconds."""
    times = [datetime.time(0), datetime.time(23, 59, 59, 999_999), datetime.time(1, 2, 3)]
    frame = pl.DataFrame({"a": [*times[:2], None]}).with_columns(
        b=pl.lit(86_399_999_999_999).cast(pl.Time)
    )
    want = np.array([0, 86_399_999_999, 3_723_000_000], "timedelta64[us]")
    data = cache.put(
        "times", {"a": times, "b": frame["a"][:2].extend(pl.Series([times[2]])), "c": frame["b"]}
    )
    assert [data[name].dtype for name in "abc"] == [
        "timedelta64[us]",
        "timedelta64[ns]",
        "timedelta64[ns]",
    ]
    np.testing.assert_array_equal(data["a"], want)
    np.testing.assert_array_equal(data["b"], want)
    assert data["c"].astype(int).tolist() == [86_399_999_999_999] * 3
    with pytest.raises(tensorcache.SourceError, match='row 3, column "a": NaT is no time'):
        cache.put("times", frame)


def test_lists_that_are_missing_are_nan(cache: tensorcache.Cache, tmp_path: Path) -> None:
    """All values of a missing list are NaN, as pyarrow also reads them."""
    rng = np.random.default_rng(5)
    there = rng.random(3000) < 0.7
    rows = [rng.integers(0, 9, 2).tolist() if ok else None for ok in there]
    for kind in (pa.float16(), pa.float32(), pa.float64(), pa.decimal128(9, 2)):
        cells = pa.array(rng.integers(0, 9, 6000).astype(float)).cast(kind)
        table = pa.table({"a": pa.FixedSizeListArray.from_arrays(cells, 2, mask=pa.array(~there))})
        with ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
        want = np.where(there[:, None], cells.cast(pa.float64()).to_numpy().reshape(-1, 2), np.nan)
        for data in (
            cache.load("lists", tmp_path / "x.arrow"),
            cache.put("sent", table, layout="packed"),
        ):
            np.testing.assert_array_equal(data["a"], want.astype(data["a"].dtype))
    whole = pa.table({"a": pa.array(rows, pa.list_(pa.int16(), 2))})
    first = rows.index(None) + 1
    with pytest.raises(
        tensorcache.SourceError,
        match=rf'row {first}, column "a": the value is missing.*\n.*fill=\{{"a": 0\}}',
    ):
        cache.put("lists", whole)
    data = cache.put("lists", whole, fill=-1)
    assert data["a"].tolist() == [row or [-1, -1] for row in rows]


def test_a_type_that_is_newer_than_our_reader_is_named(cache: tensorcache.Cache) -> None:
    for kind in (pa.decimal32(5, 2), pa.list_(pa.decimal32(5, 2))):
        table = pa.table({"t": [1, 2], "d": pa.array([None, None], kind)})
        with pytest.raises(
            tensorcache.SourceError,
            match=r'column "d": is decimal32\(5, 2\), which is not read.*\n.*decimal128',
        ):
            cache.put("newer", table)


def test_dtype_for_all_floats_or_by_column(cache: tensorcache.Cache, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = {
        "a": rng.normal(size=500),
        "b": rng.integers(-100, 100, 500),
        "c": rng.normal(size=500),
    }
    table = pa.table(frame)
    with ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table)
    pq.write_table(table, tmp_path / "x.parquet")
    lines = [
        ",".join(map(repr, map(float, row))) if row else ""
        for row in zip(frame["a"], frame["c"], strict=True)
    ]
    csv = [
        f"{line.split(',')[0]},{b},{line.split(',')[1]}"
        for line, b in zip(lines, frame["b"], strict=True)
    ]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,c", *csv]) + "\n")
    for name in ("x.arrow", "x.parquet", "x.csv"):
        path = tmp_path / name
        data = cache.load("narrow", path, dtype=np.float32)
        assert [data[c].dtype for c in "abc"] == [np.float32, np.int64, np.float32]
        narrow = cache.load("narrow", path, dtype={"b": "int8", "c": np.float16, "*": "float32"})
        assert [narrow[c].dtype for c in "abc"] == [np.float32, np.int8, np.float16]
        for column, dtype in (("a", np.float32), ("b", np.int8), ("c", np.float16)):
            np.testing.assert_array_equal(narrow[column], frame[column].astype(dtype))
            reply = {c["name"]: c.get("dtype_error") for c in narrow.manifest["columns"]}[column]
            if column == "b":
                assert reply is None
                continue
            off = np.abs(frame[column].astype(dtype).astype(np.float64) - frame[column])
            assert reply["abs"] == off.max()
            assert reply["rel"] == pytest.approx((off / np.abs(frame[column])).max(), rel=1e-12)
        assert (
            cache.load("narrow", path, dtype={"c": "float16", "*": "float32", "b": "int8"}).digest
            == narrow.digest
        )
        with pytest.raises(
            tensorcache.SourceError, match=r'row \d+.*, column "a": "-?\d+\.\d+" does not fit int8'
        ):
            cache.load("bad", path, dtype={"a": "int8"})
    data = cache.put("narrow", frame, dtype={"a": "float16"})
    np.testing.assert_array_equal(data["a"], frame["a"].astype(np.float16))
    with pytest.raises(tensorcache.NotFoundError, match='dtype: no column is named "x"'):
        cache.put("bad", frame, dtype={"x": "int8"})
    with pytest.raises(tensorcache.SpecError, match="want a dtype"):
        cache.put("bad", frame, dtype={"a": object()})
