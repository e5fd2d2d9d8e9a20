"""Tables that are computed when they are read, and grids of xarray."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples

TABLE = pa.table({"id": ["x", "x", "y"], "t": [1, 2, 1], "a": [1.0, 2.0, 3.0]})


def scanned(path: Path) -> pads.Dataset:
    """Return a dataset of pyarrow over a file."""
    pq.write_table(TABLE, path / "x.parquet")
    return pads.dataset(path / "x.parquet")


TABLES: dict[str, Callable[[Path], Any]] = {
    "polars": lambda _: pl.from_arrow(TABLE),
    "polars-lazy": lambda _: pl.LazyFrame(pl.from_arrow(TABLE)),
    "polars-query": lambda _: pl.LazyFrame(pl.from_arrow(TABLE)).filter(pl.col("t") > 0),
    "table": lambda _: TABLE,
    "batch": lambda _: TABLE.to_batches()[0],
    "reader": lambda _: TABLE.to_reader(max_chunksize=1),
    "dataset": scanned,
    "scanner": lambda path: scanned(path).scanner(),
    "relation": lambda path: duckdb.sql(f"from '{path / 'y.parquet'}'"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_put_as_its_columns(cache: tensorcache.Cache, tmp_path: Path, kind: str) -> None:
    pq.write_table(TABLE, tmp_path / "y.parquet")
    want = cache.put("want", TABLE.to_pydict(), item_id="id", time="t")
    for method in (cache.put, cache.load):
        data = method("lazy", TABLES[kind](tmp_path), item_id="id", time="t")  # type: ignore[operator]
        assert data.digest == want.digest
    cache.put("growing", {"id": ["x"], "t": [0], "a": [0.0]}, item_id="id", time="t")
    assert len(cache.append("growing", TABLES[kind](tmp_path))["a"]) == 4


def grid_of(seed: int, stations: int, steps: int, turned: bool) -> xr.Dataset:
    """Return two variables over stations and times, one over stations, one over all levels."""
    rng = np.random.default_rng(seed)
    dims = ("station", "time")
    values = rng.normal(size=(stations, steps))
    return xr.Dataset(
        {
            "heat": (dims[::-1], values.T) if turned else (dims, values),
            "rain": (dims, rng.integers(0, 9, (stations, steps))),
            "height": ("station", rng.normal(size=stations)),
        },
        coords={
            "station": [f"s{at:02}" for at in range(stations)],
            "time": pd.date_range("2020-01-01", periods=steps, freq="h"),
        },
    )


@given(
    seed=st.integers(0, 2**32),
    stations=st.integers(1, 5),
    steps=st.integers(1, 5),
    turned=st.booleans(),
)
@examples(25)
def test_a_grid_is_the_frame_that_xarray_makes_of_it(
    cache: tensorcache.Cache, seed: int, stations: int, steps: int, turned: bool
) -> None:
    grid = grid_of(seed, stations, steps, turned)
    frame = grid.to_dataframe(dim_order=["station", "time"]).reset_index()
    want = cache.put("frame", frame, item_id="station", time="time")
    data = cache.put("grid", grid)
    assert (data.time, list(data.items)) == ("time", list(want.items))
    for name in frame:
        np.testing.assert_array_equal(data[name], want[name], err_msg=name)
    assert cache.put("grid", grid, item_id="station", time="time").digest == data.digest


def test_grids_of_other_shapes(cache: tensorcache.Cache) -> None:
    grid = grid_of(1, 2, 4, turned=False)
    one = cache.put("one", grid.isel(station=0, drop=True))
    assert (one.time, one.columns) == ("time", ("time", "heat", "rain", "height"))
    globe = xr.Dataset(
        {"heat": (("time", "lat", "lon"), np.arange(12.0).reshape(3, 2, 2))},
        coords={
            "time": pd.date_range("2020-01-01", periods=3),
            "lat": np.array([-52.3, 0.5], np.float32),
            "lon": [13.25, 1e-9],
        },
    )
    data = cache.put("globe", globe)
    assert list(data.items) == list(itertools.product(("-52.3", "0.5"), ("13.25", "1e-09")))
    np.testing.assert_array_equal(data["heat"][:3], [0, 4, 8])
    later = globe.assign_coords(time=globe.indexes["time"] + pd.Timedelta(days=3))
    assert len(cache.append("globe", later)) == 24
    south = globe.isel(lon=0)
    named = cache.put("named", south, item_id="lat", time="time")
    assert (list(named.items), named["lon"][0]) == (["-52.3", "0.5"], 13.25)
    array = cache.put("array", grid["heat"])
    assert (array.time, list(array.items)) == ("time", ["s00", "s01"])
    np.testing.assert_array_equal(array["heat"], grid["heat"].values.reshape(-1))
    steps = cache.put("steps", xr.Dataset({"a": (("run", "step"), np.zeros((2, 3)))}), time="step")
    assert list(steps.items) == [0, 1]
    cache.put("growing", grid.isel(time=slice(0, 2)))
    assert len(cache.append("growing", grid.isel(time=slice(2, 4)))["heat"]) == 8
    stacked = grid.stack(pair=("station", "time"))
    with pytest.raises(
        tensorcache.SourceError, match='dimension "pair" has several levels'
    ) as refused:
        cache.put("array", stacked)
    assert refused.value.hint == "dataset.reset_index('pair') makes coordinates of them"
    assert len(cache.put("array", stacked.reset_index("pair"))) == 8
    named = cache.put("array", xr.DataArray([5.0, 6.0], dims="q", name="q"))
    np.testing.assert_array_equal(named["q"], [5, 6])
    np.testing.assert_array_equal(cache.put("array", globe["lat"])["lat"], globe["lat"])
    with pytest.raises(tensorcache.SourceError, match="an array without a name"):
        cache.put("array", xr.DataArray(np.zeros(3)))  # type: ignore[arg-type]


SCRIPT = """
import sys, numpy
import {library} as library
import tensorcache
before = set(sys.modules)
cache = tensorcache.connect({directory!r})
cache.put("quiet", {columns})
libraries = {{"pandas", "polars", "pyarrow", "xarray", "duckdb", "torch", "jax", "datasets"}}
print(*sorted((set(sys.modules) - before) & libraries))
"""


@pytest.mark.parametrize(
    ("library", "columns"),
    [
        ("numpy", '{"a": numpy.zeros(3)}'),
        ("polars", 'library.LazyFrame({"a": [1, 2]})'),
        ("pandas", 'library.DataFrame({"a": [1, 2]}, index=library.Index([1, 2], name="t"))'),
        ("xarray", 'library.Dataset({"a": ("t", [1, 2])})'),
    ],
)
def test_a_put_imports_no_library(cache: tensorcache.Cache, library: str, columns: str) -> None:
    script = SCRIPT.format(library=library, columns=columns, directory=str(cache.dir))
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout.strip()) == (0, ""), run.stderr
