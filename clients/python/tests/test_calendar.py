"""The calendar features of a load are those of pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import feather

import tensorcache


def feature(times: pd.Series, name: str) -> Any:
    """The values of a calendar feature from pandas."""
    name = name.replace("dayof", "day_of_")
    return (
        times.dt.isocalendar().week if name == "weekofyear" else getattr(times.dt, name)
    ).to_numpy(np.float32)


@pytest.mark.parametrize("unit", ["s", "ns"])
@pytest.mark.parametrize("zone", ["", "Europe/Berlin", "America/St_Johns", "+05:30"])
def test_calendar_features_are_those_of_pandas(
    cache: tensorcache.Cache, tmp_path: Path, zone: str, unit: str
) -> None:
    rng = np.random.default_rng(2)
    seconds = np.unique(rng.integers(-3_000_000_000, 4_000_000_000, 3000))
    times = pd.Series(pd.to_datetime(seconds, unit="s")).dt.as_unit(unit)
    if zone:
        times = times.dt.tz_localize("UTC").dt.tz_convert(zone)
    path, frame = (
        tmp_path / ("times.arrow" if unit == "s" else "times.parquet"),
        pd.DataFrame({"t": times, "a": 1.0}),
    )
    if unit == "s":
        feather.write_feather(frame, path, compression="uncompressed")
    else:
        frame.to_parquet(path)
    names = [
        "second",
        "minute",
        "hour",
        "dayofweek",
        "day",
        "dayofyear",
        "month",
        "quarter",
        "year",
        "weekofyear",
    ]
    periods = {
        "second": 60,
        "minute": 60,
        "hour": 24,
        "dayofweek": 7,
        "day": 31,
        "dayofyear": 366,
        "month": 12,
        "quarter": 4,
    }
    forms = [f"{name}_{form}" for name in periods for form in ("sincos", "unit")]
    forms.append("weekofyear_cos")
    with cache.load(
        "calendar", path, time="t", calendar=names + forms, layout="packed", scale="standard"
    ) as data:
        for name in names:
            np.testing.assert_array_equal(data[name], feature(times, name), name)
        for name, period in periods.items():
            least = 0 if name in ("second", "minute", "hour", "dayofweek") else 1
            angle = 2 * np.pi * (feature(times, name) - least) / period
            np.testing.assert_allclose(data[f"{name}_sin"], np.sin(angle), atol=1e-6)
            np.testing.assert_allclose(data[f"{name}_cos"], np.cos(angle), atol=1e-6)
            unit = (feature(times, name).astype("f8") - least) / (period - 1) - 0.5
            np.testing.assert_array_equal(data[f"{name}_unit"], unit.astype("f4"), name)
        assert "weekofyear_sin" not in data


def test_calendar_features_that_cannot_be(cache: tensorcache.Cache) -> None:
    rows = {"t": np.arange(3), "hour": np.arange(3.0)}
    for options, match in (
        ({"calendar": "hours"}, 'calendar: "hours": want second, minute, hour'),
        ({"calendar": "year_sin"}, 'calendar: "year_sin"'),
        ({"calendar": ["day", "day"]}, 'calendar: "day": want each column once'),
        ({"calendar": "day"}, 'time column "t" holds int64'),
    ):
        with pytest.raises(tensorcache.SpecError, match=match):
            cache.put("c", rows, time="t", **options)
    with pytest.raises(tensorcache.SpecError, match="only together with time"):
        cache.put("c", rows, calendar="hour")
    rows["t"] = np.arange("2020-01-01", "2020-01-04", dtype="M8[D]")
    with pytest.raises(tensorcache.SpecError, match="no column is named like"):
        cache.put("c", rows, time="t", calendar="hour")
