"""CSV files as pandas reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

import tensorcache
from daemon import ETTH1


def read_csv(path: Path, numbers: list[str], **options: Any) -> pd.DataFrame:
    """A CSV file as pandas reads it, with exact numbers (pandas' parser may be off by one ulp)."""
    frame = pd.read_csv(path, dtype=dict.fromkeys(numbers, str), **options)
    for name in numbers:
        frame[name] = [
            float(text) if isinstance(text, str) else float("nan") for text in frame[name]
        ]
    return frame


def each_way(cache: tensorcache.Cache, path: Path) -> list[tensorcache.Dataset]:
    """A Parquet file as datasets: loaded, and its table put, also as an item."""
    table = pq.read_table(path)
    return [
        cache.load("file", path),
        cache.put("table", table),
        cache.put("items", {"one": table}),
    ]


def read_etth1() -> pd.DataFrame:
    """ETTh1 as pandas reads it."""
    return read_csv(
        ETTH1, ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"], parse_dates=["date"]
    )
