"""Bounds in time without a zone are in that of the dataset's times, as text of pandas is."""

from __future__ import annotations

import datetime
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tensorcache

ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", "+05:30", None]
ROWS = 24 * 14


def hours(zone: str | None, start: str = "2020-03-22") -> pd.DatetimeIndex:
    return pd.date_range(start, periods=ROWS, freq="h", tz="UTC").tz_convert(zone)


def put(
    cache: tensorcache.Cache, zone: str | None, start: str = "2020-03-22", **options: Any
) -> tensorcache.Dataset:
    columns = pd.DataFrame({"t": hours(zone, start), "v": np.arange(ROWS, dtype=np.float32)})
    return cache.put("hours", columns, time="t", **options)


def first(zone: str | None, bound: str) -> int:
    """The first row that is not before a bound; times that clocks skip are moved forward."""
    at = pd.Timestamp(bound)
    if zone is None:
        at = at.tz_localize(None)
    elif at.tz is None:
        at = at.tz_localize(zone, nonexistent="shift_forward")
    return int(hours(zone).searchsorted(at))


FORMS: dict[str, Any] = {
    "text": str,
    "datetime": lambda text: pd.Timestamp(text).to_pydatetime(),
    "Timestamp": pd.Timestamp,
}
BOUNDS = ["2020-03-28", "2020-03-29", "2020-03-29T02:30", "2020-04-01T05:30:01"]
INSTANTS = ["2020-03-29T00:30Z", "2020-03-28T22:00:00+00:00"]
OFFSETS = ["2020-03-29T04:30+02:00", "2020-03-28T19:00:00-05:30"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zone", ZONES)
def test_bounds_are_those_of_pandas(cache: tensorcache.Cache, zone: str | None, form: str) -> None:
    data = put(cache, zone)
    windows = data.windows(context_length=1)
    for bound in [*BOUNDS, *INSTANTS, *(OFFSETS if zone else [])]:
        given, row = FORMS[form](bound), first(zone, bound)
        early, late = windows.split(at_times=[given])
        assert len(early) == row, bound
        assert late[0].start == row
        assert windows.where(time=(None, given))[-1].start == row - 1
        assert data.windows(context_length=1, time=(given, None))[0].start == row
        padded = data.windows(context_length=3, min_context=1, time=(given, None))
        assert padded[0].start == row - 2
        assert padded[0].mask is not None
        assert padded[0].mask.tolist() == [False, False, True]
        assert padded[0].context[:, 0].tolist() == [0, 0, row]
        loaded = put(cache, zone, where=(given, None))
        assert loaded["v"][0] == row


@pytest.mark.parametrize("zone", ZONES)
def test_fits_end_before_a_bound_in_the_zone(cache: tensorcache.Cache, zone: str | None) -> None:
    for bound in [*BOUNDS, *INSTANTS, *(OFFSETS if zone else [])]:
        row = first(zone, bound)
        data = put(cache, zone, scale="standard", fit_before=bound)
        scaled = np.arange(ROWS) - np.arange(row).mean()
        np.testing.assert_allclose(data["v"], scaled / np.arange(row).std(), rtol=1e-5)
        windows = data.windows(context_length=1, prediction_length=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", tensorcache.LeakageWarning)
            windows.split(lengths=(row, ROWS - row))
        with pytest.warns(tensorcache.LeakageWarning):
            windows.split(lengths=(row - 1, ROWS - row + 1))


@pytest.mark.parametrize("bound", OFFSETS)
def test_offsets_need_times_with_a_zone(cache: tensorcache.Cache, bound: str) -> None:
    data = put(cache, None)
    windows = data.windows(context_length=1)
    for refused in (
        lambda: windows.split(at_times=[bound]),
        lambda: windows.where(time=(bound, None)),
        lambda: data.windows(context_length=1, time=(None, bound)),
        lambda: put(cache, None, where=(bound, None)),
        lambda: put(cache, None, scale="standard", fit_before=bound),
        lambda: windows.split(at_times=[pd.Timestamp(bound)]),
    ):
        with pytest.raises(tensorcache.SpecError, match="a time without an offset") as error:
            refused()
        assert bound[:10] in str(error.value)


def test_times_that_clocks_show_twice_are_refused(cache: tensorcache.Cache) -> None:
    data = put(cache, "Europe/Berlin", "2020-10-24")
    windows = data.windows(context_length=1)
    with pytest.raises(
        tensorcache.SpecError,
        match=r"2020-10-25T02:30:00\+02:00 or 2020-10-25T02:30:00\+01:00: clocks of Europe/Berlin",
    ):
        windows.split(at_times=["2020-10-25T02:30"])
    row = int(hours("Europe/Berlin", "2020-10-24").searchsorted(pd.Timestamp("2020-10-25T01:30Z")))
    assert len(windows.split(at_times=["2020-10-25T02:30+01:00"])[0]) == row
    assert len(windows.split(at_times=["2020-10-25T01:30"])[0]) == row - 2


def test_times_of_the_dataset_are_bounds(cache: tensorcache.Cache) -> None:
    for zone in ZONES:
        data = put(cache, zone)
        at = data["t"][50]
        assert isinstance(at, np.datetime64)
        assert len(data.windows(context_length=1).split(at_times=[at])[0]) == 50
        stamp = hours(zone)[50]
        assert len(data.windows(context_length=1).split(at_times=[stamp])[0]) == 50


def test_a_clock_of_another_zone_is_an_instant(cache: tensorcache.Cache) -> None:
    tokyo = datetime.timezone(datetime.timedelta(hours=9))
    at = datetime.datetime(2020, 3, 24, 9, tzinfo=tokyo)
    windows = put(cache, "Europe/Berlin").windows(context_length=1)
    assert len(windows.split(at_times=[at])[0]) == 48


def write(path: Path, zone: str | None, item: str) -> Path:
    values = np.arange(float(ROWS))
    pd.DataFrame({"item": item, "t": hours(zone), "v": values}).to_parquet(path)
    return path


def test_appends_keep_the_bounds(cache: tensorcache.Cache, tmp_path: Path) -> None:
    row = first("Europe/Berlin", "2020-03-29")
    for zone in ("Europe/Berlin", "Asia/Tokyo"):
        path = write(tmp_path / "x.parquet", "Europe/Berlin", "a")
        cache.load("x", path, time="t", item_id="item", where=("2020-03-29", None))
        data = cache.append("x", write(tmp_path / "y.parquet", zone, "b"))
        assert data["v"].tolist() == [*range(row, ROWS), *range(row, ROWS)]


def test_equal_bounds_are_hits(cache: tensorcache.Cache, tmp_path: Path) -> None:
    """They are compared as instants, as the generation's recipe has them."""
    bounds = {
        None: ["2020-03-29", "2020-03-29 00:00", "2020-03-29T00:00:00Z"],
        "Europe/Berlin": ["2020-03-29", "2020-03-28T23:00Z", "2020-03-29T01:00+02:00"],
    }
    for zone, equal in bounds.items():
        path = write(tmp_path / "x.parquet", zone, "a")
        for option in ("where", "fit_before"):
            loads = [
                cache.load(
                    f"x-{option}",
                    path,
                    time="t",
                    columns=["v"],
                    scale="standard",
                    **{option: (bound, None) if option == "where" else bound},
                )
                for bound in equal
            ]
            assert len({data.generation for data in loads}) == 1
            recipe = loads[0].manifest["recipe"]
            instant = recipe["where"]["time"][0] if option == "where" else recipe["fit_before"]
            assert pd.Timestamp(instant) == pd.Timestamp(equal[2] if zone is None else equal[1])
        cache.remove("x-where")
        cache.remove("x-fit_before")
    other = write(tmp_path / "y.parquet", None, "a")
    data = cache.load("x", other, time="t", columns=["v"], where=("2020-03-29T00:00Z", None))
    with pytest.raises(tensorcache.SpecError, match="a time without an offset"):
        cache.load("x", other, time="t", columns=["v"], where=("2020-03-29T01:00+01:00", None))
    assert cache.dataset("x").generation == data.generation


def test_fits_are_compared_without_planning_windows(cache: tensorcache.Cache) -> None:
    columns = pd.DataFrame({"t": hours("Europe/Berlin"), "v": np.arange(float(ROWS))})
    columns["late"] = np.where(np.arange(ROWS) < 100, np.nan, 1.0)
    data = cache.put("late", columns, time="t", scale={"v": "standard"}, fit_before="2020-03-23")
    windows = data.windows(columns=["v"], context_length=1, prediction_length=1)
    early, late = windows.split(at_times=["2020-03-23"])
    assert len(early) + len(late) > 300


def test_bounds_at_the_ends_of_the_calendar(cache: tensorcache.Cache) -> None:
    for zone, open_bounds in {
        "America/New_York": (datetime.datetime.min, "9999-12-31T23:59:59"),
        "Asia/Tokyo": ("0000-01-01", datetime.datetime.max),
    }.items():
        data = put(cache, zone, scale="standard", fit_before=open_bounds[1])
        windows = data.windows(context_length=2, min_context=1, time=open_bounds)
        assert len(windows) == len(windows.where(time=open_bounds)) == ROWS
        with pytest.warns(tensorcache.LeakageWarning):
            parts = windows.split(fractions=[0.5, 0.5])
        assert [len(part) for part in parts] == [ROWS // 2] * 2
        mask = windows[0].mask
        assert mask is not None
        assert mask.tolist() == [False, True]


def test_offsets_with_seconds(cache: tensorcache.Cache) -> None:
    data = put(cache, "Africa/Monrovia", "1970-06-01")
    windows = data.windows(context_length=1)
    for at in (50.0, 50.25):
        stamp = hours("Africa/Monrovia", "1970-06-01")[0] + pd.Timedelta(hours=at)
        for bound in (stamp, stamp.to_pydatetime()):
            assert len(windows.split(at_times=[bound])[0]) == np.ceil(at)
