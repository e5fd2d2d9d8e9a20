"""The inverse of a load's transformations: forecasts of differences, and what has no inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorcache


def test_a_forecast_of_differences_is_undone_from_the_last_known_value(
    cache: tensorcache.Cache,
) -> None:
    rng = np.random.default_rng(0)
    rows = {"id": np.repeat([0, 1], 50), "a": rng.random(100) + 1, "b": rng.random(100) * 9}
    options: dict[str, Any] = {
        "item_id": "id",
        "log1p": ["b"],
        "diff": True,
        "scale": "standard",
        "scale_per": "item",
    }
    data = cache.put("forecast", rows, dtype="float64", **options)
    plain = cache.put("forecast-plain", rows, item_id="id")
    windows = data.windows(context_length=5, prediction_length=3, dtype=None)
    batch = windows[[0, 7, len(windows) - 1]]
    want = plain.windows(context_length=5, prediction_length=3, dtype=None, rows=(1, None))[
        [0, 7, len(windows) - 1]
    ]
    last = want.context[:, -1]
    got = data.inverse(["a", "b"], batch.target, item=batch.item, initial=last)
    np.testing.assert_allclose(got, want.target, rtol=1e-9)
    one = data.inverse("b", batch.target[..., 1], item=batch.item, initial=last[:, 1])
    np.testing.assert_allclose(one, want.target[..., 1], rtol=1e-9)
    np.testing.assert_allclose(data.inverse("a", data["a"][50:], item=1), rows["a"][50:], rtol=1e-9)
    for wrong, match in (
        ({}, "initial: column"),
        ({"initial": last[:2]}, r"want one number or shape \[3, 2\] or \[2\]"),
    ):
        with pytest.raises(tensorcache.SpecError, match=match):
            data.inverse(["a", "b"], batch.target, item=batch.item, **wrong)
    with pytest.raises(tensorcache.SpecError, match="item: column"):
        data.inverse("a", data["a"])


def test_what_cannot_be_undone_is_refused(cache: tensorcache.Cache) -> None:
    rows = {"id": ["x", "x", "y"], "a": [1.0, 3.0, 4.0], "b": [1.0, 3.0, 4.0]}
    data = cache.put(
        "undone", rows, item_id="id", scale={"a": "minmax"}, log1p=["b"], scale_per="item"
    )
    assert data.inverse("a", 0.5, item="x") == 2
    assert data.inverse("b", np.log1p(3)) == pytest.approx(3)
    np.testing.assert_array_equal(
        data.inverse("a", [0, 1, 0], item_code=np.array([0, 0, 1], np.uint8)), rows["a"]
    )
    wrong: list[tuple[Any, Any, str]] = [
        ("word", "x", "values: got <U4, want numbers"),
        ([1j], "x", "values: got complex128, want numbers"),
        ([[1.0], [2.0, 3.0]], "x", "values: want numbers: "),
        ([1.0, object()], "x", "values: want numbers: "),
        ([0.5], ["x", "y"], r"item: got an array of 2 for values of shape \[1\]"),
    ]
    for values, item, match in wrong:
        with pytest.raises(tensorcache.SpecError, match=match):
            data.inverse("a", values, item=item)
