"""The parts of a feed are those of the oracle, for random tables, specs and parts."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import Table, specs, tables
from naive import Naive
from tensorcache import Part

NAMES = [
    "context", "target", "known", "known_context", "known_target", "static", "observed",
    "target_observed", "context_missing", "target_missing", "mask", "item", "item_code", "start",
    "row", "time", "reset",
]  # fmt: skip
PLACES = ["item", "item_code", "start", "row", "time", "reset"]
OF = {
    "known_context": "known", "known_target": "known", "observed": "context",
    "target_observed": "target", "context_missing": "context", "target_missing": "target",
}  # fmt: skip
COLUMNS = {"a": ["a"], "b": ["b"], "c": ["c"], "m": ["m[0]", "m[1]"], "s": ["s"]}
"""The features of each column."""


@given(table=tables(), spec=specs(), data=st.data())
@cases(0.15)
def test_batches_have_the_parts_that_were_asked_for(
    cache: tensorcache.Cache, table: Table, spec: dict[str, Any], data: st.DataObject
) -> None:
    note_seed()
    naive = table.naive(spec)
    if not naive.index([]).places:
        return
    asked = data.draw(selections(naive, spec))
    options = data.draw(feeds())
    note(f"windows({spec}).feed(parts={asked}, {options})")
    with table.put(cache, "parts") as loaded:
        windows = loaded.windows(**table.keywords(spec))
        try:
            feed = windows.feed(parts=pickle.loads(pickle.dumps(asked)), **options)
        except tensorcache.SpecError as error:
            if error.field != "delivery" or options["delivery"] != "view":
                raise
            return
        with feed, windows.feed(**options | {"delivery": "starts"}) as places:
            for got, place in zip(feed, places, strict=True):
                check(loaded, naive, asked, got, place, options["channels_first"])
    cache.remove("parts")


def check(
    loaded: tensorcache.Dataset,
    naive: Naive,
    asked: dict[str, str | Part],
    got: dict[str, Any],
    place: tensorcache.Batch,
    channels_first: bool,
) -> None:
    """Compare a batch with the parts of its windows."""
    codes, starts = place.item_code.tolist(), place.start.tolist()
    windows = [naive.window(*at) for at in zip(codes, starts, strict=True)]
    assert set(got) == {key for key, part in asked.items() if has(windows[0], name_of(part))}
    for key, array in got.items():
        part, name = asked[key], name_of(asked[key])
        if name in PLACES:
            np.testing.assert_array_equal(array, getattr(place, name))
            assert name != "item" or array.tolist() == loaded.items[place.item_code].tolist()
            continue
        want = [window[name] for window in windows]
        if isinstance(part, Part) and part.columns is not None:
            features = naive.features[OF.get(name, name)]
            chosen = [features.index(f) for column in part.columns for f in COLUMNS[column]]
            want = np.asarray(want)[..., chosen]
        if isinstance(part, Part) and part.dtype is not None:
            assert array.dtype == part.dtype
        rows = np.asarray(want).astype(array.dtype)
        if channels_first and rows.ndim == 3:
            rows = rows.swapaxes(1, 2)
        np.testing.assert_array_equal(array, rows, err_msg=key)


def name_of(part: str | Part) -> str:
    return part if isinstance(part, str) else part.name


def has(window: dict[str, Any], name: str) -> bool:
    return name != "reset" if name in PLACES else window[name] is not None


@st.composite
def selections(draw: st.DrawFn, naive: Naive, spec: dict[str, Any]) -> dict[str, str | Part]:
    """A mapping of parts, some with columns and a dtype of their own."""
    asked: dict[str, str | Part] = {}
    drawn = st.lists(st.sampled_from(NAMES), min_size=1, max_size=6)
    for number, name in enumerate(draw(drawn)):
        features = naive.features.get(OF.get(name, name), [])
        columns = [column for column, own in COLUMNS.items() if own[0] in features]
        asked[f"key {number}"] = name
        if not columns or name in [*PLACES, "mask"] or draw(st.booleans()):
            continue
        some = draw(st.none() | st.lists(st.sampled_from(columns), min_size=1, unique=True))
        dtypes = [None]
        if name not in ("observed", "target_observed", "context_missing", "target_missing"):
            dtypes += ["float64", "float32"]
            pads = spec["pad_value"] == 0 or name == "static"
            if pads and all(column == "b" for column in some or columns):
                dtypes += ["int32", "int64"]
        asked[f"key {number}"] = Part(name, some, draw(st.sampled_from(dtypes)))
    # A part is refused twice, and columns in another order are another part.
    asked = {key: part for key, part in asked.items() if first_key(asked, part) == key}
    kept = {key: part for key, part in asked.items() if naive_has(naive, name_of(part))}
    return asked if kept else {"context": "context"}


def first_key(asked: dict[str, str | Part], part: str | Part) -> str:
    """The first key of a part."""
    parts = {key: one if isinstance(one, Part) else Part(one) for key, one in asked.items()}
    wanted = part if isinstance(part, Part) else Part(part)
    return next(key for key, one in parts.items() if one == wanted)


def naive_has(naive: Naive, name: str) -> bool:
    """Whether windows of the oracle have a part."""
    if name in ("target", "target_observed", "target_missing", "known_target") and not naive.p:
        return False
    return name != "reset" and bool(naive.features.get(OF.get(name, name), ["a place"]))


def feeds() -> st.SearchStrategy[dict[str, Any]]:
    """Options of a feed."""
    return st.fixed_dictionaries(
        {
            "batch_size": st.integers(1, 7),
            "order": st.sampled_from(["sequential", "shuffle", "random_start"]),
            "delivery": st.sampled_from(["slot", "slot", "local", "view", "auto"]),
            "channels_first": st.booleans(),
            "tail": st.sampled_from(["short", "wrap"]),
        }
    )
