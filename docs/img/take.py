"""Takes the pictures of the dashboard in this folder: ``make pictures``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import tensorcache
from tensorcache._daemon.binary import find_binary

HERE = Path(__file__).resolve().parent
ETTH1 = HERE.parent.parent / "examples" / "data" / "ETTh1.csv"
SPEC = {"context_length": 336, "prediction_length": 96}
SPLIT = {"lengths": [8640, 2880, 2880]}


def fill(cache: tensorcache.Cache) -> tensorcache.Windows:
    """Load ETTh1 and two other datasets, and return windows of the first."""
    data = cache.load("etth1", ETTH1, time="date", scale="standard", fit_rows=(0, 8640))
    rng = np.random.default_rng(0)
    for name, rows in (("traffic", 200_000), ("prices", 50_000)):
        values = {f"x{i}": rng.standard_normal(rows).cumsum() for i in range(8)}
        cache.put(name, {"t": np.arange(rows), **values}, time="t")
    return data.windows(**SPEC).split(**SPLIT)[0]


def picture(browser: Browser, path: str, scheme: str, name: str, height: int) -> None:
    """Take one picture of a view in light or dark colours."""
    ui = [find_binary(), "ui", "--print"]
    address = subprocess.run(ui, check=True, capture_output=True, text=True).stdout.strip()
    page = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme=scheme)
    page.goto(address)
    page.goto("about:blank")
    page.goto(f"{address.split('/login', maxsplit=1)[0]}/{path}")
    page.wait_for_timeout(4000)  # live figures need a few seconds
    page.screenshot(path=HERE / f"{name}.png")
    page.close()


def main() -> None:
    """Take all pictures with a daemon of its own."""
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        os.environ["TENSORCACHE_DIR"] = directory
        cache = tensorcache.connect()
        train = fill(cache)
        ended = threading.Event()

        def work() -> None:
            with train.feed(batch_size=32, order="shuffle", seed=0) as feed:
                while not ended.is_set():
                    for _ in feed:
                        if ended.wait(0.005):
                            break

        trainer = threading.Thread(target=work)
        trainer.start()
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        viewer = "#/datasets/etth1?" + urlencode(
            {"spec": json.dumps(SPEC), "split": json.dumps(SPLIT)}
        )
        try:
            picture(browser, viewer, "light", "viewer-light", 1010)
            picture(browser, viewer, "dark", "viewer-dark", 1010)
            picture(browser, "#/", "light", "overview", 900)
        finally:
            ended.set()
            trainer.join()
            browser.close()
            cache.stop()


if __name__ == "__main__":
    main()
