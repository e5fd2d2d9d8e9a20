"""Rows of other types than the dataset's: whole numbers go into floats, nulls into any column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tensorcache

EXACT = 2**53
"""Above this bound float64 rounds integers."""


def parquet(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


FORMS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "arrays": lambda columns, _: columns,
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "arrow": lambda columns, _: pa.table(columns),
    "parquet": lambda columns, path: parquet(path / "more.parquet", columns),
}
"""How rows are appended."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["int32", "uint64"])
@pytest.mark.parametrize("base", ["float32", "float64"])
@pytest.mark.parametrize(
    "options",
    [{}, {"fill": 0.0}, {"dtype": "float32"}, {"scale": "standard"}, {"where": (0, None)}],
    ids=lambda options: "".join(options) or "plain",
)
def test_whole_numbers_go_into_floats(
    cache: tensorcache.Cache, tmp_path: Path, options: dict[str, Any], base: str, kind: str,
    form: str,
) -> None:  # fmt: skip
    first = {"t": np.arange(4), "a": np.array([0.5, 1.5, 2.5, 3.5], base)}
    more = {"t": np.arange(4, 6), "a": np.array([7, 100], kind)}
    data = cache.put("ints", first, time="t", **options)
    grown = cache.append("ints", FORMS[form](more, tmp_path))
    floats = {**more, "a": more["a"].astype(base)}
    cache.put("floats", first, time="t", **options)
    want = cache.append("floats", floats)
    assert grown["a"].dtype == data["a"].dtype
    np.testing.assert_array_equal(grown["a"], want["a"])
    if "scale" not in options:
        assert grown["a"][4:].tolist() == [7, 100]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "options", [{}, {"fill": 0.0}, {"where": (0, None)}], ids=["plain", "fill", "where"]
)
def test_whole_numbers_that_floats_would_round_are_refused(
    cache: tensorcache.Cache, tmp_path: Path, options: dict[str, Any], form: str
) -> None:
    cache.put("exact", {"t": [0], "a": [0.5]}, time="t", **options)
    more = {"t": np.arange(1, 3), "a": np.array([EXACT, EXACT + 1])}
    with pytest.raises(
        tensorcache.SourceError,
        match=rf'row 2, column "a": "{EXACT + 1}" does not fit float64\n'
        "hint: to change options, load all rows again: store integers, with fill= ",
    ):
        cache.append("exact", FORMS[form](more, tmp_path))
    more = {name: values[:1] for name, values in more.items()}
    assert cache.append("exact", FORMS[form](more, tmp_path))["a"][-1] == EXACT


@pytest.mark.parametrize("form", FORMS)
def test_nulls_are_missing_values_of_the_datasets_type(
    cache: tensorcache.Cache, tmp_path: Path, form: str
) -> None:
    first = {"half": np.array([0.5, 1], np.float16), "f": [0.5, 1.5], "w": ["a", "b"]}
    cache.put("nulls", first)
    nothing = [None, None]
    if form in ("arrays", "pandas", "polars"):
        more: Any = FORMS[form](dict.fromkeys(first, nothing), tmp_path)
    else:
        more = FORMS[form](dict.fromkeys(first, pa.nulls(2)), tmp_path)
    data = cache.append("nulls", more)
    assert data["half"].dtype == np.float16
    assert data["f"].dtype == np.float64
    assert np.isnan(data["half"][2:]).all()
    assert np.isnan(data["f"][2:]).all()
    assert data["w"].tolist() == [0, 1, -1, -1]
    assert cache.append("nulls", {**first, "w": ["b", "c"]})["w"].tolist() == [0, 1, -1, -1, 1, 2]


def test_nulls_in_whole_numbers_are_filled_or_refused(cache: tensorcache.Cache) -> None:
    cache.put("filled", {"n": np.array([1, 2], np.int32)}, fill={"n": 7})
    assert cache.append("filled", {"n": [None]})["n"].tolist() == [1, 2, 7]
    cache.put("whole", {"n": [1, 2]})
    with pytest.raises(tensorcache.SourceError, match='row 1, column "n": the value is missing'):
        cache.append("whole", {"n": [None]})
    cache.put("items", {"id": ["x"], "v": [1.0]}, item_id="id")
    with pytest.raises(tensorcache.SourceError, match='"id": is null here but text in'):
        cache.append("items", {"id": [None], "v": [1.0]})


def test_decimals_do_not_go_into_whole_numbers(cache: tensorcache.Cache) -> None:
    cache.put("whole", {"n": [1, 2]})
    with pytest.raises(
        tensorcache.SourceError,
        match='column "n": is float64 here but int64 in the dataset\n'
        "hint: convert the column, or load all rows again",
    ):
        cache.append("whole", {"n": [1.0]})
