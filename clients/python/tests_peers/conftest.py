"""Setup of the tests in this folder; the daemon's fixtures are in daemon.py."""

from __future__ import annotations

import os

import pytest

from daemon import cache, etth1, home

__all__ = ["cache", "etth1", "home"]


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("TENSORCACHE_BIN"):
        raise pytest.UsageError("set TENSORCACHE_BIN to the binary to test (make test does)")
