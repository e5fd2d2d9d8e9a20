"""``observed`` is 0 for what a load filled or inserted, and for what is missing or padded."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import examples
from tensorcache._data.manifest import Column, StepsOf
from tensorcache._data.observed import filled_bits

FILLS = ["forward", "backward", "linear", "mean", 0, None]
COLUMNS = ["v", "w", "n", "word", "pair"]
FEATURES = ["v", "w", "n", "word", "pair 0", "pair 1"]
Seen = dict[tuple[str, int], dict[str, bool]]
"""Which features have a value in the source, by item and time."""


@st.composite
def loads(draw: st.DrawFn) -> dict[str, Any]:
    """A frame with missing values, and the options of its load."""
    return {
        "seed": draw(st.integers(0, 2**20)),
        "rows": draw(st.lists(st.integers(9, 14), min_size=1, max_size=3)),
        "share": draw(st.sampled_from([0.0, 0.2, 0.6])),
        "regrid": draw(st.booleans()),
        "fill": {name: draw(st.sampled_from(FILLS)) for name in ("v", "w", "pair")},
        "steps": draw(st.sampled_from([{}, {"scale": {"v": "standard"}}, {"log1p": ["w"]}])),
        "layout": draw(st.sampled_from(["columns", "packed"])),
        "count_filled": draw(st.booleans()),
        "min_context": draw(st.integers(1, 3)),
        "channels_first": draw(st.booleans()),
        "delivery": draw(st.sampled_from(["slot", "local"])),
    }


def source(case: dict[str, Any]) -> tuple[dict[str, Any], Seen]:
    """Columns with missing values, and which values they have."""
    rng = np.random.default_rng(case["seed"])
    columns: dict[str, list[Any]] = {"id": [], "t": [], **{name: [] for name in COLUMNS}}
    seen: Seen = {}
    for number, rows in enumerate(case["rows"]):
        times = np.cumsum(rng.choice([1, 1, 3] if case["regrid"] else [1], rows)).tolist()
        for row, time in enumerate(times):
            # A fill needs a value, so the first row and the last one have all.
            has = {
                name: row in (0, rows - 1) or bool(rng.random() >= case["share"])
                for name in FEATURES
            }
            seen[f"item {number}", time] = has
            columns["id"].append(f"item {number}")
            columns["t"].append(time)
            for name in ("v", "w"):
                columns[name].append(rng.gamma(2.0) if has[name] else np.nan)
            columns["n"].append(int(rng.integers(9)) if has["n"] else None)
            columns["word"].append(str(rng.choice(["x", "y"])) if has["word"] else None)
            columns["pair"].append(
                [rng.normal() if has[name] else np.nan for name in FEATURES[-2:]]
            )
    made: dict[str, Any] = {**columns, "pair": np.asarray(columns["pair"])}
    return made | {"n": pd.array(columns["n"], dtype="Int64")}, seen


@given(case=loads())
@examples(60)
def test_observed_is_what_the_source_has(cache: tensorcache.Cache, case: dict[str, Any]) -> None:
    note(str(case))
    columns, seen = source(case)
    fill = {name: how for name, how in case["fill"].items() if how is not None} | {"n": 0}
    options = {"regrid": 1} if case["regrid"] else {}
    data = cache.put(
        "observed", columns, item_id="id", time="t", fill=fill, layout=case["layout"], **options,
        **case["steps"],
    )  # fmt: skip
    windows = data.windows(
        context_length=3, prediction_length=2, overlap=1, dilation=2, columns=COLUMNS,
        max_missing=None, min_context=case["min_context"], count_filled=case["count_filled"],
        dtype="float64",
    )  # fmt: skip
    everything = windows[:]
    for window in range(len(windows)):
        item, start = everything.item[window], int(everything.start[window])
        times = data.item(item)["t"].tolist()
        for part, first, count in (("observed", 0, 3), ("target_observed", 2, 3)):
            rows = [start + 2 * (first + i) for i in range(count)]
            want = [
                [
                    row >= 0 and seen.get((item, times[row]), {}).get(name, False)
                    for name in FEATURES
                ]
                for row in rows
            ]
            got = getattr(everything, part)[window]
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(getattr(windows[window], part), want)
    feed = windows.feed(
        batch_size=4, delivery=case["delivery"], channels_first=case["channels_first"]
    )
    with feed:
        for number, batch in enumerate(feed):
            of_batch = windows[4 * number : 4 * number + batch.rows]
            for part in ("observed", "target_observed"):
                got = getattr(batch, part)
                assert got.flags.c_contiguous
                got = got.swapaxes(1, 2) if case["channels_first"] else got
                np.testing.assert_array_equal(got, getattr(of_batch, part))
    wide = tensorcache.Part("observed", columns=["pair"])
    with windows.feed(
        batch_size=4,
        parts=("observed", wide, "target_missing", "target_observed", "context_missing"),
        delivery=case["delivery"],
        channels_first=case["channels_first"],
    ) as parts:
        for number, arrays in enumerate(parts):
            of_batch = windows[4 * number : 4 * number + len(arrays[0])]
            wants = (
                of_batch.observed, of_batch.observed[..., 4:], of_batch.target_missing,
                of_batch.target_observed, of_batch.context_missing,
            )  # fmt: skip
            for got, want in zip(arrays, wants, strict=True):
                assert got.dtype == want.dtype
                got = got.swapaxes(1, 2) if case["channels_first"] else got
                np.testing.assert_array_equal(got, want)
    cache.remove("observed")


def test_latest_windows_have_no_target_observed(cache: tensorcache.Cache) -> None:
    data = cache.put("latest", {"a": [1.0, 2, np.nan, 4, 5]}, fill=0)
    windows = data.windows(context_length=3, prediction_length=1).latest()
    assert windows[0].observed[:, 0].tolist() == [0, 1, 1]
    assert windows[0].target_observed is None
    with windows.feed(batch_size=1) as feed:
        batch = next(iter(feed))
        assert batch.observed[0, :, 0].tolist() == [0, 1, 1]
        assert batch.target_observed is None


def test_kept_steps_keep_what_was_filled(cache: tensorcache.Cache) -> None:
    data = cache.put("kept", {"a": [1.0, np.nan, 3.0, 4.0]}, fill="forward")
    kept = cache.put("kept-more", {**data, "b": np.arange(4.0)})
    assert kept.windows(context_length=4)[0].observed.tolist() == [[1, 1], [0, 1], [1, 1], [1, 1]]


def test_kept_steps_keep_which_cells_were_filled(cache: tensorcache.Cache) -> None:
    pair = np.ones((6, 2))
    pair[2, 1] = pair[3:5, 0] = np.nan
    data = cache.put("partly", {"pair": pair, "a": np.ones(6)}, fill=0)
    kept = cache.put("partly-more", {**data, "b": np.arange(6.0)})
    for of in (data, kept):
        got = of.windows(context_length=6, columns="pair")[0].observed
        np.testing.assert_array_equal(got, ~np.isnan(pair))


def part_of_a_filled_column(cache: tensorcache.Cache) -> tensorcache.Dataset:
    # An array of this size is a map, of which the client knows the column.
    values = np.arange(40_000.0)
    values[::7] = np.nan
    data = cache.put("whole", {"pair": values}, scale="standard", fill="backward")
    return cache.put("half", {"pair": data["pair"][::2], "a": np.ones(20_000)})


@pytest.mark.parametrize("delivery", ["slot", "local"])
def test_what_is_not_stored_is_refused(cache: tensorcache.Cache, delivery: str) -> None:
    data = part_of_a_filled_column(cache)
    windows = data.windows(context_length=2, prediction_length=1, columns=["pair", "a"])
    with windows.feed(batch_size=2, delivery=delivery) as feed:
        batch = next(iter(feed))
        for of in (windows[0], windows[:2], batch):
            for part in ("observed", "target_observed"):
                with pytest.raises(
                    tensorcache.SpecError, match=r'"pair" is a part .* "whole"'
                ) as e:
                    getattr(of, part)
                assert e.value.field == "columns"
                assert "values of a copy" in e.value.hint
            assert of.context is not None
    with pytest.raises(tensorcache.SpecError, match=r'"pair" is a part .* "whole"') as e:
        next(iter(windows.feed(batch_size=2, delivery=delivery, parts=("observed", "context"))))
    assert e.value.field == "columns"
    assert "values of a copy" in e.value.hint
    assert data.windows(context_length=2, columns="a")[0].observed.all()


@pytest.mark.parametrize("fill", ["forward", 0])
def test_parts_of_filled_columns_are_refused(
    cache: tensorcache.Cache, tmp_path: Path, fill: str | int
) -> None:
    # inverse does not change the values, so a part has no steps to keep.
    data = cache.put("filled", {"a": [1.0, np.nan, 3, 4, 5, 6]}, fill=fill)
    part = cache.put("part", {"a": data["a"][1:], "b": np.arange(5.0)})
    again = cache.put("again", {"x": part["a"], "b": part["b"]})
    torn = cache.put("torn", {"v": again["x"][:2]})
    melted = cache.put("melted", {"k": part["b"], "a": part["a"]}, melt=True)
    for of in (part, again, torn, melted):
        with pytest.raises(
            tensorcache.SpecError, match='a part or a cast of column "a" of dataset "filled"'
        ):
            _ = of.windows(context_length=1)[0].observed
        with pytest.raises(tensorcache.SpecError, match='column "a" of dataset "filled"') as caught:
            of.windows(context_length=1).feed(batch_size=1, parts=("observed",))
        assert caught.value.hint.startswith("put the whole column, at the daemon of that dataset;")
    assert part.windows(context_length=1, columns="b")[:].observed.all()
    copied = cache.put("part", {"a": data["a"][1:].copy(), "b": np.arange(5.0)})
    assert copied.windows(context_length=1)[:].observed.all()


@pytest.mark.parametrize("first", ["filled", "plain"])
def test_values_from_several_columns_are_part_of_each(cache: tensorcache.Cache, first: str) -> None:
    cache.put("filled", {"a": [1.0, np.nan, 3, 4]}, fill="forward")
    cache.put("plain", {"a": [7.5, 8, 9]})
    scaled = cache.put("scaled", {"a": [1.0, 2, 3]}, scale="standard")
    names = [first, *({"filled", "plain"} - {first})]
    joined = cache.put("joined", {name: {"a": cache.dataset(name)["a"]} for name in names})
    with pytest.raises(tensorcache.SpecError, match='column "a" of dataset "filled"'):
        _ = joined.windows(context_length=1)[0].observed
    arrays = {"A": {"a": cache.dataset("plain")["a"]}, "B": {"a": scaled["a"]}}
    for order in (["A", "B"], ["B", "A"]):
        entry = cache.put("both", {item: arrays[item] for item in order}).manifest["columns"]
        steps_of = next(column["steps_of"] for column in entry if column["name"] == "a")
        assert steps_of["changed"]
        assert steps_of["dataset"] == "scaled"


def test_appends_to_a_part_of_a_filled_column_are_refused(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    data = cache.put("filled", {"a": [1.0, np.nan, 3, 4, 5, 6]}, fill=0)
    cache.put("part", {"a": data["a"][1:]})
    np.savez(tmp_path / "more.npz", a=[7.0, 8.0])
    cache.append("part", tmp_path / "more.npz")
    grown = cache.dataset("part")
    assert len(grown) == 7
    with pytest.raises(tensorcache.SpecError, match='column "a" of dataset "filled"'):
        _ = grown.windows(context_length=1)[6].observed


def test_parts_of_columns_without_a_filled_value_are_observed(cache: tensorcache.Cache) -> None:
    data = cache.put("scaled", {"a": [1.0, 2, 3, 4, 5, 6]}, scale="standard", fill="forward")
    part = cache.put("part", {"a": data["a"][1:]})
    assert part.manifest["columns"][0]["steps_of"]["changed"]
    assert part.windows(context_length=2)[:].observed.all()


def test_rows_that_version_0_1_filled_in_part_are_refused() -> None:
    # It stored the rows alone.
    column = Column("pair", "value", "float32", "", (20, 2), 0, (8, 4), None)
    bits = filled_bits(column, bytes([10, 0, 1]), b"")
    assert bits is not None
    assert bits.tolist() == [0, 4, 0]
    with pytest.raises(tensorcache.SpecError, match=r'"pair": 1 of 2 values of row 10') as caught:
        filled_bits(column, bytes([10, 0, 0]), b"")
    assert caught.value.hint == "remove the dataset and load it again from its sources"
    kept = dataclasses.replace(column, steps_of=StepsOf("raw", "pair", False, {}))
    with pytest.raises(tensorcache.SpecError, match=r"version 0\.1") as caught:
        filled_bits(kept, bytes([10, 0, 0]), b"")
    assert 'before, dataset "raw"' in caught.value.hint


@pytest.mark.parametrize(
    ("rows", "cells"),
    [
        (b"\x0a\x00", b""),
        (b"\x0a\x00\x80", b""),
        (b"\x14\x00\x01", b""),
        (b"\x0a\x00\x00", b"\x03\x0a\x00\x00"),
        (b"\x0a\x00\x00", b"\x03\x0a\x00\x00\x00\x00"),
        (b"\x0a\x00\x00", b"\x00\x80"),
        (b"\x0a\x00\x00", b"\x00\x09\x0a\x00\x00"),
    ],
)
def test_damaged_lists_are_refused(rows: bytes, cells: bytes) -> None:
    column = Column("pair", "value", "float32", "", (20, 2), 0, (8, 4), None)
    with pytest.raises(tensorcache.SourceError, match="damaged"):
        filled_bits(column, rows, cells)


@pytest.mark.parametrize("delivery", ["slot", "view", "local"])
def test_copies_have_it_if_it_was_read(cache: tensorcache.Cache, delivery: str) -> None:
    data = cache.put("copied", {"a": [1.0, np.nan, 3.0, 4.0]}, fill=0)
    windows = data.windows(context_length=2, prediction_length=1, dtype=None)
    with windows.feed(batch_size=2, delivery=delivery) as feed:
        batch = next(iter(feed))
        for of in (windows[0], batch):
            for read in (False, True):
                if read:
                    want = of.observed.copy()
                    assert (want == 0).any()
                copies = [copy.deepcopy(of), pickle.loads(pickle.dumps(of))]
                copies += [of.copy()] if isinstance(of, tensorcache.Batch) else []
                for copied in copies:
                    if read:
                        np.testing.assert_array_equal(copied.observed, want)
                    with pytest.raises(AttributeError, match="a copy without 'target_observed'"):
                        _ = copied.target_observed
                    assert hasattr(copied, "observed") == read


def test_a_sample_that_a_user_made_has_none(cache: tensorcache.Cache) -> None:
    sample = cache.put("made", {"a": np.arange(9.0)}).windows(context_length=2)[0]
    with pytest.raises(AttributeError, match=r"without 'observed'(.|\n)*dataclasses\.replace"):
        _ = dataclasses.replace(sample, context=sample.context).observed


def test_the_mask_of_a_difference_is_that_of_its_row(cache: tensorcache.Cache) -> None:
    values = [1.0, 2, np.nan, 4, 7, 11]
    for fill, want in (("forward", [0, 1, 0, 1, 1, 1]), (None, [0, 1, 0, 0, 1, 1])):
        data = cache.put("differences", {"a": values}, diff=["a"], fill=fill)
        windows = data.windows(context_length=6, max_missing=None)
        assert windows[0].observed[:, 0].tolist() == want


def test_appended_rows_have_what_was_filled(cache: tensorcache.Cache, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,t,a\nx,1,1\nx,2,\nx,3,3\ny,1,1\n")
    (tmp_path / "b.csv").write_text("id,t,a\nx,4,\nx,5,5\ny,2,\ny,3,2\n")
    cache.load("grown", tmp_path / "a.csv", item_id="id", time="t", fill="forward")
    cache.append("grown", tmp_path / "b.csv")
    windows = cache.dataset("grown").windows(context_length=3, count_filled=False)
    want = [[1, 0, 1], [0, 1, 0], [1, 0, 1], [1, 0, 1]]
    assert windows[:].observed[..., 0].tolist() == want


@pytest.mark.parametrize("parts", [("whole", "cells"), ("cells", "whole"), ("cells", "cells")])
def test_appended_rows_have_which_cells_were_filled(
    cache: tensorcache.Cache, tmp_path: Path, parts: tuple[str, str]
) -> None:
    seen = {"whole": [[1, 1], [0, 0], [1, 1]], "cells": [[1, 1], [0, 1], [1, 0]]}
    for number, part in enumerate(parts):
        pair = np.where(seen[part], 1.0, np.nan)
        times = np.arange(3) + 3 * number
        np.savez(tmp_path / f"{number}.npz", id=[0, 1, 1], t=times, pair=pair)
    options = {"item_id": "id", "time": "t", "fill": 0, "dtype": "float64"}
    cache.load("grown", tmp_path / "0.npz", **options)
    cache.append("grown", tmp_path / "1.npz")
    windows = cache.dataset("grown").windows(context_length=2, stride=2)
    old, new = seen[parts[0]], seen[parts[1]]
    want = [[old[0], new[0]], [old[1], old[2]], [new[1], new[2]]]
    assert windows[:].observed.tolist() == want


def test_a_batch_of_places_has_none(cache: tensorcache.Cache) -> None:
    data = cache.put("places", {"a": [1.0, np.nan, 3.0, 4.0]}, fill=0)
    with data.windows(context_length=2).feed(batch_size=2, delivery="starts") as feed:
        batch = next(iter(feed))
        assert batch.observed is batch.target_observed is None


def test_samples_and_copies_do_not_keep_the_dataset(cache: tensorcache.Cache) -> None:
    data = cache.put("dropped", {"a": np.arange(9.0)})
    windows = data.windows(context_length=2)
    with windows.feed(batch_size=2) as feed:
        copied = next(iter(feed)).copy()
    sample, alive = windows[0], weakref.ref(data)
    assert sample.observed.all()
    samples = (windows[1], windows[1:3])
    del data, windows, feed
    gc.collect()
    assert alive() is None
    for sample in samples:
        with pytest.raises(tensorcache.StaleError, match='observed needs dataset "dropped"') as e:
            _ = sample.observed
        assert "read observed while" in e.value.hint
    assert copied.context is not None
