"""What ``layout="auto"`` becomes, and that it stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import tensorcache

MANY = 32


def frame(columns: int, **more: Any) -> pd.DataFrame:
    values = {f"c{i}": np.arange(3, dtype=np.float32) + i for i in range(columns)}
    return pd.DataFrame(values | more)


def test_an_append_keeps_the_layout(cache: tensorcache.Cache) -> None:
    """Windows leave out the levels of an index, and what is left out decides."""
    column = frame(MANY - 1, level=np.arange(3, dtype=np.float32))
    level = column.set_index("level")
    assert cache.put("column", column, layout="auto").manifest["layout"] == "packed"
    assert cache.append("column", level).manifest["layout"] == "packed"
    assert cache.put("level", level, layout="auto").manifest["layout"] == "columns"
    assert cache.append("level", column).manifest["layout"] == "columns"


def test_copied_calendar_columns_are_left_out_as_in_the_load(cache: tensorcache.Cache) -> None:
    time = pd.date_range("2020-01-01", periods=3, freq="h")
    data = cache.put("hours", frame(MANY, t=time), time="t", calendar=["hour"], layout="auto")
    copy = cache.put("copied-hours", data, layout="auto")
    assert data.manifest["layout"] == copy.manifest["layout"] == "columns"
