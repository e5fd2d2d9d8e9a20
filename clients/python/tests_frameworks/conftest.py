"""Helpers of the tests in this folder; the daemon's fixtures are in daemon.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tensorcache
from daemon import cache, etth1, home

__all__ = ["cache", "etth1", "home", "run", "windows"]

C, P, B = 24, 6, 32


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("TENSORCACHE_BIN"):
        raise pytest.UsageError("set TENSORCACHE_BIN to the binary to test (make test does)")


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    """Return 971 windows: 31 batches of at most 32, the last of 11."""
    return etth1.windows(context_length=C, prediction_length=P, rows=(0, 1000))


def run(code: str, *arguments: object, **environment: str) -> str:
    """Run a program in its own process and return its output."""
    script = f"if True:\n{code}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
             **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def orders(
    windows: tensorcache.Windows, epochs: int, order: str = "shuffle", **options: int | None
) -> list[list[int]]:
    """Return the start rows of ``epochs`` epochs in a feed's order."""
    with windows.feed(batch_size=B, order=order, **options) as feed:  # type: ignore[arg-type]
        return [[start for batch in feed for start in batch.start.tolist()] for _ in range(epochs)]
