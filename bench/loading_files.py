"""The files that `loading.py` loads, made once from a fixed seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

COLUMNS = 16


def normal(rows: int, columns: int) -> pa.Table:
    """Return columns ``c0``, ``c1``, … of shape [rows], float64, standard normal."""
    random = np.random.default_rng(0)
    return pa.table({f"c{i}": random.standard_normal(rows) for i in range(columns)})


def repeating(rows: int, columns: int) -> pa.Table:
    """Return columns like measured series.

    The values have three decimals and repeat, so that a writer stores them in dictionaries.
    """
    random = np.random.default_rng(1)
    return pa.table({f"c{i}": np.round(random.standard_normal(rows), 3) for i in range(columns)})


def plain(path: Path, rows: int, columns: int = COLUMNS) -> Path:
    """Write Parquet without dictionaries, compressed with snappy."""
    if not path.exists():
        pq.write_table(
            normal(rows, columns), made(path), compression="snappy", use_dictionary=False
        )
        made(path).rename(path)
    return path


def dictionaries(path: Path, rows: int, codec: str) -> Path:
    """Write Parquet with dictionaries, as pyarrow does by default."""
    if not path.exists():
        pq.write_table(repeating(rows, COLUMNS), made(path), compression=codec)
        made(path).rename(path)
    return path


def numbers(rows: int) -> pa.Table:
    """Return eight numeric columns: an integer and seven decimals of up to six digits."""
    random = np.random.default_rng(2)
    columns: dict[str, np.ndarray] = {"n": np.arange(rows)}
    for i in range(7):
        columns[f"c{i}"] = np.round(random.standard_normal(rows) * 100, 6)
    return pa.table(columns)


def text(path: Path, rows: int) -> Path:
    """Write CSV of eight numeric columns."""
    if not path.exists():
        pyarrow.csv.write_csv(numbers(rows), made(path))
        made(path).rename(path)
    return path


def lines(path: Path, rows: int) -> Path:
    """Write JSON Lines of eight numeric columns."""
    if not path.exists():
        pl.DataFrame(pl.from_arrow(numbers(rows))).write_ndjson(made(path))
        made(path).rename(path)
    return path


def made(path: Path) -> Path:
    """Return the temporary path of a file, so that an interrupted write is repeated."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(path.name + ".part")
