"""Columns without a name have one by their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import tensorcache


@pytest.mark.parametrize("name", [None, float("nan"), "", pd.NA, pd.NaT])
def test_columns_without_a_name_are_called_by_their_place(
    cache: tensorcache.Cache, name: Any
) -> None:
    frame = pd.DataFrame([[1, 2]], columns=pd.Index(["a", name], dtype=object))
    assert cache.put("nameless", frame).columns == ("a", "column_2")
    data = cache.put("nameless", {"a": [1], name: [2]}, time="column_2")
    assert data["column_2"].tolist() == [2]
    with pytest.raises(tensorcache.SourceError, match="want one column a name"):
        cache.put("nameless", {"column_2": [1], name: [2]})


def test_columns_without_a_name_are_called_by_their_place_in_every_table(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    table = pa.table([pa.array([1, 2]), pa.array([3, 4]), pa.array([5, 6])], names=["", "a", ""])
    pq.write_table(table, tmp_path / "x.parquet")
    feather.write_feather(table, str(tmp_path / "x.arrow"))
    (tmp_path / "x.csv").write_text(",a,\n1,3,5\n2,4,6\n")
    paths = [tmp_path / f"x.{suffix}" for suffix in ("parquet", "arrow", "csv")]
    for source in [table, *paths]:
        data = cache.load("nameless", source, time="column_1", dtype={"column_3": "float32"})
        assert data.columns == ("column_1", "a", "column_3")
        assert data["column_1"].tolist() == [1, 2]
        assert data["column_3"].tolist() == [5.0, 6.0]


def test_a_name_by_place_may_be_that_of_a_frame_of_polars(cache: tensorcache.Cache) -> None:
    assert cache.put("nameless", pl.DataFrame({"a": [1], "": [2]})).columns == ("a", "column_2")
