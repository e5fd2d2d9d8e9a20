"""All types of Parquet and Arrow, in files of pyarrow, against what pyarrow reads from them."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import ipc

import tensorcache
from cases import examples

INTEGERS = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
DECIMALS = [pa.decimal128(7, 2), pa.decimal128(17, 5), pa.decimal128(38, 20), pa.decimal128(10, -2)]
WORDS = ["", "tech", "ünïcödé", "a,b", "a much longer word than the others are, with room"]


def values(kind: pa.DataType, rows: int, rng: np.random.Generator) -> pa.Array:
    """Return random values of a type; some are null if a dataset can store nulls of the type."""
    gone = rng.random(rows) < rng.choice([0.0, 0.0, 0.3, 1.0])
    if pa.types.is_null(kind):
        return pa.nulls(rows)
    if pa.types.is_boolean(kind):
        return pa.array(rng.random(rows) < 0.5, kind)
    if pa.types.is_integer(kind):
        at = np.iinfo(kind.to_pandas_dtype())
        return pa.array(
            rng.integers(at.min, at.max, rows, dtype=kind.to_pandas_dtype(), endpoint=True), kind
        )
    if pa.types.is_floating(kind):
        wide = {2: np.uint16, 4: np.uint32, 8: np.uint64}[kind.byte_width]
        bits = rng.integers(0, np.iinfo(wide).max, rows, dtype=wide, endpoint=True).view(
            kind.to_pandas_dtype()
        )
        return pa.array(bits, kind, mask=gone)
    if pa.types.is_decimal(kind):
        digits = rng.integers(1, kind.precision, rows, endpoint=True).tolist()
        whole = [int.from_bytes(rng.bytes(32), "big") % 10**n * (-1) ** (n % 2) for n in digits]
        numbers = [decimal.Decimal(n).scaleb(-kind.scale, decimal.Context(80)) for n in whole]
        return pa.array(numbers, kind, mask=gone)
    if pa.types.is_dictionary(kind):
        places = pa.array(
            rng.integers(0, 5, rows),
            kind.index_type,
            mask=gone if pa.types.is_string(kind.value_type) else None,
        )
        words = WORDS if pa.types.is_string(kind.value_type) else [-1, 0, 7, 2**31, -(2**40)]
        return pa.DictionaryArray.from_arrays(places, pa.array(words, kind.value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.array(rng.choice(np.array(WORDS, object), rows), kind, mask=gone)
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(
            values(kind.value_type, rows * kind.list_size, rng), kind.list_size
        )
    if pa.types.is_date64(kind):
        return pa.array(rng.integers(-(10**5), 10**5, rows) * 86_400_000, pa.int64()).cast(kind)
    if pa.types.is_time(kind):
        day = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        return (
            pa.array(rng.integers(0, day, rows), pa.int64())
            .cast(pa.int32() if kind.bit_width == 32 else pa.int64())
            .cast(kind)
        )
    if pa.types.is_date32(kind):
        return pa.array(rng.integers(-(10**5), 10**5, rows), pa.int32()).cast(kind)
    most = 9 * 10**9 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    return pa.array(rng.integers(-most, most, rows), pa.int64()).cast(kind)


def times(units: str = "s ms us ns") -> list[pa.DataType]:
    kinds: list[pa.DataType] = [pa.date32(), pa.date64()]
    for unit in units.split():
        kinds += [
            pa.timestamp(unit),
            pa.timestamp(unit, "UTC"),
            pa.timestamp(unit, "Europe/Berlin"),
            pa.duration(unit),
        ]
    return [*kinds, pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]


TEXTS = [
    pa.string(),
    pa.large_string(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.uint16(), pa.string()),
    pa.dictionary(pa.int32(), pa.int64()),
]
LISTS = [
    pa.list_(kind, 3)
    for kind in (pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.uint16(), pa.uint64())
]
FLAT = [pa.bool_(), *INTEGERS, *FLOATS, *DECIMALS, *times(), *TEXTS]


def table_of(kinds: list[pa.DataType], rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({f"c{i} {kind}": values(kind, rows, rng) for i, kind in enumerate(kinds)})


def check(data: tensorcache.Dataset, table: pa.Table) -> None:
    """Compare every column with pyarrow's, bit for bit."""
    assert data.columns == tuple(table.column_names)
    zones = {column["name"]: column.get("zone", "") for column in data.manifest["columns"]}
    for name in table.column_names:
        column = table[name]
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        got = data[name]
        assert zones[name] == (getattr(kind, "tz", None) or "")
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            assert data.vocab(name).decode(got).tolist() == column.to_pylist(), name
            continue
        want = expected(column, kind)
        assert got.dtype == want.dtype, name
        np.testing.assert_array_equal(got, want, err_msg=name)
        if got.dtype != np.float16:  # pyarrow's and numpy's float16 NaN differ for nulls
            assert got.tobytes() == want.tobytes(), name  # -0.0 is not 0.0


def expected(column: pa.ChunkedArray, kind: pa.DataType) -> np.ndarray[Any, Any]:
    if pa.types.is_fixed_size_list(kind):
        flat = pa.chunked_array([chunk.flatten() for chunk in column.chunks], kind.value_type)
        return expected(flat, kind.value_type).reshape(-1, kind.list_size)
    if pa.types.is_decimal(kind):
        return np.array([np.nan if value is None else float(value) for value in column.to_pylist()])
    if pa.types.is_date32(kind):
        return column.to_numpy().astype("datetime64[s]")
    if pa.types.is_date64(kind):
        return column.cast(pa.int64()).to_numpy().astype("datetime64[ms]")
    if pa.types.is_time(kind):
        return (
            column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
            .to_numpy()
            .astype(f"timedelta64[{kind.unit}]")
        )
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        sign = "M" if pa.types.is_timestamp(kind) else "m"
        return column.cast(pa.int64()).to_numpy().view(f"{sign}8[{kind.unit}]")
    return np.asarray(
        column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    )


seeds = st.integers(0, 2**32)
counts = st.sampled_from([1, 2, 17, 300, 3000])


@given(
    seed=seeds,
    rows=counts,
    stream=st.booleans(),
    codec=st.sampled_from([None, "lz4", "zstd"]),
    batch=st.integers(1, 3),
)
@examples(15)
def test_arrow(
    cache: tensorcache.Cache,
    tmp_path: Path,
    seed: int,
    rows: int,
    stream: bool,
    codec: str | None,
    batch: int,
) -> None:
    table = table_of([*FLAT, *LISTS, pa.decimal256(60, 30), pa.null()], rows, seed)
    path = tmp_path / "x.arrow"
    options = ipc.IpcWriteOptions(compression=codec)
    with (ipc.new_stream if stream else ipc.new_file)(
        path, table.schema, options=options
    ) as writer:
        writer.write_table(table, max_chunksize=-(-rows // batch))
    data = cache.load("arrow", path, layout="packed" if seed % 2 else "columns")
    empty = table.column_names[-1]
    assert np.isnan(data[empty]).all()
    assert data[empty].dtype == np.float64
    check(data, table.set_column(table.num_columns - 1, empty, pa.array(np.full(rows, np.nan))))


@given(
    seed=seeds,
    rows=counts,
    groups=st.integers(1, 3),
    codec=st.sampled_from(["none", "snappy", "zstd", "gzip"]),
    page=st.sampled_from(["1.0", "2.0"]),
    words=st.booleans(),
    integer=st.booleans(),
    old=st.booleans(),
    schema=st.booleans(),
)
@examples(15)
def test_parquet(
    cache: tensorcache.Cache,
    tmp_path: Path,
    seed: int,
    rows: int,
    groups: int,
    codec: str,
    page: str,
    words: bool,
    integer: bool,
    old: bool,
    schema: bool,
) -> None:
    kinds = [kind for kind in FLAT if not pa.types.is_decimal(kind) or kind.scale >= 0]
    path = tmp_path / "x.parquet"
    pq.write_table(
        table_of(kinds, rows, seed),
        path,
        row_group_size=-(-rows // groups),
        compression=codec,
        data_page_version=page,
        use_dictionary=words,
        store_decimal_as_integer=integer,
        use_deprecated_int96_timestamps=old,
        store_schema=schema,
        data_page_size=1000,
    )
    data = cache.load("parquet", path, layout="packed" if seed % 2 else "columns")
    check(data, pq.read_table(path))


def test_decimals_are_the_nearest_floats(cache: tensorcache.Cache, tmp_path: Path) -> None:
    texts = [
        "9007199254740993",
        "0.1",
        "-0.1",
        "123456789012345678901234567890.12345678",
        "0.00000001",
        "-99999999999999999999.99999999",
    ]
    numbers = [decimal.Decimal(text) for text in texts]
    table = pa.table(
        {
            "d": pa.array(numbers, pa.decimal128(38, 8)),
            "e": pa.array(numbers, pa.decimal256(50, 10)),
        }
    )
    with ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table)
    pq.write_table(table, tmp_path / "x.parquet")
    for path in (tmp_path / "x.arrow", tmp_path / "x.parquet"):
        data = cache.load("decimals", path)
        for name in "de":
            assert data[name].tolist() == [float(number) for number in numbers]
            assert data[name].dtype == np.float64


@pytest.mark.parametrize(
    ("kind", "cells", "words"),
    [
        (
            pa.int32(),
            [1, None],
            'row 2, column "a": the value is missing, but only float columns have missing values',
        ),
        (pa.bool_(), [None, True], 'row 1, column "a": the value is missing'),
        (pa.timestamp("s"), [1, None], 'row 2, column "a": the value is missing'),
        (
            pa.dictionary(pa.int8(), pa.int32()),
            [1, None],
            'row 2, column "a": the value is missing',
        ),
        (
            pa.list_(pa.int64()),
            [[1]],
            r'column "a": is list<item: int64.*>, whose rows may differ in length\nhint: cast it',
        ),
        (
            pa.struct({"x": pa.int64()}),
            [{"x": 1}],
            'column "a": is struct<x: int64>, which is not read',
        ),
        (pa.map_(pa.string(), pa.int64()), [[("x", 1)]], 'column "a": is map'),
        (pa.binary(), [b"x"], 'column "a": is binary, which is not read'),
        (
            pa.list_(pa.string(), 1),
            [["x"]],
            r'column "a": is fixed_size_list<.*>\[1\], which is not read',
        ),
    ],
)
def test_what_cannot_be_held_is_named(
    cache: tensorcache.Cache, tmp_path: Path, kind: pa.DataType, cells: list[Any], words: str
) -> None:
    table = pa.table({"a": pa.array(cells, kind)})
    path = tmp_path / "x.arrow"
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(tensorcache.SourceError, match=words):
        cache.load("bad", path)
