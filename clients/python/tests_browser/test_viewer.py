"""The window viewer draws the daemon's answers and plans every edit of the spec at once."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import pytest
from dashboard import PAPERS, SPEC, SPLIT, Dashboard, box_of, check_access, opened, wait_for_page
from playwright.sync_api import Error, Page, Response, Route, expect

import tensorcache

Cache, Dataset = tensorcache.Cache, tensorcache.Dataset

MINUS = "\N{MINUS SIGN}"
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def meters(cache: Cache) -> Dataset:
    """Return items with too few rows, a jump in time, missing values, and unusual names."""
    names = [
        "<script>alert(1)</script>",
        "MT_001",
        "MT_002",
        *(f"MT_{i:03d}" for i in range(3, 40)),
    ]
    rows = [10 if name == "MT_002" else 200 for name in names]
    ids = np.repeat(np.array(names), rows)
    time = np.concatenate(
        [np.arange(n) * 3600 + np.where(np.arange(n) > 100, 7200, 0) for n in rows]
    )
    load = np.random.default_rng(0).normal(size=sum(rows))
    load[220:240] = np.nan
    columns = {
        "id": ids,
        "t": time.astype("datetime64[s]"),
        EVIL: load,
        "b": np.arange(sum(rows)) % 2 == 0,
    }
    return cache.put("meters", columns, item_id="id", time="t")


def test_etth1_is_drawn_with_its_parts_and_its_plan(dashboard: Dashboard, etth1: Dataset) -> None:
    page = opened(dashboard.go("#/datasets/etth1", **PAPERS, window="5000"))
    answer = page.locator(".answer")
    expect(answer).to_contain_text("16,989 windows")
    expect(answer.get_by_role("row", name=re.compile("item end"))).to_contain_text("431")
    expect(answer.get_by_role("row", name=re.compile("train"))).to_contain_text("8,209")
    chart = page.locator(".plot.main")
    expect(chart).to_have_attribute(
        "aria-label", re.compile("16,989 windows, 431 rejected by item end, 285 rejected by split")
    )
    expect(page.get_by_label("Window", exact=True)).to_have_value("5000")
    expect(page.get_by_text("from row 5,000, 2017-01-25 08:00:00, in train")).to_be_visible()
    page.get_by_text("The window as a table").click()
    sample = etth1.windows(**SPEC)[5000]
    row = page.get_by_role("region", name="Values of the window").get_by_role("row").nth(3)
    shown = float(row.get_by_role("cell").nth(1).inner_text().replace(MINUS, "-"))
    assert shown == pytest.approx(float(sample.context[2, 0]), rel=1e-5)


def test_windows_are_picked_by_number_by_button_and_by_click(
    dashboard: Dashboard, etth1: Dataset
) -> None:
    page = opened(dashboard.go("#/datasets/etth1", **PAPERS))
    number = page.get_by_label("Window", exact=True)
    expect(number).to_have_value("0")
    expect(page.get_by_role("button", name="Previous window")).to_be_disabled()
    page.get_by_role("button", name="Next window").click()
    expect(number).to_have_value("1")
    page.get_by_role("button", name="Next window").evaluate("b => { b.click(); b.click(); }")
    expect(number).to_have_value("3")
    number.fill("16988")
    number.press("Enter")
    expect(page.get_by_text("2018-06-08 20:00:00, in no part")).to_be_visible()
    expect(page.get_by_role("button", name="Next window")).to_be_disabled()
    number.fill("16989")
    number.press("Enter")
    expect(page.get_by_text("want a number from 0 to 16,988")).to_be_visible()
    expect(number).to_have_value("16988")
    over = page.locator(".plot.main .u-over")
    box = box_of(over)
    over.click(position={"x": box["width"] / 4, "y": 60})
    expect(number).not_to_have_value("16988")
    assert abs(int(number.input_value()) - 17420 / 4) < 30
    over.click(position={"x": box["width"] - 2, "y": 60})
    expect(number).to_have_value("16988")  # the last window, which contains the last row


def test_a_click_that_hits_no_window_says_why(
    dashboard: Dashboard, etth1: Dataset, meters: Dataset
) -> None:
    def click(name: str, at: float, **shown: str) -> Page:
        page = opened(dashboard.go(f"#/datasets/{name}", **shown))
        over = page.locator(".plot.main .u-over")
        over.click(position={"x": box_of(over)["width"] * at, "y": 60})
        return page

    sparse = json.dumps({"context_length": 10, "stride": 8000})
    page = click("etth1", 0.25, spec=sparse)
    expect(
        page.get_by_text(
            re.compile(
                "no window holds row 4,[0-9]{3}: it lies between two windows, which start 8,000 "
                "rows"
            )
        )
    ).to_be_visible()
    # The click is among the missing values.
    page = click("meters", 0.15, spec=json.dumps({"context_length": 5}), code="1")
    expect(
        page.get_by_text(
            re.compile(
                r"no window holds row [23][0-9]: none starts in rows 16 to 39 \(max missing: too "
                r"many"
            )
        )
    ).to_be_visible()


def test_the_address_keeps_the_view(dashboard: Dashboard, etth1: Dataset) -> None:
    page = opened(
        dashboard.go(
            "#/datasets/etth1", **PAPERS, window="77", columns="OT", **{"from": "100", "to": "2100"}
        )
    )
    expect(page.get_by_text("rows 100 to 2,100 of 17,420")).to_be_visible()
    page.get_by_label("stride").fill("7")
    expect(page.locator(".big")).to_contain_text("2,427 windows")
    page.get_by_role("button", name="Next window").click()
    expect(page.get_by_label("Window", exact=True)).to_have_value("12")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    opened(page)
    expect(page.get_by_label("Window", exact=True)).to_have_value("12")
    expect(page.get_by_label("stride")).to_have_value("7")
    expect(page.get_by_text("rows 100 to 2,100 of 17,420")).to_be_visible()
    expect(page.get_by_role("checkbox", name="OT", exact=True)).to_be_checked()
    expect(page.get_by_role("checkbox", name="HUFL", exact=True)).not_to_be_checked()


def test_items_are_found_and_say_why_they_have_no_window(
    dashboard: Dashboard, meters: Dataset
) -> None:
    spec = {"context_length": 12, "prediction_length": 4, "max_step": "1h"}
    page = opened(dashboard.go("#/datasets/meters", spec=json.dumps(spec)))
    box = page.get_by_role("combobox", name="Item")
    expect(box).to_have_value("<script>alert(1)</script>")
    box.fill("mt_00")
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(9)
    box.fill("mt_002")
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
    box.press("ArrowDown")
    box.press("Enter")
    expect(box).to_have_value("MT_002")
    expect(page.get_by_text("this item has no window")).to_be_visible()
    expect(page.locator(".plot.main")).to_have_attribute(
        "aria-label", re.compile("0 windows, 10 rejected by item end")
    )
    box.fill("MT_001")
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.locator(".plot.main")).to_have_attribute(
        "aria-label",
        re.compile(
            "rejected by max step, .* rejected by max missing|rejected by max missing, .* rejected "
            "by max step"
        ),
    )
    expect(page.get_by_text("MT_001, from row 0")).to_be_visible()
    box.fill("nobody")
    expect(page.get_by_text("no item is named so")).to_be_visible()


@pytest.mark.parametrize("keys", [["Enter"], ["ArrowDown", "Enter"], ["ArrowDown", "Escape"]])
def test_keys_wait_for_the_items_that_are_searched(
    dashboard: Dashboard, meters: Dataset, keys: list[str]
) -> None:
    page = opened(dashboard.go("#/datasets/meters", spec='{"context_length": 5}'))
    unanswered: list[Route] = []
    page.route(re.compile("/items.*search=MT_003"), lambda route: unanswered.append(route))
    box = page.get_by_role("combobox", name="Item")
    box.fill("MT_003")
    wait_for_page(page, lambda: bool(unanswered))
    for key in keys:
        box.press(key)
    with contextlib.suppress(Error):  # Escape has ended the request
        unanswered[0].continue_()
    chosen = "<script>alert(1)</script>" if "Escape" in keys else "MT_003"
    expect(box).to_have_value(chosen)
    expect(page.locator(".plot.main")).to_have_attribute(
        "aria-label", re.compile(f"^{re.escape(chosen)}:")
    )


def test_keys_of_the_chart_count_while_its_rows_load(dashboard: Dashboard, etth1: Dataset) -> None:
    page = dashboard.page
    unanswered: list[Route] = []
    page.route(re.compile("/series"), lambda route: unanswered.append(route))
    dashboard.go("#/datasets/etth1")
    wait_for_page(page, lambda: bool(unanswered))
    page.locator(".plot.main").focus()
    page.keyboard.press("+")
    expect(page.get_by_text("rows 4,355 to 13,065 of 17,420")).to_be_visible()
    wait_for_page(page, lambda: len(unanswered) == 2)
    page.unroute(re.compile("/series"))
    for route in reversed(unanswered):
        with contextlib.suppress(Error):  # the second request has ended the first
            route.continue_()
    expect(page.locator(".plot.main")).to_have_attribute(
        "aria-label", re.compile("rows 4,355 to 13,065")
    )


def test_names_are_text_whatever_they_are(dashboard: Dashboard, meters: Dataset) -> None:
    page = dashboard.page
    page.on("dialog", lambda d: pytest.fail(f"a script ran: {d.message}"))
    opened(
        dashboard.go(
            "#/datasets/meters",
            spec='{"context_length": 5, "prediction_length": 1, "max_missing": null}',
        )
    )
    expect(page.get_by_role("checkbox", name=EVIL)).to_be_checked()
    expect(page.locator(".legend").first).to_contain_text(EVIL)
    expect(page.get_by_text("<script>alert(1)</script>, from row 0")).to_be_visible()
    for name in ("img", "script:not([src])"):
        assert page.locator(name).count() == 0
    page.goto(f"{dashboard.base}/#/datasets/<script>alert(1)</script>")
    dashboard.refusals = 4
    expect(page.get_by_role("alert").filter(has_text="alert(1)")).to_be_visible()


def test_every_column_is_reachable(dashboard: Dashboard, cache: Cache, etth1: Dataset) -> None:
    columns: dict[str, Any] = {f"c{i}": np.arange(50.0) + i for i in range(2600)}
    columns["wide"] = np.arange(50 * 100.0).reshape(50, 100)
    cache.put("broad", columns)
    page = opened(dashboard.go("#/datasets/broad"))
    chosen = page.get_by_role("group", name="Columns")
    expect(chosen).to_contain_text("more of 2,700; type to find them")
    check_access(page)
    find = page.get_by_role("searchbox", name="Find a column")
    names = [f"c{i}" for i in (59, 60, 63, 64, 199, 200, 2599)] + ["wide[0]", "wide[99]"]
    for name in names:
        find.fill(name)
        page.get_by_role("checkbox", name=name, exact=True).check()
        expect(page.locator(".legend").first).to_contain_text(name)
    find.fill("")
    for name in names:  # what is drawn stays in sight
        expect(page.get_by_role("checkbox", name=name, exact=True)).to_be_checked()
    find.fill("nothing of this name")
    expect(chosen).to_contain_text("no column is named so")
    page.goto("about:blank")
    cache.remove("broad")


def test_the_code_gives_the_same_windows(
    dashboard: Dashboard, etth1: Dataset, meters: Dataset
) -> None:
    etth = {**SPEC, "stride": 5, "columns": ["OT", "HUFL"], "rows": [None, -100]}
    padded = {
        "context_length": 6,
        "prediction_length": 2,
        "max_step": "1h",
        "max_missing": None,
        "min_context": 2,
        "pad_value": None,
    }
    purged = {"fractions": [0.7, 0.3], "purge": 1}
    for name, spec, split in [("etth1", etth, SPLIT), ("meters", padded, purged)]:
        view = {"spec": json.dumps(spec), "split": json.dumps(split), "window": "3"}
        page = opened(dashboard.go(f"#/datasets/{name}", **view))
        expect(page.get_by_label("Window", exact=True)).to_have_value("3")  # the lines are there
        planned = int(re.sub(r"\D", "", page.locator(".big b").inner_text()))
        python = page.get_by_label("Python lines", exact=True).inner_text()
        scope: dict[str, Any] = {}
        exec(python, scope)
        windows = scope["windows"]
        assert isinstance(windows, tensorcache.Windows)
        assert len(windows) == planned
        assert scope["train"].rejected == windows.split(**split)["train"].rejected
        sample = scope["window"]
        start = f"{int(sample.start):,}"
        expect(page.get_by_text(re.compile(rf"from row {start}\b"))).to_be_visible()
        words = shlex.split(page.get_by_label("Command line lines", exact=True).inner_text())
        assert words[0] == "tensorcache"
        command = [os.environ["TENSORCACHE_BIN"], *words[1:], "--json"]
        reply = json.loads(
            subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
        )
        assert reply["windows"] == planned


def test_a_million_rows_come_as_few_points_and_keep_their_spike(
    dashboard: Dashboard, cache: Cache, etth1: Dataset
) -> None:
    values = np.zeros(1_000_000, dtype=np.float32)
    values[654_321] = 7
    cache.put("million", {"v": values})
    answers: list[Response] = []
    dashboard.page.on("response", lambda r: answers.append(r) if "/series?" in r.url else None)
    page = opened(
        dashboard.go("#/datasets/million", spec='{"context_length": 100, "prediction_length": 10}')
    )
    series = json.loads(answers[-1].text())
    assert len(series["row"]) <= 2000
    assert max(series["series"][0]["max"]) == 7
    assert page.evaluate("performance.getEntriesByName('series').length") >= 1
    over = page.locator(".plot.main .u-over")
    box = box_of(over)
    for _ in range(2):  # each drag around the spike zooms in
        left, width = over.evaluate(
            "e => [e.getBoundingClientRect().left, e.getBoundingClientRect().width]"
        )
        shown = answers[-1].request.url
        first, last = series["from"], series["to"]
        at = left + width * (654_321 - first) / (last - first)
        page.mouse.move(max(left + 1, at - 20), box["y"] + 100)
        page.mouse.down()
        page.mouse.move(min(left + width - 1, at + 20), box["y"] + 120, steps=4)
        with page.expect_response(re.compile("/series")) as answer:
            page.mouse.up()
        assert answer.value.request.url != shown
        series = json.loads(answer.value.text())
        assert last - first > 10 * (series["to"] - series["from"])
        assert max(v for v in series["series"][0]["max"]) == 7
        expect(
            page.get_by_text(f"rows {series['from']:,} to {series['to']:,} of 1,000,000")
        ).to_be_visible()
    page.get_by_role("button", name="Show all rows").click()
    expect(page.get_by_text("rows 0 to 1,000,000 of 1,000,000")).to_be_visible()
    page.goto("about:blank")  # the page would ask for the dataset again
    cache.remove("million")


def test_levels_of_an_index_are_chosen_only_by_hand(dashboard: Dashboard, cache: Cache) -> None:
    index = pd.Index(np.arange(60), name="run")
    cache.put("levels", pd.DataFrame({"a": np.arange(60.0)}, index=index))
    page = opened(dashboard.go("#/datasets/levels"))
    expect(page.get_by_role("checkbox", name="a", exact=True)).to_be_checked()
    expect(page.get_by_role("checkbox", name="run", exact=True)).not_to_be_checked()
    page.get_by_role("checkbox", name="run", exact=True).check()
    expect(page.locator(".plot.main")).to_be_visible()
