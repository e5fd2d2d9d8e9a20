"""Which windows exist, their parts, and random access to them."""

from __future__ import annotations

import datetime
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tensorcache

LENGTHS = (8640, 2880, 2880)


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    return etth1.windows(context_length=336, prediction_length=96)


@pytest.fixture(scope="module")
def three(cache: tensorcache.Cache) -> tensorcache.Dataset:
    """Return items x, y, z of 30, 10 and 20 rows with the values 1000 · item + row."""
    frame = pd.DataFrame(
        [
            (name, row, 1000.0 * code + row, -row, code)
            for code, (name, n) in enumerate(sizes())
            for row in range(n)
        ],
        columns=["id", "t", "a", "b", "s"],
    )
    return cache.put("three", frame.assign(b=frame.b.astype("int32")), item_id="id", time="t")


def sizes() -> list[tuple[str, int]]:
    return [("x", 30), ("y", 10), ("z", 20)]


def test_etth1_has_the_windows_the_papers_count(windows: tensorcache.Windows) -> None:
    assert len(windows) == 16_989
    assert windows.rejected == {"item_end": 431}
    assert windows.positions == 17_420
    parts = windows.split(lengths=LENGTHS)
    assert [len(part) for part in parts] == [8209, 2785, 2785]
    for part in parts:
        assert part.positions == len(part) + sum(part.rejected.values())
    train, val, test = parts
    assert parts[0] is parts["train"] is train
    assert parts[1] is parts["val"] is val
    assert parts[-1] is parts["test"] is test
    assert list(parts.keys()) == ["train", "val", "test"]
    assert list(parts.values()) == [train, val, test]
    assert dict(parts.items())["val"] is val
    with pytest.raises(tensorcache.NotFoundError, match="near: test"):
        parts["tests"]
    with pytest.raises(IndexError):
        parts[3]
    assert train.starts()[[0, -1]].tolist() == [0, 8208]
    assert val.starts()[[0, -1]].tolist() == [8640 - 336, 8640 - 336 + 2784]
    without = windows.split(lengths=LENGTHS, context_before_split=False, names=("a", "b", "c"))
    assert [len(part) for part in without] == [8209, 2449, 2449]
    assert list(without.keys()) == ["a", "b", "c"]


def test_plan(windows: tensorcache.Windows) -> None:
    plan = windows.plan(batch_size=32, num_replicas=2)
    assert plan["windows"] == 16_989
    assert plan["rejected"] == {"item_end": 431}
    assert plan["first"] == {"item": None, "start": 0, "time": "2016-07-01T00:00:00Z"}
    assert plan["last"]["start"] == 16_988
    assert plan["path"] in ("memcpy", "transpose")
    assert plan["batches"] == 266
    assert plan["batch_bytes"] >= 32 * 432 * 7 * 4
    assert [rank["rank"] for rank in plan["ranks"]] == [0, 1]


def test_features_are_named(etth1: tensorcache.Dataset, cache: tensorcache.Cache) -> None:
    spec: dict[str, Any] = {"context_length": 3, "prediction_length": 1}
    windows = etth1.windows(**spec, columns=["OT", "HUFL"], target_columns="OT")
    assert windows.features["context"] == ("OT", "HUFL")
    assert windows.features["target"] == ("OT",)
    wide = cache.put("wide", {"m": np.zeros((10, 3), np.float32), "v": np.zeros(10, np.float32)})
    assert wide.windows(**spec).features["context"] == ("m[0]", "m[1]", "m[2]", "v")


def test_a_window_is_copied_out_of_the_columns(
    windows: tensorcache.Windows, etth1: tensorcache.Dataset
) -> None:
    sample = etth1.windows(context_length=336, prediction_length=96, dtype=None)[1000]
    assert sample.context.shape == (336, 7)
    assert sample.target is not None
    assert sample.target.shape == (96, 7)
    assert not np.shares_memory(sample.context[:, 6], etth1["OT"])
    assert sample.context.flags.c_contiguous
    assert sample.context.flags.writeable
    for feature, name in enumerate(etth1.columns[1:]):
        np.testing.assert_array_equal(sample.context[:, feature], etth1[name][1000:1336])
        np.testing.assert_array_equal(sample.target[:, feature], etth1[name][1336:1432])
    assert (sample.item_code, sample.start, sample.time) == (0, 1000, etth1["date"][1000])
    for absent in ("known", "static", "mask", "context_missing", "target_missing"):
        assert getattr(sample, absent) is None
    converted = windows[1000]
    assert converted.context.dtype == np.float32
    np.testing.assert_array_equal(converted.context, sample.context.astype(np.float32))
    for array in (sample.context, converted.context, sample.target):
        array[0] = 0
    assert windows[1000].context[0, 6] == np.float32(etth1["OT"][1000])


def test_slices_and_lists_are_the_same_windows_together(windows: tensorcache.Windows) -> None:
    several = windows[[3, 16_988, 1, -1]]
    assert several.context.shape == (4, 336, 7)
    assert several.start.tolist() == [3, 16_988, 1, 16_988]
    for at, number in enumerate((3, 16_988, 1, -1)):
        one = windows[number]
        np.testing.assert_array_equal(several.context[at], one.context)
        np.testing.assert_array_equal(several.target[at], one.target)
        assert several.time[at] == one.time
    assert windows[5:15:3].start.tolist() == [5, 8, 11, 14]
    assert windows[np.array([2, 4])].start.tolist() == [2, 4]
    assert windows[[]].context.shape == (0, 336, 7)
    assert windows[np.int64(7)].start == 7
    assert [s.start for s in windows.__getitems__([4, 2])] == [4, 2]


def test_items_starts_and_positions(three: tensorcache.Dataset) -> None:
    windows = three.windows(context_length=8, prediction_length=4, columns=["a"])
    assert len(windows) == 19 + 9
    assert windows.starts("x").tolist() == list(range(19))
    assert windows.starts("y").tolist() == []
    assert windows.starts("z").tolist() == list(range(9))
    assert windows[19].item_code == 2
    assert windows[19].context[:, 0].tolist() == [2000.0 + row for row in range(8)]
    assert [three.items[int(code)] for code in windows[[18, 19]].item_code] == ["x", "z"]
    with pytest.raises(tensorcache.NotFoundError, match="near: x"):
        windows.starts("xx")
    with pytest.raises(tensorcache.NotFoundError):
        windows.starts()


def test_known_and_static_columns(three: tensorcache.Dataset) -> None:
    windows = three.windows(
        context_length=5,
        prediction_length=3,
        gap=2,
        overlap=1,
        dilation=2,
        known_columns=["b"],
        static_columns=["s"],
        context_columns=["a", "b"],
    )
    sample = windows[4]
    assert windows.features == {
        "context": ("a", "b"),
        "target": ("a",),
        "known": ("b",),
        "static": ("s",),
    }
    assert sample.context[:, 0].tolist() == [4, 6, 8, 10, 12]
    assert sample.target is not None
    assert sample.target[:, 0].tolist() == [16, 18, 20, 22]
    assert sample.known is not None
    assert sample.known[:, 0].tolist() == [-4 - 2 * i for i in range(10)]
    assert sample.static is not None
    assert sample.static.tolist() == [0]
    last = windows[[len(windows) - 1]]
    assert last.static is not None
    assert last.static.tolist() == [[2]]
    with pytest.raises(tensorcache.SpecError, match="static"):
        three.windows(context_length=5, static_columns=["a"])


def test_padding_and_bounds(three: tensorcache.Dataset) -> None:
    windows = three.windows(
        context_length=6, prediction_length=2, columns=["a"], stride=2, rows=(4, 14), min_context=1
    )
    starts = windows.starts("x")
    assert starts[0] == 0
    sample = windows[0]
    assert sample.mask is not None
    assert sample.mask.tolist() == [False] * 4 + [True] * 2
    assert sample.context[:, 0].tolist() == [0, 0, 0, 0, 4, 5]
    assert sample.time == 4
    assert sample.target is not None
    assert sample.target[:, 0].tolist() == [6, 7]
    by_time = three.windows(
        context_length=6, prediction_length=2, columns=["a"], stride=2, time=(4, 14), min_context=1
    )
    np.testing.assert_array_equal(by_time[0].context, sample.context)
    assert by_time[0].mask is not None
    assert by_time[0].mask.tolist() == sample.mask.tolist()


def test_missing_values(cache: tensorcache.Cache) -> None:
    values = np.arange(20.0)
    values[[3, 10]] = np.nan
    data = cache.put("missing", {"v": values})
    assert len(data.windows(context_length=3)) == 18 - 6
    windows = data.windows(context_length=3, prediction_length=1, max_missing=None)
    assert len(windows) == 17
    sample = windows[1]
    assert np.isnan(sample.context[2, 0])
    assert sample.context_missing is not None
    assert sample.context_missing.tolist() == [[False], [False], [True]]
    assert sample.target_missing is not None
    assert sample.target_missing.tolist() == [[False]]
    filled = data.windows(context_length=3, prediction_length=1, max_missing=None, missing_value=-1)
    assert filled[1].context[:, 0].tolist() == [1, 2, -1]
    assert filled[[1]].context[0, :, 0].tolist() == [1, 2, -1]


def test_where_and_times(etth1: tensorcache.Dataset, windows: tensorcache.Windows) -> None:
    assert len(windows.where(rows=(-96, None))) == 1
    for first in (
        "2018-01-01",
        "2018-01-01T00:00:00Z",
        datetime.date(2018, 1, 1),
        datetime.datetime(2018, 1, 1),
        datetime.datetime(2018, 1, 1, tzinfo=datetime.timezone.utc),
        np.datetime64("2018-01-01"),
        pd.Timestamp("2018-01-01"),
    ):
        part = windows.where(time=(first, None))
        row = int(np.searchsorted(etth1["date"], np.datetime64("2018-01-01")))
        assert part[0].start == row - 336
    before, after = windows.split(at_times=["2018-01-01"])
    assert before[-1].start + 432 <= row < after[0].start + 337
    assert len(windows.where(time=(None, "2017-01-01")).where(rows=(1000, None))) < len(windows)
    for step in ("1h", datetime.timedelta(hours=1), np.timedelta64(1, "h"), "60min"):
        assert len(etth1.windows(context_length=5, max_step=step)) == 17_416
    with pytest.raises(tensorcache.SpecError, match=r"max_step"):
        etth1.windows(context_length=5, max_step="59min")
    with pytest.raises(tensorcache.SpecError, match="want rows, time or items"):
        windows.where()


def test_split_by_items(three: tensorcache.Dataset) -> None:
    windows = three.windows(context_length=4, prediction_length=2)
    left, right = windows.split(items=[["x"], ["y", "z"]])
    assert set(left[:].item_code.tolist()) == {0}
    assert set(right[:].item_code.tolist()) == {1, 2}
    assert len(windows.where(items=["z", "y"])) == len(right)
    shares = windows.split(items=(0.3, 0.7))  # the hashes of x, y and z are at 0.06, 0.07 and 0.41
    assert [set(part[:].item_code.tolist()) for part in shares] == [{0, 1}, {2}]
    with pytest.raises(tensorcache.NotFoundError, match='"w"'):
        windows.split(items=[["x"], ["w"]])


def test_pickling(windows: tensorcache.Windows, cache: tensorcache.Cache) -> None:
    val = windows.split(lengths=LENGTHS)["val"]
    pickled = pickle.dumps((val, windows))
    again, whole = pickle.loads(pickled)
    assert again.dataset is whole.dataset, "one handle for both"
    assert (len(again), again.spec, again.dataset.digest) == (
        len(val),
        val.spec,
        val.dataset.digest,
    )
    np.testing.assert_array_equal(again[7].context, val[7].context)
    code = (
        "import pickle, sys; w, _ = pickle.load(sys.stdin.buffer); print(len(w), "
        "float(w[7].context.sum()))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], input=pickled, capture_output=True, check=True
    )
    assert done.stdout.split() == [
        str(len(val)).encode(),
        str(float(val[7].context.sum())).encode(),
    ]
    assert pickle.loads(pickle.dumps(cache)).dir == cache.dir


def test_unpickling_what_has_left_the_cache_says_so(cache: tensorcache.Cache) -> None:
    def put(value: float) -> tensorcache.Windows:
        return cache.put("leaves", {"v": np.full(10, value)}).windows(context_length=2)

    pickled = pickle.dumps(put(1))
    cache.remove("leaves")
    put(2)
    with pytest.raises(tensorcache.StaleError, match='no generation of "leaves" has digest'):
        pickle.loads(pickled)
    equal = put(1)
    put(3)
    assert len(pickle.loads(pickled)) == 9, "the same content under another number will do"
    assert equal.dataset.generation == pickle.loads(pickled).dataset.generation


def test_a_digest_opens_what_only_a_reader_keeps(cache: tensorcache.Cache) -> None:
    def put(value: float) -> tensorcache.Dataset:
        return cache.put("digests", {"v": np.full(3, value)})

    first = put(1)
    newest = put(2)
    assert cache.dataset("digests", digest=newest.digest).generation == newest.generation
    again = cache.dataset("digests", digest=first.digest)
    assert (again.generation, again["v"].tolist()) == (first.generation, [1, 1, 1])
    cache.remove("digests")
    assert cache.dataset("digests", digest=first.digest)["v"].tolist() == [1, 1, 1]
    put(3)
    assert cache.dataset("digests", digest=first.digest)["v"].tolist() == [1, 1, 1]
    assert cache.dataset("digests", 1, digest=first.digest).generation == 1
    with pytest.raises(tensorcache.StaleError, match=r"generation 1 of .* the request names"):
        cache.dataset("digests", 1, digest=newest.digest)
    with pytest.raises(tensorcache.StaleError, match=r"has digest f{32}; the newest, \d, has"):
        cache.dataset("digests", digest="f" * 32)
    with pytest.raises(tensorcache.NotFoundError, match="no dataset is named"):
        cache.dataset("no-digests", digest=first.digest)
    for wrong in ("", 7, b"00", first.digest.upper() + "F", first.digest + "\n"):
        digest: Any = wrong
        with pytest.raises(tensorcache.SpecError, match=r"digest: got .*, want 32 hex digits"):
            cache.dataset("digests", digest=digest)


def test_reprs_say_what_things_are(
    etth1: tensorcache.Dataset, windows: tensorcache.Windows
) -> None:
    assert repr(etth1).startswith('<Dataset "etth1" generation 1: 17,420 rows, 1 item, date, HUFL')
    assert "16,989, context_length 336, prediction_length 96" in repr(windows)
    assert repr(windows.split(lengths=LENGTHS)) == "<Split train: 8,209, val: 2,785, test: 2,785>"
    assert "context [336, 7]" in repr(windows[0])
