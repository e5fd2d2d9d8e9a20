"""Windows, their values and the reasons for rejected positions, against loops over the frame."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import SPLITS_MAY_LOSE_ROWS, Table, specs, splits, tables, wheres
from naive import Found, Naive
from tensorcache._index.cuts import split_request

SPECS = 3
"""Specs tried on each frame."""

VALUE_PARTS = ("context", "target", "known", "known_context", "known_target", "static")
PARTS = (
    *VALUE_PARTS, "observed", "target_observed", "mask", "context_missing", "target_missing",
)  # fmt: skip


@SPLITS_MAY_LOSE_ROWS
@given(table=tables(), chosen=st.lists(specs(), min_size=SPECS, max_size=SPECS), data=st.data())
@cases(0.4, of_each=SPECS)
def test_windows_are_those_of_the_loops(
    cache: tensorcache.Cache, table: Table, chosen: list[dict[str, Any]], data: st.DataObject
) -> None:
    note_seed()
    with table.put(cache, "naive") as loaded:
        for spec in chosen:
            naive = table.naive(spec)
            keywords = {
                **table.keywords(spec),
                "dtype": data.draw(st.sampled_from(["float32", "float64"])),
            }
            note(f"windows({keywords})")
            found = naive.index([])
            if not found.places:
                check_refusal(loaded, keywords, found)
                continue
            windows = loaded.windows(**keywords)
            check(windows, naive, found)
            check_cuts(windows, naive, table, data)
    cache.remove("naive")


def check_refusal(loaded: tensorcache.Dataset, keywords: dict[str, Any], found: Found) -> None:
    """If no window is left, the error gives the reasons for the rejected positions."""
    with pytest.raises(tensorcache.SpecError) as caught:
        loaded.windows(**keywords)
    assert caught.value.type == "no_windows"
    for count in found.rejected.values():
        assert str(count) in caught.value.detail


def check_cuts(
    windows: tensorcache.Windows, naive: Naive, table: Table, data: st.DataObject
) -> None:
    """Cut the windows a few times and compare every intermediate part with the oracle."""
    cuts: list[tuple[Any, ...]] = []
    for kind in data.draw(st.lists(st.sampled_from(["where", "split"]), max_size=2)):
        if kind == "where":
            where = data.draw(wheres(naive.names))
            note(f"where({where})")
            cuts.append(("where", where))
            if where.get("time") is not None:
                where = {**where, "time": tuple(table.time(bound) for bound in where["time"])}
            windows = windows.where(**where)
            check(windows, naive, naive.index(cuts))
        else:
            split = data.draw(splits(naive.names))
            note(f"split({split})")
            given = dict(split)
            if "at_times" in split:
                given["at_times"] = [table.time(at) for at in split["at_times"]]
            wanted = [
                naive.index([*cuts, ("split", split, part)]) for part in range(parts_of(split))
            ]
            parts = split_by_cuts(windows, given, len(wanted))
            if all(found.places for found in wanted):
                parts = list(windows.split(**given))
            else:
                check_refused_split(windows, given, wanted)
            predicted: set[tuple[int, int]] = set()
            for inside, found in zip(parts, wanted, strict=True):
                check(inside, naive, found)
                rows = predicted_rows(naive, found)
                assert not rows & predicted, "no prediction row is in two parts"
                predicted |= rows
            part = data.draw(st.integers(0, len(parts) - 1))
            cuts.append(("split", split, part))
            windows = parts[part]
    if data.draw(st.booleans()):
        check_latest(windows, naive, cuts)


def parts_of(split: dict[str, Any]) -> int:
    ((_, by),) = (
        way for way in split.items() if way[0] in ("lengths", "fractions", "at_times", "items")
    )
    return len(by) + ("at_times" in split)


def split_by_cuts(
    windows: tensorcache.Windows, split: dict[str, Any], parts: int
) -> list[tensorcache.Windows]:
    """Return the parts of a split, including parts without windows."""
    given: dict[str, Any] = {
        "lengths": None,
        "fractions": None,
        "at_times": None,
        "items": None,
        "purge": 0,
        **split,
    }
    request = split_request(
        **{"context_before": given.pop("context_before_split"), "names": None, **given}
    )
    cuts = [{"split": request, "part": part} for part in range(parts)]
    return [
        tensorcache.Windows(windows.dataset, dict(windows.spec), (*windows._cuts, cut))
        for cut in cuts
    ]


def check_refused_split(
    windows: tensorcache.Windows, split: dict[str, Any], wanted: list[Found]
) -> None:
    """The client refuses a split with an empty part and names the reasons for its rejections."""
    with pytest.raises(tensorcache.SpecError) as caught:
        windows.split(**split, names=[f"part {number}" for number in range(len(wanted))])
    assert caught.value.type == "no_windows"
    empty = next(number for number, found in enumerate(wanted) if not found.places)
    assert f'part "part {empty}" has no window' in caught.value.detail
    for reason, count in wanted[empty].rejected.items():
        assert f"{reason} rejects {count}" in caught.value.detail


def check_latest(windows: tensorcache.Windows, naive: Naive, cuts: list[tuple[Any, ...]]) -> None:
    found = naive.index([*cuts, ("latest",)])
    ends = {item: naive.admitted(item)[1] for item, _ in found.places}
    if naive.features["known"] and any(
        naive.last_row(start) >= ends[item] for item, start in found.places
    ):
        with pytest.raises(tensorcache.SpecError) as caught:
            windows.latest()
        assert caught.value.field == "known_columns"
    else:
        check(windows.latest(), naive, found, latest=True)


def check(windows: tensorcache.Windows, naive: Naive, found: Found, latest: bool = False) -> None:
    """Check counts, reasons, places and all values."""
    assert len(windows) == len(found.places)
    assert windows.rejected == found.rejected
    assert windows.positions == found.positions
    plan = windows.plan()
    assert (plan["windows"], plan["rejected"], plan["positions"]) == (
        len(windows),
        found.rejected,
        found.positions,
    )
    for end, at in (("first", 0), ("last", -1)):
        if found.places:
            item, start = found.places[at]
            assert (plan[end]["item"], plan[end]["start"]) == (naive.names[item], start)
        else:
            assert plan[end] is None
    everything = windows[:]
    assert (
        list(zip(everything.item_code.tolist(), everything.start.tolist(), strict=True))
        == found.places
    )
    for item, name in enumerate(naive.names):
        assert windows.starts(name).tolist() == [start for at, start in found.places if at == item]
    assert windows.per_item().tolist() == [len(windows.starts(name)) for name in naive.names]
    wanted = [naive.window(item, start, latest) for item, start in found.places]
    compare(everything, wanted, windows)
    for number in {0, len(wanted) // 2, len(wanted) - 1} if wanted else set():
        one = windows[number]
        for name in (*PARTS, "item", "item_code", "start", "time"):
            of_all = getattr(everything, name)
            assert (getattr(one, name) is None) == (of_all is None)
            if of_all is not None:
                np.testing.assert_array_equal(getattr(one, name), of_all[number], err_msg=name)


def predicted_rows(naive: Naive, found: Found) -> set[tuple[int, int]]:
    """Return the prediction rows of windows, or the last context rows if they have none."""
    samples = (
        range(naive.c + naive.g, naive.c + naive.g + naive.p)
        if naive.p
        else range(naive.c - 1, naive.c)
    )
    return {
        (item, start + i * naive.d) for (item, start), i in itertools.product(found.places, samples)
    }


def compare(got: Any, wanted: list[dict[str, Any]], windows: tensorcache.Windows) -> None:
    """Compare every value of every part; a part that the spec does not request is None."""
    if not wanted:
        return
    for name in PARTS:
        array = getattr(got, name)
        if array is None:
            if name in VALUE_PARTS:
                assert wanted[0][name] is None, name
            continue
        want = np.asarray([window[name] for window in wanted])
        if name in VALUE_PARTS:
            assert array.dtype == windows.dtype
            want = want.astype(windows.dtype)
        np.testing.assert_array_equal(array, want, err_msg=name)
    assert got.time.astype(np.int64).tolist() == [window["time"] for window in wanted]
