"""Writes the Parquet files of this directory and expected.json, which says what pyarrow reads from them.

Run it with pyarrow 26 in this directory: python make.py
"""

import datetime
import decimal
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 40
rng = np.random.default_rng(7)


def flat():
    """A column of every type that is read, no nulls."""
    words = np.array(["MSFT", "AAPL", "ünïcode", "x" * 40])
    return {
        "f16": pa.array(rng.standard_normal(ROWS).astype("f2")),
        "f32": pa.array(rng.standard_normal(ROWS).astype("f4")),
        "f64": pa.array(rng.standard_normal(ROWS) * 10.0 ** rng.integers(-300, 300, ROWS)),
        "i8": pa.array(rng.integers(-128, 128, ROWS).astype("i1")),
        "i16": pa.array(rng.integers(-(2**15), 2**15, ROWS).astype("i2")),
        "i32": pa.array(rng.integers(-(2**31), 2**31, ROWS).astype("i4")),
        "i64": pa.array(rng.integers(-(2**63), 2**63 - 1, ROWS)),
        "u8": pa.array(rng.integers(0, 256, ROWS).astype("u1")),
        "u16": pa.array(rng.integers(0, 2**16, ROWS).astype("u2")),
        "u32": pa.array(rng.integers(0, 2**32, ROWS).astype("u4")),
        "u64": pa.array(rng.integers(0, 2**62, ROWS).astype("u8")),
        "few": pa.array(rng.integers(0, 3, ROWS).astype("f8") / 3),
        "b": pa.array(np.sort(rng.integers(0, 2, ROWS)).astype(bool)),
        "s_naive": pa.array(rng.integers(-(2**31), 2**31, ROWS), pa.timestamp("ms")),
        "us_utc": pa.array(rng.integers(-(2**50), 2**50, ROWS), pa.timestamp("us", "UTC")),
        "ns_zone": pa.array(rng.integers(-(2**60), 2**60, ROWS), pa.timestamp("ns", "Europe/Paris")),
        "day": pa.array(rng.integers(-30000, 30000, ROWS).astype("i4"), pa.date32()),
        "text": pa.array(np.sort(words[rng.integers(0, 4, ROWS)])),
    }


def holes():
    """Floats with nulls and NaNs, all null too."""
    x = [None if i % 3 == 0 else float(i) if i % 3 == 1 else float("nan") for i in range(ROWS)]
    return {
        "a": pa.array(x, pa.float64()),
        "b": pa.array(x, pa.float32()),
        "few": pa.array([None if i % 7 == 0 else float(i % 2) for i in range(ROWS)]),
        "none": pa.array([None] * ROWS, pa.float64()),
        "all": pa.array([float(i) for i in range(ROWS)]),
    }


def said(column):
    """The values as the cache stores them, in words."""
    out = []
    for v in column.to_pylist() if not pa.types.is_timestamp(column.type) else column.cast(pa.int64()).to_pylist():
        if pa.types.is_timestamp(column.type):
            out.append(str(v))
        elif isinstance(v, datetime.date):
            out.append(str((v - datetime.date(1970, 1, 1)).days * 86400))
        elif v is None or v != v:
            out.append("nan")
        elif isinstance(v, bool):
            out.append(str(int(v)))
        elif isinstance(v, float) or pa.types.is_floating(column.type):
            out.append(float(v).hex())
        else:
            out.append(str(v))
    return out


expected = {}  # by file: the values by column, or the name of a file that has the same
seen = {}


def write(name, columns, **how):
    table = pa.table(columns)
    pq.write_table(table, name + ".parquet", store_schema=name == "flat-none", row_group_size=how.pop("row_group_size", 27), **how)
    key = json.dumps({c: said(table[c].combine_chunks()) for c in table.column_names})
    expected[name] = seen[key] if key in seen else json.loads(key)
    seen.setdefault(key, name)


base = flat()
for codec in ("none", "gzip", "brotli"):
    write("flat-" + codec, base, compression=codec)
write("flat-v2-zstd", base, compression="zstd", data_page_version="2.0")
write("flat-snappy-plain", base, compression="snappy", use_dictionary=False, data_page_size=64, write_page_checksum=True)
numbers = {k: v for k, v in base.items() if k in ("i32", "i64", "f32", "f64", "text")}
write(
    "flat-encodings", numbers, use_dictionary=False,
    column_encoding={"i32": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED", "f32": "BYTE_STREAM_SPLIT", "f64": "BYTE_STREAM_SPLIT", "text": "DELTA_BYTE_ARRAY"},
)
write("holes", holes(), compression="snappy")
write("holes-v2", holes(), compression="zstd", data_page_version="2.0", row_group_size=13)
write("bools-v2", {"b": pa.array([True] * 100), "c": pa.array([i % 3 == 0 for i in range(100)])}, data_page_version="2.0")

random = np.random.default_rng(4)
stored = pa.table({"a": random.standard_normal(600), "b": random.integers(-(2**62), 2**62, 600), "c": random.standard_normal(600).astype("f4")})
for codec in ("none", "snappy"):  # pages that are as long as their values, with definition levels and without a checksum
    pq.write_table(stored, f"stored-{codec}.parquet", compression=codec, use_dictionary=False, data_page_size=1500, write_batch_size=100)
bits = random.integers(-(2**62), 2**62, 600)
for i in (3, 350):  # which snappy finds: a copy that saves less than the page's literals cost
    bits[i] = bits[i] & ~0xFFFFFFFF | bits[i - 2] & 0xFFFFFFFF
copies = pa.table({"a": bits.view("f8"), "b": bits, "c": bits.view("f4")[::2]})
pq.write_table(copies, "stored-copies.parquet", compression="snappy", use_dictionary=False, data_page_size=1500, write_batch_size=100)

bad = {
    "lz4": pa.table({"a": pa.array(np.zeros(1000))}),
    "nested": pa.table({"a": pa.array([[1.0], [2.0, 3.0]]), "x": pa.array([1.0, 2.0])}),
    "nulls": pa.table({"i": pa.array([1, 2, None]), "b": pa.array([True, None, False]), "x": pa.array([1.0, None, 2.0])}),
    "int96": pa.table({"t": pa.array([1, 2], pa.timestamp("ns"))}),
    "decimal": pa.table({"d": pa.array([decimal.Decimal("1.25")])}),
    "big": pa.table({"u": pa.array([1, 2**64 - 1], pa.uint64())}),
    "empty": pa.table({"x": pa.array([], pa.float64())}),
}
for name, table in bad.items():
    how = {"compression": "lz4"} if name == "lz4" else {"use_deprecated_int96_timestamps": True} if name == "int96" else {}
    pq.write_table(table, f"bad-{name}.parquet", **how)

with open("expected.json", "w") as f:
    json.dump(expected, f, indent=0, ensure_ascii=False)
