"""What a load assumed or left out: notes of the dataset, and warnings."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tensorcache

PANEL = "sku,date,y,color\na,2024-01-01,1,red\na,2024-01-02,2,blue\nb,2024-01-01,3,red\n"
ITEM = (
    'column "sku" looks like the item: the times of column "date" decrease at 1 row, each time '
    "where it changes; without item_id=, windows may contain rows of two items\n"
    'hint: load with item_id="sku" and time="date"'
)
TEXTS = (
    'column "color" has texts, which windows leave out unless a spec names them\n'
    "hint: leave them out of the load, or name them in a spec: in context_columns= or "
    "known_columns=, or in static_columns= if they are constant in each item"
)


@pytest.fixture
def panel(tmp_path: Path) -> str:
    path = tmp_path / "panel.csv"
    path.write_text(PANEL)
    return str(path)


def arrays(**more: Any) -> dict[str, Any]:
    return {
        "sku": ["a", "a", "b"],
        "date": np.array(["2024-01-01", "2024-01-02", "2024-01-01"], "datetime64[s]"),
        "y": [1.0, 2.0, 3.0],
        **more,
    }


def warned(call: Any) -> tuple[str, ...]:
    """The texts of the load's warnings, each at the line of the call."""
    with pytest.warns(tensorcache.LoadWarning) as caught:
        data = call()
    assert all(Path(w.filename).name == Path(__file__).name for w in caught)
    texts = tuple(str(w.message) for w in caught)
    assert texts == data.notes
    return texts


def test_load_put_and_append_warn(cache: tensorcache.Cache, panel: str) -> None:
    assert warned(lambda: cache.load("f", panel)) == (ITEM, TEXTS)
    assert warned(lambda: cache.load("f", panel)) == (ITEM, TEXTS)  # a hit
    assert cache.dataset("f").notes == (ITEM, TEXTS)
    assert warned(lambda: cache.put("p", arrays())) == (ITEM,)
    assert warned(lambda: cache.load("p", arrays())) == (ITEM,)
    time, texts = warned(lambda: cache.append("p", arrays(sku=["c"] * 3)))
    assert time.startswith(
        'the times of column "date" do not increase at 3 rows, and time= names no column: order'
    )
    assert texts == TEXTS.replace("color", "sku")


def test_a_load_that_names_all_is_silent(cache: tensorcache.Cache, panel: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = cache.load("f", panel, item_id="sku", time="date", columns=["y", "color"])
        assert data.notes == ()
        assert cache.put("p", arrays(), item_id="sku", time="date").notes == ()
        assert cache.append("p", arrays(sku=["c", "c", "d"])).notes == ()


def test_a_warning_can_be_an_error(cache: tensorcache.Cache, panel: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", tensorcache.LoadWarning)
        with pytest.raises(tensorcache.LoadWarning, match="looks like the item"):
            cache.load("f", panel)
    assert len(cache.dataset("f")) == 3  # it is stored


def test_names_with_control_characters_are_escaped(cache: tensorcache.Cache) -> None:
    (text,) = warned(lambda: cache.put("p", {"a\x1b[2J": ["x", "y"]}))
    assert "\x1b" not in text


def naive_item(columns: dict[str, Any]) -> str:
    """The text column that looks like the item, by reading row by row; "" for none."""
    date = columns["date"]
    later = range(1, len(date))
    decreases = {row for row in later if date[row] < date[row - 1]}
    increases = {row for row in later if date[row] > date[row - 1]}
    for name in ("a", "b") if decreases else ():
        words = columns[name]
        starts = {row for row in later if words[row] != words[row - 1]}
        if len(starts) + 1 == len(set(words)) and decreases <= starts and increases - starts:
            return name
    return ""


def test_the_item_is_found_where_a_naive_reading_finds_it(cache: tensorcache.Cache) -> None:
    generator = np.random.default_rng(36)
    found = []
    for _ in range(40):
        rows = int(generator.integers(2, 9))
        runs = np.sort(generator.integers(0, 3, rows))
        columns = {
            "a": [f"w{code}" for code in generator.integers(0, 3, rows)],
            "b": [f"w{code}" for code in runs],
            "date": np.datetime64("2024-01-01", "s") + generator.integers(0, 9, rows),
        }
        if generator.random() < 0.5:  # times rise within each run
            columns["date"][np.lexsort((columns["date"], runs))] = columns["date"].copy()
            columns["date"] = columns["date"][np.lexsort((columns["date"], runs))]
        notes = cache.put("p", columns).notes
        want = naive_item(columns)
        found.append(want)
        if want:
            assert notes[0].startswith(f'column "{want}" looks like the item'), columns
        else:
            assert "names no column" in notes[0], columns
    assert {"", "b"} <= set(found)


def test_rows_that_duplicates_leaves_out_are_counted(cache: tensorcache.Cache) -> None:
    generator = np.random.default_rng(37)
    refused = 0
    for _ in range(30):
        rows = int(generator.integers(1, 10))
        times = np.sort(generator.integers(0, 6, rows))
        most = generator.integers(0, 11) / 10
        options = {"time": "t", "duplicates": "first", "max_duplicates": float(most)}
        left = rows - len(set(times.tolist()))
        text = (
            f'duplicates="first" leaves out {left} of {rows} rows, '
            "because it keeps one row of each time"
        )
        if left / rows > most:
            refused += 1
            with pytest.raises(tensorcache.SourceError) as error:
                cache.put("p", {"t": times, "v": times * 1.0}, **options)
            assert f"{text}: more than max_duplicates=" in error.value.detail
            assert "max_duplicates=1" in error.value.hint
            cache.put("p", {"t": times, "v": times * 1.0}, **{**options, "max_duplicates": 1})
            continue
        notes = cache.put("p", {"t": times, "v": times * 1.0}, **options).notes
        assert [note.split("\n")[0] for note in notes] == ([text] if left else [])
    assert 0 < refused < 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_duplicates": 0.5}, "max_duplicates: want it only together with duplicates"),
        ({"max_duplicates": 1.5, "duplicates": "last"}, "got 1.5, want a share of the rows"),
        ({"max_duplicates": -1, "duplicates": "last"}, "got -1, want a share of the rows"),
        (
            {"max_duplicates": "half", "duplicates": "last"},
            'got "half", want a number',
        ),
    ],
)
def test_shares_that_are_none_are_refused(
    cache: tensorcache.Cache, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(tensorcache.SpecError, match=message):
        cache.put("p", {"t": [1, 2], "v": [1.0, 2.0]}, time="t", **options)


@pytest.mark.parametrize(
    ("values", "dtype", "name", "hint"),
    [
        ([20240131, 20240201], "int64", "dates (year, month, day)", 'format="%Y%m%d"'),
        ([20240131, 20240201], "int32", "dates (year, month, day)", 'format="%Y%m%d"'),
        ([20240131, 20240201], "uint32", "dates (year, month, day)", 'format="%Y%m%d"'),
        ([1706659200, 1706745600], "uint64", "seconds since 1970", 'unit="s"'),
        ([1706659200000, 1706745600000], "int64", "milliseconds since 1970", 'unit="ms"'),
    ],
)
def test_integers_that_look_like_times_are_noted(
    cache: tensorcache.Cache, values: list[int], dtype: str, name: str, hint: str
) -> None:
    columns = {"date": np.array(values, dtype), "y": [1.0, 2.0]}
    (text,) = warned(lambda: cache.put("p", columns, time="date"))
    assert text.startswith(
        f'column "date" has integers that look like {name}, such as {values[0]}, and the load'
    )
    assert text.endswith(
        f"if they are, convert them before the load, as pandas.to_datetime(…, {hint}) does"
    )
    (text,) = warned(lambda: cache.put("p", columns))
    assert f"such as {values[0]}, and time= names no column" in text
    times = np.array(["2024-01-31", "2024-02-01"], "datetime64[s]")
    assert cache.put("p", {**columns, "date": times}, time="date").notes == ()


def test_booleans_in_capitals_are_those_of_pandas(cache: tensorcache.Cache, tmp_path: Path) -> None:
    generator = np.random.default_rng(38)
    path = tmp_path / "flags.csv"
    noted = 0
    for _ in range(30):
        rows = int(generator.integers(2, 9))
        words = generator.choice(["TRUE", "FALSE", "True", "False"], rows)
        frame = pd.DataFrame({"x": words, "y": np.arange(rows)})
        frame.to_csv(path, index=False)
        data = cache.load("p", path)
        want = pd.read_csv(path)["x"]
        assert data["x"].dtype == want.dtype == bool
        np.testing.assert_array_equal(data["x"], want)
        capitals = bool({"TRUE", "FALSE"} & set(words))
        assert [note.split("\n")[0] for note in data.notes] == (
            ['column "x" has TRUE or FALSE, which the load takes for booleans'] if capitals else []
        )
        noted += capitals
        if capitals:
            assert 'load with dtype={"x": "text"}' in data.notes[0]
            data = cache.load("p", path, dtype={"x": "text"})
            assert data.notes == ()
            assert [data.vocab("x")[code] for code in data["x"]] == list(words)
    assert 0 < noted < 30


def test_missing_booleans_are_filled_or_floats_as_the_hint_says(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    path = tmp_path / "flags.csv"
    path.write_text("x,y\nTRUE,1\nNA,2\nFALSE,3\n")
    with pytest.raises(tensorcache.SourceError) as error:
        cache.load("p", path)
    assert 'row 2 (line 3), column "x": "NA" is missing' in error.value.detail
    assert error.value.hint == (
        'fill booleans with 0, 1, forward or backward, as with fill={"x": 0}; or store numbers '
        'with dtype={"x": "float32"}; or load all cells as text with dtype={"x": "text"}'
    )
    filled = cache.load("p", path, fill={"x": 0})["x"]
    assert filled.dtype == bool
    assert filled.tolist() == [True, False, False]
    floats = cache.load("p", path, dtype={"x": "float32"})["x"]
    np.testing.assert_array_equal(floats, np.array([1, np.nan, 0], "float32"))


def test_the_dialect_of_text_files_is_found_and_the_hint_keeps_it(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    generator = np.random.default_rng(39)
    path = tmp_path / "x.csv"
    for separator, decimal in [
        (";", ","),
        (";", "."),
        ("|", ","),
        ("|", "."),
        ("\t", ","),
        ("\t", "."),
    ]:
        for _ in range(5):
            rows = int(generator.integers(1, 200))
            frame = pd.DataFrame(
                {
                    "price": np.append(0.5, generator.normal(0, 1e3, rows).round(2)),
                    "pieces": generator.integers(-9, 9999, rows + 1),
                }
            )
            frame.to_csv(path, index=False, sep=separator, decimal=decimal)
            (text,) = warned(lambda: cache.load("e", path))
            np.testing.assert_array_equal(cache.dataset("e")["price"], frame["price"])
            np.testing.assert_array_equal(cache.dataset("e")["pieces"], frame["pieces"])
            hint = text.split("hint: to say so, load with ")[1]
            options: dict[str, Any] = dict(re.findall(r'(\w+)="(.+?)"', hint))
            assert options.get("decimal", ".") == decimal
            data = cache.load("e", path, **options)
            assert data.notes == ()
            np.testing.assert_array_equal(data["price"], frame["price"])
