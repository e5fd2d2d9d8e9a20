"""A load takes one series a row, as M4's own files have them: ragged, without times."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples

NAN = float("nan")


def ends(values: list[Any]) -> int:
    """Return the length of a series: up to its last value that is not missing."""
    return max((i + 1 for i, v in enumerate(values) if v is not None), default=0)


def write_csv(path: Path, names: list[str], rows: list[list[Any]], data: st.DataObject) -> None:
    """Write each row with any number of empty cells at its end, quoted or not."""
    with path.open("w", newline="") as file:
        quoting = data.draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
        writer = csv.writer(file, quoting=quoting, lineterminator="\n")
        writer.writerow(names)
        for row in rows:
            cells = ["" if v is None else v for v in row]
            last = len(row) - next(i for i, v in enumerate(reversed(row)) if v is not None)
            writer.writerow(cells[: data.draw(st.integers(max(1, last), len(cells)))])


@given(data=st.data())
@examples(150)
def test_rows_are_series_up_to_their_last_value(
    cache: tensorcache.Cache, tmp_path: Path, data: st.DataObject
) -> None:
    wide = data.draw(st.integers(1, 7))
    whole = data.draw(st.booleans())
    number = st.integers(-9, 9) if whole else st.integers(-9, 9).map(lambda n: n / 4)
    cell = st.one_of(number, st.none())
    values = data.draw(
        st.lists(st.lists(cell, min_size=wide, max_size=wide).filter(ends), min_size=1, max_size=9)
    )
    numbers = data.draw(st.booleans())  # the series are named by numbers
    names: list[Any] = list(range(5, 5 + len(values)))
    names = names if numbers else [f"Y{n} ä" for n in names]
    at = data.draw(st.integers(0, wide))
    columns = [f"V{i}" for i in range(wide)]
    table = [[*row[:at], name, *row[at:]] for name, row in zip(names, values, strict=True)]
    header = [*columns[:at], "id", *columns[at:]]
    wanted = columns[: data.draw(st.integers(1, wide))] if data.draw(st.booleans()) else columns
    kept = [row[: len(wanted)] for row in values]
    options: dict[str, Any] = {"melt": "rows", "layout": data.draw(st.sampled_from(["columns"]))}
    if numbers or at > 0 or data.draw(st.booleans()):
        options["item_id"] = "id"
    if wanted != columns:
        options["columns"] = wanted
    how = data.draw(st.sampled_from(["csv", "parquet", "arrow", "jsonl", "pandas", "polars"]))
    frame = pl.DataFrame(table, schema=header, orient="row", infer_schema_length=None)
    frame = frame.with_columns(pl.col(columns).cast(pl.Int64 if whole else pl.Float64))
    path = tmp_path / f"x.{how}"

    def load() -> tensorcache.Dataset:
        if how in ("pandas", "polars"):
            options.pop("columns", None)
            given: Any = frame.select([n for n in header if n in ("id", *wanted)])
            return cache.put("rows", given.to_pandas() if how == "pandas" else given, **options)
        if how == "csv":
            write_csv(path, header, table, data)
        elif how == "parquet":
            frame.write_parquet(path)
        elif how == "arrow":
            frame.write_ipc(path)
        else:
            rows = [dict(zip(header, row, strict=True)) for row in table]
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return cache.load("rows", path, **options)

    lengths = [ends(row) for row in kept]
    if 0 in lengths:
        with pytest.raises(tensorcache.SourceError, match=r"row \d+.*the series has no values"):
            load()
        return
    loaded = load()
    want = [v for row, n in zip(kept, lengths, strict=True) for v in row[:n]]
    got = loaded["value"]
    assert loaded.columns == ("id", "value")
    assert list(loaded.items) == names
    assert loaded.items.rows.tolist() == lengths
    np.testing.assert_array_equal(got, [NAN if v is None else v for v in want])
    if whole and how not in ("pandas", "jsonl"):
        assert got.dtype == (np.float64 if None in want else np.int64)


def test_other_rows_are_appended_to_the_end_of_their_series(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    first, more = tmp_path / "first.csv", tmp_path / "more.csv"
    first.write_text("id,a,b,c\nx,1,2,3\ny,4\n")
    more.write_text("id,a,b,c\ny,5,6\nz,7,,9\n")
    with pytest.raises(tensorcache.SourceError, match=r"is float64 here but int64 in the dataset"):
        cache.load("grown", first, melt="rows")
        cache.append("grown", more)
    first.write_text("id,a,b,c\nx,1,,3\ny,4\n")
    cache.load("grown", first, melt="rows")
    data = cache.append("grown", more)
    assert list(data.items) == ["x", "y", "z"]
    np.testing.assert_array_equal(data["value"], [1, NAN, 3, 4, 5, 6, 7, NAN, 9])
    data = cache.append("grown", pd.DataFrame({"id": ["y"], "a": [0.5], "b": [NAN], "c": [NAN]}))
    assert data["value"].tolist()[6] == 0.5
    assert cache.load("grown", first, melt="rows").digest != data.digest
    assert cache.load("grown", first, melt="rows", item_id=None).generation == 5


def test_series_of_several_files_and_names(cache: tensorcache.Cache, tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text("shop,item,v1,v2\n1,a,1,2\n1,b,3,\n")
    (tmp_path / "1.csv").write_text("shop,item,v1,v2\n2,a,0.5,\n")
    options: dict[str, Any] = {"melt": "rows", "item_id": ["shop", "item"]}
    data = cache.load("shops", tmp_path, **options)
    assert list(data.items) == [(1, "a"), (1, "b"), (2, "a")]
    assert data["value"].tolist() == [1, 2, 3, 0.5]
    part = cache.load("shops", tmp_path, items=[[2, "a"]], dtype="float32", **options)
    assert (part["value"].tolist(), part["value"].dtype) == ([0.5], np.float32)
    steps = cache.load("shops", tmp_path, diff=True, scale="standard", scale_per="item", **options)
    assert np.isnan(steps["value"]).tolist() == [True, False, True, True]
    narrow = cache.load("shops", tmp_path / "0.csv", dtype={"value": "int8"}, **options)
    assert (narrow["value"].tolist(), narrow["value"].dtype) == ([1, 2, 3], np.int8)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("id,a,b\nx,1,2\ny,3,z\n", {}, r'row 2 \(line 3\), column "b": "z" is not a number'),
        ("id,a,b\nx,1,2\ny,3,4,5\n", {}, r"row 2 \(line 3\).*has 4 cells, want at most 3"),
        ("id,a,b\nx,1,2\n\ny,,\n", {}, r"row 2 \(line 4\): the series has no values"),
        ("id,a\nx,1\nx,2\n", {}, r'row 2 \(line 3\), column "id": "x" names the series of the'),
        ("id,a\nx,1\ny,2\nx,3\n", {}, r'row 3 \(line 4\).*"x" appears again after another item'),
        ("id,a\nx,1\n,2\n", {}, r'row 2 \(line 3\), column "id": .*an item needs a name'),
        ("a,id\n1,x\n2\n", {"item_id": "id"}, r'row 2 .*has 1 cell, but column "id"'),
        ("a,b\n1,2\n", {}, r'column "a": the first column is int64, want the names of the series'),
        ("a,b\n0.5,2\n", {}, r'column "a": the first column is float64'),
        ("id,a,a\nx,1,2\n", {}, r'column "a": is the name of several columns'),
        ("id\nx\n", {}, r"has no values besides the names of the series"),
        ('id,a\nx,1\n"y,2\n', {}, r"row 2 \(line 3\).*has a quoted cell that is not closed"),
    ],
)
def test_lines_that_hold_no_series(
    cache: tensorcache.Cache, tmp_path: Path, text: str, options: dict[str, Any], message: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(tensorcache.SourceError, match=message):
        cache.load("refused", path, melt="rows", **options)
    assert "refused" not in [one["dataset"] for one in cache.datasets()]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["x"], "a": ["z"]}, r'column "a": is text, but the values of a series are numbers'),
        ({"id": ["x"], "a": [True]}, r'column "a": is bool, but the values'),
        ({"id": ["x"], "a": [[1.0, 2.0]]}, r'column "a": is float64\[2\], but the values'),
        ({"id": ["x", "y"], "a": [1.0, NAN]}, r"row 2: the series has no values"),
        ({"id": ["x", "x"], "a": [1.0, 2.0]}, r'row 2, column "id": "x" names the series'),
        ({"a": [1.0], "b": [2.0]}, r'column "a": the first column is float64'),
        ({"id": ["x", "y"], "a": [1, 2**53 + 1]}, r'row 2, column "a": "?9007199254740993'),
        ({"id": ["x"], "value": ["z"]}, r'column "value": is text'),
    ],
)
def test_arrays_that_hold_no_series(
    cache: tensorcache.Cache, columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(tensorcache.SourceError, match=message):
        cache.put("refused", {k: np.array(v) for k, v in columns.items()}, melt="rows")


def test_options_that_series_in_rows_cannot_have(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,t,a\nx,1,2\n")
    for options, message in [
        ({"melt": "rows", "time": "t"}, 'time: "t": want it without melt="rows"'),
        ({"melt": "row"}, 'melt: got .row., want True, False, "columns" or "rows"'),
        ({"melt": "rows", "item_id": "value"}, 'item_id: "value": want columns of another'),
        ({"melt": "rows", "item_id": "id", "columns": ["id"]}, 'columns: "id": want the'),
        ({"melt": "rows", "regrid": 1}, "regrid: want it only together with time"),
    ]:
        with pytest.raises(tensorcache.SpecError, match=message):
            cache.load("refused", path, **options)
    folder = tmp_path / "parts" / "year=2020"
    folder.mkdir(parents=True)
    (folder / "x.csv").write_text("id,a\nx,2\n")
    with pytest.raises(tensorcache.SourceError, match='column "year": is a partition'):
        cache.load("refused", tmp_path / "parts", melt="rows")


def test_texts_of_other_dialects_hold_series(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for text, options in [
        (",V1,V2,V3\n0,x,0.5,2\n1,y,3,\n", {}),  # the index of pandas
        ("V1;V2;V3\nx;0,5;2\ny;3;\n", {"delimiter": ";", "decimal": ","}),
        ("x,0.5,2\ny,3\n", {"no_header": True}),
        ("V1,V2,V3\nx,0.5,2\ny,3,-\n", {"na": "-"}),
        ('\ufeff"V1","V2","V3"\r\n"x","0.5","2"\r\n\r\n"y","3"\r\n', {}),
    ]:
        path.write_bytes(text.encode())
        data = cache.load("dialects", path, melt="rows", **options)
        assert list(data.items) == ["x", "y"]
        assert data["value"].tolist() == [0.5, 2, 3]
    path.write_bytes(gzip.compress(b"V1\tV2\tV3\nx\t0.5\t2\ny\t3\n"))
    packed = path.rename(tmp_path / "x.tsv.gz")
    assert cache.load("dialects", packed, melt="rows")["value"].tolist() == [0.5, 2, 3]
    path.write_text("x,1\ny,2,3\n")
    with pytest.raises(
        tensorcache.SourceError, match=r"row 2 (?s:.*)write the longest series first"
    ):
        cache.load("dialects", path, melt="rows", no_header=True)


def test_melt_columns_is_melt_true(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("t,a,b\n1,2,3\n")
    first = cache.load("same", path, time="t", melt=True)
    again = cache.load("same", path, time="t", melt="columns")
    assert (again.generation, again.digest) == (first.generation, first.digest)
    narrow = cache.load("same", path, time="t", melt="columns", dtype={"value": "int8"})
    assert narrow["value"].dtype == np.int8


def test_frames_and_streams_of_series(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"V1": ["a", "b"], "V2": [1, 2], "V3": [3.5, NAN]})
    for columns in (
        frame,
        frame.set_index("V1"),
        pa.table({"V1": ["a", "b"], "V2": [1, 2], "V3": [3.5, None]}),
        frame.astype({"V3": "Float64"}),
        {"V1": np.array(["a", "b"]), "V2": np.array([1, 2]), "V3": np.array([3.5, NAN])},
    ):
        data = cache.put("frames", columns, melt="rows")
        assert list(data.items) == ["a", "b"]
        assert data["value"].tolist() == [1, 3.5, 2]
    whole = cache.put(
        "frames", pa.table({"i": ["a", "b"], "v": [1, 2], "w": [3, None]}), melt="rows"
    )
    assert (whole["value"].tolist(), whole["value"].dtype) == ([1, 3, 2], np.int64)
    small = cache.put(
        "frames", {"i": ["a"], "v": np.float32([0.5]), "w": np.float32([1])}, melt="rows"
    )
    assert small["value"].dtype == np.float32
