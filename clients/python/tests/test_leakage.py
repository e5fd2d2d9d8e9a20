"""Leakage: scalings fitted on rows that a model is evaluated on.

``split`` and ``backtest`` warn of it, and ``check_leakage()`` raises an error.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from daemon import ETTH1
from tensorcache._index import leakage

LENGTHS = (8640, 2880, 2880)


def test_a_scaling_of_the_train_rows_leaks_nothing(cache: tensorcache.Cache) -> None:
    data = cache.load("clean", ETTH1, time="date", scale="standard", fit_rows=(0, 8640))
    windows = data.windows(context_length=336, prediction_length=96)
    parts = windows.split(lengths=LENGTHS)
    parts.check_leakage()
    parts["test"].check_leakage()
    for fold in windows.backtest(folds=3, horizon=96):
        fold.check_leakage()
    with pytest.raises(tensorcache.LeakageError, match="rows 336 to 8,639 by these windows"):
        parts["train"].check_leakage()


def test_a_scaling_of_every_row_is_warned_of_and_refused(cache: tensorcache.Cache) -> None:
    data = cache.load("leaky", ETTH1, time="date", scale="standard")
    windows = data.windows(context_length=336, prediction_length=96, columns=["OT", "HUFL"])
    with pytest.warns(tensorcache.LeakageWarning) as caught:
        parts = windows.split(lengths=LENGTHS)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    message = str(caught[0].message)
    assert "scaling of OT, HUFL saw" in message
    assert "every row, as no fit_rows were given" in message
    assert "rows 8,640 to 11,519 by val; rows 11,520 to 14,399 by test" in message
    assert "hint: load with fit_rows=(0, 8640)" in message
    with pytest.raises(tensorcache.LeakageError) as refused:
        parts.check_leakage()
    assert (refused.value.field, refused.value.hint) == ("fit_rows", "load with fit_rows=(0, 8640)")
    assert str(refused.value) == message
    with pytest.warns(
        tensorcache.LeakageWarning, match="rows 17,132 to 17,227 by test of fold 0"
    ) as caught:
        windows.backtest(folds=3, horizon=96)
    assert len(caught) == 1, "one warning for all folds"


def test_what_was_not_scaled_leaks_nothing(
    cache: tensorcache.Cache, etth1: tensorcache.Dataset
) -> None:
    etth1.windows(context_length=24, prediction_length=8).split(
        fractions=(0.5, 0.5)
    ).check_leakage()
    ids = np.repeat(["x", "y"], 20)
    data = cache.put(
        "ints", {"id": ids, "a": np.arange(40.0), "b": np.arange(40)}, item_id="id", scale="minmax"
    )
    with pytest.warns(tensorcache.LeakageWarning, match='rows 4 to 19 of item "y" by test'):
        parts = data.windows(context_length=4, prediction_length=2).split(items=[["x"], ["y"]])
    with pytest.raises(tensorcache.LeakageError) as caught:
        parts.check_leakage()
    assert "fit_rows=(0, 4)" in caught.value.hint


def test_the_message_counts_further_items(cache: tensorcache.Cache) -> None:
    ids = np.repeat(np.arange(5), 20)
    data = cache.put(
        "five",
        {"id": ids, "a": np.arange(100.0)},
        item_id="id",
        scale="standard",
        fit_rows=(-12, None),
    )
    with pytest.warns(
        tensorcache.LeakageWarning, match="rows 10 to 19 of item 0, and rows of 4 more items"
    ):
        data.windows(context_length=4, prediction_length=2).split(lengths=(10, None))


@given(
    lengths=st.lists(st.integers(6, 30), min_size=1, max_size=3),
    fit=st.tuples(st.none() | st.integers(-12, 20), st.none() | st.integers(-12, 20)),
    spec=st.fixed_dictionaries(
        {
            "context_length": st.integers(1, 3),
            "prediction_length": st.integers(0, 3),
            "stride": st.integers(1, 7),
            "dilation": st.integers(1, 4),
            "gap": st.just(0),
        }
    ),
)
@cases(0.04)
def test_exactly_the_rows_seen_are_found(
    cache: tensorcache.Cache,
    lengths: list[int],
    fit: tuple[int | None, int | None],
    spec: dict[str, Any],
) -> None:
    note_seed()
    seen = {(item, row) for item, n in enumerate(lengths) for row in range(n)[slice(*fit)]}
    if not seen:
        return
    ids = np.repeat(np.arange(len(lengths)), lengths)
    columns = {"id": ids, "a": np.arange(len(ids)) * 1.0}
    context, prediction = spec["context_length"], spec["prediction_length"]
    if (context + prediction - 1) * spec["dilation"] >= max(lengths):
        return
    with cache.put("seen", columns, item_id="id", scale="standard", fit_rows=fit) as data:
        everything = data.windows(**spec)[:]
        samples = range(context, context + prediction) if prediction else [context - 1]
        predicted = {
            (item, start + i * spec["dilation"])
            for item, start in zip(
                everything.item_code.tolist(), everything.start.tolist(), strict=True
            )
            for i in samples
        }
        leaks = leakage.leaks_of([("all", data.windows(**spec))])
        both = seen & predicted
        assert bool(leaks) == bool(both)
        for leak in leaks:
            item = min(item for item, _ in both)
            assert leak.item == item
            assert leak.items == len({item for item, _ in both})
            rows = [row for at, row in both if at == item]
            assert leak.rows[0] <= min(rows) <= max(rows) <= leak.rows[1]
    cache.remove("seen")


def test_no_warning_without_a_later_part(cache: tensorcache.Cache) -> None:
    data = cache.put("one", {"a": np.arange(40.0)}, scale="standard", fit_rows=(0, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.windows(context_length=4, prediction_length=2).split(lengths=(20, 20))
        data.windows(context_length=4, prediction_length=2).where(rows=(0, 20))


@given(
    rows=st.lists(st.lists(st.booleans(), min_size=6, max_size=20), min_size=1, max_size=3),
    how=st.sampled_from(["forward", "backward", "linear", "mean"]),
    wide=st.booleans(),
    cut=st.integers(2, 12),
    prediction=st.integers(0, 2),
)
@cases(0.03)
def test_fills_that_look_ahead_over_a_boundary_are_found(
    cache: tensorcache.Cache,
    rows: list[list[bool]],
    how: str,
    wide: bool,
    cut: int,
    prediction: int,
) -> None:
    note_seed()
    ids = np.repeat(np.arange(len(rows)), [len(item) for item in rows])
    lacks = np.concatenate(rows)
    values = np.where(lacks, np.nan, np.arange(len(ids)) * 1.0)
    if wide:
        values = np.stack([values, values], 1)
    if lacks.all():
        return
    with cache.put("ahead", {"id": ids, "a": values}, item_id="id", fill=how) as data:
        windows = data.windows(context_length=2, prediction_length=prediction, max_missing=None)
        part = (
            windows.where(rows=(cut, None))
            if cut + 2 + prediction <= max(map(len, rows))
            else windows
        )
        everything = part[:]
        samples = range(2, 2 + prediction) if prediction else [1]
        predicted: dict[int, set[int]] = {}
        for item, start in zip(
            everything.item_code.tolist(), everything.start.tolist(), strict=True
        ):
            predicted.setdefault(item, set()).update(start + i for i in samples)
        want = {}
        for item, own in predicted.items():
            for row, missing in enumerate(rows[item]):
                after = next((r for r in range(row, len(rows[item])) if not rows[item][r]), None)
                if how == "mean" and lacks.any():
                    want.setdefault(item, set()).update(own)
                elif missing and row < min(own) and after in own and how != "forward":
                    want.setdefault(item, set()).add(after)
        leaks = leakage.leaks_of([("all", part)])
        assert bool(leaks) == bool(want)
        for leak in leaks:
            first = min(want)
            assert (leak.how, leak.item, leak.items) == (f"{how} fill", first, len(want))
            assert leak.rows[0] <= min(want[first]) <= max(want[first]) <= leak.rows[1]
    cache.remove("ahead")


def test_a_fill_that_looked_ahead_is_warned_of_and_refused(cache: tensorcache.Cache) -> None:
    values = np.arange(40.0)
    values[18:23] = np.nan
    values[30:32] = np.nan
    data = cache.put("look", {"a": values, "b": values}, fill={"a": "linear", "b": "forward"})
    windows = data.windows(context_length=4, prediction_length=2)
    with pytest.warns(
        tensorcache.LeakageWarning, match="the linear fill of a saw rows that are predicted"
    ) as caught:
        parts = windows.split(lengths=(20, 20))
    assert "(to fill cells before them): rows 23 to 23 by " in str(caught[0].message)
    with pytest.raises(tensorcache.LeakageError) as refused:
        parts.check_leakage()
    assert refused.value.field == "fill"
    assert "fill with forward" in refused.value.hint
    windows.split(lengths=(26, 14)).check_leakage()
