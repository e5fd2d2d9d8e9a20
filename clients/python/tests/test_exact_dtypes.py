"""Whole numbers that a dtype of integers is asked for: each is stored exactly, or refused."""

from __future__ import annotations

import collections
import functools
import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import tensorcache

EXACT = 2**53
CASES = [1 - EXACT, EXACT, EXACT + 1, -EXACT - 1, 2**60 + 1, 2**63 - 1, 2**64 - 1, 10**30]

Way = Callable[[Path, Sequence[int]], Any]


def decimals(values: Sequence[int]) -> list[Decimal]:
    return [Decimal(value) for value in values]


def arrow(values: Sequence[int], scale: int = 0) -> pa.Array:
    return pa.array(decimals(values), pa.decimal128(38 if scale == 0 else 36, scale))


def parquet(path: Path, array: pa.Array, **options: Any) -> Path:
    pq.write_table(pa.table({"v": array}), path / "x.parquet", **options)
    return path / "x.parquet"


def feather(path: Path, array: pa.Array) -> Path:
    pyarrow.feather.write_feather(pa.table({"v": array}), path / "x.arrow")
    return path / "x.arrow"


def text(path: Path, name: str, content: str) -> Path:
    (path / name).write_text(content)
    return path / name


def beside_floats(path: Path, values: Sequence[int], first: str) -> list[Path]:
    pq.write_table(pa.table({"v": pa.array([1.0])}), path / "floats.parquet")
    paths = [path / "floats.parquet", parquet(path, arrow(values[1:]))]
    return paths if first == "floats" else paths[::-1]


FILES: dict[str, Way] = {
    "Parquet": lambda path, values: parquet(path, arrow(values)),
    "Parquet, no dictionary": lambda path, values: parquet(
        path, arrow(values), use_dictionary=False
    ),
    "Parquet, scale 2": lambda path, values: parquet(path, arrow(values, 2)),
    "Parquet, 256 bits": lambda path, values: parquet(
        path, pa.array(decimals(values), pa.decimal256(60, 3))
    ),
    "Arrow": lambda path, values: feather(path, arrow(values)),
    "Arrow, 256 bits": lambda path, values: feather(
        path, pa.array(decimals(values), pa.decimal256(60, 3))
    ),
    "Arrow, dictionary": lambda path, values: feather(path, arrow(values).dictionary_encode()),
    "CSV, a point": lambda path, values: text(
        path, "x.csv", "v\n" + "".join(f"{value}.0\n" for value in values)
    ),
    "CSV, a point in one cell": lambda path, values: text(
        path, "x.csv", "v\n1.0\n" + "".join(f"{value}\n" for value in values[1:])
    ),
    "JSON Lines": lambda path, values: text(
        path, "x.jsonl", '{"v": 1.0}\n' + "".join(f'{{"v": {value}}}\n' for value in values[1:])
    ),
    "Parquet of floats and of decimals": lambda path, values: beside_floats(path, values, "floats"),
    "Parquet of decimals and of floats": lambda path, values: beside_floats(path, values, ""),
}

INTEGER_FILES: dict[str, Way] = {
    "CSV, integers": lambda path, values: text(
        path, "x.csv", "v\n" + "".join(f"{value}\n" for value in values)
    ),
    "JSON Lines, integers": lambda path, values: text(
        path, "x.jsonl", "".join(json.dumps({"v": value}) + "\n" for value in values)
    ),
}
"""Files of which all integers of 64 bits are loaded."""

TABLES: dict[str, Way] = {
    "a list": lambda _, values: {"v": decimals(values)},
    "a list beside a float": lambda _, values: {"v": [1.0, *decimals(values[1:])]},
    "an array": lambda _, values: {"v": np.array(decimals(values), object)},
    "an array of two columns": lambda _, values: {
        "v": np.array([decimals(values), decimals(values)], object).T
    },
    "lists": lambda _, values: {"v": [[one, one] for one in decimals(values)]},
    "arrays in a list": lambda _, values: {
        "v": [np.array([one, one], object) for one in decimals(values)]
    },
    "a deque": lambda _, values: {"v": collections.deque(decimals(values))},
    "deques": lambda _, values: {
        "v": collections.deque(collections.deque([one, one]) for one in decimals(values))
    },
    "pyarrow": lambda _, values: {"v": arrow(values)},
    "pyarrow, dictionary": lambda _, values: {"v": arrow(values).dictionary_encode()},
    "pyarrow, chunks": lambda _, values: {"v": pa.chunked_array([arrow(values)])},
    "a table": lambda _, values: pa.table({"v": arrow(values)}),
    "pandas": lambda _, values: pd.DataFrame({"v": decimals(values)}),
    "pandas, Arrow": lambda _, values: pd.DataFrame(
        {"v": pd.Series(decimals(values), dtype=pd.ArrowDtype(pa.decimal128(38, 0)))}
    ),
    "pandas, a category": lambda _, values: pd.DataFrame({"v": pd.Categorical(decimals(values))}),
    "Polars": lambda _, values: pl.DataFrame({"v": pl.Series(decimals(values))}),
    "Polars, objects": lambda _, values: pl.DataFrame(
        {"v": pl.Series(decimals(values), dtype=pl.Object)}
    ),
    "Polars, arrays": lambda _, values: pl.DataFrame(
        {"v": pl.Series([[one] for one in decimals(values)], dtype=pl.Array(pl.Decimal(38, 0), 1))}
    ),
    "by item": lambda _, values: {
        "a": pd.DataFrame({"v": decimals(values)}),
        "b": pd.DataFrame({"v": decimals([1])}),
    },
}


def check(
    load: Callable[[], tensorcache.Dataset],
    values: Sequence[int],
    dtype: str,
    *,
    name: str = "v",
    exact: bool = False,
) -> None:
    """Check that integers are stored as they are, or refused for a reason that is theirs."""
    limits = np.iinfo(dtype)
    try:
        data = load()
    except tensorcache.SourceError as error:
        refused, hint = str(error), error.hint
    else:
        stored = data[name].astype(object)
        rows = stored.reshape(len(stored), -1)[: len(values)]
        assert [set(row) for row in rows.tolist()] == [{value} for value in values]
        return
    must_load = exact or all(abs(value) < EXACT and value >= limits.min for value in values)
    assert not must_load, refused
    if all(limits.min <= value <= limits.max for value in values):
        assert re.search(r'"-?\d+" may be rounded: |whole numbers up to 2\^53', refused)
        assert hint.startswith(
            ("convert the decimals", "write all cells", "leave the column's steps out")
        )
    else:
        assert f"does not fit {dtype}" in refused


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("way", FILES | INTEGER_FILES)
def test_integers_of_files_are_exact_or_refused(
    cache: tensorcache.Cache, tmp_path: Path, way: str, dtype: str
) -> None:
    for case in CASES:
        values = [1, 2, case]
        source = (FILES | INTEGER_FILES)[way](tmp_path, values)
        if way == "Parquet of decimals and of floats":
            values = [2, case, 1]
        is_int64 = max(-(2**63), np.iinfo(dtype).min) <= case < 2**63
        load = functools.partial(cache.load, "x", source, dtype={"v": dtype})
        check(load, values, dtype, exact=way in INTEGER_FILES and is_int64)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("way", TABLES)
def test_integers_of_tables_are_exact_or_refused(
    cache: tensorcache.Cache, tmp_path: Path, way: str, dtype: str
) -> None:
    for case in CASES:
        values = [1, 2, case]
        table = TABLES[way](tmp_path, values)
        put = functools.partial(cache.put, "x", table, dtype={"v": dtype})
        check(put, values, dtype)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize(
    "options",
    [
        {"time": "t", "where": {"time": (0, 3)}},
        {"time": "t", "sort": True},
        {"time": "t", "regrid": 1},
        {"time": "t", "melt": True},
        {"time": "t", "fill": {"v": 0}},
    ],
    ids=lambda options: list(options)[1],
)
def test_integers_of_decimals_are_exact_or_refused_with_other_options(
    cache: tensorcache.Cache, tmp_path: Path, options: dict[str, Any], dtype: str
) -> None:
    name = "value" if "melt" in options else "v"
    for case in CASES:
        source = tmp_path / "x.parquet"
        values = [1, 2, case]
        pq.write_table(pa.table({"t": [0, 1, 2], "v": arrow(values)}), source)
        given = {**options, "dtype": {name: dtype}}
        check(functools.partial(cache.load, "x", source, **given), values, dtype, name=name)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("way", ["Parquet", "table", "mapping", "beside floats"])
def test_integers_of_series_in_rows_are_exact_or_refused(
    cache: tensorcache.Cache, tmp_path: Path, way: str, dtype: str
) -> None:
    options: dict[str, Any] = {"item_id": "id", "melt": "rows", "dtype": {"value": dtype}}
    for case in CASES:
        columns = {"id": ["a", "b"], "x": arrow([1, 3]), "y": arrow([2, case])}
        if way == "beside floats":
            columns["x"] = [1.0, 3.0]
        load = functools.partial(cache.put, "x", columns, **options)
        if way == "table":
            load = functools.partial(cache.put, "x", pa.table(columns), **options)
        elif way == "Parquet":
            pq.write_table(pa.table(columns), tmp_path / "x.parquet")
            load = functools.partial(cache.load, "x", tmp_path / "x.parquet", **options)
        check(load, [1, 2, 3, case], dtype, name="value")


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize(("precision", "dtype"), [(9, "int32"), (18, "int64"), (9, "int64")])
def test_decimals_that_parquet_stores_as_integers_have_their_scale(
    cache: tensorcache.Cache, tmp_path: Path, precision: int, dtype: str, dictionary: bool
) -> None:
    options = {"store_decimal_as_integer": True, "use_dictionary": dictionary}
    for scale in (0, 2):
        kind = pa.decimal128(precision, scale)
        path = parquet(tmp_path, pa.array(decimals([1, 2, 3]), kind), **options)
        assert cache.load("x", path, dtype={"v": dtype})["v"].tolist() == [1, 2, 3]
    path = parquet(tmp_path, pa.array([Decimal("1"), Decimal("1.25")], kind), **options)
    with pytest.raises(tensorcache.SourceError, match=f'row 2, .*"1.25" does not fit {dtype}'):
        cache.load("x", path, dtype={"v": dtype})
    path = parquet(tmp_path, pa.array(decimals([1, EXACT + 1]), pa.decimal128(18, 0)), **options)
    with pytest.raises(tensorcache.SourceError, match=r"row 2, column"):
        cache.load("x", path, dtype={"v": dtype})


def test_the_first_value_that_does_not_fit_is_named(cache: tensorcache.Cache) -> None:
    values = [Decimal(1), Decimal(-1), Decimal(EXACT + 1)]
    with pytest.raises(tensorcache.SourceError, match='row 2, column "v": "-1" does not fit uint'):
        cache.put("x", {"v": values}, dtype={"v": "uint64"})
    with pytest.raises(tensorcache.SourceError, match='row 3, column "v": "9007199254740992" may'):
        cache.put("x", {"v": values}, dtype={"v": "int64"})


def test_integers_of_an_item_are_exact_beside_decimals_of_another(
    cache: tensorcache.Cache,
) -> None:
    items = {"a": {"v": [float(2**60)]}, "b": {"v": [Decimal(1)]}}
    assert cache.put("x", items, dtype={"v": "int64"})["v"].tolist() == [2**60, 1]
