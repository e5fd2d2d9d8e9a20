"""The step winsorize against numpy, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed

pytestmark = pytest.mark.portable

Array = npt.NDArray[Any]

cells = st.one_of(st.floats(-1e6, 1e6), st.integers(-5, 5).map(float), st.just(np.nan))
series = st.lists(cells, min_size=2, max_size=40)


def bounds(values: Array, quantiles: tuple[float, float]) -> Array:
    """Return the quantiles of the values that are present, as numpy computes them."""
    values = values.astype(np.float64)
    result: Array = np.quantile(values[~np.isnan(values)], quantiles)
    return result


def record_of(data: tensorcache.Dataset, name: str) -> dict[str, Any]:
    """Return what the manifest records of the step for a column."""
    [column] = [column for column in data.manifest["columns"] if column["name"] == name]
    record: dict[str, Any] = column["prepared"]["winsorize"]
    return record


@given(
    items=st.lists(series, min_size=1, max_size=4),
    quantiles=st.tuples(st.floats(0, 0.499), st.floats(0.501, 1)),
    per=st.sampled_from(["column", "item"]),
    fit=st.sampled_from([(None, None), (0, 7), (-5, None), (None, -1)]),
    layout=st.sampled_from(["columns", "packed"]),
)
@cases(0.05)
def test_bounds_and_values_are_those_of_numpy(
    cache: tensorcache.Cache,
    items: list[list[float]],
    quantiles: tuple[float, float],
    per: str,
    fit: tuple[int | None, int | None],
    layout: str,
) -> None:
    note_seed()
    for item in items:
        item[0], item[-1] = 1.0, 2.5  # every fit has a value
    ids = np.repeat(np.arange(len(items)), [len(item) for item in items])
    values = np.concatenate(items)
    columns = {"id": ids, "a": values, "f": values.astype(np.float32)}
    with cache.put(
        "numpy",
        columns,
        item_id="id",
        layout=layout,
        winsorize=quantiles,
        scale_per=per,
        fit_rows=fit,
    ) as data:
        for name in ("a", "f"):
            source = columns[name]
            fits = [source[ids == item][slice(*fit)] for item in range(len(items))]
            if per == "column":
                fits = [np.concatenate(fits)]
            limits = np.array([bounds(fitted, quantiles) for fitted in fits])
            record = record_of(data, name)
            np.testing.assert_array_equal(np.array([record["low"], record["high"]]).T, limits)
            low, high = limits[ids if per == "item" else np.zeros_like(ids)].T
            want = np.clip(source.astype(np.float64), low, high).astype(source.dtype)
            np.testing.assert_array_equal(data[name], want, strict=True)
    cache.remove("numpy")


@pytest.mark.parametrize("per", ["column", "item"])
def test_many_values_have_the_quantiles_of_numpy(cache: tensorcache.Cache, per: str) -> None:
    rng = np.random.default_rng(11)
    ids = np.repeat([0, 1, 2], [100_000, 1, 200_000])
    values = rng.standard_t(2, len(ids))
    values[rng.random(len(ids)) < 0.1] = np.nan
    values[100_000] = 3
    wide = np.stack([values, -values], 1)
    quantiles = (0.01, 0.99)
    with cache.put(
        "many",
        {"id": ids, "a": values, "w": wide},
        item_id="id",
        winsorize=quantiles,
        scale_per=per,
    ) as data:
        for name, source in (("a", values[:, None]), ("w", wide)):
            want = np.empty_like(source)
            for item in range(3):
                rows = ids == item
                fitted = source[rows] if per == "item" else source
                for feature in range(source.shape[1]):
                    limits = bounds(fitted[:, feature], quantiles)
                    want[rows, feature] = np.clip(source[rows, feature], *limits)
            np.testing.assert_array_equal(data[name].reshape(source.shape), want)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint16", "int32", "int64", "uint64"]
)
def test_floats_keep_their_dtype_and_integers_become_float64(
    cache: tensorcache.Cache, dtype: str
) -> None:
    values = np.random.default_rng(3).integers(0, 100, 77).astype(dtype)
    with cache.put("dtypes", {"a": values}, winsorize=(0.1, 0.85)) as data:
        stored = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        want = np.clip(values.astype(np.float64), *bounds(values, (0.1, 0.85))).astype(stored)
        np.testing.assert_array_equal(data["a"], want, strict=True)
    with cache.put("dtypes", {"a": values}, winsorize=(0.1, 0.85), dtype={"a": "float32"}) as data:
        assert data["a"].dtype == np.float32


def test_columns_without_numbers_are_left_out(cache: tensorcache.Cache) -> None:
    rows = 8
    columns = {
        "id": np.repeat(["x", "y"], 4),
        "t": np.tile(np.arange("2020-01-01", "2020-01-05", dtype="M8[D]"), 2),
        "a": np.arange(8.0),
        "flag": np.arange(rows) % 2 == 0,
        "name": np.array(list("abcdefgh")),
        "seen": np.arange("2021-01-01", "2021-01-09", dtype="M8[D]"),
    }
    given: dict[str, Any] = {"item_id": "id", "time": "t", "calendar": ["day", "hour_sincos"]}
    plain = cache.put("plain", columns, **given)
    data = cache.put("others", columns, **given, winsorize=(0.2, 0.8))
    assert not np.array_equal(data["a"], plain["a"])
    for name in data:
        if name != "a":
            np.testing.assert_array_equal(data[name], plain[name], strict=True)
    for name in ("flag", "name", "seen", "t", "id"):
        with pytest.raises(tensorcache.SpecError, match=f'winsorize: "{name}": want value columns'):
            cache.put("others", columns, **given, winsorize={name: (0.2, 0.8)})
    with pytest.raises(tensorcache.NotFoundError, match="no column is named"):
        cache.put("others", columns, **given, winsorize={"day": (0.2, 0.8)})
    data = cache.put(
        "others",
        {**columns, "b": np.arange(8.0)},
        **given,
        winsorize={"a": "none", "*": (0.2, 0.8)},
    )
    np.testing.assert_array_equal(data["a"], plain["a"])
    values = np.arange(8.0)
    np.testing.assert_array_equal(data["b"], np.clip(values, *bounds(values, (0.2, 0.8))))


def test_the_scaling_is_fitted_to_winsorized_values(cache: tensorcache.Cache) -> None:
    values = np.concatenate([np.random.default_rng(1).normal(5, 2, 500), [1e9, np.inf, -np.inf]])
    with np.errstate(invalid="ignore"):
        want = np.clip(values, *bounds(values, (0.01, 0.99)))
    for scale, shift, divisor in (
        ("standard", want.mean(), want.std()),
        ("minmax", want.min(), np.ptp(want)),
        ("maxabs", 0, abs(want).max()),
        ("robust", np.median(want), np.subtract(*np.quantile(want, [0.75, 0.25]))),
    ):
        with cache.put(
            "scaled", {"a": values}, winsorize=(0.01, 0.99), scale=scale, dtype="float64"
        ) as data:
            np.testing.assert_allclose(data["a"], (want - shift) / divisor, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(data.inverse("a", data["a"]), want, rtol=1e-12)


def test_inverse_undoes_the_other_steps_only(cache: tensorcache.Cache) -> None:
    values = np.exp(np.random.default_rng(2).normal(0, 2, (2, 60)))
    ids = np.repeat(["x", "y"], 60)
    with cache.put(
        "undo",
        {"id": ids, "a": values.ravel()},
        item_id="id",
        log1p="a",
        winsorize=(0.1, 0.9),
        scale="standard",
        scale_per="item",
        dtype="float64",
    ) as data:
        logs = np.log1p(values)
        want = np.expm1([np.clip(row, *bounds(row, (0.1, 0.9))) for row in logs])
        for k, item in enumerate(("x", "y")):
            got = data.inverse("a", data["a"][60 * k : 60 * k + 60], item=item)
            np.testing.assert_allclose(got, want[k], rtol=1e-9)
    # The sums of winsorized differences drift from the values.
    with cache.put("undo", {"a": values[0]}, diff="a", winsorize=(0.1, 0.9), dtype="float64") as d:
        steps = np.diff(values[0])
        kept = np.clip(steps, *bounds(steps, (0.1, 0.9)))
        np.testing.assert_array_equal(d["a"][1:], kept)
        want = values[0, 0] + np.concatenate([[0], np.cumsum(kept)])
        np.testing.assert_allclose(d.inverse("a", d["a"]), want, rtol=1e-9)


def test_appended_rows_keep_the_bounds(cache: tensorcache.Cache, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("i,t,a\nx,1,1.5\nx,2,2.5\ny,1,10\ny,2,20\n")
    (tmp_path / "b.csv").write_text("i,t,a\nx,3,-99\ny,3,99\nz,1,5\nz,2,7\n")
    given: dict[str, Any] = {"item_id": "i", "time": "t", "winsorize": (0, 0.5)}
    for per, low, high in (
        ("column", [1.5], [6.25]),
        ("item", [1.5, 10, 5], [2, 15, 6]),
    ):
        cache.load("kept", tmp_path / "a.csv", **given, scale_per=per)
        data = cache.append("kept", tmp_path / "b.csv")
        record = record_of(data, "a")
        assert (record["low"], record["high"]) == (low, high)
        item = np.array([0, 0, 0, 1, 1, 1, 2, 2]) * (per == "item")
        raw = [1.5, 2.5, -99, 10, 20, 99, 5, 7]
        np.testing.assert_array_equal(
            data["a"], np.clip(raw, np.array(low)[item], np.array(high)[item])
        )


def test_fits_see_rows_before_a_time_a_share_or_a_sample(cache: tensorcache.Cache) -> None:
    columns = {"t": np.arange(100), "a": np.random.default_rng(7).normal(size=100)}

    def fitted(**options: Any) -> list[float]:
        with cache.put("fit", columns, time="t", winsorize=(0.1, 0.9), **options) as data:
            record = record_of(data, "a")
            return [*record["low"], *record["high"]]

    assert fitted(fit_before=40) == bounds(columns["a"][:40], (0.1, 0.9)).tolist()
    assert fitted(fit_fraction=0.3) == bounds(columns["a"][:30], (0.1, 0.9)).tolist()
    sampled = fitted(fit_sample=20, fit_seed=7)
    assert sampled == fitted(fit_sample=20, fit_seed=7)
    assert sampled != fitted(fit_sample=20, fit_seed=8)
    assert fitted(fit_sample=1000) == bounds(columns["a"], (0.1, 0.9)).tolist()


def test_equal_options_are_a_hit(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n2\n3\n4\n")
    assert cache.load("hit", path, winsorize=(0.1, 0.9)).generation == 1
    assert cache.load("hit", path, winsorize={"a": [0.1, 0.9]}).generation == 2
    assert cache.load("hit", path, recipe={"winsorize": {"a": [0.1, 0.9]}}).generation == 2
    assert cache.load("hit", path, winsorize={"a": (0.1, 0.8)}).generation == 3


def test_leakage_checks_count_it_as_a_fitted_step(cache: tensorcache.Cache) -> None:
    columns = {"a": np.arange(40.0), "b": np.arange(40.0)}
    data = cache.put("leaky", columns, winsorize={"a": (0.1, 0.9)})
    windows = data.windows(context_length=4, prediction_length=2)
    with pytest.warns(tensorcache.LeakageWarning, match="the winsorizing of a saw rows that"):
        parts = windows.split(fractions=(0.5, 0.5))
    with pytest.raises(tensorcache.LeakageError) as refused:
        parts.check_leakage()
    assert refused.value.hint == "load with fit_rows=(0, 20)"
    data.windows(context_length=4, prediction_length=2, columns=["b"]).split(
        fractions=(0.5, 0.5)
    ).check_leakage()
    clean = cache.put("leaky", columns, winsorize=(0.1, 0.9), fit_rows=(0, 20))
    clean.windows(context_length=4, prediction_length=2).split(fractions=(0.5, 0.5)).check_leakage()


@pytest.mark.parametrize(
    ("value", "match"),
    [
        ((0.9, 0.1), r"winsorize: got \[0.9, 0.1\], want two quantiles from 0 to 1, the lower one"),
        ((0, 0), "want two quantiles from 0 to 1"),
        ((-0.1, 0.5), "want two quantiles from 0 to 1"),
        ((0.5, 1.5), "want two quantiles from 0 to 1"),
        ((1, 99), "want two quantiles from 0 to 1"),
        ((None, 0.9), "winsorize: got None, want a number"),
        ((0.1, 0.5, 0.9), r"winsorize: want two quantiles as \[0.01, 0.99\], or none, got"),
        (0.1, "winsorize: got 0.1, want two quantiles, such as"),
        ((float("nan"), 0.9), "want a finite number"),
        ("most", 'want two quantiles as .*, or none, got "most"'),
        ({"b": (0.1, 0.9)}, "winsorize: no column is named"),
        ({"a": None}, "winsorize: got None, want two quantiles, such as"),
    ],
)
def test_wrong_settings_are_refused(cache: tensorcache.Cache, value: Any, match: str) -> None:
    with pytest.raises((tensorcache.SpecError, tensorcache.NotFoundError), match=match):
        cache.put("refused", {"a": np.arange(4.0)}, winsorize=value)


def test_values_that_cannot_be_fitted_are_refused(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.SourceError, match=r'row 2, column "a": the integer near'):
        cache.put("refused", {"a": np.array([1, 2**53 + 1])}, winsorize=(0.1, 0.9))
    with pytest.raises(tensorcache.SourceError, match=r'row 2, column "a": \+Inf is not finite'):
        cache.put("refused", {"a": np.array([1, np.inf])}, winsorize=(0.1, 0.9))
    with pytest.raises(tensorcache.SourceError, match="the fit rows hold no value to fit on"):
        cache.put("refused", {"a": np.arange(4.0)}, winsorize=(0.1, 0.9), fit_rows=(7, None))
    with pytest.raises(tensorcache.SpecError, match=r"fit_rows.*together with .*winsorize"):
        cache.put("refused", {"a": np.arange(4.0)}, fit_rows=(0, 2))
