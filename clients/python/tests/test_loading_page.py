"""The Python on docs/LOADING.md does what the page says."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import tensorcache

PAGE = Path(__file__).resolve().parents[3] / "docs" / "LOADING.md"


def test_the_lines_of_python_run(cache: tensorcache.Cache) -> None:
    text = PAGE.read_text("utf-8").split("## Frames, tables, arrays")[1].split("\n## ")[0]
    lines = [
        line.strip()
        for line in text.splitlines()
        if line.startswith("    ") and "tensorcache put" not in line
    ]
    assert len(lines) >= 10
    exec(
        "\n".join(lines), {"cache": cache, "np": np, "pd": pd, "pl": pl, "pa": pa, "duckdb": duckdb}
    )
    data = cache.dataset("frame")
    np.testing.assert_array_equal(data["x"], np.log1p([1.0, 2.0, 3.0]))
    assert list(data.items) == ["x", "y"]
    assert list(cache.dataset("shops").items) == ["Bonn", "Kiel"]
    assert cache.dataset("shops").item("Kiel")["y"].tolist() == list(range(7))
    assert len(cache.dataset("ragged")) == 8
    assert {d["dataset"] for d in cache.datasets()} >= {
        "arrays",
        "frame",
        "polars",
        "table",
        "query",
    }
