"""The index of a pandas frame is the same columns whichever way the frame takes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import tensorcache
from frames import each_way

FRAME = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6], "b": [5, 6, 7, 8, 9, 10]})
NUMBERS = [3, 1, 4, 9, 5, 2]
TIMES = pd.date_range("2020-01-01", periods=6)
LEVEL = "__index_level_0__"

INDEXES: dict[str, Any] = {
    "a range": pd.RangeIndex(6),
    "a range with a step": pd.RangeIndex(3, 15, 2),
    "numbers": pd.Index(NUMBERS),
    "small numbers": pd.Index(np.array(NUMBERS, np.uint8)),
    "nullable numbers": pd.Index(NUMBERS, dtype="Int64"),
    "numbers with a name": pd.Index(NUMBERS, name="n"),
    "floats with a name": pd.Index(np.arange(6) / 2, name="n"),
    "booleans with a name": pd.Index([True, False] * 3, name="n"),
    "times with a name": TIMES.rename("n"),
    "texts with a name": pd.Index(list("abcdef"), name="n"),
    "two levels": pd.MultiIndex.from_arrays([NUMBERS, NUMBERS]),
    "two levels, one with a name": pd.MultiIndex.from_arrays([NUMBERS, NUMBERS], names=[None, "n"]),
}
NOT_POSITIONS: dict[str, Any] = {
    "floats": np.arange(6) / 2,
    "booleans": [True, False] * 3,
    "texts": list("abcdef"),
    "times": TIMES,
    "dates": list(TIMES.date),
    "periods": TIMES.to_period("D"),
    "categories of numbers": pd.CategoricalIndex(NUMBERS),
}

Way = Callable[[tensorcache.Cache, Path, pd.DataFrame], tensorcache.Dataset]


def parquet(cache: tensorcache.Cache, path: Path, frame: pd.DataFrame) -> tensorcache.Dataset:
    frame.to_parquet(path / "x.parquet")
    return cache.load("x", path / "x.parquet")


def arrow_file(cache: tensorcache.Cache, path: Path, frame: pd.DataFrame) -> tensorcache.Dataset:
    table = pa.Table.from_pandas(frame)
    pyarrow.feather.write_feather(table, path / "x.arrow")
    return cache.load("x", path / "x.arrow")


def arrow_stream(cache: tensorcache.Cache, path: Path, frame: pd.DataFrame) -> tensorcache.Dataset:
    table = pa.Table.from_pandas(frame)
    with pa.ipc.new_stream(path / "x.arrows", table.schema) as stream:
        stream.write_table(table)
    return cache.load("x", path / "x.arrows")


def tables_of(frame: pd.DataFrame) -> dict[str, Any]:
    """The tables of Arrow that know the index."""
    table = pa.Table.from_pandas(frame)
    return {
        "table": table,
        "reader": table.to_reader(),
        "dataset": pa.dataset.dataset(table),
        "batch": table.combine_chunks().to_batches()[0],
    }


STORED: dict[str, Way] = {
    "Parquet": parquet,
    "Arrow": arrow_file,
    "Arrow stream": arrow_stream,
    **{
        f"a {kind}": lambda cache, _, frame, kind=kind: cache.put("x", tables_of(frame)[kind])
        for kind in tables_of(FRAME)
    },
}
WITHOUT_METADATA: dict[str, Way] = {
    "a table without metadata": lambda cache, _, frame: cache.put(
        "x", pa.Table.from_pandas(frame).replace_schema_metadata()
    ),
    "Polars": lambda cache, _, frame: cache.put("x", pl.DataFrame(pa.Table.from_pandas(frame))),
    "lazy Polars": lambda cache, _, frame: cache.put(
        "x", pl.DataFrame(pa.Table.from_pandas(frame)).lazy()
    ),
}


def columns_of(data: tensorcache.Dataset) -> dict[str, tuple[str, str, bool]]:
    """The role and dtype of each column, and whether windows have it only by name."""
    return {
        one["name"]: (one["role"], one["dtype"], one.get("named_only", False))
        for one in data.manifest["columns"]
    }


@pytest.mark.parametrize("way", STORED)
@pytest.mark.parametrize("index", INDEXES)
def test_levels_are_the_same_columns_each_way(
    cache: tensorcache.Cache, tmp_path: Path, index: str, way: str
) -> None:
    frame = FRAME.set_axis(INDEXES[index])
    want = columns_of(cache.put("want", frame))
    if index == "times with a name":  # of a frame they are the time
        want["n"] = ("value", want["n"][1], False)
    data = STORED[way](cache, tmp_path, frame)
    assert list(columns_of(data).items()) == list(want.items())
    assert data.windows(context_length=2, prediction_length=1)[0].context.shape == (2, 2)
    for name in want.keys() - FRAME.columns:
        got = [data.vocab(name)[code] for code in data[name]] if "texts" in index else data[name]
        np.testing.assert_array_equal(got, frame.index.get_level_values(name))


@pytest.mark.parametrize("way", WITHOUT_METADATA)
@pytest.mark.parametrize("index", INDEXES)
def test_without_metadata_levels_with_a_name_are_columns_like_others(
    cache: tensorcache.Cache, tmp_path: Path, index: str, way: str
) -> None:
    frame = FRAME.set_axis(INDEXES[index])
    want = columns_of(cache.put("want", frame))
    if "n" in want:
        want["n"] = ("value", want["n"][1], False)
    assert columns_of(WITHOUT_METADATA[way](cache, tmp_path, frame)) == want


@pytest.mark.parametrize("kind", tables_of(FRAME))
@pytest.mark.parametrize("index", INDEXES)
def test_levels_are_the_same_columns_of_items(
    cache: tensorcache.Cache, index: str, kind: str
) -> None:
    frame = FRAME.set_axis(INDEXES[index])
    frames = {"one": frame, "two": frame if frame.index.names[-1] else FRAME}
    want = columns_of(cache.put("frames", frames))
    if index == "times with a name":
        want["n"] = ("value", want["n"][1], False)
    tables = {key: tables_of(one)[kind] for key, one in frames.items()}
    data = cache.put("tables", tables)
    assert list(columns_of(data).items()) == list(want.items())
    assert data.windows(context_length=2, prediction_length=1)[0].context.shape == (2, 2)


@pytest.mark.parametrize("way", STORED)
@pytest.mark.parametrize("index", NOT_POSITIONS)
def test_other_levels_without_a_name_are_columns_outside_of_windows(
    cache: tensorcache.Cache, tmp_path: Path, index: str, way: str
) -> None:
    frame = FRAME.set_axis(pd.Index(NOT_POSITIONS[index]))
    if index != "categories of numbers":  # which are numbers in a frame
        with pytest.raises(tensorcache.SourceError, match="without a name"):
            cache.put("frame", frame)
    data = STORED[way](cache, tmp_path, frame)
    _, dtype, named_only = columns_of(data)[LEVEL]
    assert named_only or dtype in ("text", "timestamp")  # which windows have only by name
    assert set(data.columns) == {"a", "b", LEVEL}
    assert data.windows(context_length=2, prediction_length=1)[0].context.shape == (2, 2)


def test_a_filtered_frame_has_no_row_numbers_in_windows(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"t": range(5), "y": [10.0, 20, 30, 40, 50]})
    frame[frame.y != 20].to_parquet(tmp_path / "x.parquet")
    data = cache.load("x", tmp_path / "x.parquet", time="t")
    assert data.windows(context_length=2, prediction_length=1)[0].target.tolist() == [[40]]


SORTED = FRAME.set_axis(pd.Index(sorted(NUMBERS)))


@pytest.mark.parametrize(
    "options",
    [
        {"time": LEVEL},
        {"item_id": LEVEL},
        {"item_id": ["b", LEVEL]},
        {"dtype": {LEVEL: "int16"}},
        {"columns": ["a", LEVEL]},
        {"columns": LEVEL},
    ],
)
def test_levels_without_a_name_are_columns_where_they_are_named(
    cache: tensorcache.Cache, tmp_path: Path, options: dict[str, Any]
) -> None:
    SORTED.to_parquet(path := tmp_path / "x.parquet")
    table = pq.read_table(path)
    fsspec.filesystem("memory").pipe("/index.parquet", path.read_bytes())
    datasets = [
        cache.load("file", path, **options),
        cache.load("remote", "memory://index.parquet", **options),
    ]
    if "columns" not in options:
        datasets += [
            cache.put("table", table, **options),
            cache.put("Polars", pl.DataFrame(table), **options),
        ]
    if not {"columns", "item_id"} & options.keys():
        datasets.append(cache.put("items", {"one": table}, **options))
    for data in datasets:
        assert data[LEVEL].tolist() == sorted(NUMBERS)


def test_appends_read_the_levels_that_the_dataset_has(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    SORTED.to_parquet(path := tmp_path / "x.parquet")
    table = pq.read_table(path)
    cache.load("x", path, dtype={LEVEL: "int16"})
    fsspec.filesystem("memory").pipe("/index.parquet", path.read_bytes())
    with pytest.raises(tensorcache.SourceError, match="is in the dataset but not here"):
        cache.append("x", FRAME)
    more = shutil.copy(path, tmp_path / "more.parquet")
    for rows in (more, "memory://index.parquet", table, pl.DataFrame(table)):
        data = cache.append("x", rows)
    assert data[LEVEL].tolist() == sorted(NUMBERS) * 5
    cache.put("items", {"one": table}, dtype={LEVEL: "int16"})
    data = cache.append("items", {"one": table, "two": pl.DataFrame(table)})
    assert data.item("one")[LEVEL].tolist() == sorted(NUMBERS) * 2
    assert data.item("two")[LEVEL].tolist() == sorted(NUMBERS)


@pytest.mark.parametrize("kind", ["file", "table", "Polars"])
def test_appends_read_the_series_that_a_melted_dataset_has(
    cache: tensorcache.Cache, tmp_path: Path, kind: str
) -> None:
    frame = pd.DataFrame({"a": range(6), "t": range(6)}, pd.Index(sorted(NUMBERS)))
    frame.assign(t=frame.t + 10).to_parquet(path := tmp_path / "later.parquet")
    cache.put("x", {"a": frame.a, "t": frame.t, LEVEL: frame.index}, melt=True, time="t")
    table = pq.read_table(path)
    rows = {"file": path, "table": table, "Polars": pl.DataFrame(table)}[kind]
    data = cache.append("x", rows)
    assert data.item(LEVEL)["value"].tolist() == sorted(NUMBERS) * 2


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
@pytest.mark.parametrize("way", ["Parquet", "CSV", "Arrow"])
def test_a_level_of_one_file_is_one_of_all(
    cache: tensorcache.Cache, tmp_path: Path, order: tuple[int, int], way: str
) -> None:
    frame = FRAME.set_axis(pd.Index(NUMBERS, name="n"))
    frame.to_parquet(tmp_path / "1.parquet")
    other = frame.reset_index()[["a", "b", "n"]]
    if way == "Parquet":
        pl.DataFrame(other).write_parquet(tmp_path / "2.parquet")
    elif way == "CSV":
        other.to_csv(tmp_path / "2.csv", index=False)
    else:
        pl.DataFrame(other).write_ipc(tmp_path / "2.arrow")
    paths = [next(tmp_path.glob(f"{number}.*")) for number in order]
    dtype = {"a": "float64", "b": "int64", "n": "int64"}
    for data in (cache.load("x", paths), cache.load("typed", paths, dtype=dtype)):
        assert columns_of(data)["n"] == ("value", "int64", True)


def test_files_of_which_one_has_a_range_go_together(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    FRAME.to_parquet(tmp_path / "1.parquet")
    FRAME[FRAME.b != 6].to_parquet(tmp_path / "2.parquet")
    data = cache.load("x", tmp_path)
    assert set(data.columns) == {"a", "b"}
    assert data.rows == 11


def test_a_level_with_the_name_of_a_column_stays(cache: tensorcache.Cache, tmp_path: Path) -> None:
    frame = FRAME.set_axis(pd.Index(NUMBERS, name="a"))
    frame.to_parquet(path := tmp_path / "x.parquet")
    for data in each_way(cache, path):
        assert data[LEVEL].tolist() == NUMBERS
        assert columns_of(data)[LEVEL][2]
