"""A time in several columns becomes one time column."""

from __future__ import annotations

import calendar
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples

PARTS = ("year", "month", "day", "hour", "minute", "second")
BOUNDS = ((100, 9999), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59))


def wrong_part(values: tuple[int, ...]) -> int | None:
    """Return the first part that no time has."""
    for i, (value, (least, most)) in enumerate(zip(values, BOUNDS, strict=False)):
        if i == 2:
            most = calendar.monthrange(values[0], values[1])[1]
        if not least <= value <= most:
            return i
    return None


def numpy_time(values: tuple[int, ...]) -> np.datetime64:
    """Return the time of parts."""
    year, month, day, hour, minute, second = (*values, *(0, 1, 1, 0, 0, 0)[len(values) :])
    text = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
    return np.datetime64(text, "s")


@given(data=st.data())
@examples(120)
def test_parts_are_the_time_they_make(
    cache: tensorcache.Cache, tmp_path: Path, data: st.DataObject
) -> None:
    parts = data.draw(st.integers(1, 6))
    names = data.draw(st.permutations(["a", "b", "second", "year", "h", "Month"]))[:parts]
    likely = [st.integers(least, most) for least, most in BOUNDS]
    any_value = [st.one_of(one, st.sampled_from([0, 13, 24, 31, 60, -1, 10000])) for one in likely]
    kinds = (
        any_value if data.draw(st.booleans()) else [*likely[:2], st.integers(1, 28), *likely[3:]]
    )
    rows = data.draw(st.lists(st.tuples(*kinds[:parts]), min_size=1, max_size=6, unique=True))
    shift = data.draw(st.integers(0, 3))
    table: dict[str, Any] = {"x": list(range(len(rows))), "word": ["w"] * len(rows)}
    table |= {name: [row[i] for row in rows] for i, name in enumerate(names)}
    table = dict(list(table.items())[shift:] + list(table.items())[:shift])
    options: dict[str, Any] = {"time": names, "sort": True}
    how = data.draw(st.sampled_from(["csv", "parquet", "jsonl", "pandas", "mapping", "arrow"]))
    frame = pl.DataFrame(table)
    path = tmp_path / f"t.{how}"

    def load() -> tensorcache.Dataset:
        if how == "pandas":
            return cache.put("parts", frame.to_pandas().astype({names[0]: "Int16"}), **options)
        if how == "mapping":
            return cache.put("parts", {k: np.array(v) for k, v in table.items()}, **options)
        if how == "arrow":
            return cache.put("parts", frame.to_arrow(), **options)
        if how == "csv":
            frame.write_csv(path)
        elif how == "parquet":
            frame.with_columns(pl.col(names[-1]).cast(pl.Int16)).write_parquet(path)
        else:
            lines = (dict(zip(table, row, strict=True)) for row in frame.rows())
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return cache.load("parts", path, **options)

    wrong = [(row, part) for row, v in enumerate(rows) if (part := wrong_part(v)) is not None]
    if wrong:
        row, part = wrong[0]
        match = (
            rf'row {row + 1}\b.*column "{names[part]}": "?{rows[row][part]}"? is no {PARTS[part]}'
        )
        with pytest.raises(tensorcache.SourceError, match=match):
            load()
        return
    loaded = load()
    times = np.array([numpy_time(row) for row in rows])
    order = np.argsort(times)
    assert loaded.time == "time"
    assert set(loaded.columns) == {"time", "x", "word"}
    assert loaded["time"].dtype == np.dtype("datetime64[s]")
    np.testing.assert_array_equal(loaded["time"], times[order])
    np.testing.assert_array_equal(loaded["x"], order)


def test_times_in_parts_are_times_as_any_other(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("shop,y,m,a\nx,2020,1,1\nx,2020,2,2\nx,2020,3,3\ny,2020,1,4\n")
    options: dict[str, Any] = {"time": ["y", "m"], "item_id": "shop"}
    data = cache.load("months", path, **options)
    assert cache.load("months", path, **options).generation == data.generation
    recipe = {"time": ("y", "m"), "item_id": "shop"}
    assert cache.load("months", path, recipe=recipe).generation == data.generation
    assert data.manifest["recipe"]["time_parts"] == ["y", "m"]
    some = cache.load("some", path, where=("2020-02-01", None), calendar="month", **options)
    assert some["month"].tolist() == [2, 3]
    more = pd.DataFrame({"shop": ["y"], "y": [2020], "m": [2], "a": [5]})
    grown = cache.append("months", more)
    assert grown["a"].tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(tensorcache.SourceError, match=r'"time": time 2020-02-01.* is not after'):
        cache.append("months", more)
    filled = cache.load("filled", path, regrid="1d", fill="forward", **options)
    assert filled["a"].tolist()[:33] == [1] * 31 + [2] * 2
    narrow = cache.load("narrow", path, columns=["a"], dtype={"a": "int8"}, **options)
    assert narrow.columns == ("shop", "time", "a")
    wide = tmp_path / "wide.csv"
    wide.write_text("y,m,p,q\n2020,1,1,2\n2020,2,3,4\n")
    melted = cache.load("melted", wide, time=["y", "m"], melt=True)
    assert melted["value"].tolist() == [1, 3, 2, 4]
    assert melted["time"][2:].tolist() == melted["time"][:2].tolist()


def test_levels_of_an_index_may_be_parts(cache: tensorcache.Cache) -> None:
    index = pd.MultiIndex.from_tuples([(2020, 1), (2020, 2)], names=["y", "m"])
    data = cache.put("levels", pd.DataFrame({"a": [1.0, 2.0]}, index=index), time=["y", "m"])
    assert data.columns == ("time", "a")
    assert data["time"].astype("M8[M]").astype(str).tolist() == ["2020-01", "2020-02"]


def test_folders_of_years_may_be_parts(cache: tensorcache.Cache, tmp_path: Path) -> None:
    for year in (2020, 2021):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        pl.DataFrame({"m": [1, 2], "a": [0.5, 1.5]}).write_parquet(folder / "x.parquet")
    data = cache.load("folders", tmp_path, time=["year", "m"])
    assert data["time"].astype("M8[M]").astype(str).tolist() == [
        "2020-01",
        "2020-02",
        "2021-01",
        "2021-02",
    ]


@pytest.mark.parametrize(
    ("columns", "time", "error", "message"),
    [
        (
            {"y": [2020.0]},
            ["y"],
            "SourceError",
            'column "y": is float64, want whole numbers for the',
        ),
        ({"y": ["2020"]}, ["y"], "SourceError", 'column "y": is text, want whole numbers for the'),
        (
            {"y": [2020], "time": [1]},
            ["y"],
            "SourceError",
            'column "time": has the name of the time',
        ),
        ({"y": [2020]}, ["z"], "NotFoundError", 'time: no column is named "z"'),
        ({"y": [2020]}, ["y", "y"], "SpecError", 'time: "y": want each column once'),
        ({"y": [2020]}, [], "SpecError", r"time: got \[\], want at least one column"),
        ({"y": [2020]}, list("abcdefg"), "SpecError", "want at most the columns of year, month"),
        ({"y": [2020]}, [1], "SpecError", "time: got 1, want column names"),
        ({"y": [20]}, ["y"], "SourceError", '"20" is no year, want 100 to 9999'),
        ({"y": [2020, 2020]}, ["y"], "SourceError", 'column "time": .*2020-01-01'),
    ],
)
def test_parts_that_make_no_time(
    cache: tensorcache.Cache, columns: dict[str, Any], time: Any, error: str, message: str
) -> None:
    with pytest.raises(getattr(tensorcache, error), match=message):
        cache.put("refused", {"a": np.arange(len(columns["y"])), **columns}, time=time)


def test_cells_that_are_no_part(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for text, message in [
        ("y,m\n2020,1\n2020,x\n", r'row 2 \(line 3\), column "m": "x" is not a whole number'),
        ("y,m\n2020,1\n2020,1.5\n", r'row 2 \(line 3\), column "m": "1.5" is not a whole number'),
        ("y,m\n2020,1\n2020,\n", r'row 2 \(line 3\), column "m": the cell is missing'),
        ("y,y,m\n2020,1,2\n", 'column "y": is the name of several columns'),
        ("y,m\n2020-01-01,1\n", 'column "y": is timestamp'),
    ]:
        path.write_text(text.replace("\n", ",0\n").replace(",0\n", ",a\n", 1))
        with pytest.raises(tensorcache.SourceError, match=message):
            cache.load("refused", path, time=["y", "m"])
    with pytest.raises(tensorcache.SpecError, match=r"time_format: .*a time in one column only"):
        cache.load("refused", path, time=["y", "m"], time_format="%Y")
    with pytest.raises(
        tensorcache.SourceError, match=r'row 2, column "m": .*every row needs a time'
    ):
        cache.put("refused", pa.table({"y": [2020, 2021], "m": [1, None]}), time=["y", "m"])
    with pytest.raises(tensorcache.SpecError, match="time: is in the recipe and in the call"):
        cache.load("refused", path, time=["y", "m"], recipe={"time": "y"})
