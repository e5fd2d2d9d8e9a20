"""Items and times that are decimals without digits after the point, which are int64."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import tensorcache

Load = Callable[..., tensorcache.Dataset]
OPTIONS: dict[str, Any] = {"item_id": "i", "time": "t"}


def from_parquet(
    cache: tensorcache.Cache, folder: Path, table: pa.Table, **options: Any
) -> tensorcache.Dataset:
    pq.write_table(table, folder / "x.parquet", row_group_size=5)
    return cache.load("decimals", folder / "x.parquet", **OPTIONS, **options)


def from_arrow(
    cache: tensorcache.Cache, folder: Path, table: pa.Table, **options: Any
) -> tensorcache.Dataset:
    feather.write_feather(table, str(folder / "x.arrow"), compression="uncompressed")
    return cache.load("decimals", folder / "x.arrow", **OPTIONS, **options)


def from_table(
    cache: tensorcache.Cache, folder: Path, table: pa.Table, **options: Any
) -> tensorcache.Dataset:
    return cache.put("decimals", table, **OPTIONS, **options)


def from_pandas(
    cache: tensorcache.Cache, folder: Path, table: pa.Table, **options: Any
) -> tensorcache.Dataset:
    return cache.put("decimals", table.to_pandas(), **OPTIONS, **options)


def from_polars(
    cache: tensorcache.Cache, folder: Path, table: pa.Table, **options: Any
) -> tensorcache.Dataset:
    return cache.put("decimals", pl.from_arrow(table), **OPTIONS, **options)


def from_lists(
    cache: tensorcache.Cache, folder: Path, table: pa.Table, **options: Any
) -> tensorcache.Dataset:
    return cache.put("decimals", table.to_pydict(), **OPTIONS, **options)


OF_OBJECTS = [from_pandas, from_polars, from_lists]
"""The ways in which decimals are objects of Python, which the client sends as float64."""

WAYS = [from_parquet, from_arrow, from_table, *OF_OBJECTS]


def table_of(items: pa.Array, times: Any = None) -> pa.Table:
    """Rows whose times, if not given, count rows."""
    rows = range(len(items))
    return pa.table(
        {"i": items, "t": rows if times is None else times, "v": [float(row) for row in rows]}
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("way", WAYS)
def test_whole_decimals_are_integers(
    cache: tensorcache.Cache, tmp_path: Path, way: Load, seed: int
) -> None:
    draws = random.Random(seed)
    precision, scale = draws.choice([(9, 0), (38, 0), (18, 2), (38, 18)])
    most = min(10 ** (precision - scale), 2**53)
    whole = list({draws.randrange(-most + 1, most) // 10 ** draws.randrange(15) for _ in range(9)})
    numbers = [one for one in whole for _ in range(draws.randrange(1, 4))]
    times = sorted(draws.sample(range(-most // 2, most // 2), len(numbers)))
    kind = pa.decimal128(precision, scale)
    table = table_of(
        pa.array([Decimal(one) for one in numbers], kind),
        pa.array([Decimal(one) for one in times], kind),
    )
    data = way(cache, tmp_path, table)
    assert list(data.items) == whole
    assert (data["i"].tolist(), data["i"].dtype) == (numbers, np.int64)
    assert (data["t"].tolist(), data["t"].dtype) == (times, np.int64)
    assert data["v"].tolist() == list(range(len(numbers)))


@pytest.mark.parametrize("way", WAYS)
def test_decimals_that_are_no_integers_are_refused(
    cache: tensorcache.Cache, tmp_path: Path, way: Load
) -> None:
    for text in ("1.5", "4503599627370497.4", "-1.000000000000000001"):
        values = pa.array([Decimal(1), Decimal(text)], pa.decimal128(38, 18))
        exact = f"{Decimal(text):.18f}"
        for table, name, role, instead in [
            (table_of(values), "i", "an item_id", "text"),
            (table_of(pa.array([1, 1]), values), "t", "a time", "timestamps"),
        ]:
            with pytest.raises(tensorcache.SourceError) as caught:
                way(cache, tmp_path, table)
            if way in OF_OBJECTS:
                assert f'column "{name}": {role} column holds' in caught.value.detail
                assert caught.value.detail.endswith(", not float64")
                continue
            assert caught.value.detail.endswith(
                f'row 2, column "{name}": "{exact}" does not fit int64'
            )
            assert caught.value.hint == f"convert the decimals to {instead} before the load"


@pytest.mark.parametrize("way", WAYS)
def test_missing_decimals_are_refused(cache: tensorcache.Cache, tmp_path: Path, way: Load) -> None:
    values = pa.array([Decimal(1), None], pa.decimal128(20, 0))
    for table, name in [(table_of(values), "i"), (table_of(pa.array([1, 1]), values), "t")]:
        want = f'row 2, column "{name}": the value is missing, but'
        with pytest.raises(tensorcache.SourceError, match=want):
            way(cache, tmp_path, table)


@pytest.mark.parametrize("way", WAYS)
def test_large_decimals_are_exact_or_refused(
    cache: tensorcache.Cache, tmp_path: Path, way: Load
) -> None:
    large = [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
    table = table_of(pa.array([Decimal(one) for one in large], pa.decimal128(38, 0)))
    if way in OF_OBJECTS:
        with pytest.raises(tensorcache.SourceError, match=r"row 1, .* may be rounded") as caught:
            way(cache, tmp_path, table)
        assert (caught.value.hint or "").startswith("convert the decimals to int64")
        return
    assert list(way(cache, tmp_path, table).items) == large
    table = table_of(pa.array([Decimal(1), Decimal(2**63)], pa.decimal128(38, 0)))
    with pytest.raises(tensorcache.SourceError, match='"9223372036854775808" does not fit int64'):
        way(cache, tmp_path, table)


def test_melted_decimals(cache: tensorcache.Cache, tmp_path: Path) -> None:
    kind = pa.decimal128(20, 0)
    wide = pa.table({"day": pa.array([Decimal(3), Decimal(4)], kind), "a": [1, 2], "b": [3, 4]})
    pq.write_table(wide, tmp_path / "wide.parquet")
    data = cache.load("wide", tmp_path / "wide.parquet", melt=True, time="day")
    assert data["day"].tolist() == [3, 4, 3, 4]
    rows = {"id": pa.array([Decimal(7), Decimal(5)], kind), "d1": [1.0, 2.0], "d2": [3.0, 4.0]}
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(rows), path)
    data = cache.load("rows", path, melt="rows", item_id="id")
    assert list(data.items) == [7, 5]
    assert data["id"].tolist() == [7, 7, 5, 5]
    for second, want in [
        (None, "the value is missing, but an item needs a name"),
        (Decimal(2**63), '"9223372036854775808" does not fit int64'),
    ]:
        pq.write_table(pa.table({**rows, "id": pa.array([Decimal(7), second], kind)}), path)
        with pytest.raises(tensorcache.SourceError, match=f'row 2, column "id": {want}'):
            cache.load("rows", path, melt="rows", item_id="id")


def test_filters_select_decimals(cache: tensorcache.Cache, tmp_path: Path) -> None:
    kind = pa.decimal128(20, 0)
    items = [Decimal(row // 10) for row in range(60)]
    times = [Decimal(row % 10) for row in range(60)]
    table = table_of(pa.array(items, kind), pa.array(times, kind))
    for way in (from_parquet, from_arrow):
        data = way(cache, tmp_path, table, items=[1, 4], where={"time": (2, 8)})
        assert list(data.items) == [1, 4]
        assert data["v"].tolist() == [*range(12, 18), *range(42, 48)]


def test_sorted_duplicates_of_decimals(cache: tensorcache.Cache, tmp_path: Path) -> None:
    kind = pa.decimal128(9, 0)
    items = pa.array([Decimal(one) for one in (5, 3, 5, 3, 5)], kind)
    times = pa.array([Decimal(one) for one in (2, 1, 1, 1, 5)], kind)
    for way in WAYS:
        data = way(
            cache, tmp_path, table_of(items, times), sort=True, duplicates="last", max_duplicates=1
        )
        assert data["i"].tolist() == [5, 5, 5, 3], way.__name__
        assert data["t"].tolist() == [1, 2, 5, 1]
        assert data["v"].tolist() == [2, 0, 4, 3]


def test_files_of_decimals_and_integers(cache: tensorcache.Cache, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    kinds = [pa.decimal128(9, 0), pa.decimal128(21, 2), pa.int64()]
    for at, (path, kind) in enumerate(zip(paths, kinds, strict=True)):
        value = at if kind == pa.int64() else Decimal(at)
        pq.write_table(table_of(pa.array([value, value], kind)), path)
    for order in (paths, paths[::-1]):
        items = list(cache.load("files", order, **OPTIONS).items)
        assert items == [paths.index(path) for path in order]
    pq.write_table(table_of(pa.array([1.0, 1.0])), paths[2])
    with pytest.raises(tensorcache.SourceError) as caught:
        cache.load("files", paths, **OPTIONS)
    assert "is float64 here but int64 in" in caught.value.detail
    assert caught.value.hint == "convert the column to one type in all files"


def test_folders_of_decimals(cache: tensorcache.Cache, tmp_path: Path) -> None:
    for site in ("x", "y"):
        folder = tmp_path / f"site={site}"
        folder.mkdir()
        items = pa.array([Decimal(5), Decimal(7)], pa.decimal128(9, 0))
        pq.write_table(table_of(items, pa.array([0, 0])), folder / "part.parquet")
    data = cache.load("folders", tmp_path, item_id=["site", "i"], time="t")
    assert list(data.items) == [("x", 5), ("x", 7), ("y", 5), ("y", 7)]


def test_appends_of_decimals_and_integers(cache: tensorcache.Cache, tmp_path: Path) -> None:
    kind = pa.decimal128(9, 0)
    decimals = table_of(pa.array([Decimal(5), Decimal(7)], kind))
    integers = table_of(pa.array([5, 7, 2]), [5, 6, 7])
    others = table_of(pa.array([Decimal(7), Decimal(9)], kind), [8, 9])
    for way in WAYS:
        way(cache, tmp_path, decimals)
        assert list(cache.append("decimals", integers).items) == [5, 7, 2]
        path = tmp_path / "more.parquet"
        pq.write_table(others, path)
        data = cache.append("decimals", path)
        assert list(data.items) == [5, 7, 2, 9], way.__name__
        assert data["t"].tolist() == [0, 5, 1, 6, 8, 7, 9]
    csv = tmp_path / "text.csv"
    csv.write_text("i,t,v\na,0,0.5\n7,1,1.5\n")
    cache.load("decimals", csv, **OPTIONS)
    with pytest.raises(tensorcache.SourceError, match="is int64 here but text in the dataset"):
        cache.append("decimals", others)


def test_only_decimals_name_items_in_lists(cache: tensorcache.Cache) -> None:
    rows = {"t": [0, 0], "v": [1.0, 2.0]}
    for items, want in [
        ([Decimal(1), 2], [1, 2]),
        ([Decimal("1.00"), np.int32(2)], [1, 2]),
        ([Decimal(1), 2.0], None),
        ([Decimal(1), np.float32(2)], None),
        ([Decimal(1), True], None),
        ([1.0, 2.0], None),
    ]:
        if want:
            assert list(cache.put("lists", {"i": items, **rows}, **OPTIONS).items) == want
            continue
        with pytest.raises(tensorcache.SourceError, match="integers or text, not float64"):
            cache.put("lists", {"i": items, **rows}, **OPTIONS)
    for text in ("inf", "1e400"):
        with pytest.raises(tensorcache.SourceError, match=r'row 2, column "i": .* does not fit'):
            cache.put("lists", {"i": [Decimal(1), Decimal(text)], **rows}, **OPTIONS)


def test_decimals_of_several_parts(cache: tensorcache.Cache) -> None:
    def put(first: list[Any], second: list[Any], **options: Any) -> tensorcache.Dataset:
        parts = [{"k": ["a", "a"], "i": first}, {"k": ["b", "b"], "i": second}]
        rows = [{**part, "v": [1.0, 2.0]} for part in parts]
        return cache.put("parts", rows, **options)

    two = [Decimal(1), Decimal(2)]
    for second in (two, [1, 2], [3, Decimal(4)]):
        data = put(two, second, item_id=["k", "i"])
        assert list(data.items) == [("a", 1), ("a", 2), *(("b", int(one)) for one in second)]
    with pytest.raises(tensorcache.SourceError, match="integers or text, not float64"):
        put(two, [1.0, 2.0], item_id=["k", "i"])
    assert put(two, [1.0, 2.0**60], item_id="k", dtype={"i": "int64"})["i"].tolist()[3] == 2**60
    with pytest.raises(tensorcache.SourceError, match="may be rounded"):
        put([Decimal(1), Decimal(2**60)], [1.0, 2.0], item_id="k", dtype={"i": "int64"})


def test_appended_frames_of_decimals(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"i": [Decimal(1), Decimal(2)], "t": [0, 0], "v": [1.0, 2.0]})
    cache.put("frames", frame, **OPTIONS)
    data = cache.append("frames", frame.assign(t=[Decimal(1), Decimal(1)]))
    assert (data["i"].tolist(), data["t"].tolist()) == ([1, 1, 2, 2], [0, 1, 0, 1])


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_decimals_that_parquet_stores_as_integers(
    cache: tensorcache.Cache, tmp_path: Path, use_dictionary: bool
) -> None:
    def load(items: pa.Array, times: pa.Array) -> tensorcache.Dataset:
        pq.write_table(
            table_of(items, times),
            tmp_path / "x.parquet",
            store_decimal_as_integer=True,
            use_dictionary=use_dictionary,
        )
        return cache.load("integers", tmp_path / "x.parquet", **OPTIONS)

    rows = pa.array([1, 2, 3])
    for precision in (9, 18):
        kind = pa.decimal128(precision, 2)
        items = pa.array([Decimal(7), Decimal(7), Decimal(-5)], kind)
        assert load(items, rows)["i"].tolist() == [7, 7, -5]
        times = pa.array([Decimal(1), Decimal("1.01"), Decimal("1.01")], kind)
        with pytest.raises(tensorcache.SourceError, match=r'row 2, column "t": "1\.01"'):
            load(rows, times)
