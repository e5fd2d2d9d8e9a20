"""The pytest setup of these tests, which share the fixtures of ``tests``.

Each node of a cluster has a cache directory of its own, as machines have.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import home, leave
from ray_cluster import ray_cluster
from spark_cluster import spark_cluster

__all__ = ["home", "leave", "ray_cluster", "spark_cluster"]


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("TENSORCACHE_BIN"):
        raise pytest.UsageError("set TENSORCACHE_BIN to the binary to test (make test-scale does)")


@pytest.fixture(scope="module")
def node_directories(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """The cache directories of nodes; tests add those that they start."""
    found: list[Path] = []
    yield found
    for directory in found:
        if directory.is_dir():
            leave(directory)
