"""Ranks, nodes and drivers end during training: the checkpoints lose and repeat no window."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

import pytest

import tensorcache
import tensorcache.ray
from cases import SEED
from daemon import ETTH1, wait_until
from ray_cluster import NODES, RayCluster
from recorded_job import fit, stored_checkpoints
from recorded_steps import CHECKPOINT_STEPS, GLOBAL_BATCH, check, world_sizes

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

WAIT = 300
"""Seconds for what takes one minute on a quiet machine."""

STEPS = 182
"""Those of an epoch."""


@pytest.fixture(scope="module")
def windows(ray_cluster: RayCluster) -> tensorcache.Windows:
    data = tensorcache.ray.load("etth1", ETTH1, time="date")
    windows = data.windows(context_length=24, prediction_length=6)
    assert -(-len(windows) // GLOBAL_BATCH) == STEPS
    return windows


@pytest.mark.parametrize(
    ("rank", "first", "last"),
    [
        (0, 3 * CHECKPOINT_STEPS + 1, STEPS),  # Ray has stored a checkpoint
        (1, 3 * CHECKPOINT_STEPS + 1, STEPS),
        (2, 1, CHECKPOINT_STEPS),  # before the first checkpoint
    ],
)
def test_a_killed_rank(
    windows: tensorcache.Windows, tmp_path: Path, rank: int, first: int, last: int
) -> None:
    step = random.Random(SEED + rank).randint(first, last)
    fit(windows, tmp_path, NODES, kill=(rank, step))
    killed, resumed = check(windows, tmp_path / "steps")
    assert len(killed.steps) <= step
    assert resumed.consumed % (CHECKPOINT_STEPS * GLOBAL_BATCH) == 0
    assert (resumed.consumed > 0) == (first > 1)
    assert resumed.consumed < step * GLOBAL_BATCH


def test_a_removed_and_an_added_node(
    ray_cluster: RayCluster, windows: tensorcache.Windows, tmp_path: Path
) -> None:
    enough, steps = tmp_path / "enough", tmp_path / "steps"
    pool = ThreadPoolExecutor(1)
    job = pool.submit(fit, windows, tmp_path, (2, NODES), until=str(enough))

    def until(true: Callable[[], bool], why: str) -> None:
        wait_until(lambda: job.done() or true(), why, WAIT)

    try:
        until(lambda: stored_checkpoints(tmp_path) > 0, "no checkpoint")
        ray_cluster.cluster.remove_node(ray_cluster.nodes[1])
        until(lambda: world_sizes(steps)[-1] == 2, "no two ranks")
        ray_cluster.add()
        until(lambda: world_sizes(steps)[-1] == NODES, "no rank is added")
    finally:
        enough.touch()
        job.result(WAIT)
        pool.shutdown(wait=False)  # after a failure, the end of the cluster ends the job
    # Ray may start the ranks again with as many as before.
    sizes = [size for size, _ in groupby(each.world_size for each in check(windows, steps))]
    assert sizes == [NODES, 2, NODES]


DRIVER = """
import sys
from itertools import groupby
from pathlib import Path
import ray, tensorcache.ray, recorded_job

address, etth1, folder, num_workers, wait = sys.argv[1:]
ray.init(address, log_to_driver=False)
data = tensorcache.ray.load("etth1", etth1, time="date")
windows = data.windows(context_length=24, prediction_length=6)
recorded_job.fit(windows, Path(folder), int(num_workers), wait=int(wait))
"""


def test_a_killed_driver(
    ray_cluster: RayCluster, windows: tensorcache.Windows, tmp_path: Path
) -> None:
    checkpoints = 3
    wait = str(checkpoints * CHECKPOINT_STEPS + 1)
    command = [sys.executable, "-W", "ignore", "-c", DRIVER]
    command += [ray_cluster.cluster.address, str(ETTH1), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([*command, str(NODES), wait], env=environment) as driver:
        try:
            wait_until(
                lambda: driver.poll() is not None or stored_checkpoints(tmp_path) == checkpoints,
                "the checkpoints are not stored",
                WAIT,
            )
        finally:
            driver.kill()
    assert driver.returncode == -signal.SIGKILL
    subprocess.run([*command, "2", wait], env=environment, check=True, timeout=WAIT)
    killed, resumed = check(windows, tmp_path / "steps")
    assert (killed.world_size, resumed.world_size) == (NODES, 2)
    assert resumed.consumed == checkpoints * CHECKPOINT_STEPS * GLOBAL_BATCH
