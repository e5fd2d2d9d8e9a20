"""examples/spark_train.py on a cluster; soak_spark.py runs it on one machine."""

from __future__ import annotations

from pathlib import Path

import tensorcache
from programs import EXAMPLES, check_loss, run
from spark_cluster import WORKERS, SparkCluster


def test_the_program_runs(spark_cluster: SparkCluster, home: Path, tmp_path: Path) -> None:
    spark_cluster.session.stop()  # an application occupies all cores of the workers
    arguments = ["--processes", str(WORKERS), "--storage-path", str(tmp_path)]
    master = spark_cluster.url
    check_loss(run("spark-submit", "--master", master, EXAMPLES / "spark_train.py", *arguments))
    digests = {
        tensorcache.connect(each, autostart=False).dataset("etth1").digest
        for each in [home, *spark_cluster.directories]
    }
    assert len(digests) == 1
    assert list((tmp_path / "etth1").glob("*/tensorcache.json"))
