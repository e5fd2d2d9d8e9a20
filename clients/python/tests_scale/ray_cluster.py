"""A Ray cluster on this machine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

NODES = 3


class RayCluster:
    """A head without CPUs, whose cache directory is that of the driver, and nodes of one CPU."""

    def __init__(self, home: Path, folder: Path, directories: list[Path]) -> None:
        self.folder = folder
        self.directories = directories
        self.nodes: list[Any] = []
        """Those with CPUs that were started, in their order."""
        self.home = home
        self.cluster = Cluster()

    def start(self) -> None:
        """Start the nodes, and connect the driver."""
        self.cluster.add_node(
            num_cpus=0, include_dashboard=False, env_vars={"TENSORCACHE_DIR": str(self.home)}
        )
        for _ in range(NODES):
            self.add()
        self.connect()

    def connect(self) -> None:
        """Connect the driver to the cluster."""
        ray.init(address=self.cluster.address, log_to_driver=False, logging_level="WARNING")

    def add(self, **environment: str) -> Any:
        """Start a node with an empty cache directory, which is the last of ``directories``."""
        self.directories.append(self.folder / f"node{len(self.directories)}")
        variables = {"TENSORCACHE_DIR": str(self.directories[-1]), **environment}
        self.nodes.append(self.cluster.add_node(num_cpus=1, env_vars=variables))
        return self.nodes[-1]

    @contextmanager
    def added(self, **environment: str) -> Iterator[Any]:
        """A node that is removed at the end."""
        node = self.add(**environment)
        try:
            yield node
        finally:
            if node in self.cluster.worker_nodes:
                self.cluster.remove_node(node)

    def close(self) -> None:
        """End the cluster."""
        try:
            ray.shutdown()
        finally:
            self.cluster.shutdown()


@pytest.fixture(scope="module")
def ray_environment() -> Iterator[None]:
    """What the processes of Ray find in their environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_enable_metrics_collection", "0")
        patch.setenv("RAY_TRAIN_V2_ENABLED", "1")
        patch.setenv("RAY_memory_monitor_refresh_ms", "0")  # tests do not depend on free memory
        sockets = tempfile.mkdtemp(prefix="ray-")  # the paths of sockets must be short
        patch.setenv("RAY_TMPDIR", sockets)
        yield
        shutil.rmtree(sockets, ignore_errors=True)


@pytest.fixture(scope="module")
def ray_cluster(
    home: Path,
    tmp_path_factory: pytest.TempPathFactory,
    node_directories: list[Path],
    ray_environment: None,
) -> Iterator[RayCluster]:
    """The cluster of the module."""
    cluster = RayCluster(home, tmp_path_factory.mktemp("ray"), node_directories)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


def on(node: Any) -> dict[str, Any]:
    """The options of a task or an actor that runs on a node."""
    return {
        "num_cpus": 0,
        "scheduling_strategy": ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            node.node_id, soft=False
        ),
    }
