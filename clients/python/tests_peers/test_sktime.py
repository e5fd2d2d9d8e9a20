"""sktime's sliding and expanding splitters, compared with windows and backtest."""

from __future__ import annotations

import numpy as np
import pytest

import tensorcache
from peers import peer, put

split = peer("sktime.split")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("seed", range(20))
def test_sliding_window_splitter(cache: tensorcache.Cache, seed: int) -> None:
    """The last fh is the last row of a window; a smallest fh above 1 leaves a gap."""
    rng = np.random.default_rng(seed)
    length, horizon, gap, step = (
        int(rng.integers(low, high)) for low, high in ((1, 9), (1, 6), (0, 4), (1, 5))
    )
    values = rng.normal(size=int(rng.integers(length + gap + horizon, 60)))
    splitter = split.SlidingWindowSplitter(
        fh=list(range(gap + 1, gap + horizon + 1)), window_length=length, step_length=step
    )
    theirs = list(splitter.split(values))
    windows = put(cache, values).windows(
        context_length=length, prediction_length=horizon, gap=gap, stride=step, dtype="float64"
    )
    everything = windows[:]
    assert everything.target is not None
    np.testing.assert_array_equal(
        [values[train] for train, _ in theirs], everything.context[:, :, 0]
    )
    np.testing.assert_array_equal([values[test] for _, test in theirs], everything.target[:, :, 0])


@pytest.mark.parametrize("seed", range(10))
def test_expanding_window_splitter(cache: tensorcache.Cache, seed: int) -> None:
    """The folds have the train and test rows of backtest if they end at the series' end."""
    rng = np.random.default_rng(seed)
    folds, horizon, step = int(rng.integers(1, 5)), int(rng.integers(1, 6)), int(rng.integers(1, 6))
    rows = int(rng.integers(horizon + folds * step + 2, 80))
    values = rng.normal(size=rows)
    initial = rows - horizon - (folds - 1) * step
    splitter = split.ExpandingWindowSplitter(
        fh=list(range(1, horizon + 1)), initial_window=initial, step_length=step
    )  # fmt: skip
    theirs = list(splitter.split(values))
    windows = put(cache, values).windows(context_length=1, prediction_length=1)
    ours = windows.backtest(folds=folds, horizon=horizon, step=step)
    assert len(theirs) == len(ours)
    for (train, test), (ours_train, ours_test) in zip(theirs, ours, strict=True):
        assert (ours_train[:].start + 1).tolist() == train[
            1:
        ].tolist()  # row 0 has no context row before it
        assert (ours_test[:].start + 1).tolist() == test.tolist()
