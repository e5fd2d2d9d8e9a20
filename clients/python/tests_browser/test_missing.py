"""A dataset that is not there is said so, and nothing of another one is shown in its place."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest
from dashboard import Dashboard, wait_for_page
from playwright.sync_api import Error, Page, Request, Route, expect

import tensorcache

Cache, Dataset = tensorcache.Cache, tensorcache.Dataset


def opened(dashboard: Dashboard, name: str) -> Page:
    page = dashboard.go(f"#/datasets/{name}")
    expect(page.locator(".answer[aria-busy=false] .big")).to_contain_text("window")
    expect(page.locator(".plot.main canvas")).to_be_visible()
    return page


def expect_nothing_but_the_reason(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    expect(page.locator(".viewer-head [role=alert]")).to_contain_text(name)
    expect(page.locator(".viewer")).to_be_hidden()
    expect(page.locator(".viewer-head .quiet")).to_have_text("")
    expect(page.locator(".plot canvas")).to_have_count(0)


@pytest.mark.parametrize("late", ["", "/series", "/plan", "/stretches", "/windows", "/items", "?"])
def test_a_missing_dataset_shows_no_other(
    dashboard: Dashboard, cache: Cache, etth1: Dataset, late: str
) -> None:
    """Answers about the dataset before arrive before the address changes, or after it."""
    dashboard.refusals = 10
    page = opened(dashboard, "etth1")
    unanswered: list[Route] = []
    ended: list[Request] = []
    page.on("requestfinished", lambda request: ended.append(request))
    page.on("requestfailed", lambda request: ended.append(request))
    if late:
        page.route(
            re.compile(f"/datasets/etth1{re.escape(late) if late != '?' else '$'}"),
            lambda route: unanswered.append(route),
        )
        page.evaluate("location.hash = '#/datasets/etth1?from=100&to=900&window=7'")
        page.get_by_label("stride").fill("3")
        wait_for_page(page, lambda: bool(unanswered))
    page.evaluate("location.hash = '#/datasets/absent'")
    expect_nothing_but_the_reason(page, "absent")
    for route in unanswered:
        with contextlib.suppress(Error):  # the page has ended the request
            route.continue_()
    wait_for_page(page, lambda: {route.request for route in unanswered} <= {*ended})
    page.evaluate("new Promise(done => setTimeout(done))")  # after what waits for the answers
    expect_nothing_but_the_reason(page, "absent")
    page.unroute_all(behavior="ignoreErrors")
    page.evaluate("location.hash = '#/datasets/etth1'")
    expect(page.locator(".plot.main canvas")).to_be_visible()
    expect(page.locator(".answer")).to_contain_text("16,989 windows")


def test_a_dataset_that_is_removed_leaves_the_page(dashboard: Dashboard, cache: Cache) -> None:
    dashboard.refusals = 10
    cache.put("brief", {"v": np.arange(100.0)})
    page = opened(dashboard, "brief")
    expect(page.locator(".viewer-head")).to_contain_text("100 rows")
    cache.remove("brief")
    expect_nothing_but_the_reason(page, "brief")
    cache.put("brief", {"v": np.arange(200.0)})
    expect(page.locator(".viewer-head")).to_contain_text("200 rows")
    expect(page.locator(".plot.main canvas")).to_be_visible()
    cache.put("brief", {"v": np.arange(300.0)})
    expect(page.locator(".viewer-head")).to_contain_text("300 rows")
    expect(page.get_by_text("rows 0 to 300 of 300")).to_be_visible()
    cache.remove("brief")
    expect_nothing_but_the_reason(page, "brief")


def test_an_item_that_is_not_there_is_said_so(dashboard: Dashboard, etth1: Dataset) -> None:
    page = opened(dashboard, "etth1")
    # The click writes the state to the address, before the event of the new address.
    page.evaluate("""
        location.hash = "#/datasets/etth1?code=7";
        document.querySelector(".viewer input[type=checkbox]").click();
    """)
    expect(page.locator(".viewer-head [role=alert]")).to_contain_text("item 7")
    expect(page.locator(".viewer")).to_be_hidden()
