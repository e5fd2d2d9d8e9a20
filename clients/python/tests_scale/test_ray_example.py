"""examples/ray_train.py on a cluster; soak_ray.py runs it on one machine."""

from __future__ import annotations

from pathlib import Path

import tensorcache
from programs import EXAMPLES, check_metrics, run
from ray_cluster import NODES, RayCluster


def test_the_program_runs(ray_cluster: RayCluster, home: Path, tmp_path: Path) -> None:
    arguments = ["--workers", str(NODES), "--storage-path", str(tmp_path)]
    address = ray_cluster.cluster.address
    check_metrics(run("python", EXAMPLES / "ray_train.py", *arguments, RAY_ADDRESS=address))
    digests = {
        tensorcache.connect(each, autostart=False).dataset("etth1").digest
        for each in [home, *ray_cluster.directories]
    }
    assert len(digests) == 1
    assert list((tmp_path / "etth1").glob("*/tensorcache.json"))
