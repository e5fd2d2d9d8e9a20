"""What is written into a view, past numpy's flag, shows in no other batch, pass or feed."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples, note_seed

Array = np.ndarray[Any, Any]


def writable(array: Array) -> Array:
    """The same memory as an array that numpy writes into."""
    last = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True))
    size = last + array.itemsize if array.size else 0
    memory = (ctypes.c_char * size).from_address(array.ctypes.data)
    return np.ndarray(array.shape, array.dtype, memory, 0, array.strides)


def parts(batch: tensorcache.Batch) -> list[Array]:
    return [part for part in (batch.context, batch.target) if part is not None]


@st.composite
def feeds(draw: st.DrawFn) -> tuple[list[int], dict[str, Any], dict[str, Any]]:
    """The rows of items, the spec of windows, and the options of a feed."""
    rows = draw(st.lists(st.integers(1, 90), max_size=3))
    rows.insert(draw(st.integers(0, len(rows))), draw(st.integers(60, 90)))
    spec: dict[str, Any] = {
        "context_length": draw(st.integers(1, 8)),
        "stride": draw(st.integers(1, 20)),
        "dilation": draw(st.integers(1, 3)),
        "anchor": draw(st.sampled_from(["start", "end"])),
        "context_columns": draw(st.sampled_from([["a"], ["a", "b"], ["a", "b", "c"], ["n"]])),
        "dtype": None,
    }
    if draw(st.booleans()):
        spec["prediction_length"] = draw(st.integers(1, 4))
        spec["gap"] = draw(st.integers(0, 2))
        spec["overlap"] = draw(st.integers(0, min(2, spec["context_length"] + spec["gap"])))
        spec["target_columns"] = draw(st.sampled_from([["b"], ["b", "c"], ["m"]]))
    ranks = draw(st.integers(1, 3))
    options = {
        "batch_size": draw(st.integers(1, 12)),
        "order": draw(st.sampled_from(["sequential", "random_start"])),
        "seed": draw(st.integers(0, 99)),
        "num_replicas": ranks,
        "rank": draw(st.integers(0, ranks - 1)),
        "tail": draw(st.sampled_from([None, "short", "wrap"])),
        "channels_first": draw(st.booleans()),
    }
    return rows, spec, options


@given(drawn=feeds(), layout=st.sampled_from(["columns", "packed"]))
@examples(100)
def test_no_batch_sees_what_is_written_into_another(
    cache: tensorcache.Cache, drawn: tuple[list[int], dict[str, Any], dict[str, Any]], layout: str
) -> None:
    note_seed()
    rows, spec, options = drawn
    total = sum(rows)
    columns = {
        "id": np.repeat(np.arange(len(rows)), rows),
        "a": np.arange(total, dtype=np.float32),
        "b": np.arange(total, dtype=np.float32) + 5000,
        "c": np.arange(total, dtype=np.float32) + 9000,
        "n": np.arange(total) + 1000,
        "m": np.arange(total * 3, dtype=np.int16).reshape(total, 3),
    }
    with cache.put("written", columns, item_id="id", layout=layout) as data:
        windows = data.windows(**spec)
        held: list[tuple[Array, Array]] = []
        with (
            windows.feed(**options, delivery="view") as views,
            windows.feed(**options, delivery="slot") as slots,
        ):
            for _ in range(3):
                for batch, want in zip(views, slots, strict=True):
                    for got, part in zip(parts(batch), parts(want), strict=True):
                        np.testing.assert_array_equal(got, part)
                        assert not got.flags.writeable
                        writable(got)[...] = -1 - len(held)
                        held.append((got, got.copy()))
        for got, written in held:
            np.testing.assert_array_equal(got, written)
        np.testing.assert_array_equal(data["a"], columns["a"])
        np.testing.assert_array_equal(data["b"], columns["b"])
    cache.remove("written")


@pytest.mark.parametrize("order", ["sequential", "random_start"])
@pytest.mark.parametrize("layout", ["columns", "packed"])
def test_only_rows_are_copied(cache: tensorcache.Cache, order: str, layout: str) -> None:
    columns = {name: np.arange(1000, dtype=np.float32) for name in "abc"}
    data = cache.put(layout, columns, layout=layout)
    for stride in (1, 40):
        windows = data.windows(context_length=24, prediction_length=6, stride=stride)
        with windows.feed(batch_size=16, order=order, delivery="view") as feed:
            assert (feed.delivery, feed.path) == ("view", "view")
            for batch in feed:
                for part, length in zip(parts(batch), (24, 6), strict=True):
                    rows = (len(batch) + length - 1) if stride == 1 else len(batch) * length
                    assert part.base is not None
                    assert part.base.nbytes == rows * 3 * 4
                    assert not part.flags.writeable


@pytest.mark.parametrize("order", ["sequential", "random_start"])
def test_a_batch_across_the_end_of_an_item_is_gathered(
    cache: tensorcache.Cache, order: str
) -> None:
    rows = [400, 90, 35]
    columns = {"id": np.repeat([0, 1, 2], rows), "y": np.arange(525, dtype=np.float32)}
    windows = cache.put("items", columns, item_id="id").windows(context_length=24)
    with windows.feed(batch_size=100, order=order, delivery="view") as feed:
        batches = list(feed)
        dense = [batch.context.flags.c_contiguous for batch in batches]
        gathered = 2 if order == "sequential" else 0  # of items of 377, 67 and 12 windows
        assert dense == [False] * (len(batches) - gathered) + [True] * gathered
        assert not any(batch.context.flags.writeable for batch in batches)
