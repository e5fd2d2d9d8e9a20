"""Keras' timeseries_dataset_from_array on Grain, without TensorFlow, compared with ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorcache
from peers import peer, put

peer("grain")
keras = peer("keras")

pytestmark = pytest.mark.filterwarnings("ignore")


def dataset(data: Any, targets: Any, **options: Any) -> list[Any]:
    made = keras.utils.timeseries_dataset_from_array(data, targets, format="grain", **options)
    return [
        [np.asarray(part) for part in batch] if targets is not None else np.asarray(batch)
        for batch in made
    ]


@pytest.mark.parametrize("seed", range(10))
def test_windows_and_batches(cache: tensorcache.Cache, seed: int) -> None:
    """Compare sequence_length, sampling_rate, sequence_stride and batch_size."""
    rng = np.random.default_rng(seed)
    length, rate, stride, size = (int(rng.integers(1, high)) for high in (9, 4, 5, 7))
    values = rng.normal(size=int(rng.integers((length - 1) * rate + 1, 80)))
    theirs = dataset(
        values, None, sequence_length=length, sampling_rate=rate, sequence_stride=stride,
        batch_size=size
    )  # fmt: skip
    windows = put(cache, values).windows(
        context_length=length, dilation=rate, stride=stride, dtype="float64"
    )
    with windows.feed(batch_size=size) as feed:
        for batch, want in zip(feed, theirs, strict=True):
            # Grain returns float32.
            np.testing.assert_allclose(batch.context[:, :, 0], want, rtol=1e-6)


def test_the_docstrings_second_example_loses_windows(cache: tensorcache.Cache) -> None:
    """keras#21305, a known error.

    data[:-offset] and data[offset:] give 81 of the 90 windows that exist.
    """
    offset, values = 10, np.arange(100.0)
    theirs = dataset(values[:-offset], values[offset:], sequence_length=offset, batch_size=1)
    windows = put(cache, values).windows(context_length=offset, prediction_length=1)
    assert (len(theirs), len(windows)) == (81, 90)
    for number, (inputs, targets) in enumerate(theirs):
        sample = windows[number]
        assert sample.target is not None
        assert inputs[0].tolist() == sample.context[:, 0].tolist()
        assert targets.tolist() == sample.target[0].tolist()
