"""tensorcache.spark.load on a real standalone cluster."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.errors import PySparkException

import tensorcache
import tensorcache.spark
from daemon import ETTH1
from spark_cluster import WORKERS, SparkCluster
from tensorcache._snapshots import Snapshot

pytestmark = pytest.mark.filterwarnings("ignore")


def test_ranks_share_an_epoch(spark_cluster: SparkCluster, tmp_path: Path) -> None:
    from pyspark.ml.torch.distributor import TorchDistributor

    def train(windows: Any, out: str) -> None:
        import json
        import os
        from pathlib import Path

        import torch

        import tensorcache.torch

        torch.distributed.init_process_group("gloo")
        loader = tensorcache.torch.loader(windows, batch_size=64, shuffle=True, format="dict")
        starts = [batch["start"].tolist() for batch in loader]
        said = {"directory": os.environ["TENSORCACHE_DIR"], "starts": starts}
        Path(out, os.environ["RANK"]).write_text(json.dumps(said))
        torch.distributed.barrier()

    import json

    data = tensorcache.spark.load("etth1", ETTH1, time="date")
    windows = data.windows(context_length=24, prediction_length=6)
    TorchDistributor(num_processes=WORKERS, local_mode=False, use_gpu=False).run(
        train, windows, str(tmp_path)
    )
    ranks = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(WORKERS)]
    assert len({each["directory"] for each in ranks}) == WORKERS
    steps = -(-len(windows) // (64 * WORKERS))
    assert [len(each["starts"]) for each in ranks] == [steps] * WORKERS
    served = Counter(start for each in ranks for batch in each["starts"] for start in batch)
    assert set(served) == set(range(len(windows)))
    assert served.total() - len(served) == steps * 64 * WORKERS - len(windows)


def test_a_source_edited_before_the_tasks_is_refused(
    spark_cluster: SparkCluster, tmp_path: Path
) -> None:
    path = tmp_path / "edited.csv"
    path.write_text("t,v\n1,1\n2,2\n3,3\n")
    windows = tensorcache.spark.load("edited", path, time="t").windows(context_length=2)
    path.write_text("t,v\n1,1\n2,2\n3,3\n4,4\n")

    def first(_: Any) -> list[str]:
        try:
            return [str(batch.start) for batch in windows.feed(batch_size=2)]
        except tensorcache.StaleError as error:
            return [error.detail]

    said = spark_cluster.session.sparkContext.parallelize([0], 1).mapPartitions(first).collect()
    assert len(said) == 1
    assert f'"{path}" has ' in said[0]
    assert "and had" in said[0]


ROWS, ITEMS = 1200, 3
OPTIONS: dict[str, Any] = {"item_id": "item", "time": "t"}


def frame_of(cluster: SparkCluster, first: int = 0) -> Any:
    """A DataFrame with the rows of items in turn, in four parts."""
    return (
        cluster.session.range(ROWS)
        .selectExpr(
            f"concat('i', id % {ITEMS}) item",
            "timestamp_seconds(id) t",
            f"cast(id + {first} as float) v",
        )
        .repartition(4)
    )


def test_executors_load_a_frame_that_is_written_once(
    spark_cluster: SparkCluster, tmp_path: Path
) -> None:
    place = tmp_path / "a b%20é"
    for first in (0, 100):
        frame = frame_of(spark_cluster, first)
        data = tensorcache.spark.load("frame", frame, **OPTIONS, storage_path=place)
        values = data["v"].reshape(ITEMS, -1)
        assert set(values[:, 0]) == set(range(first, first + ITEMS))
        assert (np.diff(values) == ITEMS).all()
        assert values.size == ROWS
        seconds = (data["t"] - np.datetime64(0, "s")) / np.timedelta64(1, "s")
        assert (seconds == data["v"] - first).all()
    windows = data.windows(context_length=4)

    def used(_: Any) -> list[tuple[float, str]]:
        import os

        return [(float(windows.dataset["v"].sum()), os.environ["TENSORCACHE_DIR"])]

    said = spark_cluster.session.sparkContext.parallelize([0], 1).mapPartitions(used).collect()
    (total, directory) = said[0]
    assert total == sum(range(100, 100 + ROWS))
    assert directory in map(str, spark_cluster.directories)
    machine = tensorcache.connect(directory, autostart=False)
    assert machine.dataset("frame").digest == data.digest
    found = tensorcache.spark.load("frame", None, **OPTIONS, storage_path=place)
    assert found.manifest["sources"] == data.manifest["sources"]
    assert len(list((place / "frame").iterdir())) == 2


def test_partitions_may_be_empty(spark_cluster: SparkCluster, tmp_path: Path) -> None:
    frame = spark_cluster.session.range(0, 100, 1, 4).where("id > 60")
    assert len(tensorcache.spark.load("some", frame, time="id", storage_path=tmp_path)) == 39


def test_a_cluster_needs_a_storage_path(spark_cluster: SparkCluster) -> None:
    for sources in (frame_of(spark_cluster), None):
        with pytest.raises(tensorcache.SpecError, match="storage_path: got none, want a folder"):
            tensorcache.spark.load("frame", sources, **OPTIONS)


def test_a_write_that_fails_leaves_nothing(spark_cluster: SparkCluster, tmp_path: Path) -> None:
    frame = frame_of(spark_cluster).selectExpr("item", "t", "if(v = 7, raise_error('seven'), v) v")
    with pytest.raises(PySparkException, match="seven"):
        tensorcache.spark.load("frame", frame, **OPTIONS, storage_path=tmp_path)
    assert not list((tmp_path / "frame").iterdir())


def test_rows_that_the_driver_does_not_find_are_refused(
    spark_cluster: SparkCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Snapshot.check_written

    def check_written(snapshot: Snapshot, rows: int) -> dict[str, int]:
        next(Path(snapshot.data.path).glob("*.parquet")).unlink()  # as if it were on another disk
        return real(snapshot, rows)

    monkeypatch.setattr(Snapshot, "check_written", check_written)
    frame = spark_cluster.session.range(0, 100, 1, 4)
    with pytest.raises(tensorcache.SourceError, match=r"got 75 rows in .*, want the 100 that"):
        tensorcache.spark.load("lost", frame, time="id", storage_path=tmp_path)
    assert not list((tmp_path / "lost").iterdir())
