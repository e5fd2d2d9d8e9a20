"""Fixtures of the dashboard's tests in a real Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dashboard import Dashboard, login
from playwright.sync_api import Browser, expect, sync_playwright

from daemon import cache, etth1, home

__all__ = ["cache", "etth1", "home"]

FLAGS = [
    *(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-sync",
    ),
    *("--disable-background-networking", "--disable-component-update"),
]

expect.set_options(timeout=60_000)  # the machine of a test may be busy


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("TENSORCACHE_BIN"):
        raise pytest.UsageError(
            "set TENSORCACHE_BIN to the binary to test (make test-browser does)"
        )


def chromium() -> str:
    """Return the path of Debian's Chromium or of another installed one."""
    named = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    if not named:
        raise pytest.UsageError(
            "no chromium is installed: apt-get install chromium, or name one with CHROMIUM"
        )
    return named


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as p:
        b = p.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield b
        b.close()


@pytest.fixture
def open_page(browser: Browser, home: Path) -> Iterator[Callable[..., Dashboard]]:
    """Return a function that opens a page with the given options of a browser context."""
    made: list[Dashboard] = []

    def make(**options: Any) -> Dashboard:
        context = browser.new_context(**{"viewport": {"width": 1360, "height": 900}, **options})
        context.set_default_timeout(60_000)
        page = context.new_page()
        address = login()
        d = Dashboard(page, address.split("/login", maxsplit=1)[0])
        d.listen()
        made.append(d)
        page.goto(address)
        return d

    yield make
    for d in made:
        d.page.goto("about:blank")
        d.page.context.close()
    for d in made:
        d.check()


@pytest.fixture
def dashboard(open_page: Callable[..., Dashboard]) -> Dashboard:
    """Return a page with default options, which has light colours."""
    return open_page()
