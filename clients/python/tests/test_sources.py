"""Text dialects, compression and folders as sources, against pandas and pyarrow."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import dataset, feather, ipc

import tensorcache
from cases import examples

pytestmark = pytest.mark.portable


@given(
    rows=st.lists(
        st.tuples(
            st.integers(-(2**53), 2**53).filter(lambda v: v != -999),
            st.one_of(st.none(), st.floats(allow_nan=False, width=32).filter(lambda v: v != -999)),
        ),
        min_size=2,
        max_size=20,
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|", " "]),
    decimal=st.sampled_from([".", ","]),
    word=st.sampled_from(["-", "n/a", "-999"]),
    header=st.booleans(),
    packed=st.booleans(),
)
@examples(60)
def test_dialects_are_read_as_pandas_reads_them(
    cache: tensorcache.Cache,
    tmp_path: Path,
    rows: list[tuple[int, float | None]],
    delimiter: str,
    decimal: str,
    word: str,
    header: bool,
    packed: bool,
) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b"]).astype({"b": "float64"})
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    frame.to_csv(path, index=False, header=header, sep=delimiter, decimal=decimal, na_rep=word)
    if delimiter == decimal:
        with pytest.raises(
            tensorcache.SpecError, match='decimal: ",": want another sign than the delimiter'
        ):
            cache.load("dialect", path, delimiter=delimiter, decimal=decimal)
        return
    data = cache.load(
        "dialect", path, delimiter=delimiter, decimal=decimal, no_header=not header, na=[word]
    )
    want = pd.read_csv(
        path, sep=delimiter, decimal=decimal, na_values=[word], header=0 if header else None
    )
    assert list(data.columns) == (["a", "b"] if header else ["c0", "c1"])
    for at, name in enumerate(data.columns):
        # The load returns the written values, bit for bit.
        np.testing.assert_array_equal(data[name], frame.iloc[:, at].to_numpy())
        # pandas may round differently.
        np.testing.assert_allclose(data[name], want.iloc[:, at].to_numpy(), rtol=1e-15)


def test_a_number_can_stand_for_no_value(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n-999,1\n2,-999\n-999.0, -999 \n")
    data = cache.load("sentinel", path, na="-999")
    np.testing.assert_array_equal(data["a"], [np.nan, 2, -999])
    np.testing.assert_array_equal(data["b"], [1, np.nan, np.nan])


def test_bad_dialects_are_refused(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a;b\n1;2\n")
    for options, message in (
        ({"delimiter": "ab"}, 'delimiter: "ab": want one sign'),
        ({"delimiter": '"'}, "want one sign"),
        ({"decimal": ";"}, 'decimal: ";": want . or ,'),
        ({"na": [""]}, "na: want words without blanks around them"),
        ({"na": ["x", "x"]}, 'na: "x": want each word once'),
    ):
        with pytest.raises(tensorcache.SpecError, match=message):
            cache.load("refused", path, **options)


def test_compressed_text_that_is_cut_off_is_refused(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"1\n2\n" * 1000)[:-9])
    with pytest.raises(
        tensorcache.SourceError, match=r"x\.csv\.gz: is cut off: its gzip data does not end"
    ):
        cache.load("cut", path)


def test_partitioned_folders_are_what_pyarrow_reads(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    frame = pd.DataFrame(
        {
            "shop": np.repeat(["b a", "ä/ö", "c=d", "7"], 25),
            "year": np.tile(np.repeat([2020, 2021, 2022, 2023, 2024], 5), 4),
            "t": np.tile(np.arange(25), 4),
            "v": np.random.default_rng(0).normal(size=100),
        }
    )
    for kind in ("parquet", "csv"):
        root = tmp_path / kind
        options = {"partitioning": ["shop", "year"], "partitioning_flavor": "hive"}
        dataset.write_dataset(
            pa.Table.from_pandas(frame, preserve_index=False), root, format=kind, **options
        )
        want = dataset.dataset(root, format=kind, partitioning="hive").to_table().to_pandas()
        data = cache.load(f"partitioned-{kind}", root, item_id="shop", time="t", sort=True)
        assert set(data.columns) == {"shop", "year", "t", "v"}
        got = pd.DataFrame({name: data[name] for name in ("year", "t", "v")})
        got["shop"] = data.vocab("shop").decode(data["shop"])
        order = ["shop", "t"]
        pd.testing.assert_frame_equal(
            got.sort_values(order, ignore_index=True)[["shop", "year", "t", "v"]],
            want.sort_values(order, ignore_index=True)[["shop", "year", "t", "v"]],
            check_dtype=False,
            check_exact=kind == "parquet",
        )


def test_patterns(
    cache: tensorcache.Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b.csv", "a.csv", "c[1].csv", ".d.csv"):
        (tmp_path / name).write_text(f"v\n{len(name)}\n")
    monkeypatch.chdir(tmp_path)
    assert cache.load("pattern", "*.csv")["v"].tolist() == [5, 5, 8]
    assert cache.load("pattern", "c[1].csv")["v"].tolist() == [8], (
        "a file of that name goes before a pattern"
    )
    assert cache.load("pattern", [tmp_path / "[ab].csv", "a.csv"])["v"].tolist() == [5, 5, 5]
    with pytest.raises(tensorcache.SourceError, match=r'sources: no file matches "x\*\.csv"'):
        cache.load("pattern", "x*.csv")


def arrow_table(rows: int) -> pa.Table:
    """Return a table with a column of every type that a load reads."""
    draw = np.random.default_rng(rows)
    whole = draw.integers(0, 100, rows)
    floats = draw.normal(size=rows)
    missing = draw.random(rows) < 0.2
    columns = {
        "id": pa.array([f"item {i}" for i in np.sort(whole) // 10]),
        "word": pa.array(["x"] * rows).dictionary_encode(),
        **{
            str(t): pa.array(whole.astype(np.int64)).cast(t)
            for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64())
        },
        **{
            str(t): pa.array(whole.astype(np.int64)).cast(t)
            for t in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
        },
        "float": pa.array(floats.astype(np.float32), mask=missing),
        "double": pa.array(floats, mask=missing),
        "bool": pa.array(whole % 2 == 0),
        "date": pa.array(whole.astype("datetime64[D]")),
        **{
            f"time_{u}": pa.array(whole.astype("datetime64[s]")).cast(pa.timestamp(u))
            for u in ("s", "ms", "us", "ns")
        },
        "list": pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(floats, 3)), 3),
    }
    return pa.table(columns)


def same_as_arrow(data: tensorcache.Dataset, table: pa.Table) -> None:
    """Compare every column with the table's."""
    assert set(data.columns) == set(table.column_names)
    for name in table.column_names:
        want = table[name].combine_chunks()
        if name in ("id", "word"):
            assert (
                data.vocab(name).decode(data[name]).tolist() == want.cast(pa.string()).to_pylist()
            )
        elif name == "list":
            np.testing.assert_array_equal(data[name], np.stack(want.to_numpy(zero_copy_only=False)))
        else:
            np.testing.assert_array_equal(data[name], want.to_numpy(zero_copy_only=False))


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("kind", ["feather", "file", "stream"])
def test_arrow_files_are_what_pyarrow_reads(
    cache: tensorcache.Cache, tmp_path: Path, kind: str, compression: str
) -> None:
    table = arrow_table(997)
    path = tmp_path / ("x.arrows" if kind == "stream" else "x.arrow")
    if kind == "feather":
        feather.write_feather(table, path, compression=compression, chunksize=100)
    else:
        options = ipc.IpcWriteOptions(
            compression=None if compression == "uncompressed" else compression
        )
        open_writer = ipc.new_stream if kind == "stream" else ipc.new_file
        with open_writer(path, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=250)
    same_as_arrow(cache.load(f"arrow-{kind}", path, item_id=["id", "word"]), table)


def test_arrow_streams_of_polars(cache: tensorcache.Cache, tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.5, None, 3.0], "b": [1, 2, 3], "id": ["x", "x", "y"]})
    path = tmp_path / "x.arrows"
    for compression in ("uncompressed", "zstd", "lz4"):
        frame.write_ipc_stream(path, compression=compression)
        data = cache.load("polars", path, item_id="id")
        np.testing.assert_array_equal(data["a"], [1.5, np.nan, 3])
        assert data["b"].tolist() == [1, 2, 3]
        assert list(data.items) == ["x", "y"]


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_arrow_files_of_polars(cache: tensorcache.Cache, tmp_path: Path, compression: Any) -> None:
    rows = 1000
    frame = pl.DataFrame(
        {
            "id": pl.Series(np.repeat(["x", "a longer name than twelve"], rows // 2)),
            "kind": pl.Series(["u", "v"] * (rows // 2), dtype=pl.Categorical),
            "t": pl.Series(np.tile(np.arange(rows // 2), 2)),
            "a": pl.Series(np.random.default_rng(0).normal(size=rows)),
            "hole": pl.Series([None if i % 7 == 0 else float(i) for i in range(rows)]),
        }
    )
    for compat in (None, pl.CompatLevel.oldest()):
        frame.write_ipc(tmp_path / "x.arrow", compression=compression, compat_level=compat)
        data = cache.load(
            "polars-file",
            tmp_path / "x.arrow",
            item_id="id",
            time="t",
            columns=["a", "hole", "kind"],
        )
        np.testing.assert_array_equal(data["a"], frame["a"].to_numpy())
        np.testing.assert_array_equal(data["hole"], frame["hole"].to_numpy())
        assert list(data.items) == ["x", "a longer name than twelve"]


@given(
    times=st.lists(
        st.datetimes(pd.Timestamp("1970-01-01"), pd.Timestamp("2068-12-31")),
        min_size=2,
        max_size=20,
        unique=True,
    ),
    form=st.sampled_from(
        ["%d/%m/%Y %H:%M:%S.%f", "%m/%d/%y %I:%M:%S %p", "%Y%m%d%H%M%S", "%d %B %Y, %H:%M", "%j/%Y"]
    ),
)
@examples(60)
def test_times_are_what_pandas_makes_of_the_same_format(
    cache: tensorcache.Cache, tmp_path: Path, times: list[datetime.datetime], form: str
) -> None:
    cells = sorted({datetime.datetime.strptime(t.strftime(form), form) for t in times})
    path = tmp_path / "x.csv"
    path.write_text("t;a\n" + "".join(f"{t.strftime(form)};1\n" for t in cells))
    data = cache.load("formats", path, time="t", time_format=form, delimiter=";")
    want = pd.to_datetime(pd.read_csv(path, sep=";", dtype=str)["t"], format=form).to_numpy()
    np.testing.assert_array_equal(data["t"], want.astype(data["t"].dtype))
    assert want.tolist() == data["t"].astype(want.dtype).tolist()
