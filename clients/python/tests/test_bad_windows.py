"""Errors of invalid windows, parts and items name the field, the value and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorcache

SPANS = 2**61
"""The most rows a window may span."""


@pytest.fixture(scope="module")
def data(cache: tensorcache.Cache) -> tensorcache.Dataset:
    """An item of 10 rows, and one of a single row."""
    columns = {
        "id": ["x"] * 10 + ["y"],
        "t": [*range(10), 5],
        "v": np.arange(11.0),
        "s": [3] * 10 + [4],
    }
    return cache.put("small", columns, item_id="id", time="t")


@pytest.fixture(scope="module")
def windows(data: tensorcache.Dataset) -> tensorcache.Windows:
    return data.windows(context_length=2, prediction_length=1)


def refused(made: Any, *words: str, field: str) -> None:
    """Check that a call raises a SpecError with this field and these words."""
    with pytest.raises(tensorcache.SpecError) as caught:
        made()
    assert caught.value.field == field
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "field", "words"),
    [
        ({"context_length": 2**40, "dilation": 2**40}, "dilation",
         f"a window of at most {SPANS} rows"),
        ({"context_length": 2, "dilation": 2**62}, "dilation", f"from 1 to {SPANS}"),
        ({"context_length": 2, "stride": 2**63 - 1}, "stride", f"from 1 to {SPANS}"),
        ({"context_length": 2, "stride": 2**63}, "stride", 'got 9223372036854775808'),
        ({"context_length": 2**63}, "context_length", 'got 9223372036854775808'),
        ({"context_length": 2**61, "prediction_length": 2**61}, "", ""),
        ({"context_length": 2, "prediction_length": 2**62, "gap": 2**62}, "prediction_length",
         f"from 0 to {SPANS}"),
        ({"context_length": 2, "rows": (2**63, None)}, "rows[0]", "want a whole number"),
        ({"context_length": 2, "rows": (8, 3)}, "rows", "want a first row below the last"),
        ({"context_length": 2, "rows": (-3, -8)}, "rows", 'got [-3,-8]'),
        ({"context_length": 2, "time": (5, 5)}, "time", "want a first time before the last"),
        ({"context_length": 2, "time": ("2020-01-01", None)}, "time",
         "the time column holds integers"),
        ({"context_length": 2, "rows": (0, 3), "time": (0, 3)}, "time",
         "either rows or time, not both"),
        ({"context_length": 2, "max_step": "1h"}, "max_step", "the time column holds integers"),
        ({"context_length": 2, "max_step": 0}, "max_step", 'got 0, want a positive duration'),
        ({"context_length": 2, "max_step": -1}, "max_step", 'got -1'),
        ({"context_length": 2, "prediction_length": 2, "overlap": 3}, "overlap",
         "at most context_length + gap = 2"),
        ({"context_length": 2, "min_context": -1}, "min_context", "from 0 to context_length 2"),
        ({"context_length": 2, "min_context": 3}, "min_context", "from 0 to context_length 2"),
        ({"context_length": 2, "missing_value": float("inf")}, "missing_value",
         "want a finite number"),
        ({"context_length": 2, "pad_value": float("inf")}, "pad_value", "want a finite number"),
        ({"context_length": 2, "pad_value": "0"}, "pad_value",
         'got "0", want a number, or None for NaN'),
        ({"context_length": 2, "pad_value": True}, "pad_value", "got True, want a number"),
        ({"context_length": 2, "pad_value": 1e39}, "pad_value",
         "got 1e+39, want a number that float32, the dtype of the context, can represent"),
        ({"context_length": 2, "columns": []}, "context_columns",
         "no column is left for the context"),
        ({"context_length": 2, "columns": ["id"]}, "columns",
         "want a value column of numbers, durations or text"),
        ({"context_length": 2, "static_columns": ["v", "s"]}, "context_columns",
         "no column is left"),
        ({"context_length": 2, "static_columns": ["v"]}, "static_columns",
         "item x has 0 in row 0 and 1 in row 1"),
        ({"context_length": 0}, "context_length", 'got 0'),
        ({"context_length": True}, "context_length", "got True, want a whole number"),
        ({"context_length": 2.0}, "context_length", "got 2.0, want a whole number"),
        ({"context_length": 2, "stride": 0}, "stride", 'got 0, want a whole number from 1'),
        ({"context_length": 2, "dilation": True}, "dilation", "got True, want a whole number"),
        ({"context_length": 2, "gap": 1}, "gap", "0, because prediction_length is 0"),
        ({"context_length": 2, "overlap": 1}, "overlap", "0, because prediction_length is 0"),
        ({"context_length": 2, "prediction_length": 1, "overlap": 3, "dilation": 3}, "overlap",
         "at most"),
        ({"context_length": 2, "anchor": "middle"}, "anchor",
         'got "middle", want "start" or "end"'),
        ({"context_length": 2, "max_missing": 1.01}, "max_missing",
         'got 1.01, want a share from 0 to 1'),
        ({"context_length": 2, "max_missing": -0.1}, "max_missing",
         'got -0.1, want a share from 0 to 1'),
        ({"context_length": 2, "max_missing": float("nan")}, "max_missing",
         "got nan, want a finite number"),
        ({"context_length": 2, "max_missing": True}, "max_missing", "got True, want a number"),
        ({"context_length": 2, "max_missing": "0.5"}, "max_missing", 'got "0.5", want a number'),
        ({"context_length": 2, "max_missing": "any"}, "max_missing",
         'got "any", want a number, or None to admit all missing cells'),
        ({"context_length": 2, "missing_value": False}, "missing_value",
         "got False, want a number"),
        ({"context_length": 2, "count_filled": 1}, "count_filled", "got 1, want True or False"),
        ({"context_length": 2, "columns": ["v", "v"]}, "columns",
         'got "v", want names that are not empty, each once'),
        ({"context_length": 2, "known_columns": ["s", "s"]}, "known_columns", "each once"),
        ({"context_length": 2, "columns": [1]}, "columns", "got 1, want column names"),
        ({"context_length": 2, "target_columns": ["v"]}, "target_columns",
         "none, because prediction_length is 0"),
        (
            {"context_length": 2, "prediction_length": 1, "target_columns": ["v", "s"],
             "known_columns": ["s"]},
            "known_columns", 'got "s", want columns that are not in target_columns',
        ),
        (
            {"context_length": 2, "prediction_length": 1, "columns": ["v", "s"],
             "static_columns": ["s"]},
            "static_columns", 'got "s", want columns that are not in columns',
        ),
        ({"context_length": 2, "context_columns": ["v", "s"], "static_columns": ["s"]},
         "static_columns", "not in"),
        (
            {"context_length": 2, "prediction_length": 1, "target_columns": ["s"],
             "static_columns": ["s"]},
            "static_columns", "not in target_columns",
        ),
        ({"context_length": 2, "known_columns": ["s"], "static_columns": ["s"]}, "static_columns",
         "in known_columns"),
        ({"context_length": 2, "dtype": "float99"}, "dtype", 'got "float99", want float32'),
        ({"context_length": 2, "dtype": "int32"}, "dtype",
         'column "v" is float64, which does not fit int32'),
        ({"context_length": 2, "rows": (0.5, 3)}, "rows", "got 0.5, want a whole number"),
        ({"context_length": 2, "rows": 5}, "rows", "want two bounds"),
    ],
    ids=str,
)  # fmt: skip
def test_specs(data: tensorcache.Dataset, spec: dict[str, Any], field: str, words: str) -> None:
    if field:
        refused(lambda: data.windows(**spec), words, field=field)
    else:  # the daemon chooses which of the two fields it names
        with pytest.raises(tensorcache.SpecError):
            data.windows(**spec)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"context_length": 11},
         "of 11 positions, item_end rejects 11; context_length 11 needs 11 rows"),
        ({"context_length": 11}, "the longest item has 10"),
        ({"context_length": 8, "prediction_length": 3},
         "context_length 8 + prediction_length 3 needs 11 rows"),
        ({"context_length": 2, "rows": (9, None)}, "bounds rejects 10, item_end rejects 1"),
        ({"context_length": 4, "rows": (2, 5)}, "bounds rejects"),
    ],
    ids=str,
)  # fmt: skip
def test_no_window_left_says_what_they_were_lost_to(
    data: tensorcache.Dataset, spec: dict[str, Any], words: str
) -> None:
    with pytest.raises(tensorcache.SpecError) as caught:
        data.windows(**spec)
    assert caught.value.type == "no_windows"
    assert words in caught.value.detail


def test_a_column_that_is_not_there(data: tensorcache.Dataset) -> None:
    with pytest.raises(tensorcache.NotFoundError, match='no column is named "w"; near:') as caught:
        data.windows(context_length=2, columns=["w"])
    assert caught.value.field == "columns"


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ({"dtype": "int64", "pad_value": float("nan")}, "NaN"),
        ({"dtype": "int32", "pad_value": None}, "NaN"),
        ({"dtype": None, "pad_value": 1.5}, "1.5"),
        ({"dtype": "int32", "pad_value": 2**31}, "2.147483648e+09"),
    ],
)
def test_integers_are_padded_with_integers(
    cache: tensorcache.Cache, spec: dict[str, Any], value: str
) -> None:
    data = cache.put("whole", {"n": np.arange(5, dtype=np.int32)})
    for more in ({"min_context": 1}, {}):  # the spec is wrong with or without padding
        with pytest.raises(tensorcache.SpecError, match=r"want a number that int") as caught:
            data.windows(context_length=2, **more, **spec)
        assert caught.value.field == "pad_value"
        assert f"got {value}, " in caught.value.detail


def test_time_without_a_time_column(cache: tensorcache.Cache) -> None:
    data = cache.put("timeless", {"v": np.arange(5.0)})
    refused(lambda: data.windows(context_length=2, max_step=1), "no time column", field="max_step")
    refused(lambda: data.windows(context_length=2, time=(1, 2)), "no time column", field="time")


@pytest.mark.parametrize(
    ("split", "field", "words"),
    [
        ({"lengths": (None, None)}, "lengths", "null at most once"),
        ({"lengths": (2**63, 1)}, "lengths[0]", "got 9223372036854775808"),
        ({"lengths": (2, 2), "purge": 2**63}, "purge", "got 9223372036854775808"),
        ({"lengths": (5, 5), "names": ("a",)}, "names", "one for each of the 2 parts"),
        ({"fractions": (1.5, -0.5)}, "fractions[0]", "want a share above 0, at most 1"),
        ({"at_times": [5, 3]}, "at_times[1]", "got 3, want a time after 5"),
        ({"at_times": []}, "at_times", "got [], want at least two parts"),
        ({}, "split", "missing, want one of lengths, fractions, at_times and items"),
        (
            {"lengths": (5, 5), "fractions": (0.5, 0.5)},
            "split",
            'got ["lengths","fractions"], want one of lengths',
        ),
        ({"fractions": (0.5,)}, "fractions", "got [0.5], want at least two parts"),
        ({"lengths": (5,)}, "lengths", "got [5], want at least two parts"),
        ({"items": [["x", "y"]]}, "items", "want at least two parts"),
        ({"lengths": (0, 5)}, "lengths[0]", "got 0, want a whole number from 1"),
        ({"lengths": (True, 5)}, "lengths[0]", "got True, want a whole number"),
        ({"fractions": (0.7, 0.7)}, "fractions", "got [0.7,0.7], want a sum of at most 1, not 1.4"),
        (
            {"fractions": (0.5, None, 0.5)},
            "fractions",
            "a sum below 1, because null takes the rest",
        ),
        ({"fractions": (1.0, 0.0)}, "fractions[1]", "got 0, want a share above 0, at most 1"),
        ({"fractions": (0.5, float("nan"))}, "fractions[1]", "got nan, want a finite number"),
        ({"fractions": (0.5, float("inf"))}, "fractions[1]", "got inf, want a finite number"),
        ({"fractions": (True, 0.5)}, "fractions[0]", "got True, want a number"),
        ({"items": (0.5, 0.6)}, "items", "want a sum of at most 1, not 1.1"),
        ({"items": [["x", "x"], ["y"]]}, "items[0]", 'got "x", want items once'),
        ({"items": 5}, "items", "got 5, want a list"),
        ({"lengths": (5, 5), "purge": True}, "purge", "got True"),
        ({"items": [["x"], ["y"]], "purge": 1}, "purge", "0, because items are split"),
        ({"at_times": ["2020-01-01"]}, "at_times[0]", "the time column holds integers"),
        (
            {"items": [["x"], ["x"]]},
            "items[1]",
            'got "x", want items once, in one part only; it is in part 0',
        ),
        ({"items": "x"}, "items", ""),
    ],
    ids=str,
)
def test_splits(
    windows: tensorcache.Windows, split: dict[str, Any], field: str, words: str
) -> None:
    refused(lambda: windows.split(**split), words, field=field)


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ({"lengths": (100, 100)},
         "no position of any item lies in this part; the longest item has 10 rows"),
        ({"lengths": (100, 100)},
         'lengths: got [100, 100], but part "test" has no window: no position'),
        ({"lengths": (6, 2, 2), "context_before_split": False},
         'part "val" has no window: of 2 positions, split'),
        ({"fractions": (0.01, 0.99)},
         'fractions: got [0.01, 0.99], but part "train" has no window'),
        ({"at_times": [50]}, 'at_times: got [50], but part "test" has no window'),
        ({"items": [["x"], ["y"]]},
         'part "test" has no window: of 1 positions, item_end rejects 1; most items are'),
        ({"lengths": (5, 5), "purge": 4}, 'part "train" has no window'),
        ({"items": (0.5, None, 0.4999)}, "has no window"),
    ],
    ids=str,
)  # fmt: skip
def test_a_part_without_windows_is_refused(
    windows: tensorcache.Windows, split: dict[str, Any], words: str
) -> None:
    with pytest.raises(tensorcache.SpecError) as caught:
        windows.split(**split)
    assert (caught.value.type, caught.value.field) == ("no_windows", next(iter(split)))
    assert words in caught.value.detail


def test_an_item_of_one_row(data: tensorcache.Dataset) -> None:
    assert data.windows(context_length=1).per_item().tolist() == [10, 1]
    assert data.windows(context_length=2).per_item().tolist() == [9, 0]
    padded = data.windows(context_length=3, prediction_length=1, min_context=0)
    assert padded.starts("y").tolist() == [-3]
    sample = padded[-1]
    assert sample.mask is not None
    assert sample.target is not None
    assert (sample.mask.any(), sample.context.any(), sample.target.tolist()) == (
        False,
        False,
        [[10, 4]],
    )


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"id": ["x", "x", "y", "y"], "t": [1, 2, 3, 3]}, {"item_id": "id", "time": "t"},
         r'row \d, column "t": two rows of item "y" have the time 3'),
        ({"id": ["x", "x", "y", "y"], "t": [1, 2, 5, 4]}, {"item_id": "id", "time": "t"},
         r'row \d, column "t": time 4 of item "y" comes after 5'),
        ({"t": np.asarray([1, 1], "M8[s]")}, {"time": "t"},
         "two rows have the time 1970-01-01 00:00:01"),
        ({"id": ["x", "y", "x"], "t": [1, 1, 2]}, {"item_id": "id", "time": "t"},
         r'row \d, column "id": item "x" appears again after another item'),
        ({"id": [1.5, 2.5]}, {"item_id": "id"}, "holds integers or text, not float64"),
        ({"v": np.empty(0)}, {}, "no rows"),
    ],
)  # fmt: skip
def test_rows_that_are_no_series(
    cache: tensorcache.Cache, columns: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    rows = len(next(iter(columns.values())))
    with pytest.raises(tensorcache.SourceError, match=words):
        cache.put("none", {**columns, "v": np.zeros(rows)}, **options)
    assert "none" not in [known["dataset"] for known in cache.datasets()]


@pytest.mark.parametrize("option", ["item_id", "time"])
def test_an_item_or_time_column_that_is_not_there(cache: tensorcache.Cache, option: str) -> None:
    with pytest.raises(tensorcache.NotFoundError, match='no column is named "symbol"') as caught:
        cache.put("none", {"v": np.zeros(3)}, **{option: "symbol"})  # type: ignore[arg-type]
    assert caught.value.field == option


def test_a_hundred_thousand_items(cache: tensorcache.Cache) -> None:
    """Everything that works by item, with 100,000 items.

    A Python loop over the items would take seconds in each of these calls.
    """
    n, rows = 100_000, 10
    ids = np.repeat(np.arange(n) * 3, rows)
    times = np.tile(np.arange(rows), n)
    columns = {"id": ids, "t": times, "v": np.arange(n * rows, dtype=np.float32)}
    data = cache.put("many", columns, item_id="id", time="t", scale="standard", fit_rows=(0, 8))
    windows = data.windows(context_length=4, prediction_length=2)
    assert len(windows) == 5 * n
    assert (windows.per_item() == 5).all()
    assert windows.starts(3 * 99_999).tolist() == [0, 1, 2, 3, 4]
    assert (windows[-1].item_code, windows[-1].start) == (n - 1, 4)
    train, test = windows.split(lengths=(8, None))
    assert (len(train), len(test)) == (3 * n, n)
    with pytest.warns(tensorcache.LeakageWarning, match="and rows of [0-9,]+ more items by test"):
        shares = windows.split(items=(0.8, 0.2))
    assert sum(len(part) for part in shares) == len(windows)
    assert abs(len(shares["test"]) / len(windows) - 0.2) < 0.01
    assert len(windows.latest()) == n
    assert [len(fold["test"]) for fold in windows.backtest(folds=1, horizon=2)] == [n]
    assert len(windows.where(items=[15, 3 * 77_777])) == 10
    whole = data.windows(context_length=5, stride=5)
    for order in ("shuffle", "bootstrap", "random_start", "lanes"):
        weights = np.arange(n) if order == "bootstrap" else None
        with whole.feed(batch_size=256, order=order, weights=weights) as feed:
            batch = next(iter(feed))
            np.testing.assert_array_equal(
                batch.context[:, 0, 0], data["v"][batch.item_code * rows + batch.start]
            )
