"""What the refusals of put say to do is done, and stores the values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import cases
from tensorcache._option_text import for_put, with_keywords

REPOSITORY = Path(__file__).parents[3]

FRAME = pd.DataFrame({"a": [1.0, 1.0], "b": [3.0, 2.0]})
RECORDS = np.array([(1, 2.5, "x"), (2, 3.5, "y")], [("n", "i4"), ("v", "f8"), ("s", "U1")])


def refusal(cache: tensorcache.Cache, columns: Any, **options: Any) -> tensorcache.SourceError:
    """Return the refusal of a put."""
    with pytest.raises(tensorcache.SourceError) as caught:
        cache.put("hints", columns, **options)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("columns", "hint"),
    [
        (np.zeros((3, 2)), '{"value": values}'),
        (np.zeros((3, 2, 2)), '{"value": values.reshape(len(values), -1)}'),
        ([1.0, 2.0], '{"value": values}'),
        ({1.0, 2.0}, '{"value": sorted(values)}'),
        ([{"a": 1}, {"a": 2}], "{name: [row[name] for row in rows] for name in rows[0]}"),
        (pl.Series("a", [1, 2]), '{"value": values}'),
        (pa.array([1, 2]), '{"value": values}'),
        (pa.chunked_array([[1, 2]]), '{"value": values}'),
        (FRAME["a"], '{"value": values}'),
        (FRAME.rolling(1), "values.mean()"),
        (np.array([RECORDS]), "array.reshape(-1)"),
        (RECORDS[0:1].reshape(()), "array.reshape(-1)"),
        (None, '{"value": [1.0, 2.0]}'),
        (5, '{"value": [1.0, 2.0]}'),
        (np.array(5), '{"value": [1.0, 2.0]}'),
        (b"a.csv", '{"value": [1.0, 2.0]}'),
    ],
)
def test_hints_for_values_without_columns_work(
    cache: tensorcache.Cache, columns: Any, hint: str
) -> None:
    error = refusal(cache, columns)
    assert error.hint.endswith(hint)
    assert "want a mapping of names to arrays, a frame or a table" in error.detail
    there = dict.fromkeys(("values", "rows", "array"), columns)
    assert len(cache.put("hints", eval(hint, there))) > 0


def test_lists_of_equal_length_may_be_rows_or_items(cache: tensorcache.Cache) -> None:
    values = [[1, 2], [3, 4]]
    rows, items = (
        refusal(cache, values)
        .hint.removesuffix(" in each item")
        .split(" has one of them in each row, and ")
    )
    assert cache.put("hints", eval(rows))["value"].shape == (2, 2)
    assert list(cache.put("hints", eval(items, {"np": np, "values": values})).items) == [0, 1]


def test_hints_for_an_iterator_and_a_connection_work(cache: tensorcache.Cache) -> None:
    assert '{"value": list(values)}' in refusal(cache, iter([1.0])).hint
    with duckdb.connect() as connection:
        assert "connection.sql(" in refusal(cache, connection).hint
        assert cache.put("hints", connection.sql("select 1 as a"))["a"].tolist() == [1]


@pytest.mark.parametrize(
    ("groups", "hint"),
    [
        (pl.from_pandas(FRAME).group_by("a"), "item_id='a'"),
        (pl.from_pandas(FRAME).group_by("a", "b"), "item_id=['a', 'b']"),
        (pl.from_pandas(FRAME).group_by(pl.col("a") + 1), "its keys as item_id="),
        (pl.from_pandas(FRAME).lazy().group_by("a"), "its keys as item_id="),
        (FRAME.groupby(["a", "b"]), "item_id=['a', 'b']"),
        (pd.DataFrame, "not the class DataFrame"),
    ],
)
def test_groups_and_classes_are_named(cache: tensorcache.Cache, groups: Any, hint: str) -> None:
    assert hint in refusal(cache, groups).hint


def test_fields_of_records_are_columns(cache: tensorcache.Cache, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", RECORDS)
    of_file = cache.load("file", tmp_path / "x.npy")
    masked = np.ma.MaskedArray(RECORDS, np.zeros(2, bool))
    for records in (RECORDS, RECORDS.view(np.recarray), masked):
        for method in (cache.put, cache.load):
            data = method("records", records)  # type: ignore[operator]
            assert data.columns == of_file.columns == ("n", "v", "s")
            assert data.digest == of_file.digest
    nested = np.zeros(2, [("at", "M8[s]"), ("xy", [("x", "f8"), ("y", "f8")]), ("v", "f4", (3,))])
    error = refusal(cache, nested)
    assert 'column "xy" is [(' in error.detail
    fields = "{name: array[name] for name in array.dtype.names}"
    assert error.hint.endswith(fields)
    data = cache.put("records", eval(fields, {"array": nested["xy"]}))
    assert data.columns == ("x", "y")
    assert cache.put("records", nested[["at", "v"]])["v"].shape == (2, 3)


LEVELS: dict[str, Any] = {
    "texts": ["x", "y"],
    "numbers": [5, 6],
    "floats": [0.5, 1.5],
    "times": pd.to_datetime(["2020-01-01", "2020-01-02"]),
    "later": pd.to_datetime(["2021-01-01", "2021-01-02"]),
}


@given(
    levels=st.lists(
        st.tuples(
            st.sampled_from(sorted(LEVELS)),
            st.sampled_from([None, None, "x", "item", ("x", "y"), b"x"]),
        ),
        min_size=1,
        max_size=3,
    ),
    time=st.sampled_from([None, "t"]),
)
@cases(0.05)
def test_hints_for_levels_without_a_name_work(
    cache: tensorcache.Cache, levels: list[tuple[str, Any]], time: str | None
) -> None:
    frame = pd.DataFrame({"item": [1.0, 2.0]})
    index = pd.MultiIndex.from_arrays([LEVELS[kind] for kind, _ in levels])
    frame.index = index if len(levels) > 1 else index.get_level_values(0)
    frame.index.names = [name for _, name in levels]
    unnamed_times = any(kind in ("times", "later") and name is None for kind, name in levels)
    options = {"time": time} if time and unnamed_times else {}
    hints: list[str] = []
    while True:
        try:
            data = cache.put("levels", frame, **options)  # type: ignore[arg-type]
            break
        except tensorcache.SourceError as error:
            hints.append(error.hint)
        if (named := re.match(r"frame\.rename_axis\((\[.*?\]|\".*?\")\)", hints[-1])) is not None:
            frame = eval(named[0], {"frame": frame})
        elif hints[-1].startswith('time="time"'):
            options = {"time": "time"}
        else:
            assert hints[-1].startswith("frame.rename_axis(index={'item'")
            frame = frame.rename_axis(index={"item": "thing"})
        assert len(hints) < 4
    kept = [kind for kind, name in levels if kind != "numbers" or name is not None]
    assert len(data.columns) == 1 + len(kept)


def test_names_of_several_levels_are_refused(cache: tensorcache.Cache) -> None:
    frame = FRAME.set_axis(pd.MultiIndex.from_product([["x"], ["a", 0]]), axis="columns")
    error = refusal(cache, frame)
    assert error.detail.startswith("columns: the name ('x', 'a') of column 1 has 2 levels")
    exec(error.hint.removesuffix(" joins them"), {"frame": frame})
    assert cache.put("hints", frame).columns == ("x_a", "x_0")


@given(
    key=st.one_of(
        st.binary(max_size=3),
        st.tuples(st.text(max_size=2), st.integers()),
        st.frozensets(st.integers(), max_size=2),
        st.just(()),
    )
)
@cases(0.05)
def test_names_that_are_bytes_or_have_parts_are_refused(cache: tensorcache.Cache, key: Any) -> None:
    error = refusal(cache, {"a": [1.0], key: [2.0]})
    assert f"the name {key!r} of column 2 is of type {type(key).__name__}" in error.detail
    assert "name it by text" in error.hint


def test_numbers_and_dates_may_be_names(cache: tensorcache.Cache) -> None:
    keys = (0, np.int64(3), 2.5, True, pd.Timestamp("2020-01-01"), pd.Period("2020", "M"))
    data = cache.put("hints", {key: [1.0] for key in keys})  # type: ignore[misc]
    assert data.columns == tuple(map(str, keys))


@pytest.mark.parametrize("name", [0, ("a", "0"), ["a", "0"], b"a", slice(2), None, [["a"]], 1.5])
def test_datasets_say_that_names_are_text(cache: tensorcache.Cache, name: Any) -> None:
    data = cache.put("names", {"0": [1.0], "a": [2.0]})
    for read in (data.__getitem__, data.vocab):
        with pytest.raises(tensorcache.NotFoundError) as caught:
            read(name)
        assert caught.value.detail.endswith(f"names are text, got {type(name).__name__}")
        assert "near" not in caught.value.detail
    if name == 0:
        assert caught.value.hint == 'names are text: "0"'
    elif isinstance(name, (list, tuple)) and "a" in name:
        shown = caught.value.hint.partition(": ")[2]
        got = eval(shown, {"data": data})
        assert {key: column.tolist() for key, column in got.items()} == {"a": [2.0], "0": [1.0]}


def test_put_names_no_option_that_it_lacks(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1.0, 2.0]})
    assert refusal(cache, frame).hint.endswith("or leave the column out of the mapping or frame")
    with pytest.raises(tensorcache.SourceError, match="leave the column out with columns="):
        cache.load("hints", frame)
    assert cache.load("hints", frame, columns=["b"]).columns == ("b",)
    with pytest.raises(TypeError, match=r"by position and by keyword: .*frame\[\["):
        cache.put("hints", frame, columns=["b"])  # type: ignore[misc]
    assert cache.put(name="hints", columns=frame[["b"]]).columns == ("b",)


def test_no_hint_of_the_daemon_names_columns_in_a_put() -> None:
    files = [*REPOSITORY.glob("internal/ingest/**/*.go"), *REPOSITORY.glob("internal/jobs/*.go")]
    text = "\n".join(path.read_text() for path in files if not path.name.endswith("_test.go"))
    text = re.sub(r'" \+\s+"', "", text)  # strings of several lines
    hints = re.findall(r'"([^"\n]* (?:with|in) `columns`[^"\n]*)"', text)
    assert len(hints) > 20
    for hint in hints:
        shown = for_put(with_keywords(hint))
        assert "columns=" not in shown, shown
        assert "out of the mapping or frame" in shown or "put only " in shown, shown
