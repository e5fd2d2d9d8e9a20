"""Calendar columns by frequency, the age, and windows that have them by name alone."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tensorcache
from daemon import REPOSITORY

TIMEF = ["hour_unit", "dayofweek_unit", "day_unit", "dayofyear_unit"]
SPEC: dict[str, Any] = {"context_length": 4, "prediction_length": 2}


def hourly(rows: int = 40, **more: Any) -> dict[str, Any]:
    times = np.datetime64("2020-02-28T20", "s") + np.arange(rows) * np.timedelta64(3600, "s")
    return {"t": times, "y": np.arange(rows, dtype="f4"), **more}


def features(windows: tensorcache.Windows) -> list[list[str]]:
    names = [windows.features[part] for part in ("context", "target", "known")]
    return [list(part) for part in names if part]


def test_features_of_a_frequency_are_those_of_gluonts(cache: tensorcache.Cache) -> None:
    path = REPOSITORY / "internal" / "calendar" / "testdata" / "timeF.json"
    vectors = json.loads(path.read_text())
    times = np.array(vectors["times"], "M8[s]")
    for frequency in ("s", "W-SUN", "QE", "15min"):
        columns = {"t": times, "y": np.zeros(len(times))}
        with cache.put("f", columns, time="t", calendar=f"timeF:{frequency}") as data:
            names = vectors["frequencies"][frequency]
            assert list(data) == ["t", "y", *names]
            for name in names:
                want = np.array(vectors["features"][name], np.float32)
                np.testing.assert_array_equal(data[name], want, name)


def test_age_is_the_row_in_its_item(cache: tensorcache.Cache, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"id": rng.integers(0, 3, 300), "t": rng.permutation(300), "y": 1.0})
    frame.loc[frame["t"] > 250, "id"] += 2  # two items, of five, are new
    old, new = frame[frame["t"] < 200], frame[frame["t"] >= 200]
    old.to_csv(tmp_path / "old.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    options: dict[str, Any] = {"item_id": "id", "time": "t", "sort": True}
    for layout in ("columns", "packed"):
        data = cache.load(
            f"age-{layout}", tmp_path / "old.csv", calendar="age", layout=layout, **options
        )
        for grown, items in ((data, 3), (cache.append(f"age-{layout}", tmp_path / "new.csv"), 5)):
            with grown:
                assert len(grown.items) == items
                for _, columns in grown.by_item():
                    want = np.log10(2.0 + np.arange(len(columns["age"]))).astype(np.float32)
                    np.testing.assert_array_equal(columns["age"], want)
    with cache.put("plain", {"y": np.arange(5.0)}, calendar="age") as data:
        np.testing.assert_array_equal(data["age"], np.log10(2.0 + np.arange(5)).astype("f4"))


def test_features_of_many_items(cache: tensorcache.Cache) -> None:
    rng = np.random.default_rng(7)
    rows = rng.integers(1, 300, 2000)  # more than two blocks of 2^17 rows together
    row = np.concatenate([np.arange(n) for n in rows])
    assert len(row) > 2 << 17
    columns = {"id": np.repeat(np.arange(len(rows)), rows), "t": row.astype("M8[h]")}
    with cache.put("many", columns, item_id="id", time="t", calendar=["age", "hour"]) as data:
        np.testing.assert_array_equal(data["age"], np.log10(2.0 + row).astype("f4"))
        np.testing.assert_array_equal(data["hour"], (row % 24).astype("f4"))


def test_age_needs_no_zone(cache: tensorcache.Cache) -> None:
    times = pa.array(hourly()["t"]).cast(pa.timestamp("s", "Mars/Phobos"))
    table = pa.table({"t": times, "y": np.zeros(40)})
    with cache.put("mars", table, time="t", calendar="age") as data:
        assert data["age"][8] == 1
    with pytest.raises(tensorcache.SourceError, match='zone "Mars/Phobos" is not known'):
        cache.put("mars", table, time="t", calendar=["age", "hour"])


def test_windows_include_calendar_columns_only_if_named(cache: tensorcache.Cache) -> None:
    promo = hourly(promo=np.zeros(40, "f4"))
    with cache.put("c", promo, time="t", calendar=["timeF:h", "age"]) as data:
        calendar = [*TIMEF, "age"]
        both = ["y", "promo"]
        assert features(data.windows(**SPEC)) == [both, both]
        assert features(data.windows(**SPEC, known_columns="calendar")) == [both, both, calendar]
        assert features(data.windows(**SPEC, known_columns=["promo", "calendar"])) == [
            both,
            ["y"],
            ["promo", *calendar],
        ]
        assert features(data.windows(**SPEC, known_columns="age", columns=["y", "age"])) == [
            ["y", "age"],
            ["y", "age"],
            ["age"],
        ]
        by_name = data.windows(**SPEC, known_columns=calendar)
        for one, other in zip(data.windows(**SPEC, known_columns="calendar"), by_name, strict=True):
            np.testing.assert_array_equal(one.known, other.known)
        refused = {
            'known_columns: got "age"': {"known_columns": ["age", "calendar"]},
            'known_columns: got "hour_unit", want columns that are not in target_columns': {
                "known_columns": "calendar",
                "target_columns": "hour_unit",
            },
            'columns: no column is named "calendar"': {"columns": "calendar"},
        }
        for match, spec in refused.items():
            with pytest.raises(tensorcache.TensorcacheError, match=match):
                data.windows(**SPEC, **spec)
        assert "value, calendar" in data._repr_html_()


def test_a_column_that_is_named_calendar_wins(cache: tensorcache.Cache) -> None:
    own = hourly(calendar=np.ones(40))
    with cache.put("own", own, time="t", calendar="hour") as data:
        assert features(data.windows(**SPEC, known_columns="calendar"))[2] == ["calendar"]
    with (
        cache.put("none", hourly(), time="t") as data,
        pytest.raises(
            tensorcache.NotFoundError,
            match='"calendar" means the calendar columns, and the dataset',
        ),
    ):
        data.windows(**SPEC, known_columns="calendar")


def marked(data: tensorcache.Dataset) -> list[str]:
    """The calendar columns; windows without names have none of them."""
    columns = {c["name"]: c.get("calendar") for c in data.manifest["columns"]}
    context = features(data.windows(**SPEC))[0]
    assert all((name in context) != bool(columns[name]) for name in columns if name != "t")
    return [name for name, feature in columns.items() if feature]


def test_a_put_keeps_calendar_columns(cache: tensorcache.Cache) -> None:
    calendar = [*TIMEF, "age"]

    def put(columns: dict[str, Any], **options: Any) -> list[str]:
        with cache.put("again", columns, time="t", **options) as data:
            return marked(data)

    with cache.put(
        "source", hourly(), time="t", calendar=["timeF:h", "age"], layout="packed"
    ) as data:
        all_rows = dict(data)
        assert put({**data, "x": np.ones(40)}) == calendar
        assert put({name: values[:30] for name, values in all_rows.items()}) == calendar
        assert put({name: values[5:30] for name, values in all_rows.items()}) == TIMEF
        assert put({**data, "hour_unit": data["hour_unit"].copy()}) == calendar[1:]
        assert put({**data, "hour_unit": data["hour_unit"][::-1]}) == calendar[1:]
        assert put({**data, "t": data["t"] + np.timedelta64(90, "m")}) == ["age"]
        assert put({"t": data["t"], "y": data["y"], "h": data["hour_unit"]}) == ["h"]
        halves = pa.chunked_array([pa.array(data["hour_unit"][:20]), np.full(20, 5, "f4")])
        assert put({**data, "hour_unit": halves}) == calendar[1:]
        numbers = {**data, "t": np.arange(40)}
        assert put(numbers) == ["age"]
        # options of all columns change no calendar column, and those that name one do
        for options in ({"scale": "minmax"}, {"dtype": "float64"}, {"clip": (0, 0.1)}):
            assert put({**data}, **options) == calendar
            with cache.dataset("again") as again:
                np.testing.assert_array_equal(again["hour_unit"], data["hour_unit"])
        for own in ({"scale": {"hour_unit": "minmax"}}, {"dtype": {"hour_unit": "float64"}}):
            assert put({**data}, **own) == calendar[1:]
        for columns, match in (
            (
                {**data, "hour_unit": data["hour_unit"][::-1]},
                r"has -0\.0\d+ in row 0, where the feat",
            ),
            (numbers, "these rows have no timestamps in a known zone"),
        ):
            with pytest.raises(tensorcache.SourceError, match=match):
                put(columns, scale="minmax")


def test_values_of_a_calendar_column_that_were_changed(cache: tensorcache.Cache) -> None:
    with cache.put("hours", hourly(), time="t", calendar=["hour", "age"]) as data:
        changed = data["hour"]  # as torch.from_numpy does, past numpy's flag
        (ctypes.c_float * 40).from_address(changed.ctypes.data)[3] = np.nan
        with cache.put("again", {**data, "hour": changed}, time="t") as again:
            assert marked(again) == ["age"]
            assert np.isnan(again["hour"][3])


def test_regrid_computes_the_calendar_of_rows_that_it_inserts(cache: tensorcache.Cache) -> None:
    with cache.put("hours", hourly(), time="t", calendar=["timeF:h", "year"]) as data:
        gaps = {name: values[::3] for name, values in dict(data).items()}
        with cache.put("grid", gaps, time="t", regrid="1h", fill="forward") as grid:
            assert marked(grid) == [*TIMEF, "year"]
            for name in marked(grid):
                np.testing.assert_array_equal(grid[name], data[name])


def test_rows_of_a_calendar_column_that_are_appended(cache: tensorcache.Cache) -> None:
    with cache.put("more", hourly(60), time="t", calendar=["timeF:h", "age"]) as more:
        begin = {name: values[:40] for name, values in dict(more).items()}
        rest = pd.DataFrame({name: values[40:] for name, values in dict(more).items()})
        wrong = rest.assign(hour_unit=np.float32(0.25))
        cache.put("grow", begin, time="t").close()
        with pytest.raises(tensorcache.SourceError, match='calendar column "hour_unit", but'):
            cache.append("grow", wrong)
        with cache.append("grow", rest) as data:
            assert marked(data) == [*TIMEF, "age"]
            for name in data:
                np.testing.assert_array_equal(data[name], more[name])


def test_features_of_a_frequency_are_a_hit_of_their_names(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    pd.DataFrame(hourly()).to_csv(tmp_path / "hourly.csv", index=False)
    with cache.load("h", tmp_path / "hourly.csv", time="t", calendar="timeF:H") as data:
        first = data.generation
    with cache.load("h", tmp_path / "hourly.csv", time="t", calendar=TIMEF) as data:
        assert data.generation == first


def test_calendar_features_that_are_refused(cache: tensorcache.Cache) -> None:
    rows = hourly()
    for calendar, match in (
        ("timeF:ms", 'calendar: "timeF:ms": want timeF: and a frequency: s, min'),
        ("timeF", 'calendar: "timeF": want second, minute'),
        (
            ["timeF:h", "timeF:D"],
            '"timeF:D": want each column once; "timeF:h" has "dayofweek_unit"',
        ),
        ("year_unit", 'calendar: "year_unit": want second'),
        ("age_sin", 'calendar: "age_sin": want second'),
    ):
        with pytest.raises(tensorcache.SpecError, match=match):
            cache.put("r", rows, time="t", calendar=calendar)
    with pytest.raises(tensorcache.SpecError, match="a feature that no column is named like"):
        cache.put("r", {**rows, "age": rows["y"]}, calendar="age")
    with pytest.raises(tensorcache.SpecError, match='"timeF:h": want it only together with time'):
        cache.put("r", rows, calendar=["age", "timeF:h"])
    with cache.put("years", rows, time="t", calendar="timeF:YE") as data:
        assert list(data) == ["t", "y"]
