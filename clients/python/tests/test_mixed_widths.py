"""Files of one dataset whose columns have numbers of different widths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import tensorcache

pytestmark = pytest.mark.portable

PAIRS = [
    ("float32", "float64"),
    ("float16", "float32"),
    ("int32", "int64"),
    ("uint8", "int16"),
    ("uint32", "int32"),
]


def written(
    tmp_path: Path, dtypes: tuple[str, str], last: int = 100
) -> tuple[list[Path], np.ndarray]:
    """Write one file for each dtype; return the files and all values as float64."""
    whole = [np.arange(50, dtype=dtype) for dtype in dtypes]
    whole[1][-1] = last
    tables = [pa.table({"a": values, "b": np.arange(50.0)}) for values in whole]
    paths = [tmp_path / "0.parquet", tmp_path / "1.arrow"]
    pq.write_table(tables[0], paths[0])
    feather.write_feather(tables[1], paths[1], compression="uncompressed")
    return paths, np.concatenate([values.astype("f8") for values in whole])


@pytest.mark.parametrize("dtypes", [*PAIRS, *(pair[::-1] for pair in PAIRS)])
def test_dtype_says_what_to_store(
    cache: tensorcache.Cache, tmp_path: Path, dtypes: tuple[str, str]
) -> None:
    paths, want = written(tmp_path, dtypes)
    for dtype in dtypes:
        data = cache.load("mixed", paths, dtype={"a": dtype})
        assert data["a"].dtype == dtype
        np.testing.assert_array_equal(data["a"], want)
    if dtypes[0].startswith("float"):
        assert cache.load("mixed", paths, dtype="float32")["a"].dtype == np.float32
    words = (
        rf'1.arrow, column "a": is {dtypes[1]} here but {dtypes[0]} in .*0.parquet\nhint: '
        r'.*dtype=\{"a": "u?(int|float)'
    )
    with pytest.raises(tensorcache.SourceError, match=words):
        cache.load("mixed", paths)


def test_a_value_that_does_not_fit_is_named(cache: tensorcache.Cache, tmp_path: Path) -> None:
    paths, _ = written(tmp_path, ("int32", "int64"), last=2**40)
    with pytest.raises(
        tensorcache.SourceError,
        match=r'1.arrow, row 50, .*column "a": "1099511627776" does not fit int32',
    ):
        cache.load("mixed", paths, dtype={"a": "int32"})
    assert cache.load("mixed", paths, dtype={"a": "int64"})["a"][-1] == 2**40
    paths, _ = written(tmp_path, ("float32", "int64"))
    with pytest.raises(tensorcache.SourceError, match="is int64 here but float32"):
        cache.load("mixed", paths, dtype={"a": "float32"})
