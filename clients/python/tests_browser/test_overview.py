"""What the overview shows of datasets, jobs and feeds, and what can be done there."""

from __future__ import annotations

import os
import re
import subprocess

from dashboard import Dashboard
from playwright.sync_api import expect

import tensorcache

Cache, Dataset = tensorcache.Cache, tensorcache.Dataset


def test_datasets_are_listed_with_their_figures(dashboard: Dashboard, cache: Cache, etth1: Dataset) -> None:
    page = dashboard.go()
    row = page.get_by_role("row", name=re.compile("etth1"))
    expect(row).to_contain_text("17,420")
    expect(row.get_by_role("link", name="etth1")).to_have_attribute("href", "#/datasets/etth1")
    expect(row.get_by_role("img", name=re.compile("in memory"))).to_be_visible()
    expect(page.locator("#about")).to_contain_text(cache.health()["version"])
    expect(page.locator("#machine")).to_contain_text("MiB")
    assert page.title() == "tensorcache"


def test_a_dataset_is_removed_only_when_that_is_confirmed(dashboard: Dashboard, cache: Cache, etth1: Dataset) -> None:
    cache.put("spare", {"v": [1.0, 2.0, 3.0]})
    page = dashboard.go()
    remove = page.get_by_role("button", name="Remove spare")
    remove.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Remove spare?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).not_to_be_visible()
    expect(remove).to_be_visible()
    remove.click()
    dialog.get_by_role("button", name="Remove").click()
    expect(remove).not_to_be_visible()
    assert [d["dataset"] for d in cache.datasets()] == ["etth1"]


def test_jobs_and_feeds_are_live(dashboard: Dashboard, cache: Cache, etth1: Dataset) -> None:
    page = dashboard.go()
    expect(page.get_by_text("No trainer is attached.")).to_be_visible()
    cache.put("more", {"v": [1.0, 2.0, 3.0]})
    expect(page.get_by_role("listitem").filter(has_text="more").first).to_contain_text("done")
    windows = etth1.windows(context_length=96, prediction_length=24)
    with windows.feed(batch_size=8, order="shuffle") as feed:
        card = page.get_by_role("article", name=re.compile("of etth1"))
        batches = card.locator("dd").first
        expect(card).to_be_visible()
        for _ in range(2):  # two figures make a rate
            before = batches.inner_text()
            for _ in feed:
                pass
            expect(batches).not_to_have_text(before)
        expect(card.get_by_role("img", name=re.compile(r"\d+ batches and"))).to_be_visible()
        card.get_by_text("The last figures as a table").click()
        expect(card.get_by_role("row").nth(1)).to_be_visible()
    expect(page.get_by_text("No trainer is attached.")).to_be_visible()
    cache.remove("more")


def test_memory_is_dropped_and_read_again(dashboard: Dashboard, cache: Cache, etth1: Dataset) -> None:
    page = dashboard.go()
    row = page.get_by_role("row", name=re.compile("etth1"))
    row.get_by_role("button", name="Unload etth1").click()
    expect(page.locator("#announce")).to_have_text("etth1: unload")
    row.get_by_role("button", name="Preload etth1").click()
    expect(row.locator("td.memory")).to_contain_text("100 %")


def test_somebody_without_a_login_sees_nothing_but_how_to_get_in(dashboard: Dashboard, etth1: Dataset) -> None:
    page = dashboard.page
    page.context.clear_cookies()
    dashboard.refusals = 100  # the page before asks on until it is left
    answer = page.goto(dashboard.base + "/")
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_text("tensorcache ui").first).to_be_visible()
    expect(page.get_by_text("etth1")).to_have_count(0)


def test_ui_names_the_dataset_it_opens(dashboard: Dashboard, etth1: Dataset) -> None:
    command = [os.environ["TENSORCACHE_BIN"], "ui", "etth1", "--print"]
    address = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    page = dashboard.page
    page.goto(address)
    expect(page.get_by_role("heading", name="etth1", level=1)).to_be_visible()
    assert page.url.startswith(f"{dashboard.base}/#/datasets/etth1")
    assert page.title() == "etth1 · tensorcache"
