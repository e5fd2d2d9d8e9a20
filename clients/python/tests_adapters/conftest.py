"""The pytest setup of all tests in this folder; the fixtures are in daemon.py."""

from __future__ import annotations

import os
import sys

import pytest

from cases import SEED
from daemon import cache, etth1, home

__all__ = ["cache", "etth1", "home"]


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("TENSORCACHE_BIN"):
        raise pytest.UsageError("set TENSORCACHE_BIN to the binary to test (make test does)")


@pytest.fixture(autouse=True)
def seed_of_torch() -> None:
    """Make torch's samplers draw the same in every run; tests of JAX do not import it."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(SEED)
