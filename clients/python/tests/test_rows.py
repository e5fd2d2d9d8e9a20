"""A load selects, sorts, merges and inserts rows as pandas does."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from naive_hash import hash_of

NUMBERS = itertools.count()
EPOCH = pd.Timestamp("2020-01-01")


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Draw rows of a few items at whole hours, in any order, some with the same time."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n = draw(st.integers(1, 60))
    frame = pd.DataFrame(
        {
            "id": rng.choice(["a", 'é"', "c"], n),
            "k": rng.integers(0, 2, n),
            "t": EPOCH + pd.to_timedelta(rng.integers(0, 30, n), unit="h"),
            "x": rng.normal(size=n),
            "y": rng.normal(size=n).astype(np.float32),
        }
    )
    frame.loc[rng.random(n) < 0.2, "x"] = np.nan
    return frame


def pandas_rows(
    frame: pd.DataFrame, keys: list[str], duplicates: str, regrid: str | None
) -> pd.DataFrame:
    """Return the frame sorted, with one row for each item and time, on a grid."""
    number = frame.groupby(keys, sort=False).ngroup()
    frame = frame.assign(number=number).sort_values(["number", "t"], kind="stable")
    if duplicates == "mean":
        wide = frame.assign(y=frame.y.astype(np.float64))
        frame = wide.groupby(["number", *keys, "t"], as_index=False)[["x", "y"]].mean()
        frame["y"] = frame.y.astype(np.float32)
    else:
        frame = frame.drop_duplicates(["number", "t"], keep=duplicates)  # type: ignore[call-overload]
    if regrid is None:
        return frame.reset_index(drop=True)
    parts = []
    for _, part in frame.groupby("number"):
        grid = part.set_index("t")[["x", "y"]].asfreq(regrid).reset_index()
        parts.append(grid.assign(**{key: part[key].iloc[0] for key in keys}))
    return pd.concat(parts, ignore_index=True)


@cases(0.03)
@given(
    frame=frames(),
    keys=st.sampled_from([["id"], ["id", "k"], ["k"]]),
    duplicates=st.sampled_from(["first", "last", "mean"]),
    regrid=st.none() | st.sampled_from(["1h", "30min"]),
    hours=st.none() | st.tuples(st.none() | st.integers(-5, 35), st.none() | st.integers(-5, 35)),
    bucket=st.none() | st.integers(0, 1),
    layout=st.sampled_from(["columns", "packed"]),
    chosen=st.booleans(),
)
def test_rows_are_those_of_pandas(
    cache: tensorcache.Cache,
    frame: pd.DataFrame,
    keys: list[str],
    duplicates: str,
    regrid: str | None,
    hours: tuple[int | None, int | None] | None,
    bucket: int | None,
    layout: str,
    chosen: bool,
) -> None:
    note_seed()
    options: dict[str, Any] = {
        "sort": True,
        "duplicates": duplicates,
        "max_duplicates": 1,
        "regrid": regrid,
        "layout": layout,
    }
    items = [
        list(row) if len(keys) > 1 else row[0]
        for row in zip(*(frame[key].tolist() for key in keys), strict=True)
    ]
    keep = np.ones(len(frame), bool)
    if chosen:
        options["items"] = [items[0]]
        keep &= [item == items[0] for item in items]
    if bucket is not None:
        options["item_bucket"] = f"{bucket}/2"
        keep &= [hash_of(item) % 2 == bucket for item in items]
    if hours is not None:
        low, high = (None if hour is None else EPOCH + pd.Timedelta(hour, "h") for hour in hours)
        options["where"] = (low, high) if chosen else {"time": (low, high)}
        keep &= (frame.t >= (low or frame.t.min())) & (
            frame.t < (high or frame.t.max() + pd.Timedelta(1, "h"))
        )
    note(str(options))
    name = f"rows-{next(NUMBERS)}"
    columns = frame[[*keys, "t", "x", "y"]]
    if not keep.any():
        with pytest.raises(tensorcache.SourceError, match="none of the"):
            cache.put(name, columns, item_id=keys, time="t", **options)
        return
    want = pandas_rows(frame[keep], keys, duplicates, regrid)
    with cache.put(name, columns, item_id=keys, time="t", **options) as data:
        np.testing.assert_array_equal(data["t"], want.t.to_numpy().astype(data["t"].dtype))
        np.testing.assert_allclose(data["x"], want.x, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(data["y"], want.y, rtol=1e-6, atol=1e-6)
        for key in keys:
            got = data.vocab(key).decode(data[key]) if key == "id" else data[key]
            np.testing.assert_array_equal(got, want[key])
    cache.remove(name)


def test_scaling_sees_the_rows_that_are_kept(cache: tensorcache.Cache) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"t": rng.permutation(300), "x": rng.normal(size=300), "n": rng.integers(0, 9, 300)}
    )
    for layout in ("columns", "packed"):
        data = cache.put(
            "scaled-rows",
            frame,
            time="t",
            sort=True,
            where=(100, None),
            scale="standard",
            layout=layout,
            regrid=1,
        )
        kept = frame[frame.t >= 100].sort_values("t")
        for name in ("x", "n"):
            want = (kept[name] - kept[name].mean()) / kept[name].std(ddof=0)
            np.testing.assert_allclose(data[name], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layout", ["columns", "packed"])
def test_inserted_rows_are_filled(cache: tensorcache.Cache, layout: str) -> None:
    frame = pd.DataFrame(
        {
            "id": ["a", "a", "b", "b"],
            "t": [1, 4, 7, 9],
            "n": [3, 5, 2**40, 7],
            "x": [1.0, 4.0, 2.0, 2.0],
        }
    )
    fill = {"n": "forward", "x": "linear"}
    data = cache.put("filled", frame, item_id="id", time="t", regrid=1, fill=fill, layout=layout)
    assert data["t"].tolist() == [1, 2, 3, 4, 7, 8, 9]
    assert data["n"].dtype == np.int64
    assert data["n"].tolist() == [3, 3, 3, 5, 2**40, 2**40, 7]
    np.testing.assert_allclose(data["x"], [1, 2, 3, 4, 2, 2, 2])


def test_the_step_of_the_times_is_in_the_manifest(cache: tensorcache.Cache) -> None:
    times = pd.to_datetime(
        ["2020-01-01 00:00", "2020-01-01 01:00", "2020-01-01 02:00", "2020-01-01 05:00"]
    )
    frame = pd.DataFrame({"t": times.astype("datetime64[s]"), "x": 1.0})
    data = cache.put("steps", frame, time="t")
    assert data.manifest["time_step"] == {"step": 3600, "jumps": 1, "largest": 10800}
    data = cache.put("steps", frame, time="t", regrid=np.timedelta64(1, "h"))
    assert data.manifest["time_step"] == {"step": 3600, "jumps": 0, "largest": 3600}
    assert "time_step" not in cache.put("steps", frame[:1], time="t").manifest


REFUSED: list[tuple[dict[str, Any], str, type[Exception]]] = [
    ({"items": ["a", "d"]}, 'items: no item is named "d"', tensorcache.NotFoundError),
    ({"items": []}, "items: want at least one item", tensorcache.SpecError),
    ({"items": [["a", "b"]]}, "items: .* want a text or a whole number", tensorcache.SpecError),
    (
        {"item_bucket": "2/2"},
        'item_bucket: "2/2": want a bucket and their number',
        tensorcache.SpecError,
    ),
    (
        {"item_bucket": "0/0"},
        'item_bucket: "0/0": want a bucket and their number',
        tensorcache.SpecError,
    ),
    ({"where": ("2020", None)}, "where: .* want a time like", tensorcache.SpecError),
    ({"where": ("2020-01-01", None)}, "where: .*: want an integer", tensorcache.SpecError),
    ({"duplicates": "any"}, 'duplicates: "any": want first or last or mean', tensorcache.SpecError),
    (
        {"duplicates": "mean"},
        'row 3, column "n": the rows of item "a" with the time 1 differ',
        tensorcache.SourceError,
    ),
    ({"regrid": 0}, "regrid: got 0, want a positive duration", tensorcache.SpecError),
    (
        {"regrid": "1h", "duplicates": "last"},
        'regrid: "1h": want an integer',
        tensorcache.SpecError,
    ),
    (
        {"regrid": 2, "duplicates": "last"},
        'row 4, column "t": the time 4 of item "a" is not a whole number',
        tensorcache.SourceError,
    ),
    (
        {"regrid": 1, "duplicates": "last"},
        r'(?s)column "n": is int64, which has no missing values.*fill=\{"n": ',
        tensorcache.SourceError,
    ),
    (
        {"regrid": 1, "duplicates": "last", "fill": {"n": 0}},
        r'(?s)column "d": is timestamp, which has no missing values.*hint: leave the column out',
        tensorcache.SourceError,
    ),
]


@pytest.mark.parametrize(("options", "message", "error"), REFUSED)
def test_what_cannot_be_is_refused(
    cache: tensorcache.Cache, options: dict[str, Any], message: str, error: type[Exception]
) -> None:
    days = np.array(["2020-01-01"] * 4, "datetime64[D]")
    columns = {
        "id": ["b", "a", "a", "a"],
        "t": [1, 1, 1, 4],
        "n": np.array([1, 2, 3, 4]),
        "d": days,
    }
    with pytest.raises(error, match=message):
        cache.put("refused", columns, **{"item_id": "id", "time": "t", **options})
