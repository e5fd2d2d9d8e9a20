"""Melting very many series, and Parquet files of more columns than parquet-go opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import tensorcache

ROWS = 2


def table(series: int) -> pa.Table:
    """The series s0, s1, … with their numbers of values, and a time between them."""
    values = np.arange(series * ROWS, dtype=np.float32).reshape(series, ROWS)
    columns = {f"s{i}": pa.array(values[i]) for i in range(series)}
    names = list(columns)
    columns["t"] = pa.array(np.arange(ROWS) * 7)
    return pa.table(
        {name: columns[name] for name in [*names[: series // 2], "t", *names[series // 2 :]]}
    )


WAYS: dict[str, Any] = {
    "parquet": pyarrow.parquet.write_table,
    "csv": pyarrow.csv.write_csv,
    "arrow": lambda table, path: pyarrow.feather.write_feather(table, str(path)),
    "put": None,
}


@pytest.mark.parametrize("way", WAYS)
def test_every_series_has_its_values(cache: tensorcache.Cache, tmp_path: Path, way: str) -> None:
    series = 6_000
    if WAYS[way] is None:
        data = cache.put("wide", table(series), time="t", melt=True)
    else:
        WAYS[way](table(series), path := tmp_path / f"wide.{way}")
        data = cache.load("wide", path, time="t", melt=True)
    np.testing.assert_array_equal(data["value"], np.arange(series * ROWS))
    np.testing.assert_array_equal(data["t"], np.tile(np.arange(ROWS) * 7, series))
    assert list(data.items) == [f"s{i}" for i in range(series)]


def test_parquet_files_may_have_more_columns_than_parquet_go_opens(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    pyarrow.parquet.write_table(table(66_000), path := tmp_path / "wide.parquet")
    names = ["s65999", "s5", "s65533", "s65534", "s65535"]
    data = cache.load("few", path, time="t", columns=names, melt=True)
    assert list(data.items) == names
    assert data["value"].tolist() == [
        value for name in names for value in (2 * int(name[1:]), 2 * int(name[1:]) + 1)
    ]


def test_a_dataset_of_many_files_is_opened(cache: tensorcache.Cache) -> None:
    # A message over a socket has at most 253 descriptors.
    words = {f"word {i}": ["a", str(i)] for i in range(130)}
    values = {f"value {i}": [np.nan, float(i)] for i in range(130)}
    data = cache.put("files", {**words, **values}, fill=0)
    assert list(data.vocab("word 129")) == ["a", "129"]
    assert data.windows(context_length=2)[0].observed.tolist() == [[0] * 130, [1] * 130]
