"""Ray Datasets are written once, and loaded by every node of a real cluster."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import ray
import ray.data

import tensorcache
import tensorcache.ray
from daemon import wait_until
from ray_cluster import NODES, RayCluster
from s3_server import S3
from tensorcache._adapters import ray_data
from tensorcache._snapshots import Snapshot

pytestmark = [
    pytest.mark.usefixtures("s3_environment"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

ROWS, ITEMS = 1200, 3


def dataset(first: int = 0) -> Any:
    """A Ray Dataset, in another order of its rows at each execution."""
    ray.data.DataContext.get_current().enable_progress_bars = False
    number = np.arange(ROWS)
    table = pa.table(
        {
            "item": pa.array([f"i{i % ITEMS}" for i in number]),
            "t": number // ITEMS,
            "v": (first + number).astype(np.float32),
        }
    )
    return ray.data.from_arrow(table).repartition(4).random_shuffle()


def check(data: tensorcache.Dataset, first: int = 0) -> None:
    """Check that all rows are there, those of an item in their order."""
    values = data["v"].reshape(ITEMS, -1)
    assert set(values[:, 0]) == set(range(first, first + ITEMS))
    assert (np.diff(values) == ITEMS).all()
    assert values.size == ROWS


def options(place: object) -> dict[str, Any]:
    return {"time": "t", "item_id": "item", "storage_path": place}


def digests(directories: list[Path], name: str) -> set[str]:
    """The digests of the newest generations in some cache directories."""
    return {tensorcache.connect(each, autostart=False).dataset(name).digest for each in directories}


def test_all_nodes_load_the_same_rows(ray_cluster: RayCluster, home: Path, tmp_path: Path) -> None:
    place = tmp_path / "a b%20é"
    machines = [home, *ray_cluster.directories[:NODES]]
    for first in (0, 100):
        data = tensorcache.ray.load("rows", dataset(first), **options(place))
        check(data, first)
        assert digests(machines, "rows") == {data.digest}
    found = tensorcache.ray.load("rows", None, **options(place))
    assert found.digest == data.digest
    assert found.manifest["sources"] == data.manifest["sources"]
    assert len(list((place / "rows").iterdir())) == 2


def test_nodes_fetch_from_a_store(ray_cluster: RayCluster, home: Path, bucket: S3) -> None:
    data = tensorcache.ray.load("stored", dataset(), **options("s3://prices/store"))
    check(data)
    assert digests([home, *ray_cluster.directories[:NODES]], "stored") == {data.digest}
    found = tensorcache.ray.load("stored", None, **options("s3://prices/store"))
    assert found.digest == data.digest
    with pytest.raises(ray.exceptions.RayError, match="bucket"):
        tensorcache.ray.load("stored", dataset(), **options("s3://nowhere/store"))


def test_one_machine_needs_no_storage_path(
    ray_cluster: RayCluster, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tensorcache.ray.load("local", dataset(), **options(None))
    assert digests(ray_cluster.directories[:NODES], "local") == {data.digest}
    assert list((home / "snapshots" / "local").glob("*/tensorcache.json"))
    two = {i: {"NodeManagerHostname": i, "NodeManagerAddress": i} for i in "ab"}
    monkeypatch.setattr(ray_data, "alive", lambda: two)
    for sources in (dataset(), None):
        with pytest.raises(tensorcache.SpecError, match="want a folder that all 2 machines"):
            tensorcache.ray.load("local", sources, **options(None))


def test_a_snapshot_is_found_without_a_cluster(ray_cluster: RayCluster, tmp_path: Path) -> None:
    data = tensorcache.ray.load("rows", dataset(), **options(tmp_path), preload=False)
    ray.shutdown()
    try:
        found = tensorcache.ray.load("rows", None, **options(tmp_path), preload=False)
        assert found.digest == data.digest
        assert not ray.is_initialized()
    finally:
        ray_cluster.connect()


def test_a_write_that_fails_leaves_nothing(ray_cluster: RayCluster, tmp_path: Path) -> None:
    def fail(batch: Any) -> Any:
        if 7 in batch["v"]:
            raise ZeroDivisionError("a task failed")
        return batch

    rows = dataset().repartition(1).map_batches(fail)
    with pytest.raises(ray.exceptions.RayError, match="a task failed"):
        tensorcache.ray.load("rows", rows, **options(tmp_path))
    assert not list((tmp_path / "rows").iterdir())


def test_a_node_without_the_folder_is_refused(
    ray_cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Snapshot, "create", lambda _: None)  # as on a node that has another disk
    with pytest.raises(tensorcache.SpecError, match=f'a node does not have the folder "{tmp_path}'):
        tensorcache.ray.load("rows", dataset(), **options(tmp_path))
    assert not list(tmp_path.iterdir())


SLOW = """
import os, sys, time
import ray, ray.data, tensorcache.ray

address, place, going_on = sys.argv[1:]

def one_waits(batch):
    while batch["id"][0] == 0 and os.path.exists(going_on):
        time.sleep(0.01)
    return batch

ray.init(address, log_to_driver=False)
rows = ray.data.range(1000, override_num_blocks=4).map_batches(one_waits)
tensorcache.ray.load("killed", rows, time="id", storage_path=place)
"""


def test_a_driver_that_is_killed_leaves_nothing_that_is_loaded(
    ray_cluster: RayCluster, tmp_path: Path
) -> None:
    going_on = tmp_path / "going on"
    going_on.write_text("")
    address = ray_cluster.cluster.address
    driver = subprocess.Popen([sys.executable, "-c", SLOW, address, tmp_path / "store", going_on])
    try:

        def written() -> bool:
            assert driver.poll() is None, "the driver has ended"
            return any(tmp_path.glob("store/killed/*/data/*.parquet"))

        wait_until(written, "nothing is written")
        driver.send_signal(signal.SIGKILL)
    finally:
        driver.kill()
        driver.wait()
        going_on.unlink()
    with pytest.raises(tensorcache.NotFoundError, match="no complete snapshot"):
        tensorcache.ray.load("killed", None, time="id", storage_path=tmp_path / "store")
