"""Recorded training as a job of Ray Train."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray.train
from ray.train.torch import TorchTrainer

import recorded_steps
import tensorcache

ray.cloudpickle.register_pickle_by_value(recorded_steps)  # the nodes do not have these modules


def fit(windows: tensorcache.Windows, folder: Path, num_workers: Any, **options: Any) -> None:
    """Train on windows, with the options of ``recorded_steps.read``.

    Args:
        windows: those of a dataset without items.
        folder: it must exist; the attempts are in ``folder / "steps"``.
        num_workers: as that of ``ray.train.ScalingConfig``.
        options: ``kill`` and ``until``.
    """
    (folder / "steps").mkdir(exist_ok=True)
    TorchTrainer(
        train(),
        train_loop_config={"windows": windows, "folder": str(folder / "steps"), **options},
        scaling_config=ray.train.ScalingConfig(
            num_workers=num_workers,
            elastic_resize_monitor_interval_s=1,
            placement_strategy="SPREAD",
        ),
        run_config=ray.train.RunConfig(
            name="run",
            storage_path=str(folder),
            failure_config=ray.train.FailureConfig(max_failures=1),
            checkpoint_config=ray.train.CheckpointConfig(num_to_keep=2),
        ),
    ).fit()


def train() -> Any:
    """The function that each rank runs."""

    def train(config: dict[str, Any]) -> None:  # here, so that it is pickled by value
        import tempfile

        import torch

        def store(state: Mapping[str, Any]) -> None:
            with tempfile.TemporaryDirectory() as folder:
                stored = None
                if ray.train.get_context().get_world_rank() == 0:
                    torch.save(state, Path(folder, "loader.pt"))
                    stored = ray.train.Checkpoint.from_directory(folder)
                ray.train.report({}, checkpoint=stored)

        state = None
        if checkpoint := ray.train.get_checkpoint():
            with checkpoint.as_directory() as folder:
                state = torch.load(Path(folder, "loader.pt"))
        recorded_steps.read(**config, state=state, store=store)

    return train


def has_checkpoint(folder: Path) -> bool:
    """Whether another attempt of a job would continue from a checkpoint.

    Ray lists a checkpoint in this file some seconds after it has written the checkpoint.
    """
    stored = folder / "run" / "checkpoint_manager_snapshot.json"
    return stored.exists() and '"checkpoint_dir_name"' in stored.read_text()
