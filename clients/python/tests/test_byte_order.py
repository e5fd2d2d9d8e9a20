"""Arrays of either byte order, by every way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tensorcache

UNITS = ("s", "ms", "us", "ns")
CODES = [
    *("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"),
    *(f"M8[{unit}]" for unit in (*UNITS, "m", "h", "D")),
    *(f"m8[{unit}]" for unit in (*UNITS, "m", "h", "D")),
    "U3",
]
ROWS = 5


def values(code: str) -> npt.NDArray[Any]:
    if code == "U3":
        return np.array(["a", "bc", "def", "ü", ""])
    return np.arange(100, 100 + ROWS).astype("<" + code)


@pytest.mark.parametrize("code", CODES)
def test_the_byte_order_of_an_array_does_not_matter(
    cache: tensorcache.Cache, tmp_path: Path, code: str
) -> None:
    little = values(code)
    big = little.astype(little.dtype.newbyteorder(">"))
    records = np.zeros(ROWS, [("x", big.dtype)])
    records["x"] = big
    np.save(tmp_path / "x.npy", big)
    np.savez(tmp_path / "x.npz", x=big)
    want = cache.put("want", {"x": little})
    text = code == "U3"
    given: dict[str, Any] = {
        "array": {"x": big},
        "strided": {"x": np.repeat(big, 2)[::2]},
        "records": records,
        "items": [{"x": big[:2]}, {"x": big[2:]}],
        "mixed items": [{"x": big[:2]}, {"x": little[2:]}],
        "wide": {"x": np.stack([big, big], axis=1)},
        "masked": {"x": np.ma.MaskedArray(big, [False] * ROWS)},
        "npz": tmp_path / "x.npz",
    }
    for form, source in given.items():
        if text and form in ("wide", "npz"):
            continue
        data = cache.load("got", source)
        got = data["x"][:, 0] if form == "wide" else data["x"]
        np.testing.assert_array_equal(got, want["x"], form)
        assert got.dtype == want["x"].dtype
    if not text:
        name = next(iter(cache.load("npy", tmp_path / "x.npy").keys()))
        np.testing.assert_array_equal(cache.dataset("npy")[name], want["x"])


@pytest.mark.parametrize("unit", [*UNITS, "h", "D"])
def test_big_endian_times_and_items_are_sorted_and_appended(
    cache: tensorcache.Cache, unit: str
) -> None:
    time = np.array(["2020-01-03", "2020-01-01", "2020-01-02"], f">M8[{unit}]")
    item = np.array([2, 1, 1], ">i8")
    data = cache.put("s", {"k": item, "t": time, "v": [3, 1, 2]}, item_id="k", time="t", sort=True)
    assert data["v"].tolist() == [3, 1, 2]
    assert data.items[0] == 2
    np.testing.assert_array_equal(data["t"], time)
    later = {
        "k": item[1:],
        "t": time[1:] + np.timedelta64(9, "D").astype(f"m8[{unit}]"),
        "v": [4, 5],
    }
    later["t"] = later["t"].astype(time.dtype)
    data = cache.append("s", later)
    assert data.item(1)["v"].tolist() == [1, 2, 4, 5]
    where = cache.put(
        "w",
        {"t": np.sort(time).astype(time.dtype), "v": [1, 2, 3]},
        time="t",
        where=(time[2], None),
        fit_before=time[0],
        scale="standard",
    )
    assert len(where) == 2
    assert data.windows(context_length=1, prediction_length=1).where(items=item[:1]) is not None


def test_big_endian_values_are_inverted_and_chosen(cache: tensorcache.Cache) -> None:
    data = cache.put(
        "i",
        {"k": np.repeat(np.array([5, 7], ">i8"), 4), "v": np.arange(8.0)},
        item_id="k",
        scale="standard",
        scale_per="item",
    )
    windows = data.windows(context_length=2, prediction_length=1)
    batch = windows[:]
    want = data.inverse("v", batch.target[..., 0], item=batch.item)
    big = batch.target[..., 0].astype(">f4")
    got = data.inverse("v", big, item=np.asarray(batch.item).astype(">i8"))
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(
        windows.where(items=np.array([7], ">i8"))[:].target, windows.where(items=[7])[:].target
    )
