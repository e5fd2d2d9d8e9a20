"""The pytest setup of all folders of tests.

What they draw is the same in every run, a failed test shows the end of the log of its daemons, and
``internal/ci/parts.py`` gets a report.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from cases import use_fixed_profile

LINES = 80
"""How many lines of a daemon's log a failed test shows."""

MAX_LINES = 400
"""How many it shows if a data race or a panic is in the log, from there on."""

CRASH = re.compile("DATA RACE|fatal error|^panic|msg=panic|SIG[A-Z]{3,}")


def pytest_configure(config: pytest.Config) -> None:
    """Set up Hypothesis before a module with tests is imported."""
    use_fixed_profile()
    path = os.environ.get("TENSORCACHE_TEST_REPORT")
    if path and not hasattr(config, "workerinput"):  # the process that starts those of xdist
        config.pluginmanager.register(Report(Path(path)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Add the end of the daemons' logs to a failed test."""
    report = yield
    if report.failed:
        for path, text in logs(item).items():
            report.sections.append((f"the last lines of {path}", last_lines(text)))
    return report


def logs(item: pytest.Item) -> dict[Path, str]:
    """The logs in the cache directory of the module and in the directory of a test."""
    daemon = sys.modules.get("daemon")  # its fixture makes the cache directory
    folders = [*getattr(daemon, "directories", []), getattr(item, "funcargs", {}).get("tmp_path")]
    found = {}
    for folder in folders:
        for path in (
            (*Path(folder).glob("daemon.log*"), *Path(folder).glob("*/daemon.log*"))
            if folder
            else ()
        ):
            try:
                found[path] = path.read_text("utf-8", "replace")
            except OSError:  # a daemon removes files at any time
                continue
    return {path: text for path, text in found.items() if text}


def last_lines(text: str) -> str:
    """The last lines of a log, or those from the first sign of a crash on."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if CRASH.search(line)), len(lines))
    return "\n".join(lines[max(0, min(first, len(lines) - LINES)) :][:MAX_LINES])


class Report:
    """Writes the failed tests with their messages, and the passed ones."""

    def __init__(self, path: Path) -> None:
        """Write to a path when the tests have ended."""
        self.path = path
        self.failed: dict[str, dict[str, Any]] = {}
        self.passed: set[str] = set()

    def add(self, report: Any, *, may_rerun: bool) -> None:
        """Add a failed step of a test, or a module that cannot be imported."""
        logs = [f"{title}\n{text}" for title, text in report.sections]
        raised = re.findall(r"^(?:E |\s*\|).*", report.longreprtext, re.MULTILINE)
        crash = getattr(report.longrepr, "reprcrash", None)
        one = self.failed.setdefault(report.nodeid, {"text": "", "signs": "", "may_rerun": True})
        one["text"] += "\n".join([report.longreprtext, *logs, ""])
        messages = [crash.message if crash else report.longreprtext, "\n".join(raised)]
        # What a page of the dashboard shows is no sign: "rows left out before each later part".
        words = [message.partition("Aria snapshot:")[0] for message in messages]
        one["signs"] += "\n".join([*words, *logs, ""])
        one["may_rerun"] &= may_rerun

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a step of a test: its setup, itself, its teardown."""
        if report.failed:  # a fixture that finds something left does so in the teardown
            self.add(report, may_rerun=report.when != "teardown")
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Add a module that cannot be imported."""
        if report.failed:
            self.add(report, may_rerun=False)

    def pytest_sessionfinish(self) -> None:
        """Write the report."""
        report = {"failed": self.failed, "passed": sorted(self.passed - self.failed.keys())}
        self.path.write_text(json.dumps(report), "utf-8")
