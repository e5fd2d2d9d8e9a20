"""Files of pyarrow, Polars, DuckDB and fastparquet in the types, encodings and codecs they offer.

The reference is what pyarrow reads from the same file, bit for bit. The daemon refuses LZ4, and the
error names an alternative.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tensorcache
import test_types

pytestmark = pytest.mark.portable

CODECS = ["none", "snappy", "gzip", "zstd", "brotli", "lz4"]
ROWS = 500


def same_or_refused(
    cache: tensorcache.Cache, path: Path, codec: str, other: pa.Table | None = None
) -> None:
    """Check the loaded values against pyarrow or another reader, or check the refusal of LZ4."""
    if codec.startswith("lz4"):
        with pytest.raises(
            tensorcache.SourceError, match=r"(?is)x\.parquet.*lz4.*hint: .*(zstd|snappy)"
        ):
            cache.load("writers", path)
        return
    test_types.check(cache.load("writers", path), pq.read_table(path) if other is None else other)


def encodings_of(kind: pa.DataType) -> list[str]:
    """Return the encodings other than dictionary in which pyarrow can write a type."""
    if pa.types.is_boolean(kind):
        return ["PLAIN", "RLE"]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
    if pa.types.is_float16(kind) or pa.types.is_decimal(kind):
        return ["PLAIN", "BYTE_STREAM_SPLIT"]
    if pa.types.is_floating(kind):
        return ["PLAIN", "BYTE_STREAM_SPLIT"]
    return ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]


@pytest.mark.parametrize("pages", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", CODECS)
def test_pyarrow(cache: tensorcache.Cache, tmp_path: Path, codec: str, pages: str) -> None:
    flat = (k for k in test_types.FLAT if not pa.types.is_dictionary(k))
    kinds = [k for k in flat if not pa.types.is_decimal(k) or k.scale >= 0]  # not in Parquet
    for turn in range(4) if codec == "snappy" else (int(pages[0]), 3):
        table = test_types.table_of(kinds, ROWS, seed=turn)
        encodings = {
            n: (e := encodings_of(k))[turn % len(e)]
            for n, k in zip(table.column_names, kinds, strict=True)
        }
        options: dict[str, Any] = {"use_dictionary": True}
        if turn < 3:
            options = {"use_dictionary": False, "column_encoding": encodings}
        pq.write_table(
            table,
            tmp_path / "x.parquet",
            compression=codec,
            data_page_version=pages,
            data_page_size=700,
            row_group_size=300,
            write_page_checksum=turn % 2 == 0,
            store_schema=turn > 0,  # the Arrow schema has the durations and zones
            **options,
        )
        same_or_refused(cache, tmp_path / "x.parquet", codec)


def plain(rows: int = ROWS) -> pl.DataFrame:
    """Return columns of the types that every writer has; some types have no nulls.

    A dataset cannot store nulls of those types.
    """
    rng = np.random.default_rng(7)
    columns: dict[str, Any] = {
        f"{kind}": rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, rows, dtype=kind)
        for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    }
    columns["f4"], columns["f8"] = rng.normal(size=rows).astype("f4"), rng.normal(size=rows)
    columns["few"] = np.repeat([1.5, -0.0, np.inf, np.nan], rows // 4)
    columns["hole"] = [None if i % 3 == 0 else i / 7 for i in range(rows)]
    columns["gone"] = pl.Series([None] * rows, dtype=pl.Float32)
    columns["bool"] = rng.random(rows) < 0.5
    columns["true"] = np.ones(rows, bool)
    columns["text"] = [["a", "ünï", "a longer word than twelve bytes"][i % 3] for i in range(rows)]
    columns["t"] = pl.Series(np.arange(rows) * 10**9 + 1).cast(pl.Datetime("us"))
    return pl.DataFrame(columns)


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_polars(cache: tensorcache.Cache, tmp_path: Path, codec: Any) -> None:
    frame = plain().with_columns(day=pl.col("t").cast(pl.Date))
    for size in (None, 800):
        frame.write_parquet(
            tmp_path / "x.parquet", compression=codec, row_group_size=200, data_page_size=size
        )
        same_or_refused(cache, tmp_path / "x.parquet", codec)


def test_durations_and_zones_of_polars(cache: tensorcache.Cache, tmp_path: Path) -> None:
    """Durations and zones are those of Polars, although Parquet's own types are integer and UTC."""
    times = pl.Series("t", [1, 2], pl.Datetime("ms")).dt.replace_time_zone("America/St_Johns")
    frame = pl.DataFrame({"d": pl.Series([3, -4], dtype=pl.Duration("us")), "z": times})
    frame.write_parquet(tmp_path / "x.parquet")
    data = cache.load("polars", tmp_path / "x.parquet")
    test_types.check(data, frame.to_arrow())
    assert data["d"].dtype == "timedelta64[us]"


def test_columns_of_nulls(cache: tensorcache.Cache, tmp_path: Path) -> None:
    """A column of None becomes NaN, not an integer, from every writer and from Arrow."""
    frame, of_polars = (
        of({"v": [1.0, 2.0, 3.0], "n": [None] * 3}) for of in (pd.DataFrame, pl.DataFrame)
    )
    table, path, stream = pa.Table.from_pandas(frame), tmp_path / "x.parquet", tmp_path / "x.arrow"
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    for write in (
        lambda: frame.to_parquet(path),
        lambda: pq.write_table(
            table, path, row_group_size=2, data_page_version="2.0", compression="zstd"
        ),
        lambda: of_polars.write_parquet(path),
    ):
        write()
        assert pa.types.is_null(pq.read_schema(path).field("n").type)
        for source in (path, stream):
            data = cache.load("nulls", source, columns=["n"])
            assert data["n"].dtype == np.float64
            assert np.isnan(data["n"]).all()
            assert cache.load("nulls", source, columns=["n"], dtype={"n": "int8"}, fill=7)[
                "n"
            ].tolist() == [7, 7, 7]
            with pytest.raises(
                tensorcache.SourceError,
                match=r'row 1, column "n": the value is missing(?s:.*)fill=\{"n": 0\}',
            ):
                cache.load("nulls", source, columns=["n"], dtype={"n": "int8"})
            with pytest.raises(tensorcache.SourceError, match="holds integers or text, not null"):
                cache.load("nulls", source, item_id="n")
    objects = np.array([None] * 3)
    for untyped in (
        of_polars,
        table,
        frame,
        {"n": [None] * 3},
        {"n": objects},
        {"n": np.array([None, np.nan, pd.NA])},
        {"n": np.ma.MaskedArray(objects, True)},
    ):
        data = cache.put("nulls", untyped)
        assert data["n"].dtype == np.float64
        assert np.isnan(data["n"]).all()
    for typed in (
        pl.DataFrame({"n": pl.Series([None] * 3, dtype=pl.String)}),
        pd.DataFrame({"n": pd.array([None] * 3, dtype="string")}),
        pa.table({"n": pa.array([None] * 3, pa.string())}),
        {"n": np.ma.MaskedArray(np.array(["a"] * 3), True)},
    ):
        data = cache.put("nulls", typed)
        assert data["n"].tolist() == [-1, -1, -1]
        assert len(data.vocab("n")) == 0


@pytest.mark.parametrize("version", ["V1", "V2"])
@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"])
def test_duckdb(cache: tensorcache.Cache, tmp_path: Path, codec: str, version: str) -> None:
    frame = plain()  # DuckDB finds this variable by its name
    to = tmp_path / "x.parquet"
    options = f"FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version}, ROW_GROUP_SIZE 2048"
    duckdb.sql(
        f"COPY (SELECT *, CAST(int16 / 7 AS DECIMAL(9, 3)) AS dec FROM frame) TO '{to}' ({options})"
    )
    if version == "V2" and not codec.startswith("lz4"):
        # DuckDB writes differences of 32-bit integers that may need more than 32 bits. pyarrow
        # fails to read them, and parquet-go reads wrong values.
        with pytest.raises(
            tensorcache.SourceError, match=r'(?s)column "int32": has differences.*hint: .*V1'
        ):
            cache.load("writers", to)
        frame = frame.with_columns(pl.col("int32") // 3, pl.col("uint32") // 3)
        duckdb.sql(f"COPY (SELECT * FROM frame) TO '{to}' ({options})")
    same_or_refused(cache, to, codec)


@pytest.mark.parametrize("codec", ["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "BROTLI", "LZ4_RAW"])
def test_fastparquet(cache: tensorcache.Cache, tmp_path: Path, codec: str) -> None:
    frame = pd.DataFrame({name: column.to_numpy() for name, column in plain().to_dict().items()})
    frame["text"] = frame["text"].astype(object)
    for nulls in (False, True):
        options = {
            "has_nulls": nulls,
            "row_group_offsets": 200,
            "object_encoding": {"text": "utf8"},
        }
        fastparquet.write(
            str(tmp_path / "x.parquet"), frame, compression=codec, write_index=False, **options
        )
        same_or_refused(cache, tmp_path / "x.parquet", codec.lower())
