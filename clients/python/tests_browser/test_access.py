"""The dashboard without a mouse, with a screen reader, and in light and dark colours."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from dashboard import Dashboard, check_access
from playwright.sync_api import Page, expect

import tensorcache

PAPERS = {
    "spec": json.dumps({"context_length": 336, "prediction_length": 96}),
    "split": json.dumps({"lengths": [8640, 2880, 2880]}),
}
MOST_TABS = 120


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the element has the focus, as a user without a mouse does."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement?.matches(s)", selector):
            return
    raise AssertionError(f"{selector} is not reached by {MOST_TABS} tabs")


def test_everything_goes_by_the_keyboard(dashboard: Dashboard, etth1: tensorcache.Dataset) -> None:
    page = dashboard.go()
    expect(page.get_by_role("link", name="etth1")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    tab_to(page, "a[href='#/datasets/etth1']")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="etth1", level=1)).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    expect(page.locator(".answer[aria-busy=false] .big")).to_be_visible()
    tab_to(page, ".columns input")
    page.keyboard.press("Space")
    expect(page.get_by_role("checkbox", name="HUFL", exact=True)).not_to_be_checked()
    tab_to(page, ".plot.main")
    page.keyboard.press("+")
    expect(page.get_by_text("rows 4,355 to 13,065 of 17,420")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("rows 5,444 to 14,154 of 17,420")).to_be_visible()
    page.keyboard.press("0")
    expect(page.get_by_text("rows 0 to 17,420 of 17,420")).to_be_visible()
    tab_to(page, "[aria-label='Next window']")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Window", exact=True)).to_have_value("1")
    tab_to(page, "#f-spec-context_length")
    page.keyboard.press("Control+A")
    page.keyboard.type("100")
    expect(page.locator(".big")).to_contain_text("17,225 windows")
    tab_to(page, "#f-split-fractions")
    page.keyboard.type("0.5, 0.5")
    expect(page.locator(".answer")).to_contain_text("train")
    page.keyboard.press("Shift+Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "the focus is not seen"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    open_page: Callable[..., Dashboard], etth1: tensorcache.Dataset, scheme: str
) -> None:
    d = open_page(color_scheme=scheme, reduced_motion="reduce")
    page = d.go()
    expect(page.get_by_role("link", name="etth1")).to_be_visible()
    check_access(page)
    page.get_by_role("button", name="Remove etth1").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    check_access(page)
    d.go("#/datasets/etth1", **PAPERS)
    expect(page.locator(".answer[aria-busy=false] .big")).to_be_visible()
    for details in page.locator("details.group").all():
        details.evaluate("e => { e.open = true }")
    d.refusals = 3  # the plan, and its stretches with and without the split
    page.get_by_label("context_length").fill("0")
    expect(page.locator("[aria-invalid=true]")).to_be_visible()
    check_access(page)


def test_light_and_dark_are_those_of_the_system(
    open_page: Callable[..., Dashboard], etth1: tensorcache.Dataset
) -> None:
    d = open_page(color_scheme="dark")
    page = d.go("#/datasets/etth1", **PAPERS)
    expect(page.locator(".answer[aria-busy=false] .big")).to_be_visible()
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    drawn = "() => document.querySelector('.plot.main canvas')?.toDataURL()"
    expect(page.get_by_label("Window", exact=True)).to_have_value("0")
    expect(
        page.locator(".plot.main canvas")
    ).to_be_visible()  # the chart shows the window, and no redraw is pending
    before = page.evaluate(drawn)
    page.emulate_media(color_scheme="light")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (dark, light) == ("rgb(20, 24, 30)", "rgb(255, 255, 255)")
    # A timeout here means that the chart did not change its colours.
    page.wait_for_function(f"before => ({drawn})() !== before", arg=before)


@pytest.mark.parametrize(
    ("scheme", "colour"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 30)")]
)
@pytest.mark.parametrize("path", ["/", "/login", "/login?key=used"])
def test_the_login_page_looks_like_the_dashboard(
    open_page: Callable[..., Dashboard], scheme: str, colour: str, path: str
) -> None:
    d = open_page(color_scheme=scheme, viewport={"width": 420, "height": 800})
    d.refusals = 100  # the previous page sends requests until the browser leaves it
    page = d.page
    page.context.clear_cookies()
    page.goto(d.base + path)
    expect(page.get_by_role("heading", name="Not logged in")).to_be_visible()
    background = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(background) == colour
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    check_access(page)


def test_a_narrow_window_loses_nothing(
    open_page: Callable[..., Dashboard], cache: tensorcache.Cache, etth1: tensorcache.Dataset
) -> None:
    d = open_page(viewport={"width": 420, "height": 800})
    page = d.go("#/datasets/etth1", **PAPERS)
    expect(page.locator(".answer[aria-busy=false] .big")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "the page scrolls sideways"
    )
    headings = page.locator("#viewer h2")
    tops = {h.inner_text(): (h.bounding_box() or {"y": 0.0})["y"] for h in headings.all()}
    assert tops["Plan"] < tops["Spec"] < tops["The same in code"]
    cache.put("a" * 100, {"v": [1.0, 2.0]})
    d.go()
    for name in ("etth1", "a" * 100):
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name=name))
        for part in [
            row.get_by_role("link"),
            row.get_by_role("img"),
            *row.get_by_role("button").all(),
        ]:
            expect(part).to_be_visible()
            box = part.bounding_box()
            assert box is not None
            assert box["x"] >= 0, name
            assert box["x"] + box["width"] <= 420, f"{name}: {box} lies outside"
    check_access(page)
    cache.remove("a" * 100)


def test_a_button_that_does_no_more_keeps_the_focus(
    dashboard: Dashboard, etth1: tensorcache.Dataset
) -> None:
    spec = '{"context_length": 336, "prediction_length": 96, "stride": 10000}'
    page = dashboard.go("#/datasets/etth1", spec=spec, window="0", **{"from": "0", "to": "2000"})
    # Before the page shows a window, "Next window" would go to the first.
    expect(page.get_by_label("Window", exact=True)).to_have_value("0")
    for name in ("Next window", "Previous window", "Show all rows"):
        button = page.get_by_role("button", name=name)
        expect(button).to_be_enabled()
        button.press("Enter")
        expect(button).to_be_disabled()
        expect(button).to_be_focused()
    page.get_by_role("button", name="Previous window").press("Enter")
    expect(page.get_by_label("Window", exact=True)).to_have_value("0")
