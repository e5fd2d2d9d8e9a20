"""Darts' sequential training dataset, compared with ours; Darts counts from the newest window."""

from __future__ import annotations

import numpy as np
import pytest

import tensorcache
from peers import peer, put, windows_of

peer("torch")
darts = peer("darts")
data = peer("darts.utils.data")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("seed", range(20))
def test_sequential_dataset(cache: tensorcache.Cache, seed: int) -> None:
    """Compare input_chunk_length, output_chunk_length, output_chunk_shift and end-based stride."""
    rng = np.random.default_rng(seed)
    context, horizon, shift, stride = (
        int(rng.integers(low, high)) for low, high in ((1, 9), (1, 6), (0, 4), (1, 5))
    )
    values = rng.normal(size=context + shift + horizon + int(rng.integers(0, 30)))
    theirs = data.SequentialTorchTrainingDataset(
        darts.TimeSeries.from_values(values),
        input_chunk_length=context,
        output_chunk_length=horizon,
        output_chunk_shift=shift,
        stride=stride,
    )
    spec = {
        "context_length": context,
        "prediction_length": horizon,
        "gap": shift,
        "stride": stride,
        "anchor": "end",
    }
    windows = windows_of(put(cache, values), **spec)
    assert windows is not None
    assert len(theirs) == len(windows)
    for number in range(len(windows)):
        sample, want = windows[len(windows) - 1 - number], theirs[number]
        assert sample.target is not None
        np.testing.assert_array_equal(sample.context, want[0])
        np.testing.assert_array_equal(sample.target, want[-1])


def test_unequal_series_are_cycled(cache: tensorcache.Cache) -> None:
    """darts#1123, a known error.

    Darts repeats the windows of a short series until it has as many as the longest series.
    """
    rng = np.random.default_rng(0)
    series = [rng.normal(size=n) for n in (50, 100)]
    theirs = data.SequentialTorchTrainingDataset(
        [darts.TimeSeries.from_values(values) for values in series],
        input_chunk_length=11,
        output_chunk_length=13,
    )
    windows = put(cache, *series).windows(context_length=11, prediction_length=13)
    assert len(theirs) == 2 * 77
    assert windows.per_item().tolist() == [27, 77]
