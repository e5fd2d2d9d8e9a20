"""The tasks of a page's main thread, from Chromium's own trace."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

LONGEST = 0.2  # seconds; a longer task makes a page feel stuck

TIMED = bool(os.environ.get("TENSORCACHE_SOAK"))
"""Only make soak measures: how long a task takes depends on the machine."""


@contextmanager
def only_short_tasks(page: Page) -> Iterator[None]:
    """Fail in make soak if a task of the page's main thread takes longer than LONGEST.

    The seconds are those of the processor, because other work may stop the browser for longer.
    """
    if not TIMED:
        yield
        return
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=["toplevel"])
    try:
        yield
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {
        (e["pid"], e["tid"])
        for e in events
        if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        e["tdur"] / 1e6
        for e in events
        if e["name"].endswith("RunTask") and "tdur" in e and (e["pid"], e["tid"]) in main
    ]
    assert tasks, "the trace has no task of a main thread"
    assert max(tasks) <= LONGEST, f"a task took {max(tasks):.3f} s of the main thread"
