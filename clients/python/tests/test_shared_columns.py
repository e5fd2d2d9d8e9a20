"""Arrays that share memory with a dataset's columns are known by it, however they are made."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tensorcache

Array = npt.NDArray[Any]


def is_changed(data: tensorcache.Dataset, column: str = "v") -> bool:
    """Whether inverse refuses values of a part or a cast of a column."""
    try:
        data.inverse(column, [0.5])
    except tensorcache.SpecError as error:
        return "part or a cast" in error.detail
    return False


SHARING: list[Callable[[Array], Any]] = [
    np.asarray,
    lambda array: np.lib.stride_tricks.as_strided(array, writeable=False),
    lambda array: np.asarray(memoryview(array)),
    lambda array: pd.Series(array, copy=False),
    lambda array: pl.Series(array) if array.nbytes > 1 << 20 else array,
]
"""Ways to have an array of which a put finds the same memory."""


@pytest.mark.parametrize("rows", [4, 40_000])
@pytest.mark.parametrize("share", SHARING)
def test_what_shares_memory_keeps_steps(
    cache: tensorcache.Cache, share: Callable[[Array], Any], rows: int
) -> None:
    values = np.arange(float(rows)) ** 2
    first = cache.put("first", {"v": values}, scale={"v": "standard"}, dtype="float64")
    second = cache.put("second", {"v": share(first["v"])})
    np.testing.assert_allclose(second.inverse("v", second["v"]), values, atol=1e-3)
    frame = cache.put("frame", pd.DataFrame({"v": share(first["v"])}, copy=False))
    np.testing.assert_allclose(frame.inverse("v", frame["v"]), values, atol=1e-3)
    copied = cache.put("copied", pd.DataFrame({"v": first["v"]}, copy=True))
    assert copied.inverse("v", [0.5]).tolist() == [0.5]


@pytest.mark.parametrize("rows", [4, 40_000])
def test_tables_of_columns_with_steps_are_refused(cache: tensorcache.Cache, rows: int) -> None:
    values = np.arange(float(rows)) ** 2
    columns = {"v": values, "w": values}
    first = cache.put("first", columns, scale={"v": "standard"}, dtype="float64")
    table = pa.table({"own": values, "x": first["v"]}).slice(1)
    chunks = pa.chunked_array([pa.array(first["v"])[:2], pa.array(first["v"])[2:]])
    for made in (table, table.to_reader(), table.to_batches()[0]):
        with pytest.raises(tensorcache.SourceError, match='column "x" of the table is column "v"'):
            cache.put("second", made)
    cache.put("second", pa.table({"w": first["w"], "copy": first["v"].copy()}))
    mapping = {"v": pa.table({"v": first["v"]})["v"], "chunks": chunks}
    second = cache.put("second", mapping)
    np.testing.assert_allclose(second.inverse("v", second["v"]), values, atol=1e-3)
    assert is_changed(second, "chunks")


@pytest.mark.parametrize("rows", [4, 40_000])
def test_a_masked_column_is_changed(cache: tensorcache.Cache, rows: int) -> None:
    first = cache.put("first", {"v": np.arange(float(rows))}, scale="standard")
    mask = np.arange(rows) == 1
    masked = np.ma.MaskedArray(first["v"], mask)
    for columns in ({"v": masked}, {"a": {"v": masked}, "b": {"v": masked}}):
        second = cache.put("second", columns)
        assert is_changed(second)


def test_parts_of_columns_that_no_step_scaled_are_plain(cache: tensorcache.Cache) -> None:
    columns = {"v": [1.0, np.nan, 3.0], "w": [0.0, 0.25, 1.0]}
    first = cache.put("first", columns, fill=0, clip={"v": (0, 2)}, dtype="float64")
    second = cache.put("second", {"v": first["v"][:2]})
    assert second.inverse("v", second["v"]).tolist() == [1, 0]
    second.windows(context_length=1).check_leakage()
    same = cache.put("same", {"w": columns["w"]}, scale="minmax", dtype="float32")
    again = cache.put("again", {"w": columns["w"]}, scale="minmax", dtype="float64")
    assert again.inverse("w", same["w"]).tolist() == columns["w"]


def test_a_cast_of_mostly_whole_numbers_is_found(cache: tensorcache.Cache) -> None:
    values = np.zeros(5_000)
    values[[7, 77, 777]] = 3
    first = cache.put("first", {"v": values}, log1p=["v"])
    for cast_ in (first["v"].astype("float64"), first["v"].astype("float64")[:, None]):
        second = cache.put("second", {"v": cast_})
        assert is_changed(second)


def test_values_that_are_casts_by_chance_are_no_casts(cache: tensorcache.Cache) -> None:
    whole, same = np.arange(1.0, 9.0), np.full(8, 2.5)
    fractions = np.linspace(0.1, 0.8, 8)
    kept = [
        cache.put("filled", {"v": whole, "w": fractions}, dtype="float32", fill="forward"),
        cache.put("divided", {"v": whole, "w": [0] * 7 + [1]}, scale="maxabs"),
        cache.put("equal", {"v": same, "w": same}, scale="standard"),
    ]
    for values in (whole, [0] * 8, [0] * 7 + [1], fractions.astype("float32")):
        data = cache.put("own", {"v": values}, scale="standard", dtype="float64")
        np.testing.assert_allclose(data.inverse("v", data["v"]), values, rtol=1e-6)
    assert len(kept) == 3


def test_threads_may_read_while_one_puts(cache: tensorcache.Cache) -> None:
    first = cache.put("first", {"v": np.arange(40_000.0)}, scale="standard")
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            first["v"], cache.dataset("first")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(20):
            cache.put("second", {**first})
    finally:
        ended.set()
        for reader in readers:
            reader.join()


def test_values_that_were_written_are_refused(cache: tensorcache.Cache) -> None:
    first = cache.put("first", {"v": np.arange(20_000.0)}, scale="standard")
    column = first["v"]
    pointer = column.__array_interface__["data"][0]
    ctypes.memmove(pointer + 8, pointer, 8)
    with pytest.raises(tensorcache.SourceError, match="other values or another order of rows"):
        cache.put("second", {"v": column})


def test_items_of_a_dataset_are_parts(cache: tensorcache.Cache) -> None:
    columns = {"id": ["a", "a", "b"], "t": [1, 2, 1], "v": [1.0, 2.0, 6.0]}
    first = cache.put("first", columns, item_id="id", time="t", scale={"v": "standard"})
    for frames in (False, True):
        parts: dict[Any, Any] = {item: {"v": rows["v"]} for item, rows in first.by_item()}
        if frames:
            parts = {item: pd.DataFrame(part, copy=False) for item, part in parts.items()}
        second = cache.put("second", parts)
        assert is_changed(second)
