"""The viewer over generated datasets: every kind of time, few and many rows and columns."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest
from dashboard import Dashboard, box_of
from main_thread import only_short_tasks
from playwright.sync_api import expect

import tensorcache

Cache = tensorcache.Cache

LEAST, MOST = -(2**63) + 1, 2**63 - 1
YEAR = 365 * 86400
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def spread(first: int, last: int, rows: int) -> list[int]:
    """Return rows integers from first to last, equally spaced as far as integers allow."""
    return [first + (last - first) * i // max(1, rows - 1) for i in range(rows)]


def times(rows: int) -> dict[str, tuple[list[int], str | None]]:
    """Return time columns of so many rows: their values, and the unit of timestamps, by name."""
    columns: dict[str, tuple[list[int], str | None]] = {
        "unix_seconds": (spread(1_600_000_000, 1_600_000_000 + 60 * rows, rows), None),
        "steps": (list(range(1, rows + 1)), None),
    }
    for unit, scale in UNITS.items():
        last = (1_600_000_000 + 3600 * rows) * scale
        columns[f"{unit}_hours"] = spread(1_600_000_000 * scale, last, rows), unit
    return columns


def ends_of_the_range(rows: int) -> dict[str, tuple[list[int], str | None]]:
    """Return time columns at the ends of int64, of the calendar and of a unit's precision."""
    columns: dict[str, tuple[list[int], str | None]] = {
        "integers": (spread(LEAST, MOST, rows), None),
        "first_years": (spread(-1970 * YEAR, -1800 * YEAR, rows), "s"),
        "calendar": (spread(-8_640_000_000_000, 8_640_000_000_000, rows), "s"),
    }
    for unit, scale in UNITS.items():
        columns[f"{unit}_range"] = spread(LEAST, MOST, rows), unit
        columns[f"{unit}_end"] = spread(MOST - rows, MOST, rows), unit
        first = 1_600_000_000 * scale
        columns[f"{unit}_each"] = list(range(first, first + rows)), unit
    return columns


TIMES = {
    "one_row": {name: times(1)[name] for name in ("steps", "ns_hours")},
    "two_rows": {name: times(2)[name] for name in ("unix_seconds", "ms_hours")},
    "many_rows": times(500),
}

ENDS = ends_of_the_range(500)
FEW_ENDS = ("integers", "first_years", "calendar", "s_range", "us_each", "ns_end")
SOAK = bool(os.environ.get("TENSORCACHE_SOAK"))
if SOAK:  # twelve more take half a minute
    TIMES["ends"] = ENDS
else:
    TIMES["ends"] = {name: ENDS[name] for name in FEW_ENDS}


# Records the texts that the page draws, with how far each lies outside its canvas.
RECORD_TEXTS = """
  window.drawn = [];
  const fillText = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const width = this.measureText(text).width;
    const left = x - width * { center: 0.5, right: 1, end: 1 }[this.textAlign] || x;
    window.drawn.push([text, Math.max(-left, left + width - this.canvas.width)]);
    return fillText.call(this, text, x, y, ...rest);
  };
"""


@pytest.fixture
def recorded(dashboard: Dashboard) -> Dashboard:
    """Return a dashboard that records what it draws."""
    dashboard.page.add_init_script(RECORD_TEXTS)
    return dashboard


def check(dashboard: Dashboard, name: str, spec: str = "") -> list[str]:
    """Open a dataset, and look at all that the page draws and writes. Return the drawn texts."""
    page = dashboard.go(f"#/datasets/{name}", **({"spec": spec} if spec else {}))
    expect(page.locator(".answer[aria-busy=false] .big")).to_contain_text("window")
    expect(page.locator(".plot.main canvas")).to_be_visible()
    expect(page.get_by_label("Window", exact=True)).to_have_value("0")
    over = box_of(page.locator(".plot.main .u-over"))
    page.mouse.move(over["x"] + over["width"] / 2, over["y"] + 50)
    expect(page.locator(".readout")).to_contain_text("row")
    page.locator(".plot.main").press("+")
    expect(page.locator("[aria-label='Values of the chart'] td").first).to_be_attached()
    drawn = page.evaluate("drawn")
    assert len(drawn) >= 4, f"{name}: axes without labels, {drawn}"
    assert not [text for text, outside in drawn if outside > 1], f"{name}: labels are cut"
    text = page.locator("#viewer").text_content() + " ".join(text for text, _ in drawn)
    assert not re.search(r"NaN|undefined|Invalid|\[object", text), name
    assert dashboard.reply == [], name
    page.goto("about:blank")  # the page would ask for the dataset that the caller removes
    return [text for text, _ in drawn]


@pytest.mark.parametrize("group", TIMES)
def test_every_time_is_drawn(recorded: Dashboard, cache: Cache, group: str) -> None:
    with only_short_tasks(recorded.page):
        for name, (values, unit) in TIMES[group].items():
            column = np.array(values, dtype=np.int64)
            time = column if unit is None else column.view(f"datetime64[{unit}]")
            value = np.arange(len(values), dtype=np.float32)
            cache.put(name, {"t": time, "v": value}, time="t")
            check(recorded, name)
            cache.remove(name)


SIZES = {False: [(1, 1), (2, 2600)], True: [(1, 1), (2000, 2600)]}
if SOAK:
    SIZES[True].append((1_000_000, 8))


@pytest.mark.parametrize("timed", SIZES)
def test_many_rows_and_columns_are_drawn(recorded: Dashboard, cache: Cache, timed: bool) -> None:
    with only_short_tasks(recorded.page):
        for rows, columns in SIZES[timed]:
            values = np.random.default_rng(0).normal(size=rows).astype(np.float32)
            data: dict[str, Any] = {f"c{i}": values + i for i in range(columns)}
            if timed:
                data["t"] = np.datetime64("2020-01-01", "s") + np.arange(rows)
            cache.put("large", data, time="t" if timed else None)
            check(recorded, "large")
            cache.remove("large")


EXTREMES = {
    "the_range": [-1.7e308, 1.7e308, 0.0],
    "infinities": [np.inf, -np.inf, np.nan],
    "missing": [np.nan] * 3,
    "subnormal": [0.0, 5e-324, 1e-323],
    "neighbours": [1e17, 1e17 + 16, 1e17 + 32],
    "equal": [1e300] * 3,
    "zeros": [0.0, -0.0, 0.0],
}


def test_extreme_values_are_drawn(recorded: Dashboard, cache: Cache) -> None:
    with only_short_tasks(recorded.page):
        for name, values in EXTREMES.items():
            cache.put(name, {"v": np.array(values)})
            check(recorded, name, '{"context_length": 1, "dtype": null, "max_missing": null}')
            cache.remove(name)


def test_rows_are_whole_numbers(recorded: Dashboard, cache: Cache) -> None:
    cache.put("two", {"v": np.array([7.0, 9.0])})
    texts = set(check(recorded, "two", '{"context_length": 2}'))
    assert {"0", "1"} <= texts
    assert not {"0.1", "0.5"} & texts
    cache.remove("two")


# Draws of a range of time for each unit, and of where it lies, as test_viewer's charts show them.
TICKS = """async seed => {
  const { RowTimes } = await import("/assets/ticks.js");
  const random = () => ((seed = (seed * 48271) % 2147483647) / 2147483647);
  const wrong = [];
  for (let i = 0; i < 20000; i++) {
    const unit = ["", "s", "ms", "us", "ns"][i % 5];
    const a = Math.round((random() - 0.5) * 10 ** (random() * 19));
    const b = Math.min(9.2e18, a + Math.round(10 ** (random() * 19)));
    const n = 1 + Math.round(random() * 3);
    const time = Array.from({ length: n + 1 }, (_, k) => a + (b - a) * (k / n));
    const times = new RowTimes({ unit, time, row: time.map((_, k) => k * 100) });
    const { rows, texts } = times.ticks(0, n * 100, 200 + random() * 1200);
    const labels = texts.join(" ");
    const outside = rows.some((r) => !(r >= -0.001 && r <= n * 100 + 0.001));
    const descending = rows.some((r, k) => k > 0 && r < rows[k - 1]);
    const bad = outside || descending || rows.length < 1 || rows.length > 30;
    if (bad || /NaN|undefined|Invalid/.test(labels + times.text(50)))
      wrong.push({ unit, a, b, n, rows, texts });
  }
  return wrong.slice(0, 3);
}"""


@pytest.mark.parametrize("seed", [1, 2])
def test_any_range_of_time_has_few_ticks(dashboard: Dashboard, seed: int) -> None:
    assert dashboard.go().evaluate(TICKS, seed) == []
