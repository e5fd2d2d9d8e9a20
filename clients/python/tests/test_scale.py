"""Scaling and its inverse, against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tensorcache
from daemon import ETTH1
from frames import read_etth1

pytestmark = pytest.mark.portable

FIT = 8640
COLUMNS = ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return read_etth1()


@pytest.fixture(scope="module")
def grouped() -> pd.DataFrame:
    """Return three items of different scale, one of them constant."""
    rng = np.random.default_rng(3)
    parts = [
        pd.DataFrame({"id": name, "t": range(50), "a": rng.normal(mean, 3, 50), "b": value})
        for name, mean, value in (("x", 5, 1.0), ("y", -100, 2.0), ("z", 1e4, 3.0))
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("layout", ["columns", "packed"])
def test_standard(cache: tensorcache.Cache, frame: pd.DataFrame, layout: str) -> None:
    data = cache.load(
        f"std-{layout}", ETTH1, time="date", scale="standard", fit_rows=(0, FIT), layout=layout
    )
    for name in COLUMNS:
        fit = frame[name][:FIT]
        want = (frame[name] - fit.mean()) / fit.std(ddof=0)
        assert data[name].dtype == np.float32
        np.testing.assert_allclose(data[name], want, rtol=2e-6, atol=2e-6)
        np.testing.assert_allclose(
            data.inverse(name, data[name]), frame[name], rtol=1e-5, atol=1e-5
        )


def test_minmax_and_float64(cache: tensorcache.Cache, frame: pd.DataFrame) -> None:
    data = cache.load(
        "minmax", ETTH1, time="date", scale="minmax", fit_rows=(0, FIT), dtype="float64"
    )
    for name in COLUMNS:
        fit = frame[name][:FIT]
        want = (frame[name] - fit.min()) / (fit.max() - fit.min())
        assert data[name].dtype == np.float64
        np.testing.assert_allclose(data[name], want, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            data.inverse(name, data[name]), frame[name], rtol=1e-12, atol=1e-12
        )


def test_per_column_pools_items_and_fits_on_their_rows(
    cache: tensorcache.Cache, grouped: pd.DataFrame
) -> None:
    data = cache.put("pooled", grouped, item_id="id", time="t", scale="standard", fit_rows=(0, 20))
    fit = grouped[grouped.t < 20].a
    np.testing.assert_allclose(
        data["a"], (grouped.a - fit.mean()) / fit.std(ddof=0), rtol=1e-5, atol=1e-6
    )


def test_per_item(cache: tensorcache.Cache, grouped: pd.DataFrame) -> None:
    data = cache.put(
        "per-item",
        grouped,
        item_id="id",
        time="t",
        scale="standard",
        fit_rows=(0, 20),
        scale_per="item",
        dtype="float64",
    )
    for name, item in grouped.groupby("id"):
        rows = grouped.id == name
        fit = item.a[:20]
        np.testing.assert_allclose(
            data["a"][rows], (item.a - fit.mean()) / fit.std(ddof=0), rtol=1e-9
        )
        np.testing.assert_allclose(
            data.inverse("a", data["a"][rows], item=name), item.a, rtol=1e-12
        )
    np.testing.assert_array_equal(data["b"], 0), "a spread of 0 scales by 1"
    codes = np.repeat(np.arange(3), 50)
    np.testing.assert_allclose(data.inverse("a", data["a"], item_code=codes), grouped.a, rtol=1e-12)
    with pytest.raises(tensorcache.SpecError, match='column "a" was scaled per item'):
        data.inverse("a", data["a"])
    with pytest.raises(tensorcache.NotFoundError):
        data.inverse("a", data["a"], item="nobody")
    with pytest.raises(tensorcache.SpecError, match="one along the first axis"):
        data.inverse("a", data["a"], item_code=codes[:5])


def test_inverse_of_a_batch(cache: tensorcache.Cache, grouped: pd.DataFrame) -> None:
    data = cache.put(
        "batch", grouped, item_id="id", time="t", scale="minmax", scale_per="item", dtype="float64"
    )
    plain = cache.put("plain", grouped, item_id="id", time="t")
    spec = {"context_length": 5, "prediction_length": 2, "dtype": None}
    scaled, unscaled = data.windows(**spec)[3:90:7], plain.windows(**spec)[3:90:7]
    names = data.windows(**spec).features["target"]
    got = data.inverse(names, scaled.target, item=scaled.item)
    np.testing.assert_allclose(got, unscaled.target, rtol=1e-9)
    np.testing.assert_allclose(
        data.inverse("b", scaled.target[..., 1], item=scaled.item), unscaled.target[..., 1]
    )
    with pytest.raises(tensorcache.SpecError, match="want a last axis of 2"):
        data.inverse(["a", "b"], scaled.target[..., :1], item=scaled.item)


def test_inverse_of_several_features_and_of_nothing_scaled(cache: tensorcache.Cache) -> None:
    rng = np.random.default_rng(0)
    many = rng.normal(50, 9, (100, 3))
    data = cache.put("features", {"m": many}, scale="standard", dtype="float64")
    np.testing.assert_allclose(data["m"], (many - many.mean(0)) / many.std(0), rtol=1e-9)
    np.testing.assert_allclose(data.inverse("m", data["m"]), many, rtol=1e-12)
    with pytest.raises(tensorcache.SpecError, match="want a last axis of 3"):
        data.inverse("m", data["m"][:, 0])
    plain = cache.put("unscaled", {"m": many})
    np.testing.assert_array_equal(plain.inverse("m", plain["m"]), many)


def test_windows_carry_scaled_values(cache: tensorcache.Cache, frame: pd.DataFrame) -> None:
    data = cache.load("std-columns", ETTH1, time="date", scale="standard", fit_rows=(0, FIT))
    sample = data.windows(context_length=10, prediction_length=3)[100]
    assert sample.target is not None
    np.testing.assert_array_equal(sample.context[:, 6], data["OT"][100:110])
    np.testing.assert_array_equal(sample.target[:, 6], data["OT"][110:113])
