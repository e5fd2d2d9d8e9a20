"""A linear model on ETTh1, trained with PyTorch by Spark, on one machine or a cluster.

    python examples/spark_train.py
    spark-submit examples/spark_train.py --processes 3 --storage-path /shared/tensorcache

The first line runs Spark on this machine. The second is for a cluster, which Spark's configuration
names: ``/shared`` is a folder that the driver and all executors can read and write, and all have
this repository at the same path. The driver runs where ``spark-submit`` does (client mode).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.ml.torch.distributor import TorchDistributor
from pyspark.sql import SparkSession

import tensorcache
import tensorcache.spark

TRAIN_ROWS = 8640  # 12 months of 30 days
CSV = Path(__file__).resolve().parent / "data" / "ETTh1.csv"


def train(windows: tensorcache.Windows) -> float:
    """Train for three epochs, and return the last loss. Each process runs this."""
    import torch

    import tensorcache.torch

    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(96, 24))
    adam = torch.optim.Adam(model.parameters())
    loader = tensorcache.torch.loader(windows, batch_size=256, shuffle=True, channels_first=True)
    for _ in range(3):
        for context, target in loader:
            loss = torch.nn.functional.mse_loss(model(context), target)
            adam.zero_grad()
            loss.backward()
            adam.step()
    return loss.item()


def main() -> None:
    """Load ETTh1 as a DataFrame, and train on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--storage-path", help="a folder or URL that all machines can read and write"
    )
    arguments = parser.parse_args()
    spark = SparkSession.builder.getOrCreate()
    frame = spark.read.csv(CSV.as_uri(), header=True, inferSchema=True)
    data = tensorcache.spark.load(
        "etth1",
        frame,
        storage_path=arguments.storage_path,
        time="date",
        scale="standard",
        fit_rows=(0, TRAIN_ROWS),
    )
    windows = data.windows(context_length=96, prediction_length=24)
    training, _ = windows.split(lengths=(TRAIN_ROWS, len(data) - TRAIN_ROWS))
    distributor = TorchDistributor(arguments.processes, local_mode=False, use_gpu=False)
    print("loss", distributor.run(train, training))


if __name__ == "__main__":
    main()
