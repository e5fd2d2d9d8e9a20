"""A reference to a batch's memory keeps its slot; a slot without references is filled again."""

from __future__ import annotations

import ctypes
import gc
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tensorcache
from tensorcache._adapters import block_pool
from tensorcache._feed import ring

pytestmark = pytest.mark.portable

Array = np.ndarray[Any, Any]


class Interface:
    """An object that exposes an array's memory by numpy's array interface, and keeps the array."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Other(np.ndarray[Any, Any]):
    """A subclass of ndarray: numpy stops at it when it looks for the base of an array."""


def paused(array: Array) -> Iterator[Array]:
    inner = array[:]
    del array
    yield inner[:0]
    yield inner


def failed(array: Array) -> BaseException:
    def deep(inner: Array) -> None:
        raise ValueError(len(inner))

    try:
        deep(array[:])
    except ValueError as error:
        return error
    raise AssertionError


def of_frame(error: BaseException) -> Array:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    array: Array = frames[-1].f_locals["inner"]
    return array


def begun(array: Array) -> Iterator[Array]:
    generator = paused(array)
    next(generator)
    return generator


def exported(array: Array) -> Any:
    return pa.array(array.reshape(-1))


HOLDERS: dict[str, tuple[Callable[[Array], Any], Callable[[Any], Array]]] = {
    "memoryview": (lambda array: memoryview(array), np.asarray),
    "piece of a memoryview": (
        lambda array: memoryview(array.reshape(-1))[3:].cast("B"),
        lambda held: np.array(held),
    ),
    "frombuffer": (lambda array: np.frombuffer(array, np.uint8)[7:], np.asarray),
    "frombuffer of a memoryview": (
        lambda array: np.frombuffer(memoryview(array).cast("B"), np.uint8),
        np.asarray,
    ),
    "base": (lambda array: array.base, np.asarray),
    "dlpack": (lambda array: np.from_dlpack(array), np.asarray),
    "interface": (lambda array: np.asarray(Interface(array))[1:], np.asarray),
    "ctypes": (lambda array: np.ctypeslib.as_ctypes(array), np.ctypeslib.as_array),
    "ctypes data": (
        lambda array: (array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), array.shape),
        lambda held: np.ctypeslib.as_array(held[0], held[1]),
    ),
    "another class": (lambda array: array.view(Other)[1:].view(Other), np.asarray),
    "strides": (lambda array: np.lib.stride_tricks.as_strided(array, (2, 2), (4, 8)), np.asarray),
    "windows": (lambda array: np.lib.stride_tricks.sliding_window_view(array, 2, 1), np.asarray),
    "records": (
        lambda array: array.reshape(-1, 2).view([("a", "f4"), ("b", "f4")])["b"],
        np.asarray,
    ),
    "iterator": (lambda array: array.flat, lambda held: held[:10]),
    "arrow": (exported, lambda held: held.to_numpy(zero_copy_only=True)),
    "generator": (begun, lambda held: held.gi_frame.f_locals["inner"]),
    "exception": (failed, of_frame),
}


@pytest.fixture(scope="module")
def feed(etth1: tensorcache.Dataset) -> Iterator[tensorcache.Feed]:
    windows = etth1.windows(
        context_length=24, prediction_length=6, rows=(0, 509), columns=["OT", "HUFL"]
    )
    with windows.feed(batch_size=32, order="shuffle", delivery="slot", slots=4) as feed:
        yield feed


@pytest.mark.parametrize("name", HOLDERS)
def test_whatever_refers_to_a_batch_holds_its_slot(feed: tensorcache.Feed, name: str) -> None:
    hold, read = HOLDERS[name]
    batch = next(iter(feed))
    held = hold(batch.context)
    want = np.array(read(held))
    assert want.size
    del batch
    for _ in range(2):  # each slot is filled many times
        assert sum(map(len, feed)) == 480
    gc.collect()
    assert feed.stats()["held"] == 1
    np.testing.assert_array_equal(np.array(read(held)), want)
    del held
    gc.collect()
    assert feed.stats()["held"] == 0


def test_what_is_pickled_is_a_copy(feed: tensorcache.Feed) -> None:
    batch = next(iter(feed))
    batches = (
        pickle.loads(pickle.dumps(batch)),
        pickle.loads(pickle.dumps(batch, 5, buffer_callback=None)),
    )
    want = batch.context.copy()
    del batch
    assert feed.stats()["held"] == 0
    assert sum(map(len, feed)) == 480
    for made in batches:
        np.testing.assert_array_equal(made.context, want)


def test_tracers_and_profilers_spoil_nothing(feed: tensorcache.Feed) -> None:
    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        _ = frame.f_locals  # copies the locals; Python 3.12 and older store the copy in the frame
        return trace

    def epoch() -> list[tuple[Array, Array]]:
        feed.set_epoch(3)
        kept = None
        seen = []
        for batch in feed:
            seen.append((batch.context.copy(), batch.start.copy()))
            assert kept is None or np.array_equal(kept.context, seen[-2][0])
            kept = batch
        return seen

    want, were = epoch(), (sys.gettrace(), sys.getprofile())
    try:
        sys.settrace(trace)
        traced = epoch()
        sys.settrace(were[0])
        sys.setprofile(trace)
        profiled = epoch()
    finally:
        sys.settrace(were[0])
        sys.setprofile(were[1])
    np.testing.assert_equal(traced, want)
    np.testing.assert_equal(profiled, want)
    gc.collect()
    assert feed.stats()["held"] == 0


def test_where_references_are_not_counted_batches_are_copies(
    etth1: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = etth1.windows(context_length=24, prediction_length=6, rows=(0, 509))
    options: dict[str, Any] = {"batch_size": 32, "order": "shuffle", "slots": 4}
    want = {}
    for delivery in ("slot", "local", "starts"):
        with windows.feed(**options, delivery=delivery) as feed:
            want[delivery] = [(batch.row.copy(), batch.item_code.copy()) for batch in feed]
    for module in (ring, block_pool):
        monkeypatch.setattr(module, "COUNTED", False)
    monkeypatch.delattr(sys, "getrefcount")  # as in PyPy
    for delivery in ("slot", "local", "starts"):
        with windows.feed(**options, delivery=delivery) as feed:
            batches = list(feed)
            list(feed)
            np.testing.assert_equal(
                [(batch.row, batch.item_code) for batch in batches], want[delivery]
            )
            assert (feed.stats()["held"], feed.stats()["copied"]) == (0, 30)
    pool = block_pool.Pool(64, lambda memory: memory)
    assert pool.take() is not pool.take()


def test_other_interpreters_count_no_references() -> None:
    script = (
        "import sys; sys.implementation.name = 'pypy'; del sys.getrefcount\n"
        "from tensorcache._feed.ring import COUNTED; assert not COUNTED"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
