"""The overview of datasets, jobs and feeds, and its actions."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from dashboard import Dashboard
from playwright.sync_api import expect

import tensorcache

Cache, Dataset = tensorcache.Cache, tensorcache.Dataset


def test_datasets_are_listed_with_their_figures(
    dashboard: Dashboard, cache: Cache, etth1: Dataset
) -> None:
    page = dashboard.go()
    row = page.get_by_role("row", name=re.compile("etth1"))
    expect(row).to_contain_text("17,420")
    expect(row.get_by_role("link", name="etth1")).to_have_attribute("href", "#/datasets/etth1")
    expect(row.get_by_role("img", name=re.compile("in memory"))).to_be_visible()
    expect(page.locator("#about")).to_contain_text(cache.health()["version"])
    expect(page.locator("#machine")).to_contain_text("MiB")
    assert page.title() == "tensorcache"


def test_a_dataset_is_removed_only_when_that_is_confirmed(
    dashboard: Dashboard, cache: Cache, etth1: Dataset
) -> None:
    cache.put("spare", {"v": [1.0, 2.0, 3.0]})
    page = dashboard.go()
    remove = page.get_by_role("button", name="Remove spare")
    remove.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Remove spare?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).not_to_be_visible()
    expect(remove).to_be_focused()
    reply = page.locator("#datasets > [role=status]")
    expect(reply).to_have_text("")
    remove.press("Enter")
    dialog.get_by_role("button", name="Remove").press("Enter")
    expect(remove).not_to_be_visible()
    expect(reply).to_have_text("spare is removed.")
    expect(page.get_by_role("heading", name="Datasets")).to_be_focused()
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
        for _ in range(2):  # a rate needs two figures
            before = batches.inner_text()
            for _ in feed:
                pass
            expect(batches).not_to_have_text(before)
        expect(card.get_by_role("img", name=re.compile(r"\d+ batches and"))).to_be_visible()
        card.get_by_text("The last figures as a table").click()
        expect(card.get_by_role("row").nth(1)).to_be_visible()
    expect(page.get_by_text("No trainer is attached.")).to_be_visible()
    cache.remove("more")


def test_memory_is_dropped_and_read_again(
    dashboard: Dashboard, cache: Cache, etth1: Dataset
) -> None:
    page = dashboard.go()
    row = page.get_by_role("row", name=re.compile("etth1"))
    reply = page.locator("#datasets > [role=status]")
    unload = row.get_by_role("button", name="Unload etth1")
    column = etth1["OT"]
    assert column.sum() > 0  # the read maps its pages into this process
    unload.press("Enter")
    expect(reply).to_have_text(
        re.compile(r"etth1: .* of 1\.1 MiB stay in memory: mapped by \d+ reader")
    )
    expect(unload).to_be_focused()
    row.get_by_role("button", name="Preload etth1").click()
    expect(reply).to_have_text("etth1 is read into memory, as far as it is not there.")
    expect(row.locator("td.memory")).to_contain_text(re.compile(r"[1-9]\d* %"))
    assert column.sum() > 0  # which was mapped until now


def test_a_feed_is_closed_only_when_that_is_confirmed(dashboard: Dashboard, etth1: Dataset) -> None:
    page = dashboard.go()
    with etth1.windows(context_length=96, prediction_length=24).feed(batch_size=8) as feed:
        batches = iter(feed)
        next(batches)
        close = page.get_by_role("button", name="of etth1").filter(has_text="Close")
        dialog = page.get_by_role("dialog")
        close.press("Enter")
        expect(dialog).to_contain_text("Its trainer gets an error at its next batch")
        page.keyboard.press("Escape")
        expect(close).to_be_focused()
        next(batches)
        close.press("Enter")
        dialog.dispatch_event("close")  # that of the first dialog may come late
        dialog.get_by_role("button", name="Close feed").press("Enter")
        expect(page.get_by_text("No trainer is attached.")).to_be_visible()
        expect(page.get_by_role("heading", name="Feeds")).to_be_focused()
        with pytest.raises(tensorcache.FeedError):
            list(batches)


def test_a_job_is_cancelled(dashboard: Dashboard, cache: Cache) -> None:
    page = dashboard.go()
    pipe = subprocess.Popen(
        [os.environ["TENSORCACHE_BIN"], "put", "slow"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    cancel = page.get_by_role("button", name=re.compile("Cancel j.*, put of slow"))
    cancel.press("Enter")
    job = page.get_by_role("listitem").filter(has_text="slow")
    expect(job).to_contain_text("cancelled")
    expect(job).to_be_focused()
    expect(job.locator(".problem")).to_have_text("")  # the user wanted it
    assert "cancelled" in pipe.communicate(timeout=60)[1]
    assert pipe.returncode == 1
    assert "slow" not in [d["dataset"] for d in cache.datasets()]


def test_a_failed_job_says_why_and_what_to_do(dashboard: Dashboard, home: Path) -> None:
    page = dashboard.go()
    damaged = home / "damaged.parquet"
    damaged.write_bytes(b"PAR1" + b"\xff" * 64 + b"PAR1")
    command = [os.environ["TENSORCACHE_BIN"], "load", "damaged", str(damaged)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 1
    problem = page.get_by_role("listitem").filter(has_text="damaged").first.locator(".problem")
    expect(problem).to_contain_text("damaged.parquet")
    hint = problem.locator(".hint")
    expect(hint).to_be_visible()
    text, advice = problem.inner_text().split("\n")  # the hint is a line of its own
    assert advice[0].isupper()
    assert advice == hint.inner_text()
    assert not text.endswith(".")


def test_somebody_without_a_login_sees_nothing_but_how_to_get_in(
    dashboard: Dashboard, etth1: Dataset
) -> None:
    page = dashboard.page
    page.context.clear_cookies()
    dashboard.refusals = 100  # the previous page sends requests until the browser leaves it
    answer = page.goto(dashboard.base + "/")
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_text("tensorcache ui").first).to_be_visible()
    expect(page.get_by_text("etth1")).to_have_count(0)


def test_ui_names_the_dataset_it_opens(dashboard: Dashboard, etth1: Dataset) -> None:
    command = [os.environ["TENSORCACHE_BIN"], "ui", "etth1", "--print"]
    address = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()
    page = dashboard.page
    page.goto(address)
    expect(page.get_by_role("heading", name="etth1", level=1)).to_be_visible()
    assert page.url.startswith(f"{dashboard.base}/#/datasets/etth1")
    assert page.title() == "etth1 · tensorcache"
