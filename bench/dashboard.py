"""The window viewer on an item of a million rows.

The bench measures the time from the click to the drawn chart, and the bytes sent for it.

Run: .venv/bin/python bench/dashboard.py, after make test-browser has installed playwright. It
starts its own daemon.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page, sync_playwright

import tensorcache

ROWS, COLUMNS, ROUNDS = 1_000_000, 3, 7
LIMIT_MS = 1000
MEASURE = "performance.getEntriesByName('series').at(-1).duration"


def main() -> None:
    """Print a line for each way to the chart."""
    binary = os.environ.get("TENSORCACHE_BIN") or shutil.which("tensorcache") or "bin/tensorcache"
    with tempfile.TemporaryDirectory(prefix="tensorcache-") as home:
        os.environ["TENSORCACHE_DIR"] = home
        cache = tensorcache.connect()
        walk = (
            np.random.default_rng(0).normal(size=(ROWS, COLUMNS)).cumsum(axis=0).astype(np.float32)
        )
        cache.put("million", {f"v{i}": walk[:, i] for i in range(COLUMNS)})
        try:
            measure(binary)
        finally:
            cache.stop()


def measure(binary: str) -> None:
    """Draw the item repeatedly and print the medians."""
    address = subprocess.run(
        [binary, "ui", "--print"], capture_output=True, text=True, check=True
    ).stdout.strip()
    base = address.split("/login", maxsplit=1)[0]
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as p:
        browser = p.chromium.launch(
            executable_path=chromium, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1360, "height": 900})
        sent: list[int] = []
        page.on("response", lambda r: sent.append(len(r.body())) if "/series?" in r.url else None)
        page.goto(address)
        print(
            f"an item of {ROWS:,} rows, {COLUMNS} columns; asked for to drawn, median of {ROUNDS}, "
            f"limit {LIMIT_MS}"
        )
        print(
            f"opened   {median(page, lambda: opened(page, base)):7.0f} ms, {sent[-1] / 1024:.0f} "
            "KiB"
        )
        print(f"zoomed   {median(page, lambda: zoomed(page)):7.0f} ms, {sent[-1] / 1024:.0f} KiB")
        browser.close()


def median(page: Page, draw: Callable[[], object]) -> float:
    """Return the median of the page's own measurements."""
    times = []
    for _ in range(ROUNDS):
        draw()
        times.append(float(page.evaluate(MEASURE)))
    return statistics.median(times)


def opened(page: Page, base: str) -> None:
    """Open the viewer again."""
    page.goto("about:blank")
    page.goto(f"{base}/#/datasets/million")
    page.wait_for_selector(".plot.main canvas")
    page.wait_for_selector(".answer[aria-busy=false] .big")


def zoomed(page: Page) -> None:
    """Halve the shown rows with the keyboard."""
    page.locator(".plot.main").focus()
    with page.expect_response("**/series?*"):
        page.keyboard.press("+")
    page.wait_for_selector(".plot.main canvas")


if __name__ == "__main__":
    main()
