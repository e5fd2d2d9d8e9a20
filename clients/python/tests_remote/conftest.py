"""The pytest setup of these tests, which share the fixtures of ``tests``."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon import cache, home, leave, wait_until
from s3_server import bucket, s3
from tensorcache._remote import requests
from web_server import WebServer

__all__ = ["bucket", "cache", "home", "leave", "s3"]


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("TENSORCACHE_BIN"):
        raise pytest.UsageError("set TENSORCACHE_BIN to the binary to test (make test-remote does)")


@pytest.fixture
def web() -> Iterator[WebServer]:
    server = WebServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.stopping.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the client wait shorter before it tries again."""
    monkeypatch.setattr(requests, "RETRY_SECONDS", (0.01, 0.02))


@pytest.fixture
def nothing_left(home: Path) -> Iterator[None]:
    """Check that a load removes what it staged."""
    yield
    # The daemon removes replaced generations there, too.
    wait_until(lambda: not list((home / "tmp").glob("*")), "something is left")


@pytest.fixture
def steps() -> list[dict[str, Any]]:
    """For ``progress=steps.append``."""
    return []
