"""A dashboard page that logs in as a user would and records console messages and requests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, FloatRect, Locator, Page, Request, expect

from daemon import wait_until

SPEC = {"context_length": 336, "prediction_length": 96}
SPLIT = {"lengths": [8640, 2880, 2880]}
PAPERS = {"spec": json.dumps(SPEC), "split": json.dumps(SPLIT)}


@dataclass
class Dashboard:
    """A logged-in page, its console messages, and the addresses that it requested."""

    page: Page
    base: str
    refusals: int = 0  # error responses that a test expects; Chromium writes each to its console
    reply: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def go(self, fragment: str = "#/", **parameters: str) -> Page:
        """Open the view that a fragment names."""
        query = "&".join(f"{k}={quote(v, safe='')}" for k, v in parameters.items())
        self.page.goto("about:blank")
        self.page.goto(f"{self.base}/{fragment}{'?' + query if query else ''}")
        return self.page

    def listen(self) -> None:
        def console(m: ConsoleMessage) -> None:
            if m.type in ("error", "warning"):
                self.reply.append(m.text)

        def request(r: Request) -> None:
            self.asked.append(r.url)

        self.page.on("console", console)
        self.page.on("pageerror", lambda e: self.reply.append(f"{e}"))
        self.page.on("request", request)

    def check(self) -> None:
        """Check that the page has no errors and that no request left the machine."""
        refused = [
            s for s in self.reply if re.match(r"Failed to load resource: .* status of 4\d\d", s)
        ]
        wrong = [s for s in self.reply if s not in refused]
        assert not wrong, f"the page's console: {wrong}"
        assert len(refused) <= self.refusals, (
            f"{len(refused)} answers refuse, want at most {self.refusals}: {refused}"
        )
        foreign = [u for u in self.asked if not u.startswith((self.base + "/", "data:", "about:"))]
        assert not foreign, f"requests left the machine: {foreign}"


def login() -> str:
    """Return the address that ``tensorcache ui`` prints, which is valid once."""
    run = subprocess.run(
        [os.environ["TENSORCACHE_BIN"], "ui", "--print"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return run.stdout.strip()


def check_access(page: Page) -> None:
    """Check that axe-core finds nothing that hinders users of the page."""
    violations = Axe().run(page).response["violations"]
    found = [
        (v["id"], [n["target"] for n in v["nodes"]], v["nodes"][0]["failureSummary"])
        for v in violations
    ]
    assert not found, found


def opened(page: Page) -> Page:
    """Wait until the page shows the plan and is not busy."""
    expect(page.locator(".answer[aria-busy=false] .big")).to_contain_text("window")
    expect(page.locator(".plot.main canvas")).to_be_visible()
    return page


def box_of(part: Locator) -> FloatRect:
    """Return where a part of the page lies, once it is there: a chart may be drawn again."""
    boxes: list[FloatRect] = []

    def visible() -> bool:
        boxes.extend([box] if (box := part.bounding_box()) else [])
        return bool(boxes)

    wait_until(visible, "the part is visible")
    return boxes[-1]


def wait_for_page(page: Page, true: Callable[[], bool]) -> None:
    """Wait, and run the handlers of the page's events."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        page.wait_for_timeout(10)
