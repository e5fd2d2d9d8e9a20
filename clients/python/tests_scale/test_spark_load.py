"""tensorcache.spark.load on a real standalone cluster."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tensorcache
import tensorcache.spark
from daemon import ETTH1
from spark_cluster import WORKERS, SparkCluster

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
