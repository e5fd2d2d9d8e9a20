"""The steps of a load against pandas and scikit-learn, value by value, and back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import preprocessing

import tensorcache
from cases import cases, note_seed

pytestmark = pytest.mark.portable

SCALERS = {
    "standard": preprocessing.StandardScaler,
    "minmax": preprocessing.MinMaxScaler,
    "robust": preprocessing.RobustScaler,
    "maxabs": preprocessing.MaxAbsScaler,
}

cells = st.one_of(st.integers(-40, 200).map(lambda n: n / 4), st.just(np.nan))
series = st.lists(cells, min_size=2, max_size=30)


def filled(values: pd.Series, how: Any, fit: pd.Series) -> pd.Series:
    """Return the values that pandas fills."""
    match how:
        case None:
            return values
        case "forward":
            return values.ffill()
        case "backward":
            return values.bfill()
        case "linear":
            return values.interpolate()
        case "mean":
            return values if np.isnan(fit.mean()) else values.fillna(fit.mean())
    return values.fillna(how)


def seen(values: pd.Series, fit: tuple[int | None, int | None]) -> pd.Series:
    """Return the rows of an item that the fit uses."""
    return values.iloc[slice(*fit)]


@given(
    items=st.lists(series, min_size=1, max_size=4),
    how=st.sampled_from([None, 0, 2.5, "mean", "forward", "backward", "linear"]),
    clip=st.sampled_from([None, (-5, 20), (None, 10), (-0.5, None)]),
    log1p=st.booleans(),
    diff=st.booleans(),
    winsorize=st.sampled_from([None, None, (0.05, 0.8), (0, 1)]),
    scale=st.sampled_from([None, "standard", "minmax", "robust", "maxabs"]),
    per=st.sampled_from(["column", "item"]),
    fit=st.tuples(st.none() | st.integers(-12, 5), st.none() | st.integers(6, 20)),
    layout=st.sampled_from(["columns", "packed"]),
)
@cases(0.06)
def test_steps_are_those_of_pandas_and_scikit_learn(
    cache: tensorcache.Cache,
    items: list[list[float]],
    how: Any,
    clip: Any,
    log1p: bool,
    diff: bool,
    winsorize: tuple[float, float] | None,
    scale: str | None,
    per: str,
    fit: tuple[int | None, int | None],
    layout: str,
) -> None:
    note_seed()
    ids = np.repeat(np.arange(len(items)), [len(item) for item in items])
    raw = pd.Series(np.concatenate(items))
    options: dict[str, Any] = {
        "fill": how,
        "clip": clip,
        "log1p": log1p,
        "diff": diff,
        "winsorize": winsorize,
        "scale": scale,
    }
    if winsorize or scale or how == "mean":
        options |= {"scale_per": per, "fit_rows": fit}
    # Both columns have the same values: other values could fail for other reasons.
    columns = {
        "id": ids,
        "a": raw.to_numpy(),
        "b": raw.to_numpy(),
    }

    by_item = [group for _, group in raw.groupby(ids)]
    pool = pd.concat([seen(group, fit) for group in by_item])
    steps = [filled(group, how, seen(group, fit) if per == "item" else pool) for group in by_item]
    if how == "mean" and any(
        np.isnan((seen(g, fit) if per == "item" else pool).mean()) and g.notna().any()
        for g in by_item
    ):
        with pytest.raises(tensorcache.SourceError, match="hold no value to fit on"):
            cache.put("steps", columns, item_id="id", dtype="float64", layout=layout, **options)
        return
    if clip:
        steps = [group.clip(*clip) for group in steps]
    if log1p and any((group <= -1).any() for group in steps):
        with pytest.raises(tensorcache.SourceError, match="log1p needs values above -1"):
            cache.put("steps", columns, item_id="id", dtype="float64", layout=layout, **options)
        return
    undone = np.concatenate(steps)
    if log1p:
        steps = [np.log1p(group) for group in steps]
    if diff:
        steps = [group.diff() for group in steps]
    if winsorize or scale:
        fits = fits_of(steps, fit, per)
        if any(f.isna().all() and g.notna().any() for f, g in zip(fits, steps, strict=True)):
            with pytest.raises(tensorcache.SourceError, match="hold no value to fit on"):
                cache.put("steps", columns, item_id="id", dtype="float64", layout=layout, **options)
            return
    if winsorize:
        steps = [group.clip(*f.quantile(winsorize)) for f, group in zip(fits, steps, strict=True)]
        if not diff:  # the sums of winsorized differences are other values
            undone = np.concatenate([np.expm1(group) if log1p else group for group in steps])
    if scale:
        steps = [
            group if group.isna().all() else pd.Series(scaled(SCALERS[scale](), f, group))
            for f, group in zip(fits_of(steps, fit, per), steps, strict=True)
        ]
    with cache.put(
        "steps", columns, item_id="id", dtype="float64", layout=layout, **options
    ) as data:
        np.testing.assert_allclose(data["a"], np.concatenate(steps), rtol=1e-6, atol=1e-6)
        # Missing and winsorized differences break the cumulative sum.
        if not diff or (how in (0, 2.5) and not winsorize):
            np.testing.assert_allclose(
                data.inverse("a", data["a"], item=ids), undone, rtol=1e-6, atol=1e-6
            )
    cache.remove("steps")


def fits_of(
    groups: list[pd.Series], fit: tuple[int | None, int | None], per: str
) -> list[pd.Series]:
    """Return the values that the steps of each item are fitted to."""
    fits = [seen(group, fit) for group in groups]
    return [pd.concat(fits)] * len(fits) if per == "column" else fits


def scaled(scaler: Any, fit: pd.Series, values: pd.Series) -> Any:
    """Return the values that scikit-learn scales."""
    return scaler.fit(fit.to_numpy()[:, None]).transform(values.to_numpy()[:, None])[:, 0]


@pytest.mark.parametrize("how", ["forward", "backward", "linear"])
def test_gaps_beside_infinite_values_are_filled_as_by_pandas(
    cache: tensorcache.Cache, how: str
) -> None:
    inf, nan = np.inf, np.nan
    raw = pd.Series(
        [inf, nan, nan, 1, nan, -inf, nan, -inf, nan, inf, nan, 1e308, nan, -1.7e308, nan]
    )
    with np.errstate(invalid="ignore"):
        want = filled(raw, how, raw)
    with cache.put("infinite", {"a": raw.to_numpy()}, fill=how) as data:
        np.testing.assert_array_equal(data["a"], want)


def test_many_values_have_exact_quartiles(cache: tensorcache.Cache) -> None:
    rng = np.random.default_rng(5)
    values = np.concatenate(
        [rng.normal(1e6, 3, 200_001), [np.nan, -1e9, 1e9], -rng.random(100_000)]
    )
    with cache.put(
        "quartiles",
        {"a": values, "m": np.stack([values, -values], 1)},
        scale="robust",
        dtype="float64",
    ) as data:
        want = preprocessing.RobustScaler().fit_transform(values[:, None])[:, 0]
        np.testing.assert_allclose(data["a"], want, rtol=1e-9)
        np.testing.assert_allclose(data["m"], np.stack([want, -want], 1), rtol=1e-9)


def test_fits_see_rows_before_a_time_a_share_or_a_sample(cache: tensorcache.Cache) -> None:
    rng = np.random.default_rng(1)
    times = np.tile(
        np.arange(np.datetime64("2020-01-01T00", "h"), np.datetime64("2020-01-05T04", "h")), 2
    )
    rows = {"id": np.repeat(["x", "y"], 100), "t": times, "a": rng.normal(3, 2, 200)}
    row = np.tile(np.arange(100), 2)

    def fitted(**options: Any) -> tuple[float, float]:
        with cache.put("bounds", rows, item_id="id", time="t", scale="standard", **options) as data:
            scale = data.manifest["columns"][2]["scale"]
            return scale["shift"][0], scale["scale"][0]

    def of(keep: Any) -> Any:
        return pytest.approx((rows["a"][keep].mean(), rows["a"][keep].std()), rel=1e-12)

    assert fitted(fit_before="2020-01-02") == of(row < 24)
    assert fitted(fit_before=np.datetime64("2020-01-02T00:30")) == of(row < 25)
    assert fitted(fit_fraction=0.29) == of(row < 29)
    assert fitted(fit_rows=(10, None), fit_before="2020-01-03", fit_fraction=0.4) == of(
        (row >= 10) & (row < 40)
    )
    assert fitted(fit_rows=(0, 50), fit_sample=1000) == of(row < 50), "all, where there are fewer"
    sampled = fitted(fit_rows=(0, 50), fit_sample=30, fit_seed=7)
    assert sampled == fitted(fit_rows=(0, 50), fit_sample=30, fit_seed=7)
    assert sampled != fitted(fit_rows=(0, 50), fit_sample=30, fit_seed=8)


def test_recipes_are_read_from_dicts_and_files(cache: tensorcache.Cache, tmp_path: Path) -> None:
    rows = {"t": np.arange(6), "a": [1, np.nan, 3, 4, np.nan, 60.0], "b": [1.0, 2, 3, np.nan, 5, 6]}
    recipe = {
        "fill": {"a": "linear", "*": 0},
        "clip": {"a": [None, 8]},
        "scale": {"b": "maxabs"},
        "fit_before": 3,
    }
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    digests = {
        cache.put("r", rows, time="t", **options).digest
        for options in ({"recipe": recipe}, {"recipe": tmp_path / "recipe.json"}, recipe)
    }
    assert len(digests) == 1
    data = cache.dataset("r")
    np.testing.assert_array_equal(data["a"], [1, 2, 3, 4, 8, 8])
    np.testing.assert_allclose(data["b"], np.array([1, 2, 3, 0, 5, 6]) / 3, rtol=1e-6)
    assert (data["a"].dtype, data["b"].dtype) == (np.float64, np.float32), (
        "what is only filled keeps its dtype"
    )
    # Keywords accept a single name in place of a list.
    named: dict[str, Any] = {"item_id": "id", "log1p": "b"}
    items = {**rows, "id": np.zeros(6, np.int64)}
    assert (
        cache.put("r", items, time="t", **named).digest
        == cache.put("r", items, time="t", recipe=named).digest
    )
    with pytest.raises(tensorcache.SpecError, match="fill: is in the recipe and in the call"):
        cache.put("r", rows, time="t", fill=0, recipe=recipe)
    with pytest.raises(tensorcache.NotFoundError, match="no column is named"):
        cache.put("r", rows, time="t", recipe={"log1p": ["c"]})
    with pytest.raises(tensorcache.SpecError, match="filling"):
        cache.put("r", rows, recipe={"filling": 3})
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(tensorcache.SpecError, match=r"bad\.json"):
        cache.put("r", rows, recipe=tmp_path / "bad.json")


BEYOND = [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63) + 1]
"""Whole numbers that no float64 is."""


@pytest.mark.parametrize("number", [*BEYOND, 2**64 - 1, 2.0**60])
def test_whole_numbers_beyond_floats_are_refused(
    cache: tensorcache.Cache, tmp_path: Path, number: float
) -> None:
    dtype = "UInt64" if number == 2**64 - 1 else "Int64"
    frame = pd.DataFrame({"t": [1, 2, 3], "n": pd.array([1, None, 3], dtype)})
    (tmp_path / "recipe.json").write_text(json.dumps({"fill": number}))
    (tmp_path / "recipe.toml").write_text(f"fill = {number}\n")
    options: list[dict[str, Any]] = [
        {"fill": number},
        {"fill": {"n": np.array(number)[()]}},
        {"recipe": tmp_path / "recipe.json"},
        {"clip": (None, number)},
    ]
    if sys.version_info >= (3, 11):
        options.append({"recipe": tmp_path / "recipe.toml"})
    match = (
        f'{int(number)}.*for column "n"'
        if number == 2.0**60
        else f"{number}, want a number that float64 represents exactly"
    )
    for option in options:
        with pytest.raises(tensorcache.SpecError, match=match):
            cache.put("beyond", frame, time="t", **option)
    floats = frame.astype({"n": "float64"})
    if number == 2.0**60:
        assert cache.put("beyond", floats, time="t", fill=number)["n"].tolist() == [1, number, 3]
        return
    with pytest.raises(tensorcache.SpecError, match=match):
        cache.put("beyond", floats, time="t", fill=number)
    large = pd.DataFrame({"n": pd.array([0, int(number)], dtype)})
    assert cache.put("beyond", large)["n"].tolist() == [0, int(number)]
    with pytest.raises(
        tensorcache.SourceError,
        match=r'row 2, column "n": the integer near .* is not between -2\^53 and 2\^53',
    ):
        cache.put("beyond", large, fill=0)


def test_other_digits_are_another_load(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("i,n\n9007199254740992,9007199254740993\n9007199254740993,9007199254740993\n")
    loads = [
        cache.load("digits", path, item_id="i", items=[number]) for number in (2**53, 2**53 + 1)
    ]
    assert [data.generation for data in loads] == [1, 2]
    assert [data.items[0] for data in loads] == [2**53, 2**53 + 1]


def test_recipes_are_read_from_toml(cache: tensorcache.Cache, tmp_path: Path) -> None:
    pytest.importorskip("tomllib")
    path = tmp_path / "recipe.toml"
    path.write_text('scale = "minmax"\nfit_before = 2020-01-02\n[fill]\n"*" = "forward"\n')
    rows = {"t": np.arange("2020-01-01", "2020-01-05", dtype="M8[D]"), "a": [1.0, np.nan, 3, 5]}
    with cache.put("toml", rows, time="t", recipe=str(path)) as data:
        np.testing.assert_array_equal(data["a"], [0, 0, 2, 4])


def test_integers_that_are_filled_or_clipped_stay_integers(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    frame = pd.DataFrame(
        {"n": pd.array([1, None, 3, 900], "Int64"), "f": pd.array([1, None, 4, None], "Int32")}
    )
    path = tmp_path / "ints.parquet"
    frame.to_parquet(path)
    data = cache.load("ints", path, fill={"n": "forward", "f": -1}, clip={"n": (None, 50)})
    np.testing.assert_array_equal(data["n"], [1, 1, 3, 50])
    np.testing.assert_array_equal(data["f"], [1, -1, 4, -1])
    assert (data["n"].dtype, data["f"].dtype) == (np.int64, np.int32)
    data = cache.load("ints", path, fill="linear")
    np.testing.assert_array_equal(data["n"], [1, 2, 3, 900])
    np.testing.assert_array_equal(data["f"], [1, 2.5, 4, 4])
    with pytest.raises(
        tensorcache.SourceError,
        match='row 4, column "f": the value is missing and backward finds none',
    ):
        cache.load("ints", path, fill="backward")


def test_columns_are_computed_over_the_arrays_of_a_dataset(cache: tensorcache.Cache) -> None:
    data = cache.put("one", {"t": np.arange(4), "OT": [1.0, 2, 3, 4]}, time="t")
    more = cache.put("more", {**data, "x": np.sqrt(data["OT"])}, time="t", scale={"x": "minmax"})
    assert list(more) == ["t", "OT", "x"]
    np.testing.assert_allclose(more.inverse("x", more["x"]), np.sqrt([1, 2, 3, 4]), rtol=1e-6)
    np.testing.assert_array_equal(more["OT"], data["OT"])


@given(
    items=st.lists(series, min_size=1, max_size=3),
    how=st.sampled_from([0, "forward", "linear"]),
    diff=st.booleans(),
    share=st.sampled_from([0.0, 0.3, 0.6]),
)
@cases(0.01)
def test_windows_count_filled_cells_where_they_are_asked_to(
    cache: tensorcache.Cache, items: list[list[float]], how: Any, diff: bool, share: float
) -> None:
    note_seed()
    ids = np.repeat(np.arange(len(items)), [len(item) for item in items])
    raw = np.concatenate(items)
    with cache.put(
        "counted", {"id": ids, "a": raw, "b": raw}, item_id="id", fill={"a": how}, diff={"a": diff}
    ) as data:
        now = np.isnan(data["a"])
        for count_filled, lacks in ((False, now), (True, now | np.isnan(raw))):
            want = []
            for item in range(len(items)):
                own = lacks[ids == item]
                want += [(item, s) for s in range(len(own) - 1) if own[s : s + 2].mean() <= share]
            spec: dict[str, Any] = {"context_length": 2, "columns": ["a"], "max_missing": share}
            try:
                got = data.windows(**spec, count_filled=count_filled)[:]
            except tensorcache.SpecError:
                assert not want
                continue
            assert list(zip(got.item_code.tolist(), got.start.tolist(), strict=True)) == want
    cache.remove("counted")
