"""Files go to load, arrays to put; either method takes or names what belongs to the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tensorcache

pytestmark = pytest.mark.portable

FRAME = pd.DataFrame({"t": [1, 2, 3], "a": [1.0, 2.0, 4.0], "b": [3.0, 2.0, 1.0]})


@pytest.mark.parametrize(
    "columns",
    [
        FRAME,
        FRAME.to_dict("list"),
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME),
    ],
    ids=["pandas", "mapping", "polars", "pyarrow"],
)
def test_load_puts_whatever_has_columns(cache: tensorcache.Cache, columns: Any) -> None:
    data = cache.load("frame", columns, time="t", scale="standard", columns=["a"])
    assert data.columns == ("t", "a")
    put = cache.put("frame-put", FRAME[["t", "a"]], time="t", scale="standard")
    np.testing.assert_array_equal(data["a"], put["a"])


def test_load_of_a_dataset_puts_its_columns(cache: tensorcache.Cache) -> None:
    first = cache.put("first", FRAME, time="t")
    assert cache.load("second", first, time="t").columns == first.columns  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["delimiter", "decimal", "na", "time_format"])
def test_options_of_files_are_refused_with_arrays(cache: tensorcache.Cache, field: str) -> None:
    options: Any = {field: ","}
    with pytest.raises(tensorcache.SpecError, match=f"{field}: .* files only") as caught:
        cache.load("frame", FRAME, **options)
    assert caught.value.field == field


@pytest.mark.parametrize("path", ["a.csv", Path("a.csv"), ["a.csv"], [Path("a.csv"), "b.csv"]])
def test_put_of_a_path_shows_the_call_of_load(cache: tensorcache.Cache, path: Any) -> None:
    with pytest.raises(tensorcache.SourceError) as caught:
        cache.put("frame", path)
    assert caught.value.hint == 'cache.load(name, "a.csv") reads files'


WITHOUT_COLUMNS = {
    "groupby": FRAME.groupby("a"),
    "groupby-two": FRAME.groupby(["a", "b"]),
    "series": FRAME["a"],
    "groupby-column": FRAME.groupby("a")["b"],
    "rolling": FRAME.rolling(2),
    "polars-series": pl.Series("a", [1, 2]),
    "polars-groupby": pl.from_pandas(FRAME).group_by("a"),
    "array": np.zeros(3),
    "matrix": np.zeros((3, 2)),
    "list": [1.0, 2.0],
    "rows": [{"a": 1}],
    "set": {1.0},
    "number": 1,
    "none": None,
    "bytes": b"a.csv",
    "type": pd.DataFrame,
    "module": np,
    "function": np.zeros,
    "iterator": iter([]),
}


@pytest.mark.parametrize("kind", WITHOUT_COLUMNS)
def test_put_of_what_has_no_columns_is_refused(cache: tensorcache.Cache, kind: str) -> None:
    value: Any = WITHOUT_COLUMNS[kind]
    for method in (cache.put, cache.load, cache.append):
        with pytest.raises((tensorcache.SourceError, tensorcache.SpecError)) as caught:
            method("frame", value)  # type: ignore[operator]
        assert "want" in caught.value.detail


def test_load_takes_a_column_of_paths(cache: tensorcache.Cache, tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    for paths in (pd.Series([str(tmp_path / "x.csv")]), np.array([str(tmp_path / "x.csv")])):
        assert len(cache.load("frame", paths)["a"]) == 3  # type: ignore[arg-type]


def test_put_of_groups_names_the_item_column(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.SourceError, match="item_id='a'"):
        cache.put("frame", FRAME.groupby("a"))  # type: ignore[arg-type]
