"""The documented cases of other libraries, each with its source; known errors are marked.

The tests in tests_peers run the libraries themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorcache


def items(
    cache: tensorcache.Cache, *lengths: int, times: list[int] | None = None
) -> tensorcache.Dataset:
    """Return items of these lengths; each value is the row's number in the dataset."""
    rows = sum(lengths)
    columns: dict[str, Any] = {
        "id": np.repeat(np.arange(len(lengths)), lengths),
        "v": np.arange(rows) * 1.0,
    }
    if times is not None:
        columns["t"] = times
    return cache.put("items", columns, item_id="id", time=None if times is None else "t")


def count(data: tensorcache.Dataset, **spec: Any) -> int:
    """Return the number of windows; 0 if the client refuses the spec because it has none."""
    try:
        return len(data.windows(**spec))
    except tensorcache.SpecError as error:
        if error.type != "no_windows":
            raise
        return 0


@pytest.mark.parametrize(
    ("rows", "length", "rate", "stride", "want"),
    [
        (100, 9, 1, 1, 92),  # test_basics
        (50, 10, 1, 1, 41),  # test_no_targets
        (100, 9, 2, 1, 84),  # test_sampling_rate
        (100, 9, 1, 3, 31),  # test_sequence_stride
        (99, 10, 2, 3, 27),  # the docstring's example 1
        (99, 50, 2, 1, 1),  # keras#17392: Keras miscounted here, and its test was wrong too
    ],
)
def test_keras_counts(
    cache: tensorcache.Cache, rows: int, length: int, rate: int, stride: int, want: int
) -> None:
    """From keras/src/utils/timeseries_dataset_utils_test.py: length, sampling rate and stride."""
    windows = items(cache, rows).windows(context_length=length, dilation=rate, stride=stride)
    assert len(windows) == want
    assert windows.starts(0).tolist() == list(range(0, rows - (length - 1) * rate, stride))
    sample = windows[want - 1]
    assert sample.context[:, 0].tolist() == [sample.start + i * rate for i in range(length)]


def test_keras_docstring_example_1(cache: tensorcache.Cache) -> None:
    """From timeseries_dataset_from_array's docstring: starts 0, 3, … 78, every second row."""
    windows = items(cache, 99).windows(context_length=10, dilation=2, stride=3)
    assert windows.starts(0)[-1] == 78
    assert windows[1].context[:, 0].tolist() == [3, 5, 7, 9, 11, 13, 15, 17, 19, 21]


def test_keras_batches(cache: tensorcache.Cache) -> None:
    """The same file, test_basics: 92 windows in batches of 5 are 19 batches, the last of 2."""
    with items(cache, 100).windows(context_length=9).feed(batch_size=5) as feed:
        assert [batch.rows for batch in feed] == [5] * 18 + [2]
        assert len(feed) == 19


def test_keras_regression(cache: tensorcache.Cache) -> None:
    """The same file, test_timeseries_regression: 10 rows, 3 predict the next one: 7 windows."""
    windows = items(cache, 10).windows(context_length=3, prediction_length=1)
    everything = windows[:]
    assert everything.target is not None
    assert everything.context[:, :, 0].tolist() == [[i, i + 1, i + 2] for i in range(7)]
    assert everything.target[:, 0, 0].tolist() == [3 + i for i in range(7)]


def test_keras_start_and_end(cache: tensorcache.Cache) -> None:
    """The same file, test_start_and_end_index: rows 10 to 90, here ``rows=``."""
    windows = items(cache, 100).windows(context_length=9, dilation=2, stride=3, rows=(10, 90))
    everything = windows[:].context
    assert everything.min() == 10
    assert everything.max() < 90
    assert len(windows) == (80 - 17) // 3 + 1


def test_keras_example_2_loses_windows(cache: tensorcache.Cache) -> None:
    """keras#21305, a known error that is still in the docstring: 81 of 90 windows.

    The example has 100 rows, and each target is 10 rows after its window's first row.
    """
    windows = items(cache, 100).windows(context_length=10, prediction_length=1)
    assert len(windows) == 90
    target = windows[89].target
    assert target is not None
    assert target[0, 0] == 99


@pytest.mark.parametrize("rows", [0, 13, 100, 130, 200])
@pytest.mark.parametrize("lead", [0, 1, 10, 20])
@pytest.mark.parametrize("padding", [True, False])
def test_gluonts_instance_splitter(
    cache: tensorcache.Cache, rows: int, lead: int, padding: bool
) -> None:
    """GluonTS test/transform/test_transform.py: past_length 100, future_length 13."""
    spec = {
        "context_length": 100,
        "prediction_length": 13,
        "gap": lead,
        "min_context": 0 if padding else None,
    }
    want = max(0, rows - 13 - lead + 1 - (0 if padding else 100))
    if rows == 0:  # GluonTS accepts an empty series; a dataset must have rows
        assert want == 0
        return
    assert count(items(cache, rows), **spec) == want


def test_gluonts_past_is_pad(cache: tensorcache.Cache) -> None:
    """The same file: past_is_pad is 1 before the series begins; ``mask`` is its negation."""
    sample = items(cache, 20).windows(context_length=8, prediction_length=3, min_context=0)[2]
    assert sample.mask is not None
    assert sample.mask.tolist() == [False] * 6 + [True] * 2
    assert sample.context[:, 0].tolist() == [0] * 6 + [0, 1]


def test_gluonts_offset_splitter(cache: tensorcache.Cache) -> None:
    """GluonTS test/dataset/test_split.py, series of 100 and 50 rows.

    Offset -7 trains on 93 and 43 rows. Offset -21 with three windows of 7 rows tests on series that
    end at rows 86, 93, 100, 36, 43 and 50.
    """
    data = items(cache, 100, 50)
    train = data.windows(context_length=1).where(rows=(None, -7))
    assert train.per_item().tolist() == [93, 43]
    test = data.windows(context_length=10, prediction_length=7, stride=7, anchor="end").where(
        rows=(-21, None)
    )
    assert (test[:].start + 17).tolist() == [86, 93, 100, 36, 43, 50]


def test_gluonts_rolling_windows_as_backtest(cache: tensorcache.Cache) -> None:
    """The same split, as folds: fold k has the k-th test window of each series."""
    folds = (
        items(cache, 100, 50)
        .windows(context_length=10, prediction_length=7)
        .backtest(folds=3, horizon=7, step=7)
    )
    assert [(fold["test"][:].start + 17).tolist() for fold in folds] == [
        [86, 36],
        [93, 43],
        [100, 50],
    ]


def test_darts_counts(cache: tensorcache.Cache) -> None:
    """From darts/tests/utils/torch_datasets/test_torch_datasets.py.

    Darts counts its shift from the input's first row.
    """
    shifted: dict[str, Any] = {"context_length": 11, "gap": 24 - 11, "prediction_length": 13}
    assert count(items(cache, 100), **shifted) == 64
    assert count(items(cache, 100), **shifted, stride=2, anchor="end") == 32
    padded = items(cache, 25).windows(context_length=14, min_context=2, prediction_length=6)
    assert len(padded) == 18
    assert padded[0].mask is not None
    assert int((~padded[0].mask).sum()) == 12
    assert count(items(cache, 15), context_length=10, min_context=2, prediction_length=4) == 10


def test_darts_repeats_short_series(cache: tensorcache.Cache) -> None:
    """darts#1123, a known error.

    Series of 50 and 100 rows give 128 samples, because Darts repeats those of the short series;
    78 windows exist.
    """
    windows = items(cache, 50, 100).windows(context_length=11, gap=24 - 11, prediction_length=13)
    assert windows.per_item().tolist() == [14, 64]


def test_darts_stride_counts_from_the_end(cache: tensorcache.Cache) -> None:
    """The same file: stride 3 selects every third window, counted from the series' end."""
    data = items(cache, 100)
    every = data.windows(context_length=11, prediction_length=13).starts(0)
    third = data.windows(context_length=11, prediction_length=13, stride=3, anchor="end").starts(0)
    assert third.tolist() == every[::-3][::-1].tolist()


def test_darts_output_chunk_shift(cache: tensorcache.Cache) -> None:
    """The same file: a shift of 2 with one output step gives the third of three steps."""
    data = items(cache, 40)
    one = data.windows(context_length=5, gap=2, prediction_length=1)[:].target
    three = data.windows(context_length=5, prediction_length=3)[:].target
    assert one is not None
    assert three is not None
    np.testing.assert_array_equal(one[:, 0], three[:, 2])


def test_pytorch_forecasting_end_indices(cache: tensorcache.Cache) -> None:
    """PyTorch Forecasting tests/test_data/test_timeseries.py, test_find_end_indices.

    Our windows are those of its literal ends that have all four rows and no jump in time. PyTorch
    Forecasting also allows shorter windows.
    """
    steps = [1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1]
    ends = [3, 4, 4, 5, 6, 8, 9, 10, 10, 10, 10, 14, 15, 15, 16, 17, 19, 20, 21, 21, 21, 21]
    times = [*np.cumsum([0, *steps[:10]]).tolist(), *np.cumsum([0, *steps[11:21]]).tolist()]
    windows = items(cache, 11, 11, times=times).windows(
        context_length=3, prediction_length=1, max_step=1
    )
    everything = windows[:]
    got = list(zip(everything.item_code.tolist(), everything.start.tolist(), strict=True))
    assert got == [(row // 11, row % 11) for row, end in enumerate(ends) if end - row == 3]


def test_pytorch_forecasting_more_history_changes_nothing(cache: tensorcache.Cache) -> None:
    """The same file, test_from_dataset_equivalence.

    The last window is the same with more rows before it.
    """
    whole = items(cache, 60)
    spec: dict[str, Any] = {"context_length": 3, "prediction_length": 2, "min_context": 0}
    last, shorter = whole.windows(**spec)[-1], whole.windows(**spec, rows=(3, None))[-1]
    np.testing.assert_array_equal(last.context, shorter.context)
    np.testing.assert_array_equal(last.target, shorter.target)


def test_torchrl_slices(cache: tensorcache.Cache) -> None:
    """TorchRL test/rb/test_samplers.py, test_slice_sampler and its strict_length.

    The episodes have 30, 25, 15, 30 and 2 steps; the last is too short for a slice of 10. Each
    slice lies in one episode, and the slices cover all 100 steps of the others.
    """
    data = items(cache, 30, 25, 15, 30, 2)
    windows = data.windows(context_length=10)
    assert windows.per_item().tolist() == [21, 16, 6, 21, 0]
    everything = windows[:].context[:, :, 0]
    assert (np.diff(everything, axis=1) == 1).all()
    assert set(everything.ravel().tolist()) == set(range(100))
    ends = data.items.row_offset + data.items.rows
    assert (everything[:, -1] < ends[windows[:].item_code]).all()


def test_petastorm_ngrams(cache: tensorcache.Cache) -> None:
    """Petastorm's petastorm/tests/test_ngram_end_to_end.py.

    The ids are 0, 3, 8, 10, 11, 20 and 23, the length is 2, and delta_threshold is 4.

    Known error: its n-grams never cross a row group, so (8, 10) is lost at a row group's end,
    contrary to the test's comment.
    """
    ids = [0, 3, 8, 10, 11, 20, 23]
    data = cache.put("ngrams", {"id": ids, "v": np.asarray(ids, np.float64)}, time="id")
    windows = data.windows(context_length=1, prediction_length=1, max_step=4)
    everything = windows[:]
    assert everything.target is not None
    pairs = zip(
        everything.context[:, 0, 0].tolist(), everything.target[:, 0, 0].tolist(), strict=True
    )
    assert list(pairs) == [(0, 3), (8, 10), (10, 11), (20, 23)]


@pytest.mark.parametrize(
    ("rows", "context", "lengths", "want"),
    [
        (17_420, 96, (8640, 2880, 2880), [8449, 2785, 2785]),  # ETTh
        (17_420, 336, (8640, 2880, 2880), [8209, 2785, 2785]),
        (69_680, 96, (34_560, 11_520, 11_520), [34_369, 11_425, 11_425]),  # ETTm
    ],
)
def test_time_series_library_borders(
    cache: tensorcache.Cache, rows: int, context: int, lengths: tuple[int, ...], want: list[int]
) -> None:
    """TSLib data_provider/data_loader.py.

    A part has rows - L - H + 1 windows; the val and test parts begin seq_len rows early.

    Known error: its loaders drop the last batch of the test part (thuml/Autoformer#104), so the
    scores depend on the batch size.
    """
    windows = items(cache, rows).windows(context_length=context, prediction_length=96, overlap=48)
    parts = windows.split(lengths=lengths)
    assert [len(part) for part in parts] == want
    border = 0
    for part, length in zip(parts, lengths, strict=True):
        assert part[0].start == max(0, border - context)
        border += length
        assert part[-1].start == border - context - 96
    with parts["test"].feed(batch_size=32) as feed:
        assert sum(batch.rows for batch in feed) == want[2]
