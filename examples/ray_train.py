"""A linear model on ETTh1, trained with PyTorch by Ray Train, on one machine or a cluster.

    python examples/ray_train.py
    python examples/ray_train.py --workers 3 --storage-path /shared/tensorcache --name first

The first line starts Ray on this machine. The second is for the driver of a cluster: ``/shared``
is a folder that all nodes can read and write, and all have this repository at the same path. After
the driver was killed, the same line continues from the last checkpoint.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import ray
import ray.data
import ray.train
import torch
from ray.train.torch import TorchTrainer, prepare_model

import tensorcache.ray
import tensorcache.torch

EPOCHS = 3
TRAIN_ROWS = 8640  # 12 months of 30 days
CSV = Path(__file__).resolve().parent / "data" / "ETTh1.csv"


def train(config: dict[str, Any]) -> None:
    """Train, from the last checkpoint on if there is one. Each worker runs this."""
    model = torch.nn.Linear(96, 24)
    parallel = prepare_model(model)  # has the same weights; its state names depend on the workers
    adam = torch.optim.Adam(model.parameters())
    loader = tensorcache.torch.loader(
        config["windows"], batch_size=256, shuffle=True, channels_first=True
    )
    first = 0
    if checkpoint := ray.train.get_checkpoint():
        with checkpoint.as_directory() as folder:
            state = torch.load(Path(folder, "state.pt"))
        model.load_state_dict(state["model"])
        adam.load_state_dict(state["adam"])
        loader.load_state_dict(state["loader"])
        first = state["epoch"] + 1
    for epoch in range(first, EPOCHS):
        for context, target in loader:
            loss = torch.nn.functional.mse_loss(parallel(context), target)
            adam.zero_grad()
            loss.backward()
            adam.step()
        report(
            {"epoch": epoch, "loss": loss.item()},
            {
                "epoch": epoch,
                "model": model.state_dict(),
                "adam": adam.state_dict(),
                "loader": loader.state_dict(),  # that of any rank
            },
        )


def report(metrics: dict[str, Any], state: dict[str, Any]) -> None:
    """Report metrics, and store a checkpoint, which worker 0 writes."""
    if ray.train.get_context().get_world_rank() != 0:
        ray.train.report(metrics)
        return
    with tempfile.TemporaryDirectory() as folder:
        torch.save(state, Path(folder, "state.pt"))
        ray.train.report(metrics, checkpoint=ray.train.Checkpoint.from_directory(folder))


def main() -> None:
    """Load ETTh1 as a Ray Dataset, and train on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--storage-path", help="a folder or URL that all nodes can read and write")
    parser.add_argument("--name", help="of the run; one with the same name continues it")
    arguments = parser.parse_args()
    rows = ray.data.read_csv(str(CSV))
    data = tensorcache.ray.load(
        "etth1",
        rows,
        storage_path=arguments.storage_path,
        time="date",
        scale="standard",
        fit_rows=(0, TRAIN_ROWS),
    )
    windows = data.windows(context_length=96, prediction_length=24)
    training, _ = windows.split(lengths=(TRAIN_ROWS, len(data) - TRAIN_ROWS))
    result = TorchTrainer(
        train,
        train_loop_config={"windows": training},
        scaling_config=ray.train.ScalingConfig(num_workers=arguments.workers),
        run_config=ray.train.RunConfig(
            name=arguments.name,
            storage_path=arguments.storage_path,
            failure_config=ray.train.FailureConfig(max_failures=3),
        ),
    ).fit()
    print(result.metrics)


if __name__ == "__main__":
    main()
