"""Grids of xarray: their items and times are clear, or asked for."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tensorcache

RUNS = pd.date_range("2020-01-01", periods=2, freq="12h")
STEPS = pd.to_timedelta([0, 6, 12], unit="h")


def stations(**coords: Any) -> xr.Dataset:
    """Return two stations with three observations each."""
    values = [[1.0, 2, 3], [101, 102, 103]]
    return xr.Dataset({"a": (("station", "obs"), values)}, coords=coords)


def forecast() -> xr.Dataset:
    """Return two runs of three steps at two latitudes, as cfgrib makes it."""
    return xr.Dataset(
        {"a": (("time", "step", "latitude"), np.arange(12.0).reshape(2, 3, 2))},
        coords={
            "time": RUNS,
            "step": STEPS,
            "latitude": [52.5, 53.5],
            "valid_time": (("time", "step"), np.add.outer(RUNS.values, STEPS.values)),
        },
    )


TIMES = np.add.outer(
    np.array(["2020-01-01T00:00", "2020-01-01T00:30"], "M8[ns]"), np.arange(3).astype("m8[h]")
)
DAYS = pd.date_range("2020-01-03", periods=3)


def runs_by_day(**coords: Any) -> xr.Dataset:
    """Return values by the times of runs and of days."""
    values = np.arange(6.0).reshape(2, 3)
    return xr.Dataset({"a": (("issued", "day"), values)}, coords={"issued": RUNS, **coords})


def storms() -> xr.Dataset:
    """Return observations of two stations on three days, and their storms."""
    return stations(obs=DAYS, storm=(("station", "obs"), [["p", "p", "q"], ["r", "s", "s"]]))


def years() -> xr.Dataset:
    """Return values by year and month."""
    return xr.Dataset(
        {"a": (("year", "month"), np.arange(6.0).reshape(2, 3))},
        coords={"year": [2000, 2001], "month": [1, 2, 3]},
    )


OPEN: dict[str, tuple[xr.Dataset, list[str]]] = {
    "times of each station": (
        stations(time=(("station", "obs"), TIMES)),
        ['time="time", item_id=["obs"]', 'time="time", item_id=["station"]'],
    ),
    "the same, transposed": (
        stations(time=(("station", "obs"), TIMES)).transpose("obs", "station"),
        ['time="time", item_id=["station"]', 'time="time", item_id=["obs"]'],
    ),
    "times as a variable": (
        stations(time=(("station", "obs"), TIMES)).reset_coords("time"),
        ['time="time", item_id=["obs"]', 'time="time", item_id=["station"]'],
    ),
    "times that fall": (
        stations(time=(("station", "obs"), TIMES[:, ::-1])),
        ['time="time", item_id=["obs"]', 'time="time", item_id=["station"], sort=True'],
    ),
    "no times": (
        stations(),
        ['time="obs", item_id=["station"]', 'time="station", item_id=["obs"]'],
    ),
    "names of stations": (
        stations(station=["x", "y"]),
        ['time="obs", item_id=["station"]', 'item_id=["obs"]'],
    ),
    "numbers of observations": (
        stations(obs=[1, 2, 5]),
        ['time="obs", item_id=["station"]', 'time="station", item_id=["obs"]'],
    ),
    "numbers that fall": (
        stations(obs=[5, 2, 1], station=[1, 2]),
        ['item_id=["station"]', 'time="station", item_id=["obs"]'],
    ),
    "runs and steps": (
        forecast(),
        [
            'time="valid_time", item_id=["time", "latitude"]',
            'time="valid_time", item_id=["step", "latitude"]',
            'time="time", item_id=["step", "latitude"]',
            'item_id=["time", "step"]',
        ],
    ),
    "one run": (
        forecast().isel(time=[0], latitude=[1]),
        [
            'time="valid_time", item_id=["time", "latitude"]',
            'time="valid_time", item_id=["step", "latitude"]',
            'time="time", item_id=["step", "latitude"]',
            'item_id=["time", "step"]',
        ],
    ),
    "runs and steps alone": (
        forecast().drop_vars("valid_time"),
        [
            'time="time", item_id=["step", "latitude"]',
            'item_id=["time", "latitude"]',
            'item_id=["time", "step"]',
        ],
    ),
    "a date of each station": (
        stations(born=("station", DAYS[:2])),
        ['time="born", item_id=["obs"]', 'time="obs", item_id=["station"]'],
    ),
    "repeated names": (
        stations(station=["x", "x"]),
        ['item_id=["obs"]'],
    ),
    "two dimensions of times": (
        runs_by_day(day=DAYS),
        ['time="issued", item_id=["day"]', 'time="day", item_id=["issued"]'],
    ),
}


@pytest.mark.parametrize("how", ["dataset", "array"])
@pytest.mark.parametrize("kind", OPEN)
def test_a_grid_whose_series_are_open_is_refused_with_calls_that_load_it(
    cache: tensorcache.Cache, kind: str, how: str
) -> None:
    grid, choices = OPEN[kind]
    if how == "array" and kind != "times as a variable":
        grid = grid["a"]
    with pytest.raises(tensorcache.SourceError, match="leave open which points") as error:
        cache.load("x", grid, sort=True)
    listed, end = error.value.hint.removeprefix("give ").split("; ")
    assert sorted(listed.split(", or ")) == sorted(choices)
    assert end == "item_id=[] makes one series"
    frame = grid.to_dataframe().reset_index()
    for choice in choices:
        given = ast.parse(f"put({choice})", mode="eval").body.keywords
        options = {one.arg: ast.literal_eval(one.value) for one in given}
        data = cache.put("x", grid, **options)
        assert list(data.manifest["item_id"]) == options["item_id"]
        assert data.time == options.get("time")
        rows = frame.sort_values(options["time"]) if "sort" in options else frame
        assert series_of(data) == series_in(rows, options["item_id"])


def series_of(data: tensorcache.Dataset) -> dict[tuple[str, ...], list[float]]:
    """The values of a dataset by item."""
    if not data.manifest.get("item_id"):
        return {(): data["a"].tolist()}
    return {as_texts(item): rows["a"].tolist() for item, rows in data.by_item()}


def series_in(frame: pd.DataFrame, items: list[str]) -> dict[tuple[str, ...], list[float]]:
    """The values of a frame by item."""
    if not items:
        return {(): frame["a"].tolist()}
    texts = frame.assign(**{name: frame[name].map(str) for name in items})
    return {key: rows["a"].tolist() for key, rows in texts.groupby(items, sort=False)}


def as_texts(item: Any) -> tuple[str, ...]:
    """The parts of an item's value as texts."""
    return tuple(map(str, item if isinstance(item, tuple) else (item,)))


@pytest.mark.parametrize(
    ("grid", "options", "time", "items"),
    [
        (stations(obs=DAYS), {}, "obs", ["station"]),
        (stations(obs=DAYS), {"item_id": ["station"]}, "obs", ["station"]),
        (stations(time=("obs", TIMES[0])), {"time": "time"}, "time", ["station"]),
        (stations(), {"item_id": "station"}, None, ["station"]),
        (stations(), {"item_id": []}, None, []),
        (stations(name=("station", ["x", "y"])), {"item_id": "name"}, None, ["name"]),
        (stations(year=("obs", [2000, 2001, 2003])), {"time": "year"}, "year", ["station"]),
        (
            stations(y=("obs", [2000, 2001, 2003]), m=("obs", [1, 2, 3])),
            {"time": ["y", "m"]},
            "time",
            ["station"],
        ),
        (storms(), {"item_id": "storm"}, "obs", ["storm"]),
        (storms(), {"item_id": ["station", "storm"]}, "obs", ["station", "storm"]),
        (
            xr.Dataset({"a": ("t", [1.0, 2, 3])}, {"t": DAYS, "id": ("t", ["p", "p", "q"])}),
            {"item_id": "id"},
            "t",
            ["id"],
        ),
        (
            xr.Dataset({"a": ("row", [1.0, 2, 3])}, {"id": ("row", [5, 5, 6])}),
            {"item_id": "id"},
            None,
            ["id"],
        ),
        (stations(obs=list(DAYS.date)), {}, "obs", ["station"]),
        (stations(station=[True, False], obs=DAYS), {}, "obs", ["station"]),
        (years(), {"time": ["year", "month"]}, "time", []),
        (years().transpose("month", "year"), {"time": ["year", "month"]}, "time", []),
        (
            years().expand_dims(member=[7, 8]),
            {"time": ["year", "month"]},
            "time",
            ["member"],
        ),
        (forecast().isel(step=[0], time=slice(None)), {}, "time", ["step", "latitude"]),
        (runs_by_day(day=DAYS).isel(issued=[0]), {}, "day", ["issued"]),
        (stations().isel(station=[0]), {}, None, []),
        (stations().isel(station=0), {}, None, []),
        (stations(obs=STEPS).isel(station=0), {}, None, []),
        (runs_by_day(day=DAYS), {"item_id": "issued"}, "day", ["issued"]),
        (runs_by_day(day=DAYS), {"time": "issued"}, "issued", ["day"]),
        (forecast(), {"time": "time"}, "time", ["step", "latitude"]),
        (forecast(), {"item_id": ["step", "latitude"]}, "time", ["step", "latitude"]),
        (forecast(), {"item_id": ["time", "latitude"]}, None, ["time", "latitude"]),
        (
            forecast().assign_coords(place=(("step", "latitude"), np.arange(6).reshape(3, 2))),
            {"item_id": "place"},
            "time",
            ["place"],
        ),
        (forecast().isel(time=0), {"time": "valid_time"}, "valid_time", ["latitude"]),
    ],
)
def test_a_grid_whose_series_are_clear_is_loaded(
    cache: tensorcache.Cache,
    grid: xr.Dataset,
    options: dict[str, Any],
    time: str | None,
    items: list[str],
) -> None:
    data = cache.put("x", grid, **options)
    assert data.time == time
    assert list(data.manifest.get("item_id") or []) == items
    assert series_of(data) == series_in(grid.to_dataframe().reset_index(), items)


@pytest.mark.parametrize("items", ["x", "y", ["z"]])
def test_items_that_leave_several_dimensions_are_refused(
    cache: tensorcache.Cache, items: str | list[str]
) -> None:
    three = xr.Dataset({"a": (("x", "y", "z"), np.arange(8.0).reshape(2, 2, 2))})
    with pytest.raises(tensorcache.SourceError, match="leave open which") as error:
        cache.put("x", three, item_id=items)
    assert error.value.hint.startswith('give time="z", item_id=["x", "y"], or time="y", item_id=')
    for pair in itertools.combinations("xyz", 2):
        data = cache.put("x", three, item_id=list(pair))
        along = next(name for name in "xyz" if name not in pair)
        for item, rows in data.by_item():
            at = dict(zip(pair, item, strict=True))
            assert rows["a"].tolist() == three["a"].sel(at).values.tolist(), along


@pytest.mark.parametrize(
    ("grid", "options"),
    [
        (stations(region=("station", ["u", "u"])), {"item_id": "region"}),
        (stations(station=["x", "x"]), {"item_id": ["station"]}),
        (stations(), {"item_id": ["station", "obs"]}),
        (stations(obs=DAYS), {"item_id": ["station", "obs"]}),
        (forecast(), {"time": "valid_time", "sort": True, "duplicates": "first"}),
        (
            stations(time=(("station", "obs"), TIMES)),
            {"time": "time", "sort": True, "duplicates": "last"},
        ),
    ],
)
def test_options_that_leave_the_series_open_are_refused(
    cache: tensorcache.Cache, grid: xr.Dataset, options: dict[str, Any]
) -> None:
    with pytest.raises(tensorcache.SourceError, match="leave open which points"):
        cache.put("x", grid, **options)


def test_points_of_one_item_and_time_are_refused_unless_one_is_chosen(
    cache: tensorcache.Cache,
) -> None:
    grid = stations(obs=DAYS, region=("station", ["u", "u"]))
    with pytest.raises(tensorcache.SourceError, match="two rows of item"):
        cache.put("x", grid, item_id="region", sort=True)
    data = cache.put("x", grid, item_id="region", sort=True, duplicates="last")
    assert data.item("u")["a"].tolist() == [101, 102, 103]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_objects_that_are_no_times_of_numpy_are_refused_as_in_lists(
    cache: tensorcache.Cache, zone: str | None
) -> None:
    times = DAYS.to_period("D") if zone is None else DAYS.tz_localize(zone)
    with pytest.raises(tensorcache.SourceError, match=r"Period|with a zone") as error:
        cache.put("x", stations(obs=np.array(times, object)))
    assert "leave open" not in str(error.value)


def test_a_name_that_is_no_column_is_what_is_refused(cache: tensorcache.Cache) -> None:
    for options in ({"item_id": "statoin"}, {"time": "tiem"}):
        with pytest.raises(tensorcache.TensorcacheError, match=r"statoin|tiem") as error:
            cache.put("x", stations(), **options)
        assert "leave open" not in str(error.value)


def test_forecasts_are_series_by_run_or_by_step(cache: tensorcache.Cache) -> None:
    grid = forecast()
    with pytest.raises(tensorcache.SourceError) as error:
        cache.put("runs", grid)
    assert error.value.hint.startswith('give time="valid_time", item_id=["time", "latitude"], or')
    runs = cache.put("runs", grid, time="valid_time", item_id=["time", "latitude"])
    assert list(runs.items)[:2] == [
        ("2020-01-01 00:00:00", "52.5"),
        ("2020-01-01 00:00:00", "53.5"),
    ]
    assert runs.item(("2020-01-01 12:00:00", "53.5"))["a"].tolist() == [7, 9, 11]
    later = grid.assign_coords(
        time=grid.time + pd.Timedelta("1D"), valid_time=grid.valid_time + pd.Timedelta("1D")
    )
    assert len(cache.append("runs", later).items) == 8
    data = cache.append("runs", later.isel(time=0).assign_coords(time=pd.Timestamp("2020-01-09")))
    assert data.item(("2020-01-09 00:00:00", "52.5"))["a"].tolist() == [0, 2, 4]
    steps = cache.put("steps", grid, time="time")
    assert steps.item(("0 days 06:00:00", "52.5"))["a"].tolist() == [2, 8]
    assert len(cache.append("steps", later).items) == 6


def test_missing_times_name_no_item(cache: tensorcache.Cache) -> None:
    runs = forecast().assign_coords(time=[RUNS[0], pd.NaT]).drop_vars("valid_time")
    with pytest.raises(tensorcache.SourceError, match="item needs a name"):
        cache.put("x", runs.isel(latitude=0), item_id=["time"])


def test_missing_floats_name_no_item(cache: tensorcache.Cache) -> None:
    coordinates = {"lat": [52.5, np.nan], "t": pd.date_range("2024-01-01", periods=3)}
    grid = xr.Dataset({"v": (("lat", "t"), np.ones((2, 3)))}, coordinates)
    with pytest.raises(tensorcache.SourceError, match='row 4, column "lat": the value is missing'):
        cache.put("grid", grid, item_id="lat", time="t")
