"""The example's tensors are those that Time-Series-Library cuts out of the CSV."""

from __future__ import annotations

import argparse
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import tensorcache
from daemon import REPOSITORY, example_named

Array = npt.NDArray[np.float32]
LENGTHS = [(96, 48, 96), (336, 0, 192), (48, 24, 720)]
TRAIN, VAL, TEST = 12 * 30 * 24, 4 * 30 * 24, 4 * 30 * 24


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return example_named("time_series_library")


def tables(features: str, target: str) -> tuple[Array, Array]:
    """Values and marks of all rows, as Dataset_ETT_hour makes them with pandas."""
    frame = pd.read_csv(REPOSITORY / "examples" / "data" / "ETTh1.csv", parse_dates=["date"])
    values = frame[[target]] if features == "S" else frame.drop(columns="date")
    train = values[:TRAIN]
    scaled = (values - train.mean()) / train.std(ddof=0)
    dates = frame["date"].dt
    marks = np.stack(
        [
            dates.hour / 23 - 0.5,
            dates.day_of_week / 6 - 0.5,
            (dates.day - 1) / 30 - 0.5,
            (dates.day_of_year - 1) / 365 - 0.5,
        ],
        axis=1,
    )
    return scaled.to_numpy(np.float32), marks.astype(np.float32)


@pytest.mark.parametrize("features", ["M", "S", "MS"])
@pytest.mark.parametrize(("seq_len", "label_len", "pred_len"), LENGTHS)
def test_every_window_is_a_cut_of_the_csv(
    cache: tensorcache.Cache,
    example: ModuleType,
    features: str,
    seq_len: int,
    label_len: int,
    pred_len: int,
) -> None:
    args = argparse.Namespace(
        features=features, target="OT", seq_len=seq_len, label_len=label_len, pred_len=pred_len,
        batch_size=1024,
    )  # fmt: skip
    values, marks = tables(features, "OT")
    begin = 0
    for flag, rows in (("train", TRAIN), ("val", VAL), ("test", TEST)):
        # A part but the first begins seq_len rows early, so that its first target is its first row.
        first = max(0, begin - seq_len)
        count = begin + rows - first - seq_len - pred_len + 1
        past, future = (
            first + np.arange(seq_len),
            first + seq_len - label_len + np.arange(label_len + pred_len),
        )
        cuts = ((values, past), (values, future), (marks, past), (marks, future))
        windows, loader = example.data_provider(args, flag)
        assert len(windows) == count
        served = 0
        with loader:
            numbers = loader_numbers(windows, args.batch_size, flag)
            for batch in loader:
                chosen = numbers[served : served + len(batch[0])]
                for got, (table, rows_of_first) in zip(batch, cuts, strict=True):
                    want = table[chosen[:, None] + rows_of_first]
                    assert np.array_equal(got.numpy(), want)  # assert_array_equal takes longer
                served += len(chosen)
        assert served == count
        begin += rows


def loader_numbers(
    windows: tensorcache.Windows, batch_size: int, flag: str
) -> npt.NDArray[np.int64]:
    """The numbers of the windows of an epoch of the example's loader, in order."""
    order = "sequential" if flag == "test" else "shuffle"
    with windows.feed(batch_size=batch_size, order=order, delivery="starts") as places:
        starts = np.concatenate([batch.start.copy() for batch in places])
    return starts - starts.min()


def test_the_example_prints_what_each_part_has(
    cache: tensorcache.Cache,
    example: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["time_series_library.py", "--features", "S"])
    example.main()
    assert capsys.readouterr().out.splitlines() == [
        f"{flag}: {windows} windows, batches of "
        "[[32, 96, 1], [32, 144, 1], [32, 96, 4], [32, 144, 4]]"
        for flag, windows in (("train", "8,449"), ("val", "2,785"), ("test", "2,785"))
    ]
