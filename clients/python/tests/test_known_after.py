"""latest() computes the calendar columns of rows after the end of items.

The oracle is the same dataset with these rows, whose targets are missing: the load computes their
calendar columns.
"""

from __future__ import annotations

import pickle
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tensorcache

CALENDAR = ["timeF:min", "age", "month", "year", "quarter_sincos"]
MOST = 40
"""More rows than any window needs after the end of an item."""

SPECS: list[dict[str, Any]] = [
    {"context_length": 6, "prediction_length": 4},
    {"context_length": 6, "prediction_length": 4, "gap": 3, "overlap": 2, "dtype": "float64"},
    {"context_length": 3, "prediction_length": 2, "dilation": 3, "stride": 7},
    {"context_length": 12, "prediction_length": 2, "min_context": 1, "pad_value": -1},
]


def frame(step: str, zone: str | None, rows: int) -> pd.DataFrame:
    """Three items, of 20, 9 and 14 rows, and so many more without a value."""
    items = []
    for item, count in (("b", 20), ("a", 9), ("c", 14)):
        begin = pd.Timestamp("2019-12-30 21:00") + pd.Timedelta(hours=count)
        times = pd.date_range(begin, periods=count + rows, freq=step, tz="UTC").as_unit("s")
        y = np.arange(count + rows, dtype="f4")
        y[count:] = np.nan
        items.append(pd.DataFrame({"id": item, "t": times.tz_convert(zone), "y": y}))
    return pd.concat(items, ignore_index=True)


def put(cache: tensorcache.Cache, name: str, table: pd.DataFrame, **options: Any) -> Any:
    return cache.put(name, table, item_id="id", time="t", calendar=CALENDAR, **options)


@pytest.mark.parametrize("layout", ["columns", "packed"])
@pytest.mark.parametrize(
    ("step", "zone"), [("1h", None), ("7min", "Asia/Kolkata"), ("1D", "Europe/Berlin")]
)
def test_known_rows_after_the_end_are_those_of_a_load(
    cache: tensorcache.Cache, step: str, zone: str | None, layout: str
) -> None:
    data = put(cache, "short", frame(step, zone, 0), layout=layout)
    longer = put(cache, "long", frame(step, zone, MOST), layout=layout)
    for spec in SPECS:
        ours = data.windows(**spec, known_columns="calendar").latest()
        want = longer.windows(**spec, known_columns="calendar", max_missing=None).latest()
        assert len(ours) == len(want) == 3
        check_all_routes(ours, want[:].known)


def test_rows_after_bounds_are_those_of_the_item(cache: tensorcache.Cache) -> None:
    data = put(cache, "bounds", frame("1h", None, 0).drop(index=19))
    spec: dict[str, Any] = {
        "context_length": 4,
        "prediction_length": 3,
        "known_columns": "calendar",
    }
    latest = data.windows(**spec, rows=(1, 8)).latest()
    assert [window.start for window in latest] == [4, 4, 4]
    for window in latest:
        hours = data.item(window.item)["hour_unit"][4:]  # item a ends two rows early
        known = window.known[: len(hours), 1]
        np.testing.assert_array_equal(known, hours[: len(known)])


def check_all_routes(ours: tensorcache.Windows, want: Any) -> None:
    """Compare known by every way to get it."""
    spec = ours.spec
    first = spec["context_length"] + spec.get("gap", 0) - spec.get("overlap", 0)
    np.testing.assert_array_equal(ours[:].known, want)
    np.testing.assert_array_equal(ours[[2, 0, 2]].known, want[[2, 0, 2]])
    for number, window in enumerate(ours):
        np.testing.assert_array_equal(window.known, want[number])
        np.testing.assert_array_equal(window.known_target, want[number, first:])
        np.testing.assert_array_equal(window.known_context, want[number, : spec["context_length"]])
    for turned in (False, True):
        with ours.feed(batch_size=2, channels_first=turned) as feed:
            known = np.concatenate([batch.known.copy() for batch in feed])
        np.testing.assert_array_equal(known.swapaxes(1, 2) if turned else known, want)
    part = tensorcache.Part("known_target", columns=["age", "hour_unit"], dtype="float64")
    names = ours.features["known"]
    columns = [names.index("age"), names.index("hour_unit")]
    with ours.feed(batch_size=3, parts={"marks": part, "y": "context"}) as feed:
        for batch in feed:
            np.testing.assert_array_equal(batch["marks"], want[:, first:][..., columns])


@pytest.mark.parametrize("delivery", ["local", "view"])
def test_only_the_daemon_gathers_computed_rows(cache: tensorcache.Cache, delivery: str) -> None:
    windows = put(cache, "short", frame("1h", None, 0)).windows(
        context_length=4, prediction_length=2, known_columns="calendar", columns="y"
    )
    latest = windows.latest()
    with pytest.raises(
        tensorcache.SpecError, match="calendar columns of known after the end of it"
    ):
        latest.feed(batch_size=2, delivery=delivery)
    with latest.feed(batch_size=2, delivery=delivery, parts=("context", "item")) as feed:
        assert [item for _, items in feed for item in items] == ["b", "a", "c"]
    with windows.feed(batch_size=2, delivery="local") as feed:
        assert next(iter(feed)).known.shape == (2, 6, 10)


def test_an_item_of_one_row_continues_with_the_step_of_the_others(cache: tensorcache.Cache) -> None:
    table = frame("1h", None, 0).groupby("id", sort=False).head(9)
    one = table[table["id"] == "c"].head(1)
    table = pd.concat([table[table["id"] != "c"], one])
    windows = put(cache, "one", table).windows(
        context_length=1, prediction_length=3, known_columns="hour_unit"
    )
    hours = (windows.latest()[2].known[:, 0] + 0.5) * 23
    begin = one["t"].iloc[0].hour
    np.testing.assert_allclose(hours, (begin + np.arange(4)) % 24, rtol=1e-5)


def test_times_before_1970_and_near_the_end_of_int64(cache: tensorcache.Cache) -> None:
    spec: dict[str, Any] = {
        "context_length": 2,
        "prediction_length": 3,
        "known_columns": "calendar",
    }
    old = np.datetime64("1949-12-31T20", "s") + np.arange(10) * np.timedelta64(3600, "s")
    with cache.put("old", {"t": old, "y": np.ones(10)}, time="t", calendar="hour") as data:
        known = data.windows(**spec).latest()[0].known
        np.testing.assert_array_equal(known[:, 0], [4, 5, 6, 7, 8])
    end = np.datetime64(np.iinfo(np.int64).max - 3 * 10**9, "ns")
    late = end - np.arange(5)[::-1] * np.timedelta64(10**9, "ns")
    with cache.put("late", {"t": late, "y": np.ones(5)}, time="t", calendar="second") as data:
        known = data.windows(**spec).latest()[0].known[:, 0]
        np.testing.assert_array_equal(np.diff(known) % 60, [1, 1, 1, 1])
        spec["prediction_length"] = 4
        with pytest.raises(
            tensorcache.SpecError, match=r"of 4 rows after the end of .* ends too late"
        ):
            data.windows(**spec, stride=1, min_context=1).latest()


def test_windows_are_not_kept_by_their_own_chunks(cache: tensorcache.Cache) -> None:
    windows = put(cache, "kept", frame("1h", None, 0)).windows(
        context_length=4, prediction_length=2, known_columns="calendar"
    )
    latest = pickle.loads(pickle.dumps(windows.latest()))
    assert latest[0].known.shape == (6, 10)
    gone = weakref.ref(latest)
    del latest
    assert gone() is None


def test_more_windows_than_one_request_has(cache: tensorcache.Cache) -> None:
    items, rows = 600, 5
    table = {
        "id": np.repeat(np.arange(items), rows),
        "t": np.tile(np.arange(rows), items).astype("M8[h]") + np.repeat(np.arange(items), rows),
        "y": np.ones(items * rows, "f4"),
    }
    with cache.put("many", table, item_id="id", time="t", calendar=["hour", "age"]) as data:
        latest = data.windows(
            context_length=2, prediction_length=3, known_columns="calendar"
        ).latest()
        hours = (np.arange(items)[:, None] + np.arange(3, 8)) % 24
        np.testing.assert_array_equal(latest[:].known[..., 0], hours)
        np.testing.assert_array_equal(latest[[]].known.shape, (0, 5, 2))
        where = data.windows(context_length=2, prediction_length=3, known_columns="calendar")
        part = where.split(items=[[3, 500], [7]])[1].latest()
        np.testing.assert_array_equal(part[:].known[..., 0], hours[[7]])
        with latest.feed(batch_size=50, order="shuffle", seed=3, rank=1, num_replicas=3) as feed:
            for batch in feed:
                np.testing.assert_array_equal(batch.known[..., 0], hours[batch.item])
        order = np.random.default_rng(1).permutation(items)
        np.testing.assert_array_equal(latest[order].known[..., 0], hours[order])


def test_latest_refuses_rows_that_it_cannot_compute(cache: tensorcache.Cache) -> None:
    table = frame("1h", None, 0)
    spec: dict[str, Any] = {"context_length": 4, "prediction_length": 2}
    gaps = table.drop(index=23)  # row 3 of item a
    with put(cache, "gaps", gaps) as data:
        with pytest.raises(
            tensorcache.SpecError,
            match="2 rows after the end of item a, which has no regular step: row 3 is 2h "
            "after the row before, and row 1 is 1h",
        ):
            data.windows(**spec, known_columns="calendar").latest()
        # the age needs no times, and other items are regular
        age = data.windows(**spec, known_columns="age").latest()
        np.testing.assert_array_equal(age[1].known[-1], np.log10(np.float32([2 + 9])))
        others = data.windows(**spec, known_columns="calendar").where(items=["b", "c"])
        assert others.latest()[0].known.shape[0] == 6
    months = pd.date_range("2020-01-01", periods=12, freq="MS")
    monthly = pd.DataFrame({"t": months, "y": np.ones(12, "f4")})
    with (
        cache.put("months", monthly, time="t", calendar="month") as data,
        pytest.raises(
            tensorcache.SpecError, match="row 2 is 29d after the row before, and row 1 is 31d"
        ),
    ):
        data.windows(**spec, known_columns="month").latest()
    promo = table.assign(promo=np.float32(1))
    with (
        put(cache, "promo", promo) as data,
        pytest.raises(tensorcache.SpecError, match="latest delivers the known columns"),
    ):
        data.windows(**spec, known_columns=["promo", "calendar"]).latest()
