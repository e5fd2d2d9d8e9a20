"""Arrays of this process are put into the cache and read back."""

from __future__ import annotations

import datetime
import decimal
import socket
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tensorcache
from tensorcache._load import arrow
from tensorcache._load.steps_of import StoredColumns

pytestmark = pytest.mark.portable

LAYOUTS = ["columns", "packed"]
ROWS = 1000


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    """Return one column of every dtype, and one of several features."""
    rng = np.random.default_rng(7)
    return {
        "id": np.repeat(np.array(["north", "süd", "east", "w"]), ROWS // 4),
        "t": np.tile(
            np.datetime64("2020-01-01T00:00", "s") + np.arange(ROWS // 4) * np.timedelta64(60, "s"),
            4,
        ),
        "f4": rng.normal(size=ROWS).astype(np.float32),
        "f8": rng.normal(size=ROWS),
        "i4": rng.integers(-(2**31), 2**31, ROWS, dtype=np.int32),
        "i8": rng.integers(-(2**63), 2**63 - 1, ROWS, dtype=np.int64),
        "b": rng.random(ROWS) < 0.5,
        "f2": rng.normal(size=ROWS).astype(np.float16),
        "i1": rng.integers(-(2**7), 2**7, ROWS, dtype=np.int8),
        "i2": rng.integers(-(2**15), 2**15, ROWS, dtype=np.int16),
        "u1": rng.integers(0, 2**8, ROWS, dtype=np.uint8),
        "u2": rng.integers(0, 2**16, ROWS, dtype=np.uint16),
        "u4": rng.integers(0, 2**32, ROWS, dtype=np.uint32),
        "u8": rng.integers(0, 2**64 - 1, ROWS, dtype=np.uint64),
        "gone": rng.integers(-1000, 1000, ROWS).astype("timedelta64[ms]"),
        "many": rng.normal(size=(ROWS, 3)).astype(np.float32),
        "counts": rng.integers(0, 2**16, (ROWS, 2), dtype=np.uint16),
        "sector": np.where(rng.random(ROWS) < 0.5, "tech", "food"),
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_dtype_comes_back_as_it_went(cache: tensorcache.Cache, layout: str) -> None:
    given = arrays()
    data = cache.put(f"round-{layout}", given, item_id="id", time="t", layout=layout)
    assert data.columns == tuple(given)
    assert data.layout == layout
    for name, array in given.items():
        if array.dtype.kind == "U":
            assert data[name].dtype == np.int32
            assert data.vocab(name).decode(data[name]).tolist() == array.tolist()
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
        (np.arange(4, dtype=">f8"), "float64"),
        (np.arange(4, dtype=">u2"), "uint16"),
        (np.arange(8, dtype=np.float64)[::2], "float64"),
        ([1, 2, 3, 4], "int64"),
        ([1.5, 2, 3, 4], "float64"),
        (pd.Series([1.5, 2, 3, 4]), "float64"),
        (pl.Series([1.5, 2, 3, 4]), "float64"),
        (np.arange(4).astype("datetime64[D]"), "datetime64[s]"),
        (np.arange(4).astype("datetime64[ns]"), "datetime64[ns]"),
        (np.arange(4).astype("datetime64[15m]"), "datetime64[s]"),
        (np.arange(4).astype("timedelta64[h]"), "timedelta64[s]"),
        (np.arange(4).astype("timedelta64[5us]"), "timedelta64[us]"),
        (pd.date_range("2020", periods=4, tz="Europe/Berlin", unit="ms"), "datetime64[ms]"),
        (pd.Series([1, 2, 250], dtype="UInt8"), "uint8"),
        (pd.Series([True, False], dtype="boolean"), "bool"),
        (pl.Series([datetime.timedelta(seconds=1)]), "timedelta64[us]"),
        (pl.Series([datetime.date(2020, 1, 2)]), "datetime64[s]"),
        ([datetime.date(2020, 1, 2), datetime.date(1969, 1, 2)], "datetime64[s]"),
        ([datetime.datetime(2020, 1, 2, 3, 4, 5, 6)], "datetime64[us]"),
        ([datetime.timedelta(microseconds=-7)], "timedelta64[us]"),
    ],
)
def test_what_numpy_understands_is_stored_without_loss(
    cache: tensorcache.Cache, given: Any, stored: str
) -> None:
    data = cache.put("kinds", {"v": given})
    assert data["v"].dtype == stored
    want = given
    if getattr(getattr(given, "dtype", None), "tz", None) is not None:
        want = given.tz_convert(None)
    np.testing.assert_array_equal(data["v"], np.asarray(want).astype(stored))


def test_what_is_missing_stays_missing(cache: tensorcache.Cache) -> None:
    given = {
        "f": pd.Series([1.5, None], dtype="Float32"),
        "d": [decimal.Decimal("0.1"), None],
        "w": ["x", None],
        "p": pd.Series(["x", None], dtype="string"),
        "c": pd.Categorical(["x", None]),
        "l": pl.Series(["x", None], dtype=pl.Categorical),
    }
    data = cache.put("missing", given)
    assert data["f"].dtype == np.float32
    np.testing.assert_array_equal(data["f"], np.array([1.5, np.nan], np.float32))
    np.testing.assert_array_equal(data["d"], [0.1, np.nan])
    for name in "wpcl":
        assert data[name].tolist() == [0, -1]
        assert list(data.vocab(name)) == ["x"]
        assert data.vocab(name).decode(data[name]).tolist() == ["x", None]


@pytest.mark.filterwarnings("ignore:column .* delivers integers beyond")
def test_windows_of_every_dtype(cache: tensorcache.Cache) -> None:
    given = arrays()
    numbers = [name for name, array in given.items() if name != "id" and array.dtype.kind in "biuf"]
    for layout in LAYOUTS:
        data = cache.put(f"all-{layout}", given, item_id="id", time="t", layout=layout)
        windows = data.windows(context_length=5, prediction_length=2)
        first = np.column_stack(
            [given[name][:5].reshape(5, -1).astype(np.float32) for name in numbers]
        )
        np.testing.assert_array_equal(windows[0].context, first)
        with windows.feed(batch_size=2) as feed:
            np.testing.assert_array_equal(next(iter(feed)).context[0], first)
        for name in [*numbers, "gone", "sector"]:
            stored = data.windows(context_length=5, prediction_length=2, columns=[name], dtype=None)
            want = data[name][:5].reshape(5, -1)
            want = want.view(np.int64) if name == "gone" else want
            batch = next(iter(stored.feed(batch_size=1)))
            assert batch.context.dtype == stored[0].context.dtype == want.dtype
            np.testing.assert_array_equal(batch.context[0], want)
            np.testing.assert_array_equal(stored[0].context, want)


def test_data_frames(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"id": ["a", "a", "b"], "t": [1, 2, 1], "v": [0.5, 1.5, 2.5]})
    for given in (frame, pl.from_pandas(frame)):
        data = cache.put("frame", given, item_id="id", time="t")
        assert data["v"].tolist() == [0.5, 1.5, 2.5]
        assert list(data.items) == ["a", "b"]


TABLES = {
    "pyarrow": pa.Table.from_pandas,
    "pyarrow's reader": lambda frame: pa.Table.from_pandas(frame).to_reader(max_chunksize=2),
    "pyarrow's batch": pa.RecordBatch.from_pandas,
    "DuckDB": lambda frame: duckdb.sql("select * from frame order by id, t"),
}


@pytest.mark.parametrize("table", TABLES)
def test_tables_that_speak_arrow(cache: tensorcache.Cache, table: str) -> None:
    frame = pd.DataFrame(
        {"id": ["a", "a", "b"], "t": [1, 2, 1], "v": [0.5, None, 2.5], "n": [1, 2, 3]}
    )
    data = cache.put("table", TABLES[table](frame), item_id="id", time="t")
    np.testing.assert_array_equal(data["v"], frame.v)
    assert data["n"].tolist() == [1, 2, 3]
    assert list(data.items) == ["a", "b"]
    newer = cache.append("table", TABLES[table](frame.assign(t=frame.t + 2)))
    assert newer["t"].tolist() == [1, 2, 3, 4, 1, 3]
    with pytest.raises(tensorcache.NotFoundError, match="near: t"):
        cache.put("bad", TABLES[table](frame), time="tt")
    with pytest.raises(tensorcache.SourceError, match=r"time 1 .*comes after"):
        cache.put("bad", TABLES[table](frame), time="t")


def test_a_table_that_breaks_off_has_no_end_mark() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"v": [1.0]})
        raise OSError("the source is gone")

    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(OSError, match="the source is gone"):
            reader = pa.RecordBatchReader.from_batches(pa.schema({"v": pa.float64()}), batches())
            arrow.send(ours, reader, StoredColumns(""))
        ours.close()
        sent = theirs.makefile("rb").read()
    with pa.ipc.open_stream(sent) as stream:
        assert stream.read_next_batch().num_rows == 1
    assert not sent.endswith(b"\xff\xff\xff\xff\0\0\0\0")


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
        ({"a": [1, 2], "b": [1]}, 'column "b" and "a" differ in rows: 1 and 2'),
        ({"a": np.zeros((2, 2, 2))}, r'column "a" has shape \[2, 2, 2\]'),
        ({"a": 5}, 'column "a" is 5, want one value, or one row of values'),
        ({"a": [1 + 2j]}, 'column "a" is complex128'),
        ({"a": ["x", {}]}, 'row 2, column "a": {} is no text\nhint: give an array'),
        ({"a": np.zeros(1, np.longdouble)}, 'column "a" is float128'),
        ({"a": pd.Series([1, None], dtype="Int8")}, 'row 2, column "a": the value is missing'),
        (
            {"a": np.zeros(1, "M8[ps]")},
            r'(?s)column "a" is datetime64\[ps\], want a unit.*astype\("datetime64\[ns\]"\)',
        ),
        (
            {"a": np.zeros(1, "m8[M]")},
            r'(?s)column "a" is timedelta64\[M\], want a unit.*astype\("timedelta64\[ns\]"\)',
        ),
        (
            {"a": np.array([1, 2**55], "M8[D]")},
            r'row 2, column "a": 36028797018963968 in datetime64\[D\] does not fit 64',
        ),
        (
            {"a": np.array([[1, 1], [1, 2**55]], "m8[D]")},
            r'row 2, column "a": 36028797018963968 in timedelta64\[D\]',
        ),
        ({"a": ["x", "\ud800"]}, r"""row 2, column "a": '\\ud800' is not Unicode"""),
        ({"a": np.array(["x", "\ud800"])}, 'row 2, column "a": .* half of a surrogate pair'),
        (
            {"a": [datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)]},
            "(?s)row 1.*is a time with a zone, which.*pd.to_datetime",
        ),
        (pd.Series([1, 2]), "want a mapping"),
        ({"a": np.array(["NaT"], "timedelta64[s]")}, 'row 1, column "a": NaT'),
        ({"a": [[1], [1, 2]]}, 'row 2, column "a": the list has 2 values, but that of row 1'),
        ({"a": np.array(["2020", "NaT"], "datetime64[s]")}, 'row 2, column "a": NaT'),
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
