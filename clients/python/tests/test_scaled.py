"""``data.scaled``: a copy of a dataset that is scaled as fitted to the rows of a part."""

from __future__ import annotations

import os
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorcache
from tensorcache._daemon.jobs import run_job

pytestmark = pytest.mark.portable

LENGTHS = (50, 1, 30, 12)
SPEC: dict[str, Any] = {"context_length": 4, "prediction_length": 2}
KINDS = ("standard", "minmax", "robust", "maxabs")


def table() -> dict[str, Any]:
    """Four items with columns of all kinds; some values are missing."""
    rng = np.random.default_rng(3)
    n = sum(LENGTHS)
    y = rng.normal(5, 3, n)
    y[rng.random(n) < 0.1] = np.nan
    times = np.concatenate([np.arange(k) for k in LENGTHS])
    return {
        "id": np.repeat(["a", "b", "c", "d"], LENGTHS),
        "t": np.datetime64("2024-01-01", "h") + times,
        "y": y,
        "small": rng.normal(0, 1e-3, n).astype(np.float32),
        "half": rng.normal(0, 1, n).astype(np.float16),
        "count": rng.integers(0, 1000, n),
        "byte": rng.integers(-100, 100, n).astype(np.int8),
        "wide": rng.normal(2, 5, (n, 3)),
        "flag": rng.random(n) < 0.5,
        "word": rng.choice(["x", "y"], n),
    }


@pytest.fixture(params=["columns", "packed"])
def data(cache: tensorcache.Cache, request: pytest.FixtureRequest) -> tensorcache.Dataset:
    return put(cache, f"of_{request.param}", layout=request.param)


def put(cache: tensorcache.Cache, name: str, **options: Any) -> tensorcache.Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tensorcache.LoadWarning)  # of the column of texts
        return cache.put(name, table(), item_id="id", time="t", **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("per", ["column", "item"])
@pytest.mark.parametrize("rows", [(0, 20), (-9, -1)])
def test_it_is_what_a_load_with_these_rows_makes(
    cache: tensorcache.Cache,
    data: tensorcache.Dataset,
    kind: str,
    per: str,
    rows: tuple[int, int],
) -> None:
    named = ["y", "small", "half", "count", "byte", "wide"]
    if per == "item":  # bounds with the one row of item b
        rows = (0, 9)
    fit = data.windows(**SPEC).where(rows=rows)
    scaled = data.scaled(kind, fit=fit, scale_per=per)
    loaded = put(
        cache,
        "loaded",
        layout=data.layout,
        scale=dict.fromkeys(named, kind),
        scale_per=per,
        fit_rows=rows,
    )
    assert scaled.columns == data.columns == loaded.columns
    for name in data.columns:
        assert scaled[name].dtype == loaded[name].dtype, name
        np.testing.assert_array_equal(scaled[name], loaded[name], err_msg=name)
    assert list(scaled.items) == list(data.items)
    code = np.repeat(np.arange(4), LENGTHS)
    for name in named:
        given = {"item_code": code} if per == "item" else {}
        back = scaled.inverse(name, scaled[name], **given)
        np.testing.assert_array_equal(back, loaded.inverse(name, loaded[name], **given))
        np.testing.assert_allclose(back, data[name], rtol=1e-3, atol=1e-3)


def test_it_is_fitted_to_all_rows_of_the_part(data: tensorcache.Dataset) -> None:
    windows = data.windows(**SPEC, columns=["count"])
    train, test = windows.split(fractions=(0.6, 0.4))
    scaled = data.scaled("standard", fit=train, columns="count")
    rows = np.concatenate(
        [
            offset + np.arange(int(n * 0.6 + 1e-9))
            for offset, n in zip((0, 50, 51, 81), LENGTHS, strict=True)
        ]
    )
    values = data["count"][rows].astype(np.float64)
    want = (data["count"] - values.mean()) / values.std()
    np.testing.assert_allclose(scaled["count"], want, rtol=1e-6, atol=1e-6)
    # Item b has no window, and its row is no row of the part.
    bounds = zip(*scaled._fit_rows(), strict=True)
    assert [(low, high) if low < high else None for low, high in bounds] == [
        (0, 30),
        None,
        (0, 18),
        (0, 7),
    ]
    assert scaled["y"].dtype == data["y"].dtype
    np.testing.assert_array_equal(scaled["y"], data["y"])
    # The same spec and split give the same windows.
    for part, same in zip(
        (train, test),
        scaled.windows(**SPEC, columns=["count"]).split(fractions=(0.6, 0.4)),
        strict=True,
    ):
        np.testing.assert_array_equal(part[:].start, same[:].start)
        np.testing.assert_array_equal(part[:].item_code, same[:].item_code)
        np.testing.assert_array_equal(part[:].time, same[:].time)


def test_check_leakage_knows_the_rows(data: tensorcache.Dataset) -> None:
    spec: dict[str, Any] = {**SPEC, "columns": ["count"]}
    train = data.windows(**spec).split(fractions=(0.6, 0.4))[0]
    windows = data.scaled("standard", fit=train, columns=["count"]).windows(**spec)
    windows.split(fractions=(0.6, 0.4)).check_leakage()
    windows.split(fractions=(0.7, 0.3)).check_leakage()
    with pytest.warns(tensorcache.LeakageWarning, match="fit="):
        parts = windows.split(fractions=(0.5, 0.5))
    with pytest.raises(
        tensorcache.LeakageError,
        match=r"the scaling of count saw rows that are predicted \(those of the part that it was "
        r'fitted to\): rows 25 to 29 of item "a", and rows of 2 more items',
    ):
        parts.check_leakage()
    whole = data.windows(**spec)
    windows = data.scaled("standard", fit=whole.where(items=["c"]), columns=["count"]).windows(
        **spec
    )
    windows.where(items=["a", "d"]).split(fractions=(0.5, 0.5)).check_leakage()
    with pytest.warns(tensorcache.LeakageWarning, match='of item "c"'):
        windows.split(fractions=(0.5, 0.5))


def test_steps_of_the_load_stay(cache: tensorcache.Cache) -> None:
    options: dict[str, Any] = {
        "fill": {"y": "forward"},
        "log1p": ["count"],
        "scale": {"small": "minmax"},
        "fit_rows": (0, 10),
        "calendar": ["hour"],
    }
    data = put(cache, "steps", **options)
    fit = data.windows(**SPEC).where(rows=(0, 25))
    scaled = data.scaled("robust", fit=fit, columns=["y", "count"])
    both = put(
        cache,
        "both",
        **{**options, "scale": {"y": "robust", "count": "robust"}, "fit_rows": (0, 25)},
    )
    for name in ("y", "count"):
        np.testing.assert_allclose(scaled[name], both[name], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(
            scaled.inverse(name, scaled[name]), data.inverse(name, data[name]), rtol=1e-4, atol=1e-3
        )
    np.testing.assert_array_equal(scaled["small"], data["small"])
    np.testing.assert_array_equal(
        scaled.inverse("small", scaled["small"]), data.inverse("small", data["small"])
    )
    windows = scaled.windows(**SPEC, columns=["y", "small"], max_missing=None)
    np.testing.assert_array_equal(
        windows[:].observed[..., 0],
        data.windows(**SPEC, columns=["y", "small"], max_missing=None)[:].observed[..., 0],
    )
    assert "hour" not in scaled.windows(**SPEC, max_missing=None).features["context"]
    with pytest.warns(
        tensorcache.LeakageWarning, match=r"scaling of small saw .*fit_rows \(0, 10\)"
    ):
        windows.split(lengths=(7, None))


def test_it_is_made_once_and_removed_with_its_parent(cache: tensorcache.Cache) -> None:
    data = put(cache, "parent")
    windows = data.windows(**SPEC)
    train = windows.split(fractions=(0.6, 0.4))[0]
    jobs: list[dict[str, Any]] = []
    first = data.scaled("standard", fit=train, progress=jobs.append)
    listed = {entry["dataset"]: entry for entry in cache.datasets()}
    assert listed[first.name]["scaled_of"] == "parent"
    assert "scaled_of" not in listed["parent"]
    jobs.clear()
    # The context of windows does not matter, only the bounds of the part.
    longer = data.windows(context_length=9).split(fractions=(0.6, 0.4), context_before_split=False)
    again = data.scaled("standard", fit=longer[0], progress=jobs.append)
    assert (again.name, again.generation, jobs[-1]["hit"]) == (first.name, 1, True)
    others = [
        data.scaled("minmax", fit=train),
        data.scaled("standard", fit=train, scale_per="column", columns=["y"]),
        data.scaled("standard", fit=windows.split(fractions=(0.7, 0.3))[0]),
        first,
    ]
    assert len({other.name for other in others}) == 4
    # Another generation of the parent has another copy, of the same name.
    more = {name: values[:50] for name, values in table().items()}
    more["t"] = more["t"] + np.timedelta64(999, "h")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tensorcache.LoadWarning)
        newer = cache.append("parent", more)
    with pytest.raises(
        tensorcache.SpecError, match=r"generation 1 .* want windows of generation 2"
    ):
        newer.scaled("standard", fit=train)
    second = newer.scaled("standard", fit=newer.windows(**SPEC).split(fractions=(0.6, 0.4))[0])
    assert (second.name, second.generation, len(second)) == (first.name, 2, len(newer))
    cache.remove("parent")
    assert not [e for e in cache.datasets() if e["dataset"].startswith("parent")]
    assert len(second["y"]) == len(newer)  # it stays valid


def test_other_datasets_keep_the_steps_of_its_columns(cache: tensorcache.Cache) -> None:
    data = put(cache, "kept_parent")
    train = data.windows(**SPEC).split(fractions=(0.6, 0.4))[0]
    scaled = data.scaled("standard", fit=train, columns=["small"])
    kept = cache.put(
        "kept", {name: scaled[name] for name in ("id", "t", "small")}, item_id="id", time="t"
    )
    np.testing.assert_array_equal(
        kept.inverse("small", kept["small"]), scaled.inverse("small", scaled["small"])
    )
    with pytest.warns(tensorcache.LeakageWarning, match="the rows are unknown"):
        kept.windows(**SPEC).split(fractions=(0.6, 0.4))
    with pytest.raises(tensorcache.SourceError, match="scaled copy") as refused:
        cache.append(scaled.name, table())
    assert "scale it again" in refused.value.hint


def test_puts_of_puts_of_scaled_copies_know_the_rows_of_earlier_steps(
    cache: tensorcache.Cache,
) -> None:
    """A loaded column, its put, a scaled copy of that, and a put of the copy."""
    x = np.arange(200.0)
    first = cache.put("chain_1", {"x": x}, winsorize={"x": [0.1, 0.9]}, fit_rows=(0, 10))
    second = cache.put("chain_2", {"x": first["x"]})
    scaled = second.scaled("standard", fit=second.windows(**SPEC))
    last = cache.put("chain_3", {"x": scaled["x"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tensorcache.LeakageWarning)
        parts = last.windows(**SPEC).split(fractions=(0.5, 0.5))
        early = last.windows(**SPEC).split(lengths=(6, None))
    with pytest.raises(tensorcache.LeakageError, match="the scaling of x may have seen") as unknown:
        parts.check_leakage()
    assert "winsor" not in str(unknown.value)
    with pytest.raises(tensorcache.LeakageError, match="fit_rows"):
        early.check_leakage()


def test_verify_finds_no_damage(cache: tensorcache.Cache, data: tensorcache.Dataset) -> None:
    scaled = data.scaled("standard", fit=data.windows(**SPEC).where(rows=(0, 9)))
    job = run_job(cache._server.control, f"/v1/datasets/{scaled.name}/verify", {}, None)
    assert job["state"] == "done"
    command = [os.environ["TENSORCACHE_BIN"], "show", scaled.name, "--dir", cache.dir]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"scaled copy of {data.name} (digest {data.digest}): standard per column" in shown


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"columns": ["id"]}, "columns", '"id": want columns of numbers: wide'),
        ({"columns": ["smal"]}, "columns", '"smal": want columns of numbers: small'),
        ({"columns": ["y", "word"]}, "columns", '"word": want columns of numbers'),
        ({"columns": ["flag"]}, "columns", '"flag": want columns of numbers'),
        ({"columns": []}, "columns", "want at least one column"),
        ({"columns": [3]}, "columns", "got 3, want column names"),
        ({"scale": "zscore"}, "scale", '"zscore": want standard, minmax, robust or maxabs'),
        ({"scale": "none"}, "scale", '"none": want standard'),
        ({"scale": None}, "scale", "got None, want text"),
        ({"scale_per": "items"}, "scale_per", '"items": want column or item'),
        ({"fit": None}, "fit", "got None, want windows"),
        ({"fit": (0, 3)}, "fit", "want windows of the dataset"),
    ],
)
def test_refused(data: tensorcache.Dataset, given: dict[str, Any], field: str, words: str) -> None:
    arguments = {"scale": "standard", "fit": data.windows(**SPEC), **given}
    with pytest.raises(tensorcache.SpecError, match=words) as refused:
        data.scaled(arguments.pop("scale"), **arguments)
    assert refused.value.field == field


def test_refused_rows(data: tensorcache.Dataset) -> None:
    windows = data.windows(**SPEC)
    with pytest.raises(tensorcache.SpecError, match="want those of a part"):
        data.scaled("standard", fit=windows.latest())
    with pytest.raises(
        tensorcache.SourceError, match='the fit rows of item "b" hold no value'
    ) as no:
        data.scaled("standard", fit=windows.where(items=["a"]), scale_per="item")
    assert "fit to windows of a part with values of every item" in no.value.hint
    scaled = data.scaled("standard", fit=windows, columns=["y", "count"])
    with pytest.raises(tensorcache.TensorcacheError, match="is a scaled copy of") as no_copy:
        scaled.scaled("standard", fit=scaled.windows(**SPEC), columns=["small"])
    assert "scale that dataset" in str(no_copy.value.hint)


def test_columns_that_are_scaled_already(cache: tensorcache.Cache) -> None:
    data = put(cache, "scaled_already", scale={"y": "minmax", "count": "robust"})
    windows = data.windows(**SPEC, max_missing=None)
    with pytest.raises(
        tensorcache.SpecError,
        match='"y": want columns without a scaling; scaled already are y, count',
    ):
        data.scaled("standard", fit=windows)
    scaled = data.scaled("minmax", fit=windows, columns=["small", "wide"])
    assert (scaled["small"].min(), scaled["small"].max()) == (0, 1)
    np.testing.assert_array_equal(scaled["y"], data["y"])


def test_a_dataset_that_is_no_copy_keeps_its_name(cache: tensorcache.Cache) -> None:
    data = put(cache, "named")
    windows = data.windows(**SPEC)
    name = data.scaled("standard", fit=windows).name
    cache.remove(name)
    other = cache.put(name, {"a": np.arange(3.0)})
    with pytest.raises(tensorcache.TensorcacheError, match=r"is no scaled copy of .*, but has"):
        data.scaled("standard", fit=windows)
    assert cache.dataset(name).digest == other.digest
    cache.remove("named")
    assert cache.dataset(name).digest == other.digest


def test_a_removed_dataset_cannot_be_scaled(cache: tensorcache.Cache) -> None:
    data = put(cache, "gone")
    windows = data.windows(**SPEC)
    cache.remove("gone")
    with pytest.raises(tensorcache.NotFoundError, match='no dataset is named "gone"'):
        data.scaled("standard", fit=windows)


def test_an_open_generation_can_be_scaled_after_the_next_one(cache: tensorcache.Cache) -> None:
    old = put(cache, "old")
    windows = old.windows(**SPEC)
    new = put(cache, "old", layout="packed")
    copies = [data.scaled("standard", fit=data.windows(**SPEC)) for data in (old, new)]
    assert [copy.layout for copy in copies] == ["columns", "packed"]
    assert copies[0].name == copies[1].name
    np.testing.assert_array_equal(copies[0]["y"], copies[1]["y"])
    assert old.scaled("standard", fit=windows).layout == "columns"


def test_the_cost_is_known_before(cache: tensorcache.Cache) -> None:
    data = put(cache, "cost")
    jobs: list[dict[str, Any]] = []
    scaled = data.scaled("standard", fit=data.windows(**SPEC), progress=jobs.append)
    size = next(e["bytes"] for e in cache.datasets() if e["dataset"] == scaled.name)
    assert all(size <= job["bytes_total"] <= size + (1 << 16) for job in jobs), jobs
    again: list[dict[str, Any]] = []
    data.scaled("standard", fit=data.windows(**SPEC), progress=again.append)
    assert [(job["hit"], job["bytes_total"]) for job in again] == [(True, size)]


def test_a_damaged_copy_is_made_again(cache: tensorcache.Cache, home: Path) -> None:
    scaled = (data := put(cache, "damaged")).scaled("standard", fit=data.windows(**SPEC))
    values, digest = np.array(scaled["y"]), scaled.digest
    file = home / "datasets" / scaled.name / str(scaled.generation) / "data.arrow"
    del scaled, data
    cache.stop()
    os.truncate(file, file.stat().st_size - 4096)
    data = tensorcache.connect().dataset("damaged")
    again = data.scaled("standard", fit=data.windows(**SPEC))
    np.testing.assert_array_equal(again["y"], values)
    assert again.digest == digest
