"""Files that Spark wrote (testdata/spark).

A load returns what pyarrow reads from them, bit for bit, or an error with a hint.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tensorcache
import test_types
from test_vectors import VECTORS

FILES = sorted((VECTORS.parent / "spark").glob("*.parquet"))


def test_they_are_of_spark_and_differ_in_what_they_should() -> None:
    """Check that the files differ as the script asks, since Spark ignores unknown options."""
    seen = set()
    for path in FILES:
        footer = pq.ParquetFile(path).metadata
        assert footer.created_by.startswith("parquet-mr version")
        assert b"org.apache.spark.version" in footer.metadata
        for group in range(footer.num_row_groups):
            for i in range(footer.num_columns):
                column = footer.row_group(group).column(i)
                seen |= {column.compression, column.physical_type, *column.encodings}
    assert seen >= {"UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4"}
    assert seen >= {
        "BOOLEAN",
        "INT32",
        "INT64",
        "INT96",
        "FLOAT",
        "DOUBLE",
        "BYTE_ARRAY",
        "FIXED_LEN_BYTE_ARRAY",
    }
    assert seen >= {"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE"}
    assert seen >= {"DELTA_BINARY_PACKED", "DELTA_BYTE_ARRAY"}
    assert any(pq.ParquetFile(path).metadata.num_row_groups > 1 for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_spark(cache: tensorcache.Cache, path: Path) -> None:
    if path.name.startswith("lz4"):
        with pytest.raises(
            tensorcache.SourceError, match=r"(?is)lz4.*\.parquet.*lz4.*hint: .*(zstd|snappy)"
        ):
            cache.load("spark", path)
        return
    want = pq.read_table(path)
    test_types.check(cache.load("spark", path, columns=want.column_names), want)
