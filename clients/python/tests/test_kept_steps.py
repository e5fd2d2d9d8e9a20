"""A put of a dataset's own columns keeps their steps, or refuses, and never inverts wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import examples

Array = npt.NDArray[Any]

STEPS: list[dict[str, Any]] = [
    {"scale": {"v": "standard"}},
    {"scale": {"v": "minmax"}, "scale_per": "item"},
    {"scale": {"v": "robust"}, "fit_rows": (0, 5)},
    {"log1p": ["v"]},
    {"log1p": ["v"], "scale": {"v": "maxabs"}, "scale_per": "item", "fit_fraction": 0.5},
    {"diff": ["v"]},
    {"diff": ["v"], "scale": {"v": "standard"}},
]


@st.composite
def derived(draw: st.DrawFn) -> dict[str, Any]:
    """A load with steps, and what is done to its columns before they are put."""
    return {
        "seed": draw(st.integers(0, 2**20)),
        "items": draw(st.integers(1, 3)),
        # From 16,384 rows of float64 on, arrays are maps and not copies.
        "rows": draw(st.sampled_from([6, 9, 6_000, 20_000])),
        "width": draw(st.sampled_from([0, 0, 2])),
        "layout": draw(st.sampled_from(["columns", "columns", "packed"])),
        "dtype": draw(st.sampled_from(["float32", "float64"])),
        "steps": draw(st.sampled_from(STEPS)),
        "change": draw(st.sampled_from(sorted(CHANGES))),
    }


def unchanged(data: tensorcache.Dataset) -> dict[str, Any]:
    return dict(data)


def sliced(data: tensorcache.Dataset) -> dict[str, Any]:
    return {name: array[: len(data) - 1] for name, array in dict(data).items()}


def reversed_(data: tensorcache.Dataset) -> dict[str, Any]:
    return {**data, "v": data["v"][::-1]}


def cast(data: tensorcache.Dataset) -> dict[str, Any]:
    other = "float32" if data["v"].dtype == np.float64 else "float64"
    return {**data, "v": data["v"].astype(other)}


def renamed(data: tensorcache.Dataset) -> dict[str, Any]:
    columns = dict(data)
    columns["other"] = columns.pop("v")
    return columns


def reordered(data: tensorcache.Dataset) -> dict[str, Any]:
    return {name: data[name] for name in reversed(data.columns)}


def mixed(data: tensorcache.Dataset) -> dict[str, Any]:
    return {"x": np.log1p(np.abs(data["v"])), **data, "part": data["v"][: len(data)]}


def copied(data: tensorcache.Dataset) -> dict[str, Any]:
    return {**data, "v": data["v"].copy()}


CHANGES: dict[str, Callable[[tensorcache.Dataset], dict[str, Any]]] = {
    "unchanged": unchanged,
    "sliced": sliced,
    "reversed": reversed_,
    "cast": cast,
    "renamed": renamed,
    "reordered": reordered,
    "mixed": mixed,
    "copied": copied,
}


def load(cache: tensorcache.Cache, case: dict[str, Any]) -> tuple[tensorcache.Dataset, Array]:
    """A dataset with steps, and the values of ``v`` before them."""
    rng = np.random.default_rng(case["seed"])
    rows = case["items"] * case["rows"]
    values = rng.gamma(2.0, 3.0, (rows, case["width"]) if case["width"] else rows)
    columns = {
        "id": np.repeat([f"item {i}" for i in range(case["items"])], case["rows"]),
        "t": np.tile(np.arange(case["rows"]), case["items"]),
        "v": values,
        "plain": rng.normal(size=rows),
        "word": rng.choice(["x", "y", "z"], rows),
    }
    dtype = "float64" if "diff" in case["steps"] else case["dtype"]  # sums add up what is rounded
    options = {**case["steps"], "dtype": dtype, "layout": case["layout"]}
    return cache.put("first", columns, item_id="id", time="t", **options), values


def leaks(data: tensorcache.Dataset, column: str) -> str:
    """What check_leakage says of windows of one column."""
    windows = data.windows(columns=[column], context_length=3, prediction_length=1)
    try:
        windows.check_leakage()
    except tensorcache.LeakageError as error:
        return error.detail.replace(column, "v")
    return ""


@examples(60)
@given(derived())
def test_derived_puts_invert_to_the_values_before_the_steps(
    cache: tensorcache.Cache, case: dict[str, Any]
) -> None:
    note(case)
    first, values = load(cache, case)
    columns = CHANGES[case["change"]](first)
    name = "other" if case["change"] == "renamed" else "v"
    second = cache.put("second", columns, item_id="id", time="t")
    if case["change"] in ("sliced", "reversed", "cast"):
        with pytest.raises(tensorcache.SpecError, match="part or a cast"):
            second.inverse(name, second[name][:3], item=second.items[0])
        assert (
            "the steps of v may have seen rows that are predicted (the rows are unknown"
            in leaks(second, "v")
        )
        return
    for code, item in enumerate(second.items):
        rows = slice(code * case["rows"], (code + 1) * case["rows"])
        stored = second[name][rows]
        want = stored if case["change"] == "copied" else values[rows]
        got = second.inverse(name, stored, item=item)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(values).max())
    assert list(second.vocab("word")) == list(first.vocab("word"))
    if case["change"] != "copied":
        assert leaks(second, name) == leaks(first, "v")
    if case["change"] == "mixed":
        assert second.inverse("x", [2.0]).tolist() == [2.0]


def test_steps_are_kept_from_put_to_put(cache: tensorcache.Cache) -> None:
    first = cache.put("first", {"v": [1.0, 2.0, 6.0]}, scale="standard", dtype="float64")
    second = cache.put("second", {**first, "x": [1, 2, 3]})
    third = cache.put("third", {**second, "y": [1, 2, 3]})
    np.testing.assert_allclose(third.inverse("v", third["v"]), [1, 2, 6])
    assert third.manifest["columns"][0]["steps_of"]["dataset"] == "first"
    fourth = cache.put("fourth", {"v": third["v"][:2]})
    fifth = cache.put("fifth", dict(fourth))
    with pytest.raises(tensorcache.SpecError, match="part or a cast"):
        fifth.inverse("v", [0.0])


def refused(call: Callable[[], Any]) -> tensorcache.TensorcacheError:
    with pytest.raises(tensorcache.TensorcacheError) as caught:
        call()
    return caught.value


def test_what_kept_steps_do_not_allow_is_refused(cache: tensorcache.Cache) -> None:
    columns = {"id": ["a", "a", "b"], "t": [1, 2, 1], "v": [1.0, 2.0, 6.0]}
    options: dict[str, Any] = {"item_id": "id", "time": "t"}
    first = cache.put("first", columns, scale={"v": "standard"}, scale_per="item", **options)
    for call, want, hint in [
        (lambda: cache.put("x", {**first}), "rows of each item", 'item_id=("id")'),
        (
            lambda: cache.put("x", {**first}, scale="minmax", **options),
            "has steps",
            "name the other",
        ),
        (lambda: cache.put("x", {**first}, fill=0, **options), "has steps", "name the other"),
        (
            lambda: cache.put("x", {**first}, dtype={"v": "float64"}, **options),
            "stored as",
            "dtype",
        ),
        (
            lambda: cache.put("x", {**first, "id": ["b", "b", "a"]}, **options),
            "rows of each item",
            "put all its rows",
        ),
        (
            lambda: cache.put("x", {**first}, where={"time": (1, 2)}, **options),
            "rows of each item",
            "put all its rows",
        ),
    ]:
        error = refused(call)
        assert 'column "v"' in error.detail
        assert want in error.detail
        assert hint in (error.hint or "")
    cache.put("second", {**first}, **options)
    error = refused(lambda: cache.append("second", {"id": ["a"], "t": [3], "v": [1.0]}))
    assert 'is column "v" of dataset "first", whose steps rows that are' in error.detail
    more = {"id": ["a"], "t": [3], "v": first["v"][:1]}
    error = refused(lambda: cache.append("first", more))
    assert 'is a part or a cast of column "v" of dataset "first", whose steps' in error.detail
    part = {name: array[:2] for name, array in dict(first).items()}
    error = refused(lambda: cache.put("x", part, scale={"v": "minmax"}, **options))
    assert 'is a part or a cast of column "v"' in error.detail


def test_melted_columns_keep_no_steps(cache: tensorcache.Cache) -> None:
    wide = {"t": [1, 2, 3], "a": [1.0, 2.0, 4.0], "b": [5.0, 6.0, 7.0]}
    first = cache.put("wide", wide, time="t", scale="standard")
    error = refused(lambda: cache.put("long", {**first}, time="t", melt=True))
    assert 'column "a": is column "a" of dataset "wide", whose steps only' in error.detail


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_steps_that_were_fitted_before_a_time_need_the_times(
    cache: tensorcache.Cache, unit: str
) -> None:
    times = np.arange("2020-01-01", "2020-01-11", dtype="datetime64[D]").astype(
        f"datetime64[{unit}]"
    )
    first = cache.put(
        "first",
        {"v": np.arange(10.0), "t": times},
        time="t",
        scale={"v": "standard"},
        fit_before="2020-01-06",
    )
    second = cache.put("second", {"v": first["v"], "when": first["t"]}, time="when")
    assert leaks(second, "v") == leaks(first, "v") != ""
    later = times + np.timedelta64(3650, "D")
    for columns, time in [
        ({"v": first["v"], "t": later}, "t"),
        ({"v": first["v"], "t": np.arange(10)}, "t"),
        ({"v": first["v"]}, None),
    ]:
        error = refused(lambda c=columns, t=time: cache.put("x", c, time=t))
        assert 'column "v"' in error.detail
        assert "the put has other times" in error.detail


def test_a_fill_with_a_number_needs_no_items(cache: tensorcache.Cache) -> None:
    columns = {"id": ["a", "a", "b"], "t": [1, 2, 1], "v": [1.0, np.nan, 6.0]}
    options: dict[str, Any] = {"item_id": "id", "time": "t"}
    first = cache.put("first", columns, fill=0, **options)
    assert cache.put("second", {"v": first["v"]}).inverse("v", [2.0]).tolist() == [2.0]
    first = cache.put("first", columns, fill="forward", **options)
    error = refused(lambda: cache.put("second", {"v": first["v"]}))
    assert "depend on the rows of each item" in error.detail


def test_columns_of_a_removed_generation_are_refused(cache: tensorcache.Cache) -> None:
    first = cache.put("first", {"v": [1.0, 2.0, 6.0]}, scale="standard")
    column = first["v"]
    cache.remove("first")
    first.close()
    error = refused(lambda: cache.put("second", {"v": column}))
    assert 'is column "v" of generation' in error.detail
    assert cache.put("second", {"v": column.copy()}).inverse("v", [0.5]).tolist() == [0.5]


def test_texts_need_no_generation(cache: tensorcache.Cache) -> None:
    columns = {"word": ["x", "y", "x"], "v": [1.0, 2.0, 3.0]}
    first = cache.put("first", columns)
    words: Any = first["word"]
    part = cache.put("part", {"word": words[:1], "v": first["v"][:1]})
    assert list(part.vocab("word")) == ["x"]
    cache.remove("first")
    first.close()
    second = cache.put("second", {"word": words, "v": columns["v"]})
    assert second.vocab("word").decode(second["word"]).tolist() == ["x", "y", "x"]


def test_unused_words_are_kept(cache: tensorcache.Cache) -> None:
    columns = {"t": [1, 2, 3], "word": ["x", "y", "z"], "v": [1.0, 2.0, 3.0]}
    first = cache.put("first", columns, time="t", where={"time": (2, 4)})
    assert list(first.vocab("word")) == ["y", "z"]
    second = cache.put("second", {**first}, time="t", where={"time": (3, 4)})
    assert list(second.vocab("word")) == ["y", "z"]
    assert second["word"].tolist() == [1]
    assert type(first["v"]) is np.ndarray


def test_columns_of_another_daemon_are_changed(
    cache: tensorcache.Cache, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tensorcache.connect(tmp_path_factory.mktemp("other"))
    try:
        first = other.put("first", {"v": [1.0, 2.0, 6.0]}, scale="standard")
        second = cache.put("second", {**first})
    finally:
        other.stop()
    assert "part or a cast" in refused(lambda: second.inverse("v", [0.5])).detail
