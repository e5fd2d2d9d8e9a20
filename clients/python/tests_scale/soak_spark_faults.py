"""A process of a Spark job is killed: the checkpoints lose and repeat no window."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyspark.cloudpickle
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.ml.torch.distributor import TorchDistributor

import recorded_steps
import tensorcache
import tensorcache.spark
from cases import SEED
from daemon import ETTH1
from recorded_steps import REPORTED, STEP
from spark_cluster import WORKERS, SparkCluster

pytestmark = pytest.mark.filterwarnings("ignore")

pyspark.cloudpickle.register_pickle_by_value(recorded_steps)  # the executors have no such module


def train() -> Any:
    """The function that each process runs."""

    def train(windows: tensorcache.Windows, folder: str, kill: Any) -> None:
        import torch

        torch.distributed.init_process_group("gloo")
        checkpoint = Path(folder, "checkpoint.pt")

        def store(state: Mapping[str, Any]) -> None:
            if torch.distributed.get_rank() == 0:
                new = Path(folder, "checkpoint.new")
                torch.save(state, new)
                new.replace(checkpoint)

        state = torch.load(checkpoint) if checkpoint.exists() else None
        recorded_steps.read(windows, str(Path(folder, "steps")), state, store, kill=kill)

    return train


def test_a_killed_process(spark_cluster: SparkCluster, tmp_path: Path) -> None:
    data = tensorcache.spark.load("etth1", ETTH1, time="date")
    windows = data.windows(context_length=24, prediction_length=6)
    draws = random.Random(SEED)
    kill = draws.randrange(WORKERS), draws.randrange(REPORTED, len(windows) // STEP)
    (tmp_path / "steps").mkdir()
    options = {"local_mode": False, "use_gpu": False}
    with pytest.raises(Py4JJavaError, match="failed barrier"):
        TorchDistributor(WORKERS, **options).run(train(), windows, str(tmp_path), kill)
    TorchDistributor(1, **options).run(train(), windows, str(tmp_path), None)
    first, second = recorded_steps.check(windows, tmp_path / "steps")
    assert (first.world, second.world) == (WORKERS, 1)
    assert second.consumed == kill[1] // REPORTED * REPORTED * STEP
