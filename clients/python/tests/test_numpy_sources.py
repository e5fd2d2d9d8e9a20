"""Loads of .npy and .npz files that numpy wrote, value by value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorcache
from cases import examples

pytestmark = pytest.mark.portable

KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "f2", "f4", "f8"]


def same(got: Any, want: np.ndarray) -> None:
    """Check that values are equal, and floats bit for bit, whatever their stored width."""
    assert got.shape == want.shape
    if want.dtype.kind == "M":
        np.testing.assert_array_equal(got, want.astype(got.dtype))
    else:
        np.testing.assert_array_equal(
            np.signbit(got), np.signbit(want)
        ) if want.dtype.kind == "f" else None
        np.testing.assert_array_equal(got, want.astype(want.dtype.newbyteorder("=")))


@given(data=st.data())
@examples(80)
def test_arrays_are_what_numpy_wrote(
    cache: tensorcache.Cache, tmp_path: Path, data: st.DataObject
) -> None:
    dtype = np.dtype(data.draw(st.sampled_from("<>")) + data.draw(st.sampled_from(KINDS)))
    shape = data.draw(
        st.one_of(st.tuples(st.integers(1, 40)), st.tuples(st.integers(1, 40), st.integers(1, 4)))
    )
    values = data.draw(hnp.arrays(dtype, shape))
    if data.draw(st.booleans()):
        values = np.asfortranarray(values)
    how = data.draw(st.sampled_from(["npy", "npz", "packed"]))
    path = tmp_path / ("x.npy" if how == "npy" else "x.npz")
    if how == "npy":
        np.save(path, values)
    else:
        (np.savez if how == "npz" else np.savez_compressed)(
            path, a=values, b=np.arange(len(values))
        )
    loaded = cache.load("numpy", path, layout=data.draw(st.sampled_from(["columns", "packed"])))
    same(loaded["value" if how == "npy" else "a"], values)


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns", "15m"])
def test_times_of_every_unit(cache: tensorcache.Cache, tmp_path: Path, unit: str) -> None:
    times = (np.arange(-5, 5) * 1000).astype(f"<M8[{unit}]")
    np.save(tmp_path / "t.npy", times)
    same(cache.load("times", tmp_path / "t.npy")["value"], times)


@pytest.mark.parametrize("save", [np.save, np.savez, np.savez_compressed])
def test_records_are_columns(
    cache: tensorcache.Cache, tmp_path: Path, save: Callable[..., None]
) -> None:
    dtype = np.dtype(
        {
            "names": ["id", "t", "v", "größe"],
            "formats": ["U5", "<M8[h]", (">f4", 3), "i2"],
            "offsets": [3, 32, 48, 64],
            "itemsize": 80,
        }
    )
    rows = np.zeros(50, dtype)
    rows["id"] = np.repeat(["ä", "bcdef", "🦊"], [20, 20, 10])
    rows["t"] = np.concatenate([np.arange(20), np.arange(20), np.arange(10)]).astype("M8[h]")
    rows["v"] = np.random.default_rng(0).normal(size=(50, 3))
    rows["größe"] = np.arange(50)
    path = tmp_path / ("x.npy" if save is np.save else "x.npz")
    save(path, rows)
    prefix = "" if save is np.save else "arr_0."
    data = cache.load("records", path, item_id=f"{prefix}id", time=f"{prefix}t")
    assert list(data.items) == ["ä", "bcdef", "🦊"]
    same(data[f"{prefix}t"], rows["t"])
    same(data[f"{prefix}v"], rows["v"])
    same(data[f"{prefix}größe"], rows["größe"])


def test_pickles_are_refused(cache: tensorcache.Cache, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(tensorcache.SourceError, match="Python objects, which are never read"):
        cache.load("pickle", tmp_path / "x.npy")


def test_a_folder_of_arrays(cache: tensorcache.Cache, tmp_path: Path) -> None:
    for i in range(3):
        np.save(tmp_path / f"part-{i}.npy", np.full((4, 2), i, "<f4"))
    assert cache.load("parts", tmp_path)["value"][:, 0].tolist() == [0] * 4 + [1] * 4 + [2] * 4
