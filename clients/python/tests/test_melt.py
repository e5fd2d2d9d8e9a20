"""A load reshapes wide tables to long ones as pandas.melt does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples


@given(data=st.data())
@examples(60)
def test_melted_tables_are_what_pandas_makes(
    cache: tensorcache.Cache, tmp_path: Path, data: st.DataObject
) -> None:
    rows, names = (
        data.draw(st.integers(1, 9)),
        ["b", "a", "ä ö", "1"][: data.draw(st.integers(1, 4))],
    )
    whole = data.draw(st.booleans())
    cell = (
        st.integers(-9, 9)
        if whole
        else st.one_of(st.integers(-9, 9), st.just(np.nan), st.floats(-9, 9, width=32))
    )
    frame = pd.DataFrame(
        {n: data.draw(st.lists(cell, min_size=rows, max_size=rows)) for n in names}
    )
    frame = frame.astype("int64" if whole else "float64")
    if whole is False:
        frame.iloc[0, 0] = 0.5  # one decimal value, so that the text column is read as decimals
    timed = data.draw(st.booleans())
    if timed:
        frame.insert(
            data.draw(st.integers(0, len(names))),
            "t",
            pd.date_range("2020-01-01", periods=rows, freq="h"),
        )
    wanted = data.draw(st.permutations(names))[: data.draw(st.integers(1, len(names)))]
    how = data.draw(st.sampled_from(["csv", "parquet", "arrow", "put"]))
    options = {
        "time": "t" if timed else None,
        "melt": True,
        "layout": data.draw(st.sampled_from(["columns", "packed"])),
    }
    if how == "put":
        frame = frame[(["t"] if timed else []) + wanted]
        loaded = cache.put("melted", frame, **options)
    else:
        path = tmp_path / f"x.{how}"
        if how == "csv":
            frame.to_csv(path, index=False)
        elif how == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_feather(path)
        loaded = cache.load("melted", path, columns=wanted, **options)
    want = frame.melt(id_vars=["t"] if timed else [], value_vars=wanted, var_name="item")
    assert list(loaded.items) == wanted
    np.testing.assert_array_equal(loaded["value"], want["value"].to_numpy())
    if timed:
        np.testing.assert_array_equal(loaded["t"], want["t"].to_numpy().astype(loaded["t"].dtype))


def test_wide_files_that_follow_each_other_are_sorted(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    for part in range(3):
        pl.DataFrame(
            {"t": [2 * part, 2 * part + 1], "x": [1.0, 2.0], "y": [3.0, 4.0]}
        ).write_parquet(tmp_path / f"{part}.parquet")
    with pytest.raises(tensorcache.SourceError, match="appears again after another item"):
        cache.load("parts", tmp_path, time="t", melt=True)
    data = cache.load("parts", tmp_path, time="t", melt=True, sort=True)
    assert data["value"].tolist() == [1, 2] * 3 + [3, 4] * 3
    assert data["t"].tolist() == [0, 1, 2, 3, 4, 5] * 2


def test_tables_that_cannot_be_melted(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pd.DataFrame({"t": [1, 2], "a": [1.5, 2], "b": [1, 2]}).to_parquet(path)
    with pytest.raises(
        tensorcache.SourceError, match='column "b": is int64, but series "a" is float64'
    ):
        cache.load("refused", path, time="t", melt=True)
    with pytest.raises(tensorcache.SpecError, match="melt: want it without item_id"):
        cache.load("refused", path, item_id="a", melt=True)
    with pytest.raises(tensorcache.NotFoundError, match='columns: no column is named "c"'):
        cache.load("refused", path, columns="c", melt=True)
    pd.DataFrame({"value": [1, 2], "b": [1, 2]}).to_parquet(path)
    with pytest.raises(tensorcache.SpecError, match='time column of another name than "value"'):
        cache.load("refused", path, time="value", melt=True)
    pd.DataFrame({"t": [1, 2]}).to_parquet(path)
    with pytest.raises(tensorcache.SourceError, match="has no series besides the time"):
        cache.load("refused", path, time="t", melt=True)
