"""GluonTS' InstanceSplitter and rolling split, compared with ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tensorcache
from peers import peer, put, windows_of

transform = peer("gluonts.transform")
sampler = peer("gluonts.transform.sampler")
split = peer("gluonts.dataset.split")
time_feature = peer("gluonts.time_feature")

pytestmark = pytest.mark.filterwarnings("ignore")
START = pd.Period("2020-01-01", "D")


@pytest.mark.parametrize("seed", range(20))
def test_instance_splitter(cache: tensorcache.Cache, seed: int) -> None:
    """Compare past, future, padding and lead time of every instance that p = 1 samples."""
    rng = np.random.default_rng(seed)
    past, future, lead = int(rng.integers(1, 8)), int(rng.integers(1, 6)), int(rng.integers(0, 4))
    least = int(rng.integers(0, past + 1))
    series = [rng.normal(size=n) for n in rng.integers(1, 40, 3)]
    splitter = transform.InstanceSplitter(
        "target", "is_pad", "start", "forecast_start",
        sampler.UniformSplitSampler(p=1.0, min_past=least, min_future=future + lead),
        past_length=past, future_length=future, lead_time=lead,
    )  # fmt: skip
    theirs = list(
        splitter([{"start": START, "target": values} for values in series], is_train=True)
    )
    ours = windows_of(
        put(cache, *series), context_length=past, prediction_length=future, gap=lead,
        min_context=least
    )  # fmt: skip
    if ours is None:
        assert not theirs
        return
    everything = ours[:]
    assert len(theirs) == len(ours)
    np.testing.assert_array_equal(
        [one["past_target"] for one in theirs], everything.context[:, :, 0]
    )
    np.testing.assert_array_equal([one["future_target"] for one in theirs], target_of(everything))
    if everything.mask is not None:
        np.testing.assert_array_equal([1 - one["past_is_pad"] for one in theirs], everything.mask)


def target_of(sample: tensorcache.Sample) -> Any:
    assert sample.target is not None
    return sample.target[:, :, 0]


@pytest.mark.parametrize(("folds", "length", "distance"), [(3, 7, 7), (4, 5, 2), (1, 9, 9)])
def test_rolling_windows_are_backtest_folds(
    cache: tensorcache.Cache, folds: int, length: int, distance: int
) -> None:
    """generate_instances(windows=, distance=): label k of each series is the target of fold k."""
    rng = np.random.default_rng(folds)
    series = [rng.normal(size=n) for n in (100, 50)]
    offset = -(length + (folds - 1) * distance)
    _, template = split.split(
        [{"start": START, "target": values} for values in series], offset=offset
    )
    instances = template.generate_instances(
        prediction_length=length, windows=folds, distance=distance
    )
    labels = [label["target"] for _, label in instances]
    context = 10
    windows = put(cache, *series).windows(
        context_length=context, prediction_length=length, dtype="float64"
    )
    made = windows.backtest(folds=folds, horizon=length, step=distance)
    for k, fold in enumerate(made):
        everything = fold["test"][:]
        np.testing.assert_array_equal(target_of(everything), [labels[k], labels[folds + k]])
        histories = [entry["target"] for entry, _ in instances]
        np.testing.assert_array_equal(
            everything.context[:, :, 0], [histories[k][-context:], histories[folds + k][-context:]]
        )


@pytest.mark.parametrize("frequency", ["QE", "ME", "W", "D", "B", "h", "15min", "s"])
def test_features_of_a_frequency(cache: tensorcache.Cache, frequency: str) -> None:
    times = pd.date_range("2019-12-29", periods=500, freq=pd.Timedelta("1D 1h 1min 1s"))
    rows = {"t": times.to_numpy(), "y": np.zeros(len(times))}
    theirs = time_feature.time_features_from_frequency_str(frequency)
    with cache.put("f", rows, time="t", calendar=f"timeF:{frequency}") as data:
        ours = list(data)[2:]
        assert len(ours) == len(theirs)
        for name, feature in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(data[name], np.asarray(feature(times), np.float32), name)


def test_age(cache: tensorcache.Cache) -> None:
    rows = 100_000
    add = transform.AddAgeFeature("target", "age", 0)
    theirs = add.map_transform({"target": np.zeros(rows, np.float32)}, is_train=True)["age"][0]
    with cache.put("age", {"y": np.zeros(rows)}, calendar="age") as data:
        # theirs is computed in float32, and differs from one machine to another
        units = np.abs(data["age"].view(np.int32) - theirs.view(np.int32))
        assert units.max() <= 2
