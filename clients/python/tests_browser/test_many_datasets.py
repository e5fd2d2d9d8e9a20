"""The overview of many datasets: search, order, and the way to jobs and feeds on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from dashboard import Dashboard, check_access
from playwright.sync_api import Locator, Page, expect

import tensorcache

Cache = tensorcache.Cache
COUNT = 30


@pytest.fixture(scope="module")
def many(cache: Cache) -> Iterator[list[str]]:
    """Return the names of datasets, of which each has more rows than the one before."""
    names = [f"set_{i:02d}" for i in range(COUNT)]
    for i, name in enumerate(names):
        cache.put(name, {"v": np.arange(10.0 * (i + 1))})
    yield names
    for name in names:
        cache.remove(name)


def listed(page: Page) -> Locator:
    return page.locator("#datasets tbody th a")


def test_datasets_are_found_and_sorted(dashboard: Dashboard, many: list[str]) -> None:
    page = dashboard.go()
    expect(listed(page)).to_have_count(20)
    expect(page.locator("#datasets .pick")).to_contain_text("30 datasets")
    page.get_by_role("button", name="Show 10 more").click()
    expect(listed(page)).to_have_text(many)
    order = page.get_by_label("Sort by")
    for name in ("rows", "size"):
        order.select_option(name)
        expect(listed(page)).to_have_text(many[:-21:-1])
    order.select_option("newest")
    expect(listed(page)).to_have_count(20)
    order.select_option("name")
    page.get_by_label("Find a dataset").fill("T_2")
    expect(listed(page)).to_have_text(many[20:])
    expect(page.locator("#datasets .pick")).to_contain_text("10 of 30 datasets")
    page.get_by_label("Find a dataset").fill("nothing")
    expect(listed(page)).to_have_count(0)
    page.get_by_label("Find a dataset").fill("")
    expect(listed(page)).to_have_text(many[:20])


def test_no_dataset_is_cut_off(dashboard: Dashboard, many: list[str]) -> None:
    page = dashboard.go()
    expect(listed(page)).to_have_count(20)
    check_access(page)
    inner = "e => [e.scrollHeight, e.clientHeight]"
    height, visible = page.locator("#datasets .scroll").evaluate(inner)
    assert height <= visible + 1, "the list scrolls inside the page"


def test_jobs_and_feeds_are_one_tap_away_on_a_phone(
    open_page: Callable[..., Dashboard], many: list[str]
) -> None:
    page = open_page(viewport={"width": 420, "height": 800}, has_touch=True).go()
    expect(listed(page)).to_have_count(20)
    links = page.get_by_role("navigation", name="Sections")
    for place in (0, 600, 100_000):  # also from the middle and from the end of the page
        for name in ("Feeds", "Jobs", "Datasets"):
            page.evaluate("y => scrollTo(0, y)", place)
            link = links.get_by_role("link", name=name)
            expect(link).to_be_in_viewport()
            link.tap()
            heading = page.get_by_role("heading", name=name, exact=True)
            expect(heading).to_be_focused()
            expect(heading).to_be_in_viewport()
    page.goto(page.url.split("#")[0] + "#/feeds")
    expect(page.get_by_role("heading", name="Feeds")).to_be_in_viewport()


def test_a_dataset_says_when_and_from_where_it_was_loaded(
    dashboard: Dashboard, cache: Cache, etth1: tensorcache.Dataset
) -> None:
    cache.put("from_here", {"v": [1.0, 2.0]})
    (loaded,) = (d["created"][:10] for d in cache.datasets() if d["dataset"] == "etth1")
    page = dashboard.go()
    expect(
        page.get_by_role("row").filter(has=page.get_by_role("link", name="etth1"))
    ).to_contain_text(loaded)
    dashboard.go("#/datasets/etth1")
    expect(page.locator(".viewer-head")).to_contain_text(loaded)
    expect(page.locator(".viewer-head")).to_contain_text("ETTh1.csv")
    dashboard.go("#/datasets/from_here")
    expect(page.locator(".viewer-head")).to_contain_text("UTC from a client")
    page.goto("about:blank")
    cache.remove("from_here")
