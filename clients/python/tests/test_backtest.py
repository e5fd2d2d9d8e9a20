"""Rolling-origin evaluation and the latest windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Items of 60, 45 and 80 rows."""
    rng = np.random.default_rng(11)
    parts = [
        pd.DataFrame({"id": name, "t": np.arange(n), "y": rng.normal(size=n).cumsum()})
        for name, n in (("x", 60), ("y", 45), ("z", 80))
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def data(cache: tensorcache.Cache, frame: pd.DataFrame) -> tensorcache.Dataset:
    return cache.put("rolling", frame, item_id="id", time="t")


def test_a_naive_forecast_scores_as_the_same_loop_in_pandas(
    data: tensorcache.Dataset, frame: pd.DataFrame
) -> None:
    context, horizon, folds = 12, 6, 4
    windows = data.windows(context_length=context, prediction_length=horizon, dtype="float64")
    scores = []
    for _, test in windows.backtest(folds=folds, horizon=horizon, step=horizon):
        errors = []
        for batch in test.feed(batch_size=2):
            assert batch.target is not None
            errors.append(np.abs(batch.target - batch.context[:, -1:]).mean(axis=(1, 2)))
        scores.append(np.concatenate(errors).mean())

    want = []
    for fold in range(folds):
        cut = (folds - fold) * horizon
        errors = []
        for _, series in frame.groupby("id", sort=False)["y"]:
            history, future = (
                series.iloc[:-cut],
                series.iloc[len(series) - cut : len(series) - cut + horizon],
            )
            errors.append((future - history.iloc[-1]).abs().mean())
        want.append(np.mean(errors))
    np.testing.assert_allclose(scores, want, rtol=1e-12)


def test_folds_are_those_of_the_documentation(cache: tensorcache.Cache) -> None:
    data = cache.put("ten", {"v": np.arange(10.0)})
    windows = data.windows(context_length=1, prediction_length=1)

    def rows(part: tensorcache.Windows) -> list[int]:
        return [start + 1 for start in part.starts().tolist()]

    folds = windows.backtest(folds=3, horizon=2, step=2)
    assert [rows(test) for _, test in folds] == [[4, 5], [6, 7], [8, 9]]
    assert [rows(train) for train, _ in folds] == [list(range(1, end)) for end in (4, 6, 8)]
    assert [rows(train) for train,
            _ in windows.backtest(folds=3, horizon=2, step=2, train_rows=3)] == [
        [1, 2, 3], [3, 4, 5], [5, 6, 7],
    ]  # fmt: skip
    assert [rows(fold["test"]) for fold in windows.backtest(folds=2, horizon=3, step=1)] == [
        [6, 7, 8],
        [7, 8, 9],
    ]
    assert [rows(test) for _, test in windows.backtest(folds=2, horizon=3)] == [
        [4, 5, 6],
        [7, 8, 9],
    ]


@given(
    lengths=st.lists(st.integers(5, 40), min_size=1, max_size=3),
    context=st.integers(1, 4),
    prediction=st.integers(0, 3),
    dilation=st.integers(1, 2),
    folds=st.integers(1, 4),
    more=st.integers(0, 3),
    step=st.integers(1, 5),
    train_rows=st.none() | st.integers(5, 20),
)
@cases(0.06)
def test_folds_are_those_of_a_loop(
    cache: tensorcache.Cache,
    lengths: list[int],
    context: int,
    prediction: int,
    dilation: int,
    folds: int,
    more: int,
    step: int,
    train_rows: int | None,
) -> None:
    note_seed()
    horizon = (max(prediction, 1) - 1) * dilation + 1 + more
    ids, times = (
        np.repeat(range(len(lengths)), lengths),
        np.concatenate([np.arange(n) for n in lengths]),
    )
    last = (context + prediction - 1) * dilation
    want = []
    for k in range(folds):
        tests, trains = [], []
        for item, n in enumerate(lengths):
            end = max(0, n - (folds - 1 - k) * step)
            begin = max(0, n - (folds - 1 - k) * step - horizon)
            least = (
                0
                if train_rows is None
                else max(0, n - (folds - 1 - k) * step - horizon - train_rows)
            )
            for start in range(n - last):
                samples = range(context, context + prediction) if prediction else [context - 1]
                predicted = [start + i * dilation for i in samples]
                if all(begin <= row < end for row in predicted):
                    tests.append((item, start))
                if all(least <= row < begin for row in predicted):
                    trains.append((item, start))
        want.append((trains, tests))
    with cache.put(
        "folds", {"id": ids, "t": times, "v": times * 1.0}, item_id="id", time="t"
    ) as data:
        if last >= max(lengths):
            return
        windows = data.windows(
            context_length=context, prediction_length=prediction, dilation=dilation
        )
        options = {"folds": folds, "horizon": horizon, "step": step, "train_rows": train_rows}
        note(f"{windows!r}.backtest({options})")
        if not all(part for pair in want for part in pair):
            with pytest.raises(tensorcache.SpecError) as caught:
                windows.backtest(**options)
            assert caught.value.field in ("folds", "train_rows")
        else:
            made = windows.backtest(**options)
            assert [(places(train), places(test)) for train, test in made] == want
    cache.remove("folds")


def places(windows: tensorcache.Windows) -> list[tuple[int, int]]:
    everything = windows[:]
    return list(zip(everything.item_code.tolist(), everything.start.tolist(), strict=True))


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"folds": 0, "horizon": 6}, "folds", "got 0, want 1 or more"),
        ({"folds": 2.5, "horizon": 6}, "folds", "whole number"),
        ({"folds": 2, "horizon": 0}, "horizon", "got 0"),
        (
            {"folds": 2, "horizon": 5},
            "horizon",
            "got 5, want 6 or more, the prediction rows of one window",
        ),
        ({"folds": 2, "horizon": 6, "step": 0}, "step", "got 0"),
        ({"folds": 2, "horizon": 6, "train_rows": 3}, "train_rows", "got 3, want 6 or more"),
        (
            {"folds": 20, "horizon": 6},
            "folds",
            "test the last 120 rows; want fewer than the 80 of the longest item",
        ),
        (
            {"folds": 11, "horizon": 6},
            "folds",
            "train of fold 0 .of 11, numbered from 0. has no window; .* split [0-9]",
        ),
    ],
)
def test_backtests_that_cannot_be(
    data: tensorcache.Dataset, options: dict[str, Any], field: str, words: str
) -> None:
    windows = data.windows(context_length=12, prediction_length=6)
    with pytest.raises(tensorcache.SpecError, match=words) as caught:
        windows.backtest(**options)
    assert caught.value.field == field


def test_a_backtest_of_a_part_says_that_folds_count_from_the_end(data: tensorcache.Dataset) -> None:
    train, _ = data.windows(context_length=12, prediction_length=6).split(fractions=(0.5, 0.5))
    with pytest.raises(
        tensorcache.SpecError, match="no position of these windows lies there"
    ) as caught:
        train.backtest(folds=2, horizon=6)
    assert "folds count rows from each item's end, and the longest has 80" in str(caught.value)


def test_latest_is_the_window_to_forecast_from(cache: tensorcache.Cache) -> None:
    """Two items; the second lacks its last two target values, but its holidays are known."""
    values = np.asarray([0.0, 1, 2, 3, 4, 5, 10, 11, 12, np.nan, np.nan])
    columns = {"id": ["x"] * 6 + ["y"] * 5, "v": values, "holiday": np.arange(11) % 2}
    data = cache.put("latest", columns, item_id="id")
    windows = data.windows(context_length=3, prediction_length=2, columns=["v"])
    latest = windows.latest()
    assert len(latest) == 2
    assert latest[:].context[:, :, 0].tolist() == [[3, 4, 5], [10, 11, 12]]
    assert latest[:].target is None
    assert latest[0].target is None
    with latest.feed(batch_size=2) as feed:
        (served,) = (
            (batch.context.copy(), batch.target, batch.item_code.tolist()) for batch in feed
        )
    assert served[0].tolist() == latest[:].context.tolist()
    assert (served[1], served[2]) == (None, [0, 1])
    assert [data.items[code] for code in latest[:].item_code] == ["x", "y"]
    known = data.windows(
        context_length=3, prediction_length=2, columns=["v"], known_columns=["holiday"]
    )
    with pytest.raises(
        tensorcache.SpecError, match=r"want rows of item x up to 8, not 6"
    ) as caught:
        known.latest()
    assert caught.value.field == "known_columns"
    ahead = known.where(items=["y"]).latest()[0].known
    assert ahead is not None
    assert ahead[:, 0].tolist() == [0, 1, 0, 1, 0]
    with pytest.raises(tensorcache.SpecError, match="latest"):
        latest.where(rows=(0, 2))
