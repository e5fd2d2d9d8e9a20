"""A write into anything that the client gave out ends no process and reaches no later read.

tests_adapters/test_writes.py has torch and JAX.
"""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorcache
import writing
from tensorcache._data import mapped_file
from tensorcache._data.mapped_file import COPIED, PrivateMap
from writing_runs import write


@pytest.fixture(scope="module")
def datasets(cache: tensorcache.Cache) -> list[tensorcache.Dataset]:
    return writing.make(cache)


def test_large_arrays_lie_over_private_maps(datasets: list[tensorcache.Dataset]) -> None:
    columns, packed, many = datasets
    large = [columns["a"], columns["word"], columns["t"], packed["a"], packed["pair"]]
    large += [many.items.rows, many.items.row_offset]
    large += columns.item("long").values()
    large += next(packed.by_item())[1].values()
    large = [array for array in large if array.nbytes > COPIED]
    assert len(large) > 15
    assert all(map(lies_over_private_map, large))
    assert not lies_over_private_map(columns.item("short")["a"])


def lies_over_private_map(array: Any) -> bool:
    """Whether the last base of an array is a private map."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, PrivateMap)


def test_maps_are_given_back(datasets: list[tensorcache.Dataset]) -> None:
    gc.collect()
    before = PrivateMap.count
    held = [datasets[0]["a"] for _ in range(5)]
    part = held[-1][10:20]
    assert PrivateMap.count == before + 5
    want = part.copy()
    del held
    gc.collect()
    assert PrivateMap.count == before + 1
    np.testing.assert_array_equal(part, want)
    del part
    gc.collect()
    assert PrivateMap.count == before
    both = datasets[0].item("long"), datasets[0].item("short")
    assert PrivateMap.count == before + 1, "one for all columns, none for small ones"
    del both


def test_arrays_are_copied_without_maps(
    datasets: list[tensorcache.Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    was = datasets[0]["a"]
    monkeypatch.setattr(mapped_file, "MOST_MAPS", 0)
    gc.collect()
    before = PrivateMap.count
    copied = datasets[0]["a"]
    assert PrivateMap.count == before
    np.testing.assert_array_equal(copied, was)
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        copied.flags.writeable = True


def test_arrays_are_copied_if_the_descriptor_is_another_files(
    cache: tensorcache.Cache, datasets: list[tensorcache.Dataset]
) -> None:
    data = cache.dataset("columns")
    was, fd = data["a"], data._file._fd
    with tempfile.TemporaryFile() as other:
        kept = os.dup(fd)
        os.dup2(other.fileno(), fd)  # as a program that closes all descriptors and opens others
        try:
            gc.collect()
            before = PrivateMap.count
            np.testing.assert_array_equal(data["a"], was)
            assert PrivateMap.count == before
        finally:
            os.dup2(kept, fd)
            os.close(kept)


@pytest.mark.parametrize("place", ["main", "fork"])
def test_numpy(datasets: list[tensorcache.Dataset], home: Path, place: str) -> None:
    found = write(datasets, home, "numpy", place)
    assert found["pointer: kept"] == found["assign: kept"] == 0
    assert found["pointer: written"] > 100
    assert found["assign: written"] > 50
    assert found["assign: refused"] > 40, "arrays that are read-only for numpy"


@pytest.mark.parametrize("place", ["main", "fork"])
def test_arrow(datasets: list[tensorcache.Dataset], home: Path, place: str) -> None:
    found = write(datasets, home, "arrow", place)
    assert found["py_buffer: written"] > 100
    assert found["array: written"] > 30, found


@pytest.mark.parametrize("number", [0, 1])
def test_the_arrays_hold_what_was_put(datasets: list[tensorcache.Dataset], number: int) -> None:
    data = datasets[number]
    for name, values in writing.columns().items():
        for got, want in (
            (data[name], values),
            (data.item("long")[name], values[: writing.ROWS]),
        ):
            if values.dtype.kind == "U":
                assert (got == want).all()
            else:
                np.testing.assert_array_equal(got, want)
