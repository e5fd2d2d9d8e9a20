"""The viewer's plan: what it says of a spec, and of one that is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dashboard import PAPERS, SPEC, SPLIT, Dashboard, opened
from playwright.sync_api import expect

import tensorcache

Cache, Dataset = tensorcache.Cache, tensorcache.Dataset


def test_what_is_refused_stands_beside_its_field(dashboard: Dashboard, etth1: Dataset) -> None:
    dashboard.refusals = 100
    page = opened(dashboard.go("#/datasets/etth1", **PAPERS))
    for label, bad, says, good in [
        ("context_length", "0", "got 0, want a whole number from 1", "336"),
        ("context_length", "many", "context_length", "336"),
        ("lengths", "8640, 0", "lengths[1]", "8640, 2880, 2880"),
        ("max_step", "1 fortnight", "max_step", ""),
        ("columns", "OTT", "near: OT", ""),
        ("batch_size", "0", "batch_size", "32"),
    ]:
        box = page.get_by_label(label, exact=True)
        box.evaluate("e => e.closest('details').open = true")
        box.fill(bad)
        problem = page.locator(f"#{box.get_attribute('id')}-problem")
        expect(problem).to_contain_text(says)
        expect(box).to_have_attribute("aria-invalid", "true")
        box.fill(good)
        expect(problem).to_have_text("")
        expect(box).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator(".answer")).to_contain_text("batches, the last of")
    raw = page.get_by_label("The request of this plan")
    raw.evaluate("e => e.closest('details').open = true")
    raw.fill('{"spec": {"context_length": 336, "strid": 2}}')
    expect(page.locator("#plan-problem")).to_contain_text("strid")
    raw.fill('{"spec": {"context_length": 336')
    expect(page.locator("#raw-problem")).to_contain_text("no JSON")
    raw.fill('{"spec": {"context_length": 336, "stride": 2}}')
    expect(page.get_by_label("stride")).to_have_value("2")
    expect(page.locator(".big")).to_contain_text("8,543 windows")


@pytest.mark.parametrize(
    ("request_of_plan", "says", "field"),
    [
        ({"spec": {"context_length": 20_000}}, "the longest item has 17420", "context_length"),
        ({"spec": {**SPEC, "rows": [0, 100]}}, "widen rows or time", "context_length"),
        ({"spec": {**SPEC, "stride": 0}}, "stride", "stride"),
        ({"spec": SPEC, "split": {"lengths": [10, 10]}}, "lengths", "lengths"),
        ({"spec": SPEC, "options": {"batch_size": 0}}, "batch_size", "batch_size"),
        ({"spec": SPEC, "cuts": [{"latest": "yes"}]}, "latest", None),
        ({"spec": SPEC, "nonsense": 1}, "nonsense", None),
        ({"spec": {**SPEC, "strid": 2}}, "strid", None),
    ],
)
@pytest.mark.parametrize("width", [1360, 420])
def test_a_refusal_stands_at_the_top_of_the_plan(
    open_page: Callable[..., Dashboard],
    etth1: Dataset,
    request_of_plan: dict[str, Any],
    says: str,
    field: str | None,
    width: int,
) -> None:
    d = open_page(viewport={"width": width, "height": 900})
    d.refusals = 20
    page = opened(d.go("#/datasets/etth1", **PAPERS, window="5000"))
    expect(page.get_by_label("Window", exact=True)).to_have_value("5000")
    before = page.locator(".plot.main").get_attribute("aria-label")
    raw = page.get_by_label("The request of this plan")
    raw.evaluate("e => e.closest('details').open = true")
    raw.fill(json.dumps(request_of_plan))
    problem = page.locator("#plan-problem")
    expect(problem).to_contain_text(says)
    top = page.get_by_role("heading", name="Plan").bounding_box()
    box = problem.bounding_box()
    assert top is not None
    assert box is not None
    assert box["y"] - (top["y"] + top["height"]) < 20
    invalid = page.locator("[aria-invalid=true]")
    expect(invalid).to_have_count(1 if field else 0)
    if field:
        expect(invalid).to_have_attribute("name", field)
        box_id = invalid.get_attribute("id")
        expect(page.locator(f"#{box_id}-problem")).to_contain_text(says)
    shown = page.locator(".plot.main")
    if field == "context_length":  # no window exists
        expect(page.locator(".answer .big")).to_have_count(0)
        expect(shown).to_have_attribute("aria-label", re.compile(" 0 windows"))
        expect(page.get_by_text("no window exists", exact=True)).to_be_visible()
    raw.fill(json.dumps({"spec": SPEC, "split": SPLIT}))
    expect(problem).to_have_text("")
    expect(page.locator(".answer")).to_contain_text("16,989 windows")
    expect(shown).to_have_attribute("aria-label", str(before))


def test_a_refused_spec_changes_neither_chart_nor_window(
    dashboard: Dashboard, etth1: Dataset
) -> None:
    dashboard.refusals = 10
    page = opened(dashboard.go("#/datasets/etth1", **PAPERS, window="5000"))
    expect(page.get_by_label("Window", exact=True)).to_have_value("5000")
    picture = "[...document.querySelectorAll('.plot canvas')].map(c => c.toDataURL()).join()"
    page.mouse.move(0, 0)
    before = page.evaluate(picture), page.locator("pre").all_inner_texts()
    page.get_by_label("dilation").evaluate("e => e.closest('details').open = true")
    page.get_by_label("dilation").fill("0")
    expect(page.locator("#plan-problem")).to_contain_text("dilation")
    expect(page.get_by_text("are those of the spec before")).to_be_visible()
    expect(page.locator(".answer")).to_contain_text("16,989 windows")
    page.get_by_role("button", name="Next window").click()
    expect(page.get_by_label("Window", exact=True)).to_have_value("5001")
    page.get_by_role("button", name="Previous window").click()
    expect(page.get_by_label("Window", exact=True)).to_have_value("5000")
    assert (page.evaluate(picture), page.locator("pre").all_inner_texts()) == before


def test_the_plan_has_the_words_of_its_users(dashboard: Dashboard, cache: Cache) -> None:
    cache.put("once", {"a": np.arange(4.0), "b": np.arange(4.0)})
    for spec, windows, positions in [
        ({"context_length": 4}, "1 window", "of 4 positions in 1 item"),
        ({"context_length": 4, "rows": [0, 4], "stride": 4}, "1 window", "of 1 position in 1 item"),
        ({"context_length": 3}, "2 windows", "of 4 positions in 1 item"),
    ]:
        for dtype in (None, "float32", "float64"):
            planned = json.dumps({**spec, "dtype": dtype})
            page = opened(dashboard.go("#/datasets/once", spec=planned))
            expect(page.locator(".answer .big")).to_have_text(windows)
            expect(page.locator(".answer")).to_contain_text(positions)
            text = page.locator("#viewer").inner_text()
            assert not re.search(r"memcpy|transpose|\bpath\b|\b1 \w+s\b", text), text
    page.goto("about:blank")
    cache.remove("once")


def test_whole_groups_are_planned(dashboard: Dashboard, etth1: Dataset) -> None:
    dashboard.refusals = 1
    page = opened(dashboard.go("#/datasets/etth1", **PAPERS))
    box = page.get_by_label("batch_size", exact=True)
    box.evaluate("e => e.closest('details').open = true")
    box.fill("all")
    problem = page.locator(f"#{box.get_attribute('id')}-problem")
    expect(problem).to_contain_text("whole groups are for order")
    page.get_by_label("order", exact=True).select_option("cross_section")
    expect(page.locator(".answer")).to_contain_text("16,989 batches, the last of 1")
    python = page.get_by_label("Python lines", exact=True)
    expect(python).to_contain_text('batch_size=None, order="cross_section"')
    command = page.get_by_label("Command line lines", exact=True)
    expect(command).to_contain_text("--batch-size all --order cross_section")
    page.reload()
    expect(opened(page).get_by_label("batch_size", exact=True)).to_have_value("all")
