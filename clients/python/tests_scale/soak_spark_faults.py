"""A process of a Spark job is killed: the checkpoints lose and repeat no window."""

from __future__ import annotations

import random
import sys
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
from recorded_steps import CHECKPOINT_STEPS, GLOBAL_BATCH
from spark_cluster import WORKERS, SparkCluster

pytestmark = pytest.mark.filterwarnings("ignore")

for module in (recorded_steps, sys.modules[__name__]):  # the executors do not have them
    pyspark.cloudpickle.register_pickle_by_value(module)


def train(windows: tensorcache.Windows, folder: str, kill: Any) -> None:
    """What each process runs."""
    import torch

    torch.distributed.init_process_group("gloo")
    checkpoint = Path(folder, "checkpoint.pt")

    def store(state: Mapping[str, Any]) -> None:
        if torch.distributed.get_rank() == 0:
            new = Path(folder, "checkpoint.new")
            torch.save(state, new)
            new.replace(checkpoint)
        torch.distributed.barrier()  # no rank is killed before the checkpoint is stored

    state = torch.load(checkpoint) if checkpoint.exists() else None
    recorded_steps.read(windows, str(Path(folder, "steps")), state, store, kill=kill)


def test_a_killed_process(spark_cluster: SparkCluster, tmp_path: Path) -> None:
    data = tensorcache.spark.load("etth1", ETTH1, time="date")
    windows = data.windows(context_length=24, prediction_length=6)
    step = random.Random(SEED).randint(CHECKPOINT_STEPS + 1, len(windows) // GLOBAL_BATCH)
    (tmp_path / "steps").mkdir()
    options = {"local_mode": False, "use_gpu": False}
    with pytest.raises(Py4JJavaError, match="failed barrier"):
        TorchDistributor(WORKERS, **options).run(train, windows, str(tmp_path), (1, step))
    TorchDistributor(1, **options).run(train, windows, str(tmp_path), None)
    killed, resumed = recorded_steps.check(windows, tmp_path / "steps")
    assert (killed.world_size, resumed.world_size) == (WORKERS, 1)
    assert resumed.consumed == (step - 1) // CHECKPOINT_STEPS * CHECKPOINT_STEPS * GLOBAL_BATCH
