"""The code of docs/clusters/spark.md on a cluster, and examples/spark_train.py on one machine."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from programs import (
    EXAMPLES,
    ITEMS,
    ONE_EPOCH,
    ROWS,
    Page,
    check_continued,
    check_loss,
    run,
)
from spark_cluster import WORKERS, SparkCluster

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_program_runs_on_one_machine(home: Path) -> None:
    check_loss(run("python", EXAMPLES / "spark_train.py", SPARK_LOCAL_IP="127.0.0.1"))
    assert list((home / "snapshots" / "etth1").glob("*/tensorcache.json"))


def test_the_code_of_the_page_runs(spark_cluster: SparkCluster, tmp_path: Path) -> None:
    page = Page("spark", tmp_path)
    spark = spark_cluster.session
    spark.read.parquet(str(tmp_path / "prices")).createOrReplaceTempView("prices")
    processes = ("num_processes=3", f"num_processes={WORKERS}")
    page.run("The usual code", processes)
    assert list((tmp_path / "close").glob("*.parquet"))
    names = page.run("With tensorcache", processes)
    assert len(names["windows"]) == ITEMS * (ROWS - 119)
    page.run("Continue after a crash", processes, *ONE_EPOCH)
    first = torch.load(tmp_path / "checkpoint.pt")
    page.run("Continue after a crash", processes)
    check_continued(first, torch.load(tmp_path / "checkpoint.pt"))
