"""The pytest setup of all folders of tests.

What they draw is the same in every run, a failed test shows the end of the log of its daemons, and
``internal/ci/parts.py`` gets a report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from cases import use_fixed_profile

LINES = 80
"""How many lines of a daemon's log a failed test shows."""


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
        for path in logs(item):
            lines = path.read_text("utf-8", "replace").splitlines()[-LINES:]
            report.sections.append((f"the last lines of {path}", "\n".join(lines)))
    return report


def logs(item: pytest.Item) -> list[Path]:
    """The logs in the cache directory and in the directory of a test."""
    folders = [os.environ.get("TENSORCACHE_DIR"), getattr(item, "funcargs", {}).get("tmp_path")]
    found = {path for folder in folders if folder for path in Path(folder).rglob("daemon.log")}
    return sorted(path for path in found if path.stat().st_size)


class Report:
    """Writes what failed, with what is said of it, and what passed."""

    def __init__(self, path: Path) -> None:
        """Write to a path when the tests have ended."""
        self.path = path
        self.failed: dict[str, dict[str, str]] = {}
        self.passed: set[str] = set()

    def add(self, name: str, report: Any) -> None:
        """Add a failed test or a module that cannot be imported."""
        crash = getattr(report.longrepr, "reprcrash", None)
        said = self.failed.setdefault(name, {"text": "", "message": ""})
        logs = [f"{title}\n{text}" for title, text in report.sections]
        said["text"] += "\n".join([report.longreprtext, *logs])
        said["message"] += "\n".join([crash.message if crash else report.longreprtext, *logs])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a step of a test: its setup, itself, its teardown."""
        if report.failed:
            self.add(report.nodeid, report)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a module that cannot be imported."""
        if report.failed:
            self.add(report.nodeid, report)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the report."""
        passed = sorted(self.passed - self.failed.keys())
        report = {"exitstatus": int(exitstatus), "failed": self.failed, "passed": passed}
        self.path.write_text(json.dumps(report), "utf-8")
