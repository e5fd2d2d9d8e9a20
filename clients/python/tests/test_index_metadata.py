"""The description of its index that pandas stores with a frame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.test_conformance import REPOSITORY
from tests.test_index_by_file import FRAME, LEVEL, NUMBERS, columns_of

import tensorcache
from frames import each_way
from tensorcache._load import stored_index


@pytest.mark.parametrize(
    "metadata", ["{", "1", '{"index_columns": 1}', '{"columns": ["a"]}', "\ud800", "[" * 9000]
)
def test_metadata_that_pandas_did_not_write_are_as_if_not_there(
    cache: tensorcache.Cache, tmp_path: Path, metadata: str
) -> None:
    described = {"pandas": metadata.encode("utf-8", "surrogatepass")}
    table = pa.table({"a": [1.0, 2.0], LEVEL: [7, 8]}, metadata=described)
    pq.write_table(table, path := tmp_path / "x.parquet")
    for data in each_way(cache, path):
        assert data["a"].tolist() == [1, 2]
        assert LEVEL not in data


def test_attributes_of_a_frame_may_be_no_json(cache: tensorcache.Cache, tmp_path: Path) -> None:
    frame = FRAME.set_axis(pd.Index(NUMBERS, name="n"))
    frame.attrs = {"noise": float("nan"), "limit": float("-inf")}
    frame.to_parquet(path := tmp_path / "x.parquet")
    for data in each_way(cache, path):
        assert columns_of(data)["n"] == ("value", "int64", True)


def test_a_column_with_the_name_of_a_level_is_a_column(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    frame = FRAME.assign(**{LEVEL: NUMBERS})
    frame.to_parquet(path := tmp_path / "x.parquet")
    for data in (cache.put("frame", frame), *each_way(cache, path)):
        assert columns_of(data)[LEVEL] == ("value", "int64", False)


def test_a_range_with_a_name_is_in_files_that_have_its_values(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    frame = FRAME.rename_axis("row")
    assert columns_of(cache.put("frame", frame))["row"] == ("value", "int64", True)
    frame.to_parquet(path := tmp_path / "x.parquet")
    assert cache.load("file", path).columns == ("a", "b")
    frame.to_parquet(path, index=True)
    assert columns_of(cache.load("file", path))["row"] == ("value", "int64", True)


def test_rows_of_a_wide_frame_are_the_same_series_each_way(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    values = {"t0": [1.0, 2], "t1": [3.0, 4]}
    frame = pd.DataFrame(values, pd.Index(["x", "y"], name="sku"))
    frame.to_parquet(path := tmp_path / "x.parquet")
    for data in (
        cache.put("frame", frame, melt="rows"),
        cache.load("file", path, melt="rows"),
        cache.put("table", pq.read_table(path), melt="rows"),
    ):
        assert data.item("x")["value"].tolist() == [1, 3]


@pytest.mark.parametrize("options", [{}, {"melt": True}, {"melt": "rows"}, {"time": ["a", "b"]}])
def test_an_index_alone_is_refused(
    cache: tensorcache.Cache, tmp_path: Path, options: dict[str, Any]
) -> None:
    alone = FRAME.set_axis(pd.Index(NUMBERS))[[]]
    alone.to_parquet(path := tmp_path / "x.parquet")
    table = pq.read_table(path)
    for refused in (
        lambda: cache.load("x", path, **options),
        lambda: cache.put("x", table, **options),
        lambda: cache.put("x", pl.DataFrame(table), **options),
        lambda: cache.put("x", {"one": table}, **options),
    ):
        with pytest.raises(
            tensorcache.SourceError, match="has no columns besides an index of pandas without a na"
        ) as error:
            refused()
        assert 'frame.rename_axis("row")' in error.value.hint
    with pytest.raises(tensorcache.SourceError, match=r"^has no columns\n"):
        cache.put("x", table.select([]), **options)
    if not options:
        alone.rename_axis("row").to_parquet(path)
        assert cache.load("x", path).columns == ("row",)


@pytest.mark.parametrize(
    "case",
    json.loads((REPOSITORY / "testdata/vectors/pandas_index.json").read_text()),
    ids=lambda case: case["name"],
)
def test_the_client_and_the_daemon_find_the_same_levels(case: dict[str, Any]) -> None:
    schema = pa.schema(
        [pa.field(name, kind) for name, kind in case["types"]],
        metadata=None if case["metadata"] is None else {"pandas": case["metadata"]},
    )
    levels, positions = stored_index.levels_of(case["types"], stored_index.pandas_metadata(schema))
    assert set(levels) & set(schema.names) == set(case["levels"])
    assert positions == set(case["positions"])
