"""Loads of JSON Lines that Polars and pandas wrote, value by value."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples

pytestmark = pytest.mark.portable

COLUMNS = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "f": st.floats(allow_nan=False, allow_infinity=False),
    "b": st.booleans(),
    "s": st.text(st.characters(exclude_categories=["Cs"])),
}


def cells(data: tensorcache.Dataset, name: str) -> list[Any]:
    """Return the values of a column as Python has them, with the words of a text column."""
    values = data[name].tolist()
    words = data.vocab(name) if name == "s" else None
    return values if words is None else [words[code] for code in values]


@given(rows=st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=30), data=st.data())
@examples(40)
def test_rows_are_what_others_wrote(
    cache: tensorcache.Cache, tmp_path: Path, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    path = tmp_path / "x.jsonl"
    writer = data.draw(st.sampled_from(["json", "ascii", "polars", "pandas"]))
    if writer == "polars":
        pl.DataFrame(rows).write_ndjson(path)
    elif writer == "pandas":
        pd.DataFrame(rows)[["i", "b", "s"]].to_json(path, orient="records", lines=True)
    else:
        text = "\n".join(json.dumps(row, ensure_ascii=writer == "ascii") for row in rows)
        path.write_text(text, "utf-8", newline="\n")
    loaded = cache.load("lines", path)
    for name in loaded.columns:
        assert cells(loaded, name) == [row[name] for row in rows]


def test_values_that_are_missing(cache: tensorcache.Cache, tmp_path: Path) -> None:
    text = '{"t":"2026-01-01","x":1}\n{"t":"2026-01-02","x":null}\n{"x":2.5,"t":"2026-01-03"}\n'
    (tmp_path / "x.ndjson.gz").write_bytes(gzip.compress(text.encode()))
    loaded = cache.load("missing", tmp_path / "x.ndjson.gz", time="t")
    np.testing.assert_array_equal(loaded["x"], [1, np.nan, 2.5])
    np.testing.assert_array_equal(
        loaded["t"], np.arange("2026-01-01", "2026-01-04", dtype="M8[D]").astype("M8[s]")
    )


def test_a_later_key_is_refused_unless_columns_name_it(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"x":1}\n' * 1000 + '{"x":2,"late":3,"other":[]}\n', "utf-8")
    with pytest.raises(tensorcache.SourceError, match=r"row 1001 \(line 1001\).*late") as refused:
        cache.load("late", path)
    assert "columns=" in str(refused.value)
    loaded = cache.load("late", path, columns=["late", "x"])
    np.testing.assert_array_equal(loaded["late"], [np.nan] * 1000 + [3])
    assert loaded["x"][1000] == 2
