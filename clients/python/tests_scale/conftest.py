"""The pytest setup of these tests, which share the fixtures of ``tests``.

Each node of a cluster has a cache directory of its own, as machines have.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import home, leave
from ray_cluster import ray_cluster, ray_environment
from s3_server import S3, bucket, s3
from spark_cluster import spark_cluster

__all__ = ["bucket", "home", "leave", "ray_cluster", "ray_environment", "s3", "spark_cluster"]


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("TENSORCACHE_BIN"):
        raise pytest.UsageError("set TENSORCACHE_BIN to the binary to test (make test-scale does)")


@pytest.fixture(scope="module")
def s3_environment(s3: S3) -> Iterator[None]:
    """The server's address and credentials in the environment, as each machine has them."""
    made_by = s3.options["client_kwargs"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", made_by["endpoint_url"])
        patch.setenv("AWS_DEFAULT_REGION", made_by["region_name"])
        patch.setenv("AWS_ACCESS_KEY_ID", s3.options["key"])
        patch.setenv("AWS_SECRET_ACCESS_KEY", s3.options["secret"])
        yield


@pytest.fixture(scope="module")
def node_directories(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """The cache directories of nodes; tests add those that they start."""
    found: list[Path] = []
    yield found
    for directory in found:
        if directory.is_dir():
            leave(directory)
