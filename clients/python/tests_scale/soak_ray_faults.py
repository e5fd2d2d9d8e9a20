"""Ranks, nodes and drivers end during training: the checkpoints lose and repeat no window."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tensorcache
import tensorcache.ray
from cases import SEED
from daemon import ETTH1, wait_until
from ray_cluster import NODES, RayCluster
from recorded_job import fit, has_checkpoint
from recorded_steps import REPORTED, STEP, check, worlds

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

STEPS = 182
"""Those of an epoch."""


@pytest.fixture(scope="module")
def windows(ray_cluster: RayCluster) -> tensorcache.Windows:
    data = tensorcache.ray.load("etth1", ETTH1, time="date")
    windows = data.windows(context_length=24, prediction_length=6)
    assert -(-len(windows) // STEP) == STEPS
    return windows


@pytest.mark.parametrize("kill", range(3))
def test_a_killed_rank(windows: tensorcache.Windows, tmp_path: Path, kill: int) -> None:
    draws = random.Random(SEED + kill)
    rank, step = draws.randrange(NODES), draws.randrange(1, STEPS + 1)
    fit(windows, tmp_path, NODES, kill=(rank, step))
    first, second = check(windows, tmp_path / "steps")
    assert len(first.steps) <= step
    assert second.consumed % (REPORTED * STEP) == 0
    assert second.consumed <= step * STEP


def test_a_removed_and_an_added_node(
    ray_cluster: RayCluster, windows: tensorcache.Windows, tmp_path: Path
) -> None:
    enough, steps = tmp_path / "enough", tmp_path / "steps"
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(fit, windows, tmp_path, (2, NODES), until=str(enough))
        try:
            wait_until(lambda: job.done() or has_checkpoint(tmp_path), "no checkpoint", 120)
            ray_cluster.cluster.remove_node(ray_cluster.nodes[1])
            wait_until(lambda: job.done() or worlds(steps) == [NODES, 2], "no two ranks", 200)
            ray_cluster.add()
            wait_until(lambda: job.done() or worlds(steps)[-1] == NODES, "no rank added", 200)
        finally:
            enough.touch()
            job.result()
    assert [each.world for each in check(windows, steps)] == [NODES, 2, NODES]


DRIVER = """
import sys
from pathlib import Path
import ray, tensorcache.ray, recorded_job

address, etth1, folder, world = sys.argv[1:]
ray.init(address, log_to_driver=False)
data = tensorcache.ray.load("etth1", etth1, time="date")
windows = data.windows(context_length=24, prediction_length=6)
recorded_job.fit(windows, Path(folder), int(world), until=folder + "/enough")
"""


def test_a_killed_driver(
    ray_cluster: RayCluster, windows: tensorcache.Windows, tmp_path: Path
) -> None:
    command = [sys.executable, "-W", "ignore", "-c", DRIVER]
    command += [ray_cluster.cluster.address, str(ETTH1), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([*command, str(NODES)], env=environment) as driver:
        try:
            wait_until(
                lambda: driver.poll() is not None or has_checkpoint(tmp_path), "no checkpoint", 120
            )
        finally:
            driver.kill()
    assert driver.returncode == -signal.SIGKILL
    (tmp_path / "enough").touch()
    subprocess.run([*command, "2"], env=environment, check=True)
    first, second = check(windows, tmp_path / "steps")
    assert (first.world, second.world) == (NODES, 2)
    assert second.consumed > 0
