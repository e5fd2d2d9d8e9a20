"""Statistics of columns are those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

import tensorcache

pytestmark = pytest.mark.portable


def test_statistics_are_those_of_the_stored_values(cache: tensorcache.Cache) -> None:
    rng = np.random.default_rng(8)
    wide = rng.normal(1e5, 3, (20_000, 3))
    wide[rng.random(wide.shape) < 0.1] = np.nan
    columns = {
        "t": np.arange(20_000),
        "wide": wide,
        "n": rng.integers(-5, 90, 20_000),
        "yes": rng.random(20_000) < 0.3,
        "few": np.where(np.arange(20_000) < 5, np.arange(20_000), np.nan),
        "none": np.full(20_000, np.nan),
        "far": np.where(np.arange(20_000) == 7, np.inf, 1.0),
    }
    for layout in ("columns", "packed"):
        with cache.put(
            "described", columns, time="t", layout=layout, scale={"n": "standard"}
        ) as data:
            statistics = data.describe()
            assert list(statistics) == list(columns)[1:]
            for name in ("wide", "n", "yes", "few"):
                stored = np.asarray(data[name], np.float64)
                present = stored[~np.isnan(stored)]
                got = statistics[name]
                assert (got["count"], got["missing"]) == (present.size, stored.size - present.size)
                assert (got["min"], got["max"]) == (present.min(), present.max())
                assert got["mean"] == pytest.approx(present.mean(), rel=1e-9, abs=1e-9)
                assert got["std"] == pytest.approx(present.std(), rel=1e-6)
                for q, value in got["quantiles"].items() if name != "few" else ():
                    below, up_to = (present < value).mean(), (present <= value).mean()
                    assert below - 0.06 <= q <= up_to + 0.06, (name, q)
            assert statistics["none"]["count"] == 0
            assert statistics["none"]["mean"] is statistics["none"]["quantiles"][0.5] is None
            assert (
                statistics["far"]["max"],
                statistics["far"]["mean"],
                statistics["far"]["min"],
            ) == (
                None,
                None,
                1.0,
            )


def test_statistics_of_large_integers_are_the_nearest_floats(cache: tensorcache.Cache) -> None:
    with cache.put(
        "large", {"n": np.array([-(2**63), 2**62, 3]), "u": np.array([2**64 - 1, 1, 2], np.uint64)}
    ) as data:
        statistics = data.describe()
    assert (
        statistics["n"]["min"],
        statistics["n"]["max"],
        statistics["u"]["min"],
        statistics["u"]["max"],
    ) == (
        -(2**63),
        2**62,
        1,
        2**64,
    )
    assert statistics["n"]["count"] == 3
